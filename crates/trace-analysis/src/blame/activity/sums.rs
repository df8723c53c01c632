//! Sums of the activity of lock owners while others waited.

use crate::blame::activity::overhead::{HookParts, HookTimes};
use crate::blame::activity::own_waits::{Did, OwnWaits};
use crate::blame::activity::owner_times::{OwnerTimes, add};
use crate::blame::activity::per_thread::PerThread;
use crate::blame::activity::run_delays::{RunDelays, SamplesOf};
use crate::blame::facts::safepoints::Safepoints;
use crate::blame::timeline::hold_spans::{HoldSpan, HoldSpans, ThreadTime};
use crate::model::entity::ThreadIndex;
use crate::model::wait::{OwnerActivity, RootEnd, Wait};
use crate::order::system_fact::SystemFact;

/// A fact about owners, in order of arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OwnerFact {
    /// An action of the JVM or the system.
    System(SystemFact),
    /// A thread, which may own locks, waited; the activity is the kind of wait.
    OwnWait(ThreadTime, OwnerActivity),
    /// A thread held a lock that others waited for.
    Held(HoldSpan),
    /// A thread waited for a lock, in a selected wait.
    Waited(ThreadTime),
}

/// Sums of the owners' activity. Spans are resolved with a delay, because the owners' own waits and
/// the system's records of them may arrive later.
#[derive(Debug)]
pub(crate) struct OwnerTimesSum {
    sum: OwnerTimes,
    /// The spans and waits to resolve next, and those that arrived after them.
    next: Waiting,
    later: Waiting,
    /// Number of facts since the last ones were resolved.
    facts: usize,
    own_waits: OwnWaits,
    safepoints: Safepoints,
    delays: RunDelays,
    hooks: HookParts,
    /// The spans in which the owners of a wait ran; kept to reuse the memory.
    ran: HoldSpans,
    /// The items to resolve, by thread; kept to reuse the memory.
    spans_of: PerThread<HoldSpan>,
    waits_of: PerThread<ThreadTime>,
}

/// Spans in which owners held locks, and waits of threads, not resolved yet.
#[derive(Debug, Default)]
struct Waiting {
    spans: Vec<HoldSpan>,
    waits: Vec<ThreadTime>,
}

/// Number of facts that a span waits for before it is resolved; it waits for twice as many at most,
/// before the facts that it needs are forgotten.
const FACTS: usize = 1 << 16;
/// Number of unresolved spans and waits at which they are resolved early.
const MAX_WAITING: usize = 1 << 16;
/// Maximum number of the owners' own waits kept.
const MAX_OWN_WAITS: usize = 1 << 18;
/// Maximum number of scheduling samples kept: half an hour of them if one thread owns locks all the
/// time.
const MAX_SAMPLES: usize = 1 << 17;
/// Maximum number of hook parts kept.
const MAX_HOOK_PARTS: usize = 1 << 17;

impl Default for OwnerTimesSum {
    fn default() -> Self {
        Self {
            sum: OwnerTimes::default(),
            next: Waiting::default(),
            later: Waiting::default(),
            facts: 0,
            own_waits: OwnWaits::new(MAX_OWN_WAITS),
            safepoints: Safepoints::default(),
            delays: RunDelays::new(MAX_SAMPLES),
            hooks: HookParts::new(MAX_HOOK_PARTS),
            ran: HoldSpans::default(),
            spans_of: PerThread::default(),
            waits_of: PerThread::default(),
        }
    }
}

impl OwnerTimesSum {
    /// Takes the next fact.
    pub(crate) fn add(&mut self, fact: OwnerFact) {
        match fact {
            OwnerFact::System(fact) => {
                self.system(fact);
                self.pass_fact();
            }
            OwnerFact::OwnWait(time, activity) => {
                self.own_waits.add(time, activity);
                self.pass_fact();
            }
            OwnerFact::Held(span) => {
                self.later.spans.push(span);
                self.bound_waiting();
            }
            OwnerFact::Waited(time) => {
                self.later.waits.push(time);
                self.bound_waiting();
            }
        }
    }

