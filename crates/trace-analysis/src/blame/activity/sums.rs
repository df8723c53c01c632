//! What owners did while others waited for their locks, added up.

use crate::blame::activity::overhead::{HookParts, HookTime, HookTimes};
use crate::blame::activity::own_waits::{Did, OwnWaits};
use crate::blame::activity::owner_fact::OwnerFact;
use crate::blame::activity::per_thread::PerThread;
use crate::blame::activity::run_delays::{Division, RunDelays, SamplesOf};
use crate::blame::facts::safepoints::Safepoints;
use crate::blame::timeline::hold_spans::{HoldSpan, HoldSpans, ThreadTime};
use crate::model::entity::ThreadIndex;
use crate::model::wait::{OwnerActivity, RootEnd, Wait};
use crate::order::system_fact::SystemFact;

/// What the owners of locks did meanwhile, added up over the waits for locks, in nanoseconds. All
/// of it adds up to what those waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnerTimes {
    /// On a processor, at least. This and the next four are what owners did that nothing else is
    /// known of.
    pub processor_ns: u64,
    /// Waiting for a processor, ready to run, at least.
    pub run_delay_ns: u64,
    /// Neither, at least: the owner slept in the system, as for input and output, or in
    /// `Thread.sleep` or `Object.wait`.
    pub off_processor_ns: u64,
    /// One of these three: too short for the times at which the system was asked.
    pub not_told_ns: u64,
    /// One of these three: the system was not asked.
    pub not_sampled_ns: u64,
    /// What the run delay was at most, without what was not sampled.
    pub most_run_delay_ns: u64,
    /// Blocked by another lock.
    pub blocked_ns: u64,
    /// Waiting for another thread to do something, or for work.
    pub waiting_ns: u64,
    /// Parked for some time to pass.
    pub asleep_ns: u64,
    /// The JVM was about to stop all threads for a safepoint.
    pub reaching_safepoint_ns: u64,
    /// All threads were stopped at a safepoint.
    pub safepoint_ns: u64,
    /// Nobody owned the lock.
    pub free_ns: u64,
    /// The events do not tell who owned the lock, or what the owner did.
    pub unknown_ns: u64,
    /// The process did not run.
    pub frozen_ns: u64,
    /// Of all this, what the tracer's own hooks took in owners while others waited for them.
    pub hooks_of_owners: HookTime,
    /// Of all this, what they took in the threads that waited.
    pub hooks_of_waiting: HookTime,
}

