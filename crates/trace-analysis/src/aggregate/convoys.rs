//! Queues that do not drain, and threads woken for nothing.
//!
//! A lock has a *convoy* as long as one thread after the other acquires it, and there is no moment
//! at which nobody waits (M. Blasgen et al., *The Convoy Phenomenon*, 1979). A *stampede* is
//! several threads that are woken although only one of them can go on (thundering herd).

use std::collections::BTreeMap;

use crate::collections::hash::{SeededMap, SeededSet};
use crate::model::entity::{ChainIndex, Entities, LockIndex, ThreadIndex};
use crate::model::wait::{Mechanism, Owner, Wait, WaitEnd, WaitKind};
use crate::model::wait_sink::{DivisibleSink, WaitSink};

/// The most periods with a queue that are kept, of all locks together. If there are more, the
/// shorter half is forgotten.
const MAX_PERIODS: usize = 1 << 17;

/// A time in which there was no moment at which nobody waited for the lock.
#[derive(Clone, Debug, Default)]
pub struct QueuePeriod {
    /// Begin, in nanoseconds since the trace's start.
    pub start_ns: u64,
    /// End, in nanoseconds since the trace's start.
    pub end_ns: u64,
    /// How many waits ended in it: so often a thread left the queue.
    pub waits: u64,
    /// How long threads waited, all together, in nanoseconds.
    pub blocked_ns: u64,
    threads: SeededSet<ThreadIndex>,
}

impl QueuePeriod {
    /// How many threads waited.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// How long it was, in nanoseconds.
    pub fn duration_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }

    fn of(wait: &Wait) -> Self {
        Self {
            start_ns: wait.start_ns,
            end_ns: wait.start_ns.saturating_add(wait.duration_ns),
            waits: wait.ended().into(),
            blocked_ns: wait.duration_ns - wait.frozen_ns(),
            threads: SeededSet::from_iter([wait.thread]),
        }
    }

    fn merge(&mut self, other: Self) {
        self.start_ns = self.start_ns.min(other.start_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        self.waits += other.waits;
        self.blocked_ns = self.blocked_ns.saturating_add(other.blocked_ns);
        self.threads.extend(other.threads);
    }
}

/// When threads waited for a lock: the times do not touch each other. By begin.
type Periods = BTreeMap<u64, QueuePeriod>;

/// Adds a time, and makes one of those that touch it.
fn add_period(periods: &mut Periods, mut period: QueuePeriod) {
    let touching = periods.range(..=period.end_ns).rev();
    let touching = touching.take_while(|(_, known)| known.end_ns >= period.start_ns);
    let touching: Vec<u64> = touching.map(|(&start_ns, _)| start_ns).collect();
    for start_ns in touching {
        if let Some(known) = periods.remove(&start_ns) {
            // The one with more threads takes those of the other one.
            let (mut larger, smaller) = match known.threads.len() > period.threads.len() {
                true => (known, period),
                false => (period, known),
            };
            larger.merge(smaller);
            period = larger;
        }
    }
    periods.insert(period.start_ns, period);
}

/// The convoys of a lock.
#[derive(Clone, Debug)]
pub struct Convoy<'a> {
    /// The lock.
    pub lock: LockIndex,
    /// How many there were.
    pub count: u64,
    /// The one in which the most waits ended, the earliest of several.
    pub largest: &'a QueuePeriod,
    /// How many waits ended in all of them.
    pub waits: u64,
    /// How long they were, all together, in nanoseconds.
    pub duration_ns: u64,
    /// How long threads waited in all of them, in nanoseconds.
    pub blocked_ns: u64,
}

/// Statistics of the threads that were woken from one condition, or in `Object.wait`.
#[derive(Clone, Debug, Default)]
pub struct WakeUps {
    /// How often a thread ended a wait: by a notification, or by a signal and the release of the
    /// lock that follows.
    pub woken: u64,
    /// The number of wake-ups after which the thread had nothing to do. In `Object.wait` it waited
    /// again within [`WAITS_AGAIN_NS`]. Otherwise its release of the lock in `await` woke the next
    /// one; the last one of a stampede wakes nobody, and is not among them.
    pub for_nothing: u64,
    /// How long those threads were busy with that, in nanoseconds: from the end of a wait to the
    /// begin of the next one, or to the release of the lock in `await`.
    pub lost_ns: u64,
    /// How often several threads were woken for nothing: by one notification, or one by the other.
    pub stampedes: u64,
    /// The most that one stampede woke for nothing.
    pub largest: u64,
    /// Who has been woken last, and how many before it in the same stampede for nothing.
    awake: SeededMap<ThreadIndex, Awake>,
    /// Of each thread, the end of its last wait in `Object.wait` and the notification that ended it.
    notified: SeededMap<ThreadIndex, Notified>,
    /// How many threads a notification woke for nothing.
    for_nothing_by: SeededMap<Notification, u64>,
}

