//! The context of the blame stages, and the output for the waits that they find.

use crate::blame::timeline::hold_spans::{HoldSpans, Trail};
use crate::model::counter::{Counter, Counters};
use crate::model::detail::Detail;
use crate::model::entity::Entities;
use crate::model::time_range::TimeRange;
use crate::model::wait::{OpenWait, Wait, WaitEnd};

/// The context that monitors and parks need to find out who made whom wait.
pub(crate) struct Context<'a> {
    pub(crate) entities: &'a Entities,
    /// The detail requested about owners.
    pub(crate) detail: Detail,
    /// The time considered.
    pub(crate) range: TimeRange,
    pub(crate) counters: &'a mut Counters,
    /// Receives the spans in which owners held locks that threads waited for.
    pub(crate) spans: &'a mut HoldSpans,
    /// The wait to describe; kept to reuse the memory.
    pub(crate) wait: &'a mut Wait,
    pub(crate) output: &'a mut dyn WaitOutput,
}

/// An output for waits that have ended, or that the trace does not end.
pub(crate) trait WaitOutput {
    /// Takes a wait, and may change it.
    fn wait(&mut self, wait: &mut Wait, trail: Trail, counters: &mut Counters);

    /// Takes a wait that the trace does not end, before it is passed on as the others are.
    fn open_wait(&mut self, open: OpenWait);
}

impl Context<'_> {
    /// Passes on the wait described.
    pub(crate) fn pass_on(&mut self) {
        let trail = std::mem::take(&mut self.spans.trail);
        self.output.wait(self.wait, trail, self.counters);
    }

    /// Passes on the wait described, which the trace does not end.
    pub(crate) fn pass_on_open(&mut self, open: &OpenWait) {
        self.wait.end = WaitEnd::Open;
        self.wait.holder = open.holder;
        let duration_ns = self.wait.whole_duration_ns;
        self.counters.add(Counter::OpenWaitsNs, duration_ns);
        self.output.open_wait(OpenWait {
            duration_ns,
            ..*open
        });
        self.pass_on();
    }
}
