//! Statistics of each lock and of each thread: how often and how long threads waited, and which
//! threads took part.

use crate::aggregate::histogram::Histogram;
use crate::collections::hash::{SeededMap, SeededSet};
use crate::model::entity::{Entities, LockIndex, ThreadIndex};
use crate::model::wait::{EndedHolds, Holds, Owner, Wait};
use crate::model::wait_sink::{DivisibleSink, WaitSink};

/// Durations, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    count: u64,
    sum_ns: u64,
    /// Sum of the squares, for the standard deviation.
    squares: u128,
    /// 0 of none.
    min_ns: u64,
    histogram: Histogram,
}

impl Durations {
    fn add(&mut self, duration_ns: u64) {
        self.min_ns = match self.count {
            0 => duration_ns,
            _ => self.min_ns.min(duration_ns),
        };
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(duration_ns);
        let square = u128::from(duration_ns).pow(2);
        self.squares = self.squares.saturating_add(square);
        self.histogram.add(duration_ns, 1);
    }

    /// Adds `count` durations of which only the sum is known: each counts as their mean.
    fn add_several(&mut self, count: u64, sum_ns: u64) {
        let mean_ns = sum_ns / count.max(1);
        self.merge(&Self {
            count,
            sum_ns,
            squares: u128::from(count) * u128::from(mean_ns).pow(2),
            min_ns: mean_ns,
            histogram: Histogram::of(mean_ns, count),
        });
    }