    fn pass_fact(&mut self) {
        self.facts += 1;
        if self.facts == FACTS {
            self.resolve_next();
        }
    }

    fn bound_waiting(&mut self) {
        if self.later.spans.len() + self.later.waits.len() >= MAX_WAITING {
            self.resolve_next();
        }
    }

    fn system(&mut self, fact: SystemFact) {
        match fact {
            SystemFact::Safepoint(safepoint) => self.safepoints.add(safepoint),
            SystemFact::Times(times) => self.delays.add(times),
            SystemFact::Hook(part) => self.hooks.add(part),
            SystemFact::Sample(_) | SystemFact::Freeze(_) => {}
        }
    }

    /// Adds the time that threads waited while no owner is known.
    pub(crate) fn add_by_nobody(&mut self, spans: &mut HoldSpans) {
        add(&mut self.sum.free_ns, std::mem::take(&mut spans.free_ns), 1);
        let unknown_ns = std::mem::take(&mut spans.unknown_ns);
        add(&mut self.sum.unknown_ns, unknown_ns, 1);
        let frozen_ns = std::mem::take(&mut spans.frozen_ns);
        add(&mut self.sum.frozen_ns, frozen_ns, 1);
    }

    /// Adds a wait with its root owners. It was held back to find them, so everything about it is
    /// known.
    pub(crate) fn add_roots(&mut self, wait: &Wait) {
        let end_ns = wait.start_ns.saturating_add(wait.duration_ns);
        if let Some(hooks) = self.hooks.of(wait.thread) {
            hooks.waited((wait.start_ns, end_ns));
        }
        for part in &wait.contentions {
            if let Some((thread, _)) = part.owner.thread()
                && let Some(hooks) = self.hooks.of(thread)
            {
                let time = (part.start_ns, part.start_ns + part.duration_ns);
                hooks.owned(time, 1);
            }
        }
        for part in &wait.roots {
            let time = (part.start_ns, part.start_ns + part.duration_ns);
            let activity = match (part.owner_activity(), part.root.end) {
                (Some(OwnerActivity::Running), _) => {
                    self.ran.add_part(part.owner, time, true);
                    continue;
                }
                (Some(activity), _) => activity,
                // It waits for a lock itself.
                (None, RootEnd::Cycle) => OwnerActivity::Blocked,
                (None, RootEnd::Owner(end)) => {
                    self.ran.add_part(end, time, true);
                    continue;
                }
            };
            add(self.sum.counted(activity), part.duration_ns, 1);
        }
        let mut ran = std::mem::take(&mut self.ran);
        self.add_by_nobody(&mut ran);
        for span in ran.spans.drain(..) {
            let division =
                self.delays
                    .divide(span.time.thread, span.time.start_ns, span.time.end_ns);
            self.sum.add_running(&division, span.waits.into());
        }
        self.ran = ran;
    }

    /// Resolves the rest and returns the sums.
    pub(crate) fn finish(mut self) -> OwnerTimes {
        self.resolve_next();
        self.resolve_next();
        let HookTimes {
            of_owners,
            of_waiting,
        } = self.hooks.finish();
        OwnerTimes {
            hooks_of_owners: of_owners,
            hooks_of_waiting: of_waiting,
            ..self.sum
        }
    }

    /// Resolves the earlier half.
    fn resolve_next(&mut self) {
        let (mut spans_of, mut waits_of) = (
            std::mem::take(&mut self.spans_of),
            std::mem::take(&mut self.waits_of),
        );
        let mut next = std::mem::take(&mut self.next);
        for (thread, spans) in spans_of.group(&next.spans, |span| span.time.thread) {
            self.resolve_spans(thread, spans);
        }
        for (thread, waits) in waits_of.group(&next.waits, |wait| wait.thread) {
            if let Some(hooks) = self.hooks.of(thread) {
                for wait in waits {
                    hooks.waited((wait.start_ns, wait.end_ns));
                }
            }
        }
        next.spans.clear();
        next.waits.clear();
        self.next = std::mem::replace(&mut self.later, next);
        (self.spans_of, self.waits_of) = (spans_of, waits_of);
        self.facts = 0;
    }

