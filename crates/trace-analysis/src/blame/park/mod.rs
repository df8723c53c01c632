//! Parked threads: who made them wait (paper, sections 3.3 and 4.1).
//!
//! ```text
//! events → permits → rearranger → thread dispatcher → lock analyzers, one per blocker → waits
//!                                                   → wakers                          → waits
//! ```
//!
//! * [`ParkOrder`](crate::order::park::park_order::ParkOrder) finds the unpark that ended a park: park end and unpark name
//!   the same permit ([`Permits`](crate::order::park::permits::Permits)). A rearranger puts the events of each
//!   domain in order. All events of one blocker are of one domain.
//! * [`ParkDispatcher`], one per group of domains, bundles the begin, unpark and end of each park,
//!   and passes it on by the kind of blocker
//!   ([`Synchronizer`](crate::model::synchronizer::Synchronizer)) and the code of the thread
//!   ([`Code`](code::Code)).
//! * [`LockAnalyzer`](analyzer::LockAnalyzer) replays the events of one lock, keeps track of the owner,
//!   and splits the waits of all threads over the owners.
//! * A thread that waits for something other than a lock is woken by a thread that takes the place
//!   of the owner ([`waker`]).

mod analyzer;
pub(crate) mod code;
mod dispatcher;
mod notifications;
mod ownership;
mod recent_wakers;
mod ticket_heap;
mod waker;

use trace_format::LockId;

use crate::blame::facts::trace_end::TraceEnd;
use crate::blame::timeline::context::Context;
use crate::model::entity::LockIndex;
use crate::model::lock_group::{LOCK_GROUPS, lock_group};
use crate::model::wait::OpenWait;
use crate::order::park::event::ParkEvent;
use crate::order::rearranger::Step;
use code::CodeTable;
use dispatcher::ParkDispatcher;

/// The analysis of parked threads: takes their events in order and finds out who made them wait.
#[derive(Debug)]
pub(crate) struct Parks {
    codes: CodeTable,
    /// Domains do not depend on each other.
    groups: [ParkDispatcher; LOCK_GROUPS],
}

impl Parks {
    /// Creates the analysis of a trace, by its position among those analyzed.
    pub(crate) fn new(trace: u32) -> Self {
        Self {
            codes: CodeTable::default(),
            groups: std::array::from_fn(|_| ParkDispatcher::new(trace)),
        }
    }

    /// Replays the next step of a domain.
    #[inline]
    pub(crate) fn dispatch(
        &mut self,
        domain: LockId,
        step: Step<&ParkEvent>,
        context: &mut Context<'_>,
    ) {
        let group = &mut self.groups[lock_group(domain)];
        group.dispatch(domain, step, &mut self.codes, context);
    }

    /// Forgets the locks on which no thread is parked.
    pub(crate) fn forget_unused(&mut self, context: &mut Context<'_>) {
        for group in &mut self.groups {
            group.forget_unused(context);
        }
    }

    /// Returns the locks that are not forgotten, and other blockers of parked threads.
    pub(crate) fn locks(&self) -> impl Iterator<Item = LockIndex> {
        self.groups.iter().flat_map(ParkDispatcher::locks)
    }

    /// Adds the waits that have not ended.
    pub(crate) fn add_open(&self, open: &mut Vec<OpenWait>) {
        for group in &self.groups {
            group.add_open(open);
        }
    }

    /// Ends the trace: passes waits that have not ended to `context`.
    pub(crate) fn finish(self, end: &TraceEnd, context: &mut Context<'_>) {
        let groups = self.groups.into_iter();
        let mut analyzers: Vec<_> = groups
            .flat_map(|group| group.finish(end, context))
            .collect();
        // A damaged trace may have a lock in several domains.
        analyzers.sort_by_key(|&(lock, _)| lock);
        for (_, mut analyzer) in analyzers {
            analyzer.finish(end, context);
        }
    }
}
