//! The intrinsic lock dispatcher (paper, section 4.1): one analyzer per lock.

use trace_format::LockId;

use crate::blame::facts::trace_end::TraceEnd;
use crate::blame::monitor::analyzer::{Exit, LockAnalyzer};
use crate::blame::timeline::hold_range::HoldRanges;
use crate::blame::timeline::hold_spans::HoldSpans;
use crate::collections::cached_map::CachedMap;
use crate::model::counter::{Counter, Counters};
use crate::model::entity::{Entities, LockIndex};
use crate::model::time_range::TimeRange;
use crate::model::wait::{Detail, OpenWait, Wait, WaitId};
use crate::order::lock_event::LockEvent;
use crate::order::rearranger::Step;
use crate::resolve::stacks::Stacks;

/// Passes the ordered events of each lock to its analyzer.
#[derive(Debug)]
pub(crate) struct LockDispatcher {
    /// Position of the trace among those analyzed.
    trace: u32,
    /// Exits say for how long the lock was held.
    has_holds: bool,
    /// What is asked for about owners.
    detail: Detail,
    /// The time considered.
    range: TimeRange,
    /// Where threads' stacks are: of some owners only an address on theirs is known.
    stacks: Stacks,
    analyzers: CachedMap<LockId, LockAnalyzer>,
}

impl LockDispatcher {
    pub(crate) fn new(trace: u32, has_holds: bool, detail: Detail, range: TimeRange) -> Self {
        Self {
            trace,
            has_holds,
            detail,
            range,
            stacks: Stacks::default(),
            analyzers: CachedMap::default(),
        }
    }

    pub(crate) fn stacks(&mut self) -> &mut Stacks {
        &mut self.stacks
    }

    /// Whether `lock` is not described: this is its first step, and another one than its
    /// description. Its last step tells nothing.
    pub(crate) fn lacks_description(step: &Step<&LockEvent>) -> bool {
        match step {
            Step::Gap { number, .. } => *number == 0,
            Step::Event { number, event } => {
                let is_other = !matches!(event, LockEvent::Description { .. } | LockEvent::Retired);
                *number == 0 && is_other
            }
        }
    }

    /// Replays the next step of `lock`. The first one of all is its description. `true` if it
    /// ends a wait, which `wait` then describes.
    pub(crate) fn dispatch(
        &mut self,
        lock: LockId,
        step: Step<&LockEvent>,
        spans: &mut HoldSpans,
        wait: &mut Wait,
        entities: &Entities,
        counters: &mut Counters,
    ) -> bool {
        if let Step::Event {
            event: &LockEvent::Description { lock: described },
            ..
        } = step
        {
            let detail = detail_of(described, self.detail, entities);
            let analyzer = LockAnalyzer::new(described, self.has_holds, detail);
            if let Some(mut before) = self.analyzers.insert(lock, analyzer) {
                before.finish(spans);
            }
            return false;
        }
        let Some(analyzer) = self.analyzers.get_mut(lock) else {
            return false;
        };
        let (number, event) = match step {
            Step::Event { number, event } => (number, event),
            Step::Gap { numbers, .. } => {
                analyzer.gap(numbers, counters);
                return false;
            }
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
                analyzer.enter(id, thread, time_ns, chain, after_wait, spans, counters);
                analyzer.see_owner(thread, owner.at(time_ns), &self.stacks);
            }
            LockEvent::Entered {
                thread,
                time_ns,
                safepoint_ns,
            } => {
                wait.safepoint_ns = safepoint_ns;
                return analyzer.entered(thread, time_ns, self.range, spans, wait, counters);
            }
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
                analyzer.exit(&exit, &self.stacks, spans, counters);
            }
            LockEvent::Lost { thread, .. } => analyzer.lost(thread, spans, counters),
            LockEvent::Retired => {
                if let Some(mut analyzer) = self.analyzers.remove(lock) {
                    analyzer.finish(spans);
                    let abandoned = analyzer.open_waits().count() as u64;
                    counters.add(Counter::WaitsWithoutEntered, abandoned);
                }
            }
        }
        false
    }

    /// The lock of that number, if it is described and has not ended.
    pub(crate) fn lock(&mut self, lock: LockId) -> Option<LockIndex> {
        let analyzer = self.analyzers.get_mut(lock)?;
        Some(analyzer.lock())
    }

    /// The locks that have not ended.
    pub(crate) fn locks(&self) -> impl Iterator<Item = LockIndex> {
        self.analyzers.values().map(LockAnalyzer::lock)
    }

    /// The waits that have not ended.
    pub(crate) fn open(&self) -> Vec<OpenWait> {
        let mut open = Vec::new();
        for analyzer in self.analyzers.values() {
            open.extend(analyzer.open(&self.stacks));
        }
        open
    }

    /// Passes the waits that have not ended to `on_wait`, in the order in which
    /// they began.
    pub(crate) fn finish(
        mut self,
        end: &TraceEnd,
        spans: &mut HoldSpans,
        wait: &mut Wait,
        counters: &mut Counters,
        mut on_wait: impl FnMut(&mut Wait, &mut HoldRanges, &mut Counters),
    ) {
        let analyzers = self.analyzers.iter();
        let open = analyzers.flat_map(|(lock, analyzer)| {
            let waits = analyzer.open_waits();
            waits.map(move |open_wait| (open_wait, lock))
        });
        let mut open: Vec<_> = open.collect();
        open.sort_unstable();
        for (open_wait, lock) in open {
            if let Some(analyzer) = self.analyzers.get_mut(lock)
                && analyzer.describe_open(
                    &open_wait,
                    end,
                    self.range,
                    &self.stacks,
                    spans,
                    wait,
                    counters,
                )
            {
                on_wait(wait, &mut spans.shared, counters);
            }
        }
        for analyzer in self.analyzers.values_mut() {
            analyzer.finish(spans);
        }
    }
}

/// What has to be found out about the owners of a lock where `wanted` is asked for: of one
/// that guards the initialization of a class, the thread stands for the code.
pub(crate) fn detail_of(lock: LockIndex, wanted: Detail, entities: &Entities) -> Detail {
    match entities.initialized_class(lock) {
        Some(_) => wanted.and(Detail::Owners),
        None => wanted,
    }
}