/// A notification: who notified, and when.
type Notification = (ThreadIndex, u64);

#[derive(Clone, Copy, Debug)]
struct Notified {
    by: Notification,
    chain: ChainIndex,
    until_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Awake {
    since_ns: u64,
    for_nothing_before: u64,
}

/// That many threads woken for nothing, one by the other, are a stampede.
const STAMPEDE: u64 = 2;

/// A thread that waits again in the same code this soon after it was notified has found nothing to
/// do, in nanoseconds.
pub const WAITS_AGAIN_NS: u64 = 1_000_000;

/// The most notifications of an object of which wake-ups for nothing are counted together.
const MAX_NOTIFICATIONS: usize = 1 << 12;

impl WakeUps {
    /// A thread woke the one that waited, perhaps when it was about to wait itself. The waits for a
    /// condition come in the order in which they ended: all are of one domain.
    fn add(&mut self, wait: &Wait, waker: ThreadIndex, woken_ns: u64, in_await: bool) {
        self.woken += 1;
        let mut for_nothing_before = 0;
        if in_await && let Some(awake) = self.awake.remove(&waker) {
            self.for_nothing += 1;
            self.lost_ns += woken_ns.saturating_sub(awake.since_ns);
            for_nothing_before = awake.for_nothing_before + 1;
            self.stampedes += u64::from(for_nothing_before == STAMPEDE);
            self.largest = self.largest.max(for_nothing_before);
        }
        let awake = Awake {
            since_ns: wait.start_ns.saturating_add(wait.duration_ns),
            for_nothing_before,
        };
        self.awake.insert(wait.thread, awake);
    }

    /// Adds a wait in `Object.wait`, in the order in which they ended.
    fn add_object_wait(&mut self, wait: &Wait, waker: Option<Notification>) {
        if let Some(before) = self.notified.remove(&wait.thread)
            && before.chain == wait.chain
            && let Some(lost_ns) = wait.start_ns.checked_sub(before.until_ns)
            && lost_ns <= WAITS_AGAIN_NS
        {
            self.for_nothing += 1;
            self.lost_ns += lost_ns;
            if self.for_nothing_by.len() >= MAX_NOTIFICATIONS {
                self.for_nothing_by.clear();
            }
            let for_nothing = self.for_nothing_by.entry(before.by).or_default();
            *for_nothing += 1;
            self.stampedes += u64::from(*for_nothing == STAMPEDE);
            self.largest = self.largest.max(*for_nothing);
        }
        let Some(by) = waker else { return };
        self.woken += 1;
        let notified = Notified {
            by,
            chain: wait.chain,
            until_ns: wait.start_ns.saturating_add(wait.duration_ns),
        };
        self.notified.insert(wait.thread, notified);
    }

    fn merge(&mut self, other: Self) {
        self.woken += other.woken;
        self.for_nothing += other.for_nothing;
        self.lost_ns += other.lost_ns;
        self.stampedes += other.stampedes;
        self.largest = self.largest.max(other.largest);
    }
}

/// Threads that were blocked when they came back from `Object.wait` or `Condition.await`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reentries {
    /// How often.
    pub count: u64,
    /// How long they waited for the lock, in nanoseconds.
    pub blocked_ns: u64,
}

/// Collects convoys and wake-ups from the waits that an analysis finds, of any
/// [`Detail`](crate::Detail) but [`Detail::CODE`](crate::Detail::CODE).
#[derive(Clone, Debug, Default)]
pub struct Convoys {
    periods: SeededMap<LockIndex, Periods>,
    /// How many there are.
    count: usize,
    are_some_forgotten: bool,
    wake_ups: SeededMap<LockIndex, WakeUps>,
    reentries: SeededMap<LockIndex, Reentries>,
    /// Whether a call chain releases a lock in `await`.
    in_await: SeededMap<ChainIndex, bool>,
}