impl OwnerTimes {
    /// The sum of all parts.
    pub fn all_ns(&self) -> u64 {
        let parts = [
            self.running_ns(),
            self.blocked_ns,
            self.waiting_ns,
            self.asleep_ns,
            self.reaching_safepoint_ns,
            self.safepoint_ns,
            self.free_ns,
            self.unknown_ns,
            self.frozen_ns,
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// The owners did nothing that the events tell of.
    pub fn running_ns(&self) -> u64 {
        let parts = [
            self.processor_ns,
            self.run_delay_ns,
            self.off_processor_ns,
            self.not_told_ns,
            self.not_sampled_ns,
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// Adds what others did.
    pub fn merge(&mut self, other: &Self) {
        let add = |sum: &mut u64, ns: u64| self::add(sum, ns, 1);
        add(&mut self.processor_ns, other.processor_ns);
        add(&mut self.run_delay_ns, other.run_delay_ns);
        add(&mut self.off_processor_ns, other.off_processor_ns);
        add(&mut self.not_told_ns, other.not_told_ns);
        add(&mut self.not_sampled_ns, other.not_sampled_ns);
        add(&mut self.most_run_delay_ns, other.most_run_delay_ns);
        add(&mut self.blocked_ns, other.blocked_ns);
        add(&mut self.waiting_ns, other.waiting_ns);
        add(&mut self.asleep_ns, other.asleep_ns);
        add(&mut self.reaching_safepoint_ns, other.reaching_safepoint_ns);
        add(&mut self.safepoint_ns, other.safepoint_ns);
        add(&mut self.free_ns, other.free_ns);
        add(&mut self.unknown_ns, other.unknown_ns);
        add(&mut self.frozen_ns, other.frozen_ns);
        self.hooks_of_owners.merge(&other.hooks_of_owners);
        self.hooks_of_waiting.merge(&other.hooks_of_waiting);
    }

    /// Where the time is added up in which owners did that. Of one that ran, nothing else is known; else
    /// its time [divides](Self::add_running).
    fn counted(&mut self, activity: OwnerActivity) -> &mut u64 {
        match activity {
            OwnerActivity::Running => &mut self.not_sampled_ns,
            OwnerActivity::Blocked => &mut self.blocked_ns,
            OwnerActivity::Waiting => &mut self.waiting_ns,
            OwnerActivity::Asleep => &mut self.asleep_ns,
            OwnerActivity::ReachingSafepoint => &mut self.reaching_safepoint_ns,
            OwnerActivity::AtSafepoint => &mut self.safepoint_ns,
        }
    }

    /// Adds the time of an owner that did nothing that events tell of, once for each wait.
    fn add_running(&mut self, division: &Division, waits: u64) {
        add(&mut self.processor_ns, division.processor_ns, waits);
        add(&mut self.run_delay_ns, division.run_delay_ns, waits);
        add(&mut self.off_processor_ns, division.asleep_ns, waits);
        add(&mut self.not_told_ns, division.not_told_ns, waits);
        add(&mut self.not_sampled_ns, division.not_known_ns, waits);
        add(
            &mut self.most_run_delay_ns,
            division.most_run_delay_ns,
            waits,
        );
    }
}

/// Adds up what owners did. What is to be known of that may come a while later: then their other
/// waits have, and what the system said of them.
#[derive(Debug)]
pub(crate) struct OwnerTimesSum {
    sum: OwnerTimes,
    /// What is resolved next, and what came after that.
    next: Waiting,
    later: Waiting,
    /// How many facts came since then.
    facts: usize,
    own_waits: OwnWaits,
    safepoints: Safepoints,
    delays: RunDelays,
    hooks: HookParts,
    /// When owners of a wait ran; kept to reuse its memory.
    ran: HoldSpans,
    /// What is resolved of each thread; kept for the same.
    spans_of: PerThread<HoldSpan>,
    waits_of: PerThread<ThreadTime>,
}

/// When owners had locks, and when threads waited, on the way to what they did meanwhile.
#[derive(Debug, Default)]
struct Waiting {
    spans: Vec<HoldSpan>,
    waits: Vec<ThreadTime>,
}

/// Times of threads wait for so many facts at least, and for twice as many at most: before what is to
/// be known of them is forgotten.
const FACTS: usize = 1 << 16;
/// If so many come meanwhile, they do not wait any longer.
const MAX_WAITING: usize = 1 << 16;
/// How many waits of owners stay known.
const MAX_OWN_WAITS: usize = 1 << 18;
/// How many safepoints do.
const MAX_SAFEPOINTS: usize = 1 << 16;
/// How much of what the system says of threads does: of half an hour if one of them owns locks all
/// the time.
const MAX_SAMPLES: usize = 1 << 17;
/// How many parts of hooks do.
const MAX_HOOK_PARTS: usize = 1 << 17;

impl Default for OwnerTimesSum {
    fn default() -> Self {
        Self {
            sum: OwnerTimes::default(),
            next: Waiting::default(),
            later: Waiting::default(),
            facts: 0,
            own_waits: OwnWaits::new(MAX_OWN_WAITS),
            safepoints: Safepoints::new(MAX_SAFEPOINTS),
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
            OwnerFact::Waited(time) => {
                self.later.waits.push(time);
                self.bound_waiting();
            }
        }
    }

    /// Takes when owners had locks for which threads waited.
    #[inline]
    pub(crate) fn add_spans(&mut self, spans: &mut Vec<HoldSpan>) {
        if !spans.is_empty() {
            self.later.spans.append(spans);
            self.bound_waiting();
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

    /// Takes what threads waited while nobody is known to have had the lock.
    pub(crate) fn add_by_nobody(&mut self, spans: &mut HoldSpans) {
        add(&mut self.sum.free_ns, std::mem::take(&mut spans.free_ns), 1);
        let unknown_ns = std::mem::take(&mut spans.unknown_ns);
        add(&mut self.sum.unknown_ns, unknown_ns, 1);
        let frozen_ns = std::mem::take(&mut spans.frozen_ns);
        add(&mut self.sum.frozen_ns, frozen_ns, 1);
    }

    /// Takes a wait that says what was behind its parts, and was held back for that: all is known that
    /// will ever be.
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
                // It waits for a lock of its own.
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

    /// The sums over all.
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

    /// Resolves what came first.
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

    /// Adds what an owner did in these spans, once for each wait.
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

/// What there is to know of a thread that did not wait itself.
struct Running<'k> {
    delays: SamplesOf<'k>,
    safepoints: &'k Safepoints,
}

impl Running<'_> {
    /// Adds what it did from begin to end, once for each wait.
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

fn add(sum: &mut u64, ns: u64, waits: u64) {
    *sum = sum.saturating_add(ns.saturating_mul(waits));
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

    /// What is known at the release is not looked for, even if waits of the thread are forgotten.
    #[test]
    fn an_owner_that_did_not_wait_ran() {
        let mut sum = OwnerTimesSum::default();
        for number in 0..2 * MAX_OWN_WAITS as u64 {
            sum.add(own_wait(1, 100 + 20 * number));
        }
        for (is_direct, waits) in [(true, 3), (false, 5)] {
            sum.add_spans(&mut vec![HoldSpan {
                time: time(1, 10, 50),
                waits,
                is_direct,
            }]);
        }
        let times = sum.finish();
        assert_eq!((times.not_sampled_ns, times.unknown_ns), (120, 200));
    }

    /// Thread 1 waits itself while it owns a lock, and then others do, however often.
    #[test]
    fn what_an_owner_did_is_known_until_it_is_added() {
        let mut sum = OwnerTimesSum::default();
        sum.add(own_wait(1, 20));
        sum.add_spans(&mut vec![HoldSpan {
            time: time(1, 10, 50),
            waits: 2,
            is_direct: false,
        }]);
        for number in 0..2 * MAX_OWN_WAITS as u64 {
            sum.add(own_wait(2, 100 + 20 * number));
        }
        let times = sum.finish();
        assert_eq!((times.blocked_ns, times.not_sampled_ns), (20, 60));
        assert_eq!(times.all_ns(), 80);
    }
}