    fn merge(&mut self, other: &Self) {
        self.min_ns = match (self.count, other.count) {
            (0, _) => other.min_ns,
            (_, 0) => self.min_ns,
            _ => self.min_ns.min(other.min_ns),
        };
        self.count += other.count;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.squares = self.squares.saturating_add(other.squares);
        let buckets = other.histogram.buckets();
        self.histogram
            .add_buckets(buckets.into_iter(), other.histogram.max_ns());
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// All of them together.
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// The shortest; 0 of none.
    pub fn min_ns(&self) -> u64 {
        self.min_ns
    }

    /// The longest; 0 of none.
    pub fn max_ns(&self) -> u64 {
        self.histogram.max_ns()
    }

    /// The mean; 0 of none.
    pub fn mean_ns(&self) -> f64 {
        match self.count {
            0 => 0.0,
            count => self.sum_ns as f64 / count as f64,
        }
    }

    /// The standard deviation of these durations, which are all there are; 0 of none.
    pub fn standard_deviation_ns(&self) -> f64 {
        match self.count {
            0 => 0.0,
            count => {
                let mean_square = self.squares as f64 / count as f64;
                // Rounding may make the difference of equal durations negative.
                (mean_square - self.mean_ns().powi(2)).max(0.0).sqrt()
            }
        }
    }

    /// Returns the percentile of the durations, exact to 1/32 of itself: see [`Histogram`].
    pub fn percentile_ns(&self, percent: u64) -> u64 {
        let percentile_ns = self.histogram.percentile_ns(percent);
        percentile_ns.clamp(self.min_ns, self.max_ns())
    }
}

/// Statistics of some waits.
#[derive(Clone, Debug, Default)]
pub struct WaitFigures {
    /// How long they were.
    pub durations: Durations,
    /// How much of their time the lock was free.
    pub free_ns: u64,
    /// How much of their time the owner is not known.
    pub unknown_ns: u64,
}

impl WaitFigures {
    fn add(&mut self, wait: &Wait) {
        self.durations.add(wait.duration_ns);
        for blame in &wait.blame {
            match blame.owner {
                Owner::Free => self.free_ns += blame.duration_ns,
                Owner::Unknown(_) => self.unknown_ns += blame.duration_ns,
                Owner::Thread { .. } | Owner::Frozen => {}
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        self.durations.merge(&other.durations);
        self.free_ns = self.free_ns.saturating_add(other.free_ns);
        self.unknown_ns = self.unknown_ns.saturating_add(other.unknown_ns);
    }
}

/// Statistics of holds that ended while threads waited for the lock, whichever waits are
/// selected.
#[derive(Clone, Debug, Default)]
pub struct HoldFigures {
    /// The durations that were reported at the release.
    pub durations: Durations,
    /// Those among them of which several share an event, which has their number and their sum:
    /// each counts as the mean of these.
    pub averaged: u64,
    /// Those without a reported duration, most of which began before any thread waited.
    pub untimed: u64,
}

impl HoldFigures {
    /// How many were seen.
    pub fn count(&self) -> u64 {
        self.durations.count + self.untimed
    }

    fn add(&mut self, holds: Holds) {
        match holds {
            Holds::NotKnown | Holds::BeforeContention => self.untimed += 1,
            Holds::For { holds: 1, held_ns } => self.durations.add(held_ns),
            Holds::For { holds, held_ns } => {
                self.averaged += u64::from(holds);
                self.durations.add_several(holds.into(), held_ns);
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        self.durations.merge(&other.durations);
        self.averaged += other.averaged;
        self.untimed += other.untimed;
    }
}

/// Statistics of a lock.
#[derive(Clone, Debug, Default)]
pub struct LockFigures {
    /// The waits for it.
    pub waits: WaitFigures,
    /// Its holds.
    pub holds: HoldFigures,
    waiting: SeededSet<ThreadIndex>,
    owning: SeededSet<ThreadIndex>,
}

impl LockFigures {
    /// How many threads waited for it.
    pub fn waiting_threads(&self, entities: &Entities) -> usize {
        distinct_threads(&self.waiting, entities)
    }

    /// How many threads owned it while others waited; of waits that are no contention, how many
    /// ended them.
    pub fn owning_threads(&self, entities: &Entities) -> usize {
        distinct_threads(&self.owning, entities)
    }

    fn merge(&mut self, other: &Self) {
        self.waits.merge(&other.waits);
        self.holds.merge(&other.holds);
        self.waiting.extend(&other.waiting);
        self.owning.extend(&other.owning);
    }
}

/// Statistics of a thread.
#[derive(Clone, Debug, Default)]
pub struct ThreadFigures {
    /// Its own waits.
    pub waits: WaitFigures,
    /// What it had, as the owner, of the waits of others: of each wait once.
    pub caused: Durations,
    /// Its own holds, of all locks.
    pub holds: HoldFigures,
    locks: SeededSet<LockIndex>,
    owners: SeededSet<ThreadIndex>,
    blocked: SeededSet<ThreadIndex>,
}

impl ThreadFigures {
    /// How many locks it waited for.
    pub fn locks(&self) -> usize {
        self.locks.len()
    }

    /// How many threads it waited for.
    pub fn owning_threads(&self, entities: &Entities) -> usize {
        distinct_threads(&self.owners, entities)
    }

    /// How many threads waited for it.
    pub fn blocked_threads(&self, entities: &Entities) -> usize {
        distinct_threads(&self.blocked, entities)
    }

    fn merge(&mut self, other: &Self) {
        self.waits.merge(&other.waits);
        self.caused.merge(&other.caused);
        self.holds.merge(&other.holds);
        self.locks.extend(&other.locks);
        self.owners.extend(&other.owners);
        self.blocked.extend(&other.blocked);
    }
}

/// Threads of several traces that have number and name in common are one.
fn distinct_threads(threads: &SeededSet<ThreadIndex>, entities: &Entities) -> usize {
    if !entities.has_canonical() {
        return threads.len();
    }
    let canonical = threads.iter().map(|&it| entities.canonical_thread(it));
    canonical.collect::<SeededSet<_>>().len()
}

/// Collects them from the waits that an analysis with [`Detail::OWNERS`](crate::Detail::OWNERS)
/// finds.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    locks: SeededMap<LockIndex, LockFigures>,
    threads: SeededMap<ThreadIndex, ThreadFigures>,
    /// What each thread had of the wait at hand.
    shares: Vec<(ThreadIndex, u64)>,
}

impl Figures {
    /// Of each lock that threads waited for, those first that threads waited for longest.
    pub fn locks(&self) -> Vec<(LockIndex, &LockFigures)> {
        let locks = self.locks.iter().map(|(&lock, it)| (lock, it));
        let mut locks: Vec<_> = locks
            .filter(|(_, it)| it.waits.durations.count > 0)
            .collect();
        locks.sort_unstable_by_key(|(lock, it)| (u64::MAX - it.waits.durations.sum_ns, lock.0));
        locks
    }

    /// Of each thread that waited or made others wait, those first that waited longest.
    pub fn threads(&self, entities: &Entities) -> Vec<(ThreadIndex, ThreadFigures)> {
        let mut canonical = SeededMap::<ThreadIndex, ThreadFigures>::default();
        for (&thread, figures) in &self.threads {
            let thread = entities.canonical_thread(thread);
            canonical.entry(thread).or_default().merge(figures);
        }
        canonical.retain(|_, it| it.waits.durations.count > 0 || it.caused.count > 0);
        let mut threads: Vec<_> = canonical.into_iter().collect();
        threads.sort_unstable_by_key(|(thread, it)| {
            let (blocked_ns, caused_ns) = (it.waits.durations.sum_ns, it.caused.sum_ns);
            (u64::MAX - blocked_ns, u64::MAX - caused_ns, thread.0)
        });
        threads
    }

    fn add(&mut self, wait: &Wait) {
        self.shares.clear();
        for blame in &wait.blame {
            let Some((thread, _)) = blame.owner.thread() else {
                continue;
            };
            let mut shares = self.shares.iter_mut();
            match shares.find(|(known, _)| *known == thread) {
                Some((_, duration_ns)) => *duration_ns += blame.duration_ns,
                None => self.shares.push((thread, blame.duration_ns)),
            }
        }
        let lock = self.locks.entry(wait.lock).or_default();
        lock.waits.add(wait);
        lock.waiting.insert(wait.thread);
        let waiter = self.threads.entry(wait.thread).or_default();
        waiter.waits.add(wait);
        waiter.locks.insert(wait.lock);
        let owners = || self.shares.iter().map(|&(owner, _)| owner);
        lock.owning.extend(owners());
        waiter.owners.extend(owners());
        for &(owner, duration_ns) in &self.shares {
            let owner = self.threads.entry(owner).or_default();
            owner.caused.add(duration_ns);
            owner.blocked.insert(wait.thread);
        }
    }
}

impl WaitSink for Figures {
    fn wait(&mut self, wait: &Wait, _entities: &Entities) {
        self.add(wait);
    }

    fn wants_holds(&self) -> bool {
        true
    }

    fn holds(&mut self, ended: EndedHolds) {
        let lock = self.locks.entry(ended.lock).or_default();
        lock.holds.add(ended.holds);
        let thread = self.threads.entry(ended.thread).or_default();
        thread.holds.add(ended.holds);
    }
}

impl DivisibleSink for Figures {
    fn part(&self) -> Self {
        Self::default()
    }

    fn merge(&mut self, part: Self) {
        for (lock, figures) in part.locks {
            self.locks.entry(lock).or_default().merge(&figures);
        }
        for (thread, figures) in part.threads {
            self.threads.entry(thread).or_default().merge(&figures);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn durations(of: &[u64]) -> Durations {
        let mut durations = Durations::default();
        for &duration_ns in of {
            durations.add(duration_ns);
        }
        durations
    }

    #[test]
    fn figures_of_known_durations() {
        let eight = durations(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((eight.count(), eight.sum_ns()), (8, 40));
        assert_eq!((eight.min_ns(), eight.max_ns()), (2, 9));
        assert_eq!((eight.mean_ns(), eight.standard_deviation_ns()), (5.0, 2.0));
        assert_eq!([50, 95, 99].map(|it| eight.percentile_ns(it)), [4, 9, 9]);
        let none = Durations::default();
        assert_eq!(
            (none.min_ns(), none.max_ns(), none.percentile_ns(99)),
            (0, 0, 0)
        );
        assert_eq!((none.mean_ns(), none.standard_deviation_ns()), (0.0, 0.0));
    }

    #[test]
    fn several_holds_count_as_their_mean() {
        let mut holds = HoldFigures::default();
        for seen in [
            Holds::For {
                holds: 1,
                held_ns: 900,
            },
            Holds::For {
                holds: 3,
                held_ns: 30,
            },
            Holds::BeforeContention,
            Holds::NotKnown,
        ] {
            holds.add(seen);
        }
        let known = &holds.durations;
        assert_eq!((holds.count(), known.count(), holds.averaged), (6, 4, 3));
        assert_eq!((holds.untimed, known.sum_ns()), (2, 930));
        assert_eq!((known.min_ns(), known.max_ns()), (10, 900));
        assert_eq!(known.percentile_ns(75), 10);
    }

    proptest! {
        /// By the definition, on sorted durations.
        #[test]
        fn percentiles_are_near(
            mut of in prop::collection::vec(0..10_000_000_000_u64, 1..200),
            split in any::<prop::sample::Index>(),
            percent in 1..=100_u64,
        ) {
            let (first, rest) = of.split_at(split.index(of.len()));
            let mut merged = durations(first);
            merged.merge(&durations(rest));
            of.sort_unstable();
            let rank = (of.len() as u64 * percent).div_ceil(100) as usize;
            let exact_ns = of[rank - 1];
            let found_ns = merged.percentile_ns(percent);
            prop_assert!(found_ns.abs_diff(exact_ns) <= exact_ns / 16, "{found_ns}, not {exact_ns}");
            prop_assert_eq!(merged.min_ns(), of[0]);
            prop_assert_eq!(merged.max_ns(), of[of.len() - 1]);
            prop_assert_eq!(merged.sum_ns(), of.iter().sum::<u64>());
            let mean_ns = of.iter().sum::<u64>() as f64 / of.len() as f64;
            let squares: f64 = of.iter().map(|&it| (it as f64 - mean_ns).powi(2)).sum();
            let deviation_ns = (squares / of.len() as f64).sqrt();
            let error_ns = (merged.standard_deviation_ns() - deviation_ns).abs();
            prop_assert!(error_ns <= 1e-6 * mean_ns.max(1.0), "{error_ns}");
        }
    }
}