impl Convoys {
    /// Returns the locks whose queue did not drain while at least `min_waits` waits ended, first
    /// those whose convoys blocked threads longest.
    pub fn convoys(&self, min_waits: u64) -> Vec<Convoy<'_>> {
        let locks = self.periods.iter();
        let convoys = locks.filter_map(|(&lock, periods)| {
            let long = || periods.values().filter(|period| period.waits >= min_waits);
            // The last one of equals: the earliest.
            let largest = long().rev().max_by_key(|period| period.waits)?;
            Some(Convoy {
                lock,
                count: long().count() as u64,
                largest,
                waits: long().map(|period| period.waits).sum(),
                duration_ns: long().map(QueuePeriod::duration_ns).sum(),
                blocked_ns: long().map(|period| period.blocked_ns).sum(),
            })
        });
        let mut convoys: Vec<_> = convoys.collect();
        convoys.sort_unstable_by_key(|convoy| (u64::MAX - convoy.blocked_ns, convoy.lock.0));
        convoys
    }

    /// The conditions that threads were woken from, those first on which most were woken for
    /// nothing.
    pub fn wake_ups(&self) -> Vec<(LockIndex, &WakeUps)> {
        let mut wake_ups: Vec<_> = self.wake_ups.iter().map(|(&lock, it)| (lock, it)).collect();
        wake_ups.sort_unstable_by_key(|(lock, it)| {
            (u64::MAX - it.for_nothing, u64::MAX - it.woken, lock.0)
        });
        wake_ups
    }

    /// The locks for which threads waited that came back from `Object.wait` or `Condition.await`,
    /// those first for which they waited longest.
    pub fn reentries(&self) -> Vec<(LockIndex, Reentries)> {
        let mut reentries: Vec<_> = self
            .reentries
            .iter()
            .map(|(&lock, &it)| (lock, it))
            .collect();
        reentries.sort_unstable_by_key(|(lock, it)| (u64::MAX - it.blocked_ns, lock.0));
        reentries
    }

    /// For want of memory, not all convoys are there in full.
    pub fn are_some_forgotten(&self) -> bool {
        self.are_some_forgotten
    }

    fn add(&mut self, wait: &Wait, entities: &Entities) {
        match wait.kind {
            WaitKind::Contention => {
                self.change_periods(wait.lock, |periods| {
                    add_period(periods, QueuePeriod::of(wait));
                });
                if wait.after_wait {
                    let reentries = self.reentries.entry(wait.lock).or_default();
                    reentries.count += 1;
                    reentries.blocked_ns += wait.duration_ns - wait.frozen_ns();
                }
            }
            WaitKind::Conditional if wait.mechanism == Mechanism::Monitor => {
                let waker = wait.blame.iter().find_map(|blame| {
                    let (thread, _) = blame.owner.thread()?;
                    let woken_ns = wait.start_ns.saturating_add(blame.duration_ns);
                    Some((thread, woken_ns.saturating_add(wait.frozen_ns())))
                });
                let wake_ups = self.wake_ups.entry(wait.lock).or_default();
                wake_ups.add_object_wait(wait, waker);
            }
            WaitKind::Conditional if wait.end == WaitEnd::Woken => {
                let wakers = wait.blame.iter();
                let waker = wakers.filter_map(|blame| match blame.owner {
                    Owner::Thread { thread, chain } => Some((thread, chain, blame.duration_ns)),
                    Owner::Free | Owner::Frozen | Owner::Unknown(_) => None,
                });
                // The waker's part is the first one, in which the process may not have run.
                let frozen_ns = wait.frozen_ns();
                for (thread, chain, duration_ns) in waker {
                    let in_await = self.in_await.entry(chain);
                    let in_await = *in_await.or_insert_with(|| is_in_await(chain, entities));
                    let woken_ns = wait.start_ns.saturating_add(duration_ns + frozen_ns);
                    let wake_ups = self.wake_ups.entry(wait.lock).or_default();
                    wake_ups.add(wait, thread, woken_ns, in_await);
                }
            }
            _ => {}
        }
    }

    fn change_periods(&mut self, lock: LockIndex, change: impl FnOnce(&mut Periods)) {
        let periods = self.periods.entry(lock).or_default();
        let before = periods.len();
        change(periods);
        self.count = self.count + periods.len() - before;
        if self.count > MAX_PERIODS {
            self.forget();
        }
    }

    /// Forgets about half of the times, those with the fewest waits, but not the last one of a
    /// lock: that may go on.
    fn forget(&mut self) {
        self.are_some_forgotten = true;
        let all = self.periods.values().flat_map(BTreeMap::values);
        let mut waits: Vec<u64> = all.map(|period| period.waits).collect();
        let middle = waits.len() / 2;
        let (_, &mut median, _) = waits.select_nth_unstable(middle);
        for periods in self.periods.values_mut() {
            let last_ns = periods.keys().next_back().copied();
            periods.retain(|&start_ns, period| Some(start_ns) == last_ns || period.waits > median);
        }
        self.count = self.periods.values().map(BTreeMap::len).sum();
    }
}

