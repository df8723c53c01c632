//! The intrinsic lock dispatcher (paper, section 4.1): one analyzer per lock.

use trace_format::LockId;

use crate::blame::facts::trace_end::TraceEnd;
use crate::blame::monitor::analyzer::{Contended, Exit, LockAnalyzer};
use crate::blame::timeline::context::Context;
use crate::collections::cached_map::CachedMap;
use crate::model::counter::Counter;
use crate::model::detail::Detail;
use crate::model::entity::{Entities, LockIndex};
use crate::model::wait::{OpenWait, WaitId};
use crate::order::lock_event::LockEvent;
use crate::order::rearranger::Step;
use crate::resolve::stacks::Stacks;

/// Passes the ordered events of each lock to its analyzer.
#[derive(Debug)]
pub(crate) struct LockDispatcher {
    /// Position of the trace among those analyzed.
    trace: u32,
    /// Exits report for how long the lock was held.
    has_holds: bool,
    /// The threads' stacks: some owners are known only by an address on theirs.
    stacks: Stacks,
    analyzers: CachedMap<LockId, LockAnalyzer>,
    /// The states of locks that threads waited for, to be used again.
    #[expect(clippy::vec_box, reason = "a lock takes the box as it is")]
    idle: Vec<Box<Contended>>,
}

/// The most of these that are kept.
const MAX_IDLE: usize = 64;

impl LockDispatcher {
    pub(crate) fn new(trace: u32, has_holds: bool) -> Self {
        Self {
            trace,
            has_holds,
            stacks: Stacks::default(),
            analyzers: CachedMap::default(),
            idle: Vec::new(),
        }
    }

    pub(crate) fn stacks(&mut self) -> &mut Stacks {
        &mut self.stacks
    }

    /// Returns whether `lock` is not described: whether this is its first step, but not its
    /// description. The last step does not matter.
    pub(crate) fn lacks_description(step: &Step<&LockEvent>) -> bool {
        match step {
            Step::Gap { number, .. } => *number == 0,
            Step::Event { number, event } => {
                let is_other = !matches!(event, LockEvent::Description { .. } | LockEvent::Retired);
                *number == 0 && is_other
            }
        }
    }

    /// Replays the next step of `lock`. Its very first step is its description.
    pub(crate) fn dispatch(
        &mut self,
        lock: LockId,
        step: Step<&LockEvent>,
        context: &mut Context<'_>,
    ) {
        if let Step::Event {
            event: &LockEvent::Description { lock: described },
            ..
        } = step
        {
            let detail = detail_of(described, context.detail, context.entities);
            let analyzer = LockAnalyzer::new(described, self.has_holds, detail);
            if let Some(mut before) = self.analyzers.insert(lock, analyzer) {
                before.finish(context.spans);
            }
            return;
        }
        let Some(analyzer) = self.analyzers.get_mut(lock) else {
            return;
        };
        let (number, event) = match step {
            Step::Event { number, event } => (number, event),
            Step::Gap { numbers, .. } => return analyzer.gap(numbers, context.counters),
        };
        match *event {
            LockEvent::Description { .. } => {}
            LockEvent::Enter {
                thread,
                time_ns,
                chain,
                after_wait,
                owner,
            } => {
                let id = WaitId {
                    trace: self.trace,
                    lock,
                    number,
                };
                let idle = || self.idle.pop().unwrap_or_default();
                analyzer.enter(idle, id, thread, time_ns, chain, after_wait, context);
                analyzer.see_owner(thread, owner.at(time_ns), &self.stacks);
            }
            LockEvent::Entered {
                thread,
                time_ns,
                safepoint_ns,
            } => analyzer.entered(thread, time_ns, safepoint_ns, context),
            LockEvent::Exit {
                thread,
                time_ns,
                holds,
                chain,
                since_wait_ns,
            } => {
                let exit = Exit {
                    thread,
                    time_ns,
                    holds: holds.get(),
                    chain,
                    waited_until_ns: time_ns.saturating_sub(since_wait_ns.into()),
                };
                analyzer.exit(&exit, &self.stacks, context);
            }
            LockEvent::Lost { thread, .. } => analyzer.lost(thread, context),
            LockEvent::Retired => {
                if let Some(mut analyzer) = self.analyzers.remove(lock) {
                    analyzer.finish(context.spans);
                    let abandoned = analyzer.open_waits();
                    context
                        .counters
                        .add(Counter::WaitsWithoutEntered, abandoned);
                }
                return;
            }
        }
        if let Some(idle) = analyzer.take_idle()
            && self.idle.len() < MAX_IDLE
        {
            self.idle.push(idle);
        }
    }

    /// Returns the lock with this ID, if it is described and has not ended.
    pub(crate) fn lock(&mut self, lock: LockId) -> Option<LockIndex> {
        let analyzer = self.analyzers.get_mut(lock)?;
        Some(analyzer.lock())
    }

    /// Returns the locks that have not ended.
    pub(crate) fn locks(&self) -> impl Iterator<Item = LockIndex> {
        self.analyzers.values().map(LockAnalyzer::lock)
    }

    /// Returns the waits that have not ended.
    pub(crate) fn open(&self) -> Vec<OpenWait> {
        let mut open = Vec::new();
        for analyzer in self.analyzers.values() {
            open.extend(analyzer.open(&self.stacks));
        }
        open
    }

    /// Ends the trace: passes on the waits that have not ended, in the order in which they began.
    pub(crate) fn finish(mut self, end: &TraceEnd, context: &mut Context<'_>) {
        let mut open = self.open();
        open.sort_unstable_by_key(|wait| (wait.start_ns, wait.thread, wait.lock, wait.id));
        for wait in &open {
            if let Some(analyzer) = self.analyzers.get_mut(wait.id.lock) {
                analyzer.pass_on_open(wait, end, &self.stacks, context);
            }
        }
        for analyzer in self.analyzers.values_mut() {
            analyzer.finish(context.spans);
        }
    }
}

/// Returns the detail needed about the owners of a lock where `wanted` is requested: for a lock
/// that guards the initialization of a class, the thread stands for the code.
pub(crate) fn detail_of(lock: LockIndex, wanted: Detail, entities: &Entities) -> Detail {
    match entities.initialized_class(lock) {
        Some(_) => wanted.and(Detail::OWNERS),
        None => wanted,
    }
}