    /// Adds the activity of an owner in these spans, once per wait.
    fn resolve_spans(&mut self, thread: ThreadIndex, spans: &[HoldSpan]) {
        let hooks = self.hooks.of(thread);
        let mut own_waits = self.own_waits.of(thread);
        let mut running = Running {
            delays: self.delays.of(thread),
            safepoints: &self.safepoints,
        };
        let sum = &mut self.sum;
        for span in spans {
            let (start_ns, end_ns) = (span.time.start_ns, span.time.end_ns);
            let waits = span.waits.into();
            if let Some(hooks) = &hooks {
                hooks.owned((start_ns, end_ns), waits);
            }
            if span.is_direct {
                running.add((start_ns, end_ns), waits, sum);
                continue;
            }
            own_waits.split(start_ns, end_ns, |start_ns, end_ns, did| {
                let place = match did {
                    Did::Ran => return running.add((start_ns, end_ns), waits, sum),
                    Did::Waited(activity) => sum.counted(activity),
                    Did::Forgotten => &mut sum.unknown_ns,
                };
                add(place, end_ns - start_ns, waits);
            });
        }
    }
}

/// The facts about a thread while it did not wait itself.
struct Running<'k> {
    delays: SamplesOf<'k>,
    safepoints: &'k Safepoints,
}

impl Running<'_> {
    /// Adds its activity in the span, once per wait.
    fn add(&mut self, (start_ns, end_ns): (u64, u64), waits: u64, sum: &mut OwnerTimes) {
        (self.safepoints).split(start_ns, end_ns, |start_ns, end_ns, phase| match phase {
            None => sum.add_running(&self.delays.divide(start_ns, end_ns), waits),
            Some(phase) => {
                let place = sum.counted(OwnerActivity::at_safepoint(phase));
                add(place, end_ns - start_ns, waits);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(thread: u32, start_ns: u64, end_ns: u64) -> ThreadTime {
        ThreadTime {
            thread: ThreadIndex(thread),
            start_ns,
            end_ns,
        }
    }

    fn own_wait(thread: u32, start_ns: u64) -> OwnerFact {
        OwnerFact::OwnWait(
            time(thread, start_ns, start_ns + 10),
            OwnerActivity::Blocked,
        )
    }

    /// An owner known not to have waited counts as running, even if its waits are forgotten.
    #[test]
    fn an_owner_that_did_not_wait_ran() {
        let mut sum = OwnerTimesSum::default();
        for number in 0..2 * MAX_OWN_WAITS as u64 {
            sum.add(own_wait(1, 100 + 20 * number));
        }
        for (is_direct, waits) in [(true, 3), (false, 5)] {
            sum.add(OwnerFact::Held(HoldSpan {
                time: time(1, 10, 50),
                waits,
                is_direct,
            }));
        }
        let times = sum.finish();
        assert_eq!((times.not_sampled_ns, times.unknown_ns), (120, 200));
    }

    /// Thread 1 waits while it owns a lock; later waits of others do not matter, however many.
    #[test]
    fn what_an_owner_did_is_known_until_it_is_added() {
        let mut sum = OwnerTimesSum::default();
        sum.add(own_wait(1, 20));
        sum.add(OwnerFact::Held(HoldSpan {
            time: time(1, 10, 50),
            waits: 2,
            is_direct: false,
        }));
        for number in 0..2 * MAX_OWN_WAITS as u64 {
            sum.add(own_wait(2, 100 + 20 * number));
        }
        let times = sum.finish();
        assert_eq!((times.blocked_ns, times.not_sampled_ns), (20, 60));
        assert_eq!(times.all_ns(), 80);
    }
}