/// Whether a thread stood in `await` of a condition, which releases the lock before the thread
/// waits.
fn is_in_await(chain: ChainIndex, entities: &Entities) -> bool {
    let mut frames = entities.chain(chain).frames().iter();
    frames.any(|frame| {
        let method = entities.method(frame.method);
        let class = method.class.map_or("", |class| entities.class_name(class));
        class.ends_with("Synchronizer$ConditionObject") && method.name.starts_with("await")
    })
}

impl WaitSink for Convoys {
    fn wait(&mut self, wait: &Wait, entities: &Entities) {
        self.add(wait, entities);
    }
}

impl DivisibleSink for Convoys {
    fn part(&self) -> Self {
        Self::default()
    }

    fn merge(&mut self, part: Self) {
        self.are_some_forgotten |= part.are_some_forgotten;
        for (lock, periods) in part.periods {
            self.change_periods(lock, |known| {
                for period in periods.into_values() {
                    add_period(known, period);
                }
            });
        }
        for (lock, wake_ups) in part.wake_ups {
            self.wake_ups.entry(lock).or_default().merge(wake_ups);
        }
        for (lock, reentries) in part.reentries {
            let known = self.reentries.entry(lock).or_default();
            known.count += reentries.count;
            known.blocked_ns += reentries.blocked_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wait(thread: u32, start_ns: u64, duration_ns: u64) -> Wait {
        let mut wait = Wait::blank();
        wait.thread = ThreadIndex(thread);
        (wait.start_ns, wait.duration_ns) = (start_ns, duration_ns);
        wait
    }

    proptest! {
        /// Every nanosecond by itself, in whatever order the waits come.
        #[test]
        fn periods_are_the_times_in_which_anybody_waits(
            waits in prop::collection::vec((0..4_u32, 0..60_u64, 0..12_u64), 0..30),
            split in any::<prop::sample::Index>(),
        ) {
            let waits: Vec<_> = waits
                .iter()
                .map(|&(thread, start_ns, duration_ns)| wait(thread, start_ns, duration_ns))
                .collect();
            let (mut convoys, mut part) = (Convoys::default(), Convoys::default());
            for (at, wait) in waits.iter().enumerate() {
                let first = at < split.index(waits.len());
                let sink = if first { &mut convoys } else { &mut part };
                sink.add(wait, &Entities::default());
            }
            convoys.merge(part);

            // Half of each is for the moment, half for what follows until the next one.
            let is_busy = |half: u64| waits.iter().any(|wait| {
                (wait.start_ns * 2..=(wait.start_ns + wait.duration_ns) * 2).contains(&half)
            });
            let mut expected: Vec<(u64, u64)> = Vec::new();
            for half in (0..200).filter(|&half| is_busy(half)) {
                match expected.last_mut() {
                    Some((_, end)) if *end + 1 == half => *end = half,
                    _ => expected.push((half, half)),
                }
            }
            let found = convoys.periods.get(&LockIndex(0)).cloned().unwrap_or_default();
            let times: Vec<_> = found.values().map(|it| (it.start_ns * 2, it.end_ns * 2)).collect();
            prop_assert_eq!(&times, &expected);
            for period in found.values() {
                let inside: Vec<_> = waits
                    .iter()
                    .filter(|it| (period.start_ns..=period.end_ns).contains(&it.start_ns))
                    .collect();
                prop_assert_eq!(period.waits, inside.len() as u64);
                let blocked_ns = inside.iter().map(|it| it.duration_ns).sum::<u64>();
                prop_assert_eq!(period.blocked_ns, blocked_ns);
                let threads: SeededSet<_> = inside.iter().map(|it| it.thread).collect();
                prop_assert_eq!(period.threads(), threads.len());
            }
            let largest = found.values().map(|it| it.waits).max();
            let convoy = convoys.convoys(1);
            prop_assert_eq!(convoy.first().map(|it| it.largest.waits), largest);
        }
    }

    /// Each: who was woken, when its wait began and ended, by whom, when, and whether that was in
    /// `await`.
    fn wake_ups(woken: &[(u32, u64, u64, u32, u64, bool)]) -> WakeUps {
        let mut wake_ups = WakeUps::default();
        for &(thread, start_ns, end_ns, waker, woken_ns, in_await) in woken {
            let wait = wait(thread, start_ns, end_ns - start_ns);
            wake_ups.add(&wait, ThreadIndex(waker), woken_ns, in_await);
        }
        wake_ups
    }

    fn counts(of: &WakeUps) -> (u64, u64, u64, u64, u64) {
        (
            of.woken,
            of.for_nothing,
            of.lost_ns,
            of.stampedes,
            of.largest,
        )
    }

    #[test]
    fn a_thread_in_await_that_wakes_the_next_one_was_woken_for_nothing() {
        // Thread 9 signals all; 1 works, and 2 and 3 find nothing to do.
        let stampede = [
            (1, 0, 101, 9, 100, false),
            (2, 1, 205, 1, 200, false),
            (3, 2, 307, 2, 300, true),
            (4, 3, 409, 3, 400, true),
        ];
        let lost_ns = (300 - 205) + (400 - 307);
        assert_eq!(counts(&wake_ups(&stampede)), (4, 2, lost_ns, 1, 2));
        // Another one: 4 was the last one of the first.
        let mut two = stampede.to_vec();
        two.extend(
            stampede.map(|(thread, start_ns, end_ns, waker, woken_ns, in_await)| {
                let later = |time_ns| time_ns + 1_000;
                (
                    thread,
                    later(start_ns),
                    later(end_ns),
                    waker,
                    later(woken_ns),
                    in_await,
                )
            }),
        );
        assert_eq!(counts(&wake_ups(&two)), (8, 4, 2 * lost_ns, 2, 2));
    }

    #[test]
    fn a_thread_that_waits_again_was_notified_for_nothing() {
        // Thread 9 notifies all three at 100; 1 works, and 2 and 3 find nothing to do.
        let mut wake_ups = WakeUps::default();
        let all = Some((ThreadIndex(9), 100));
        for thread in 1..=3 {
            wake_ups.add_object_wait(&wait(thread, 0, 110), all);
        }
        let later = WAITS_AGAIN_NS + 111;
        for (thread, start_ns) in [(2, 120), (3, 130), (1, later)] {
            wake_ups.add_object_wait(&wait(thread, start_ns, 2 * later - start_ns), None);
        }
        assert_eq!(counts(&wake_ups), (3, 2, 10 + 20, 1, 2));
    }

    #[test]
    fn one_woken_for_nothing_is_no_stampede() {
        let one = [(1, 0, 101, 9, 100, false), (2, 1, 205, 1, 200, true)];
        assert_eq!(counts(&wake_ups(&one)), (2, 1, 99, 0, 1));
        // It comes to wait for the first time, and has not been woken.
        let first = [(1, 0, 101, 9, 100, true)];
        assert_eq!(counts(&wake_ups(&first)), (1, 0, 0, 0, 0));
    }

    #[test]
    fn memory_is_bounded_and_the_longest_stay() {
        let mut convoys = Convoys::default();
        let entities = Entities::default();
        for at in 0..10 {
            convoys.add(&wait(at, 5, 10), &entities);
        }
        for at in 0..3 * MAX_PERIODS as u64 {
            convoys.add(&wait(1, 100 + at * 10, 1), &entities);
        }
        assert!(convoys.count <= MAX_PERIODS);
        assert!(convoys.are_some_forgotten());
        let found = convoys.convoys(2);
        assert_eq!(
            (found[0].count, found[0].waits, found[0].largest.threads()),
            (1, 10, 10)
        );
    }
}
