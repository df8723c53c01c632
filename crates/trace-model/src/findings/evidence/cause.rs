//! What is known of one cause of waiting: code that held locks of a class.

use trace_analysis::histogram::Histogram;
use trace_analysis::{
    ChainIndex, ClassIndex, LockIndex, Owner, RootEnd, RootPart, Scheduling, ThreadIndex, Value,
    Wait, WaitKind,
};

use super::coverage::Coverage;
use super::sample_count::SampleCount;
use super::tally::{Tally, TallySum};
use super::thread_set::ThreadSet;
use super::time_series::TimeSeries;
use crate::hash::SeededMap;
use crate::sum::Sum;
use crate::time_axis::MAX_NS;

/// Which cause it is. What is at the end of the chain of owners is to blame (paper, section 6): who waits
/// itself is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CauseKey {
    /// The class of what the last wait of the chain is for.
    pub(crate) lock_class: Value,
    /// The code at the end of the chain, or why it is not known.
    pub(crate) owner: Value,
}

/// The direct owner of a lock whose wait led to the root owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Through {
    /// The class of the lock that threads waited for.
    pub(crate) lock_class: Value,
    /// The code that held it.
    pub(crate) owner: Value,
}

/// The most different things of a kind that a cause keeps apart.
const MAX_KEYS: usize = 512;
/// The most locks of a cause.
pub(crate) const MAX_LOCKS: usize = 1 << 16;

/// A cause of waiting.
#[derive(Clone, Debug)]
pub(crate) struct Cause {
    pub(crate) duration_ns: Sum,
    pub(crate) contentions: u64,
    pub(crate) waits: u64,
    /// Of each wait what this cause had of it.
    pub(crate) histogram: Histogram,
    pub(crate) safepoint_ns: Sum,
    /// The whole duration of the waits concerned.
    pub(crate) whole_ns: Sum,
    /// The time in which any of its parts went on, or any of its waits, if the places of parts are not known.
    pub(crate) coverage: Coverage,
    pub(crate) parts_have_places: bool,
    pub(crate) series: TimeSeries,
    /// The threads that waited.
    pub(crate) threads: ThreadSet,
    /// The threads at the end of the chain.
    pub(crate) owner_threads: ThreadSet,
    /// The locks at the end of the chain.
    pub(crate) locks: Tally<LockIndex>,
    /// By the method that waited.
    pub(crate) waiters: SeededMap<Value, WaiterSite>,
    /// Where the root owner stood when it released the lock.
    pub(crate) chains: Tally<ChainIndex>,
    /// By the direct owner, if that is another one.
    pub(crate) through: Tally<Through>,
    /// Where the owner was, by samples of its stack.
    pub(crate) samples: Tally<ChainIndex>,
    /// How many samples that are, for the one thread that met most.
    pub(crate) sample_count: SampleCount<ThreadIndex>,
    /// How long threads waited that came back from `Object.wait`.
    pub(crate) after_wait_ns: Sum,
    /// What the owner waited for itself meanwhile, which is no lock: where, and for which object.
    pub(crate) own_waits: Tally<(WaitKind, ChainIndex, LockIndex)>,
    /// How the owner was scheduled, as far as that is known.
    pub(crate) scheduling: Scheduling,
    /// What the current wait had so far.
    current: Current,
}

/// A method that waited because of a cause.
#[derive(Clone, Debug)]
pub(crate) struct WaiterSite {
    pub(crate) duration_ns: u64,
    pub(crate) waits: u64,
    pub(crate) threads: ThreadSet,
    /// The class of the first lock that it waited for.
    pub(crate) lock_class: Option<ClassIndex>,
    pub(crate) locks: Tally<LockIndex>,
    /// Where it stood.
    pub(crate) chains: Tally<ChainIndex>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Current {
    duration_ns: u64,
    /// The contention that the last part was of.
    contention: Option<usize>,
    is_touched: bool,
}

impl Default for Cause {
    fn default() -> Self {
        Self {
            duration_ns: Sum::default(),
            contentions: 0,
            waits: 0,
            histogram: Histogram::default(),
            safepoint_ns: Sum::default(),
            whole_ns: Sum::default(),
            coverage: Coverage::default(),
            parts_have_places: true,
            series: TimeSeries::default(),
            threads: ThreadSet::default(),
            owner_threads: ThreadSet::default(),
            locks: Tally::new(MAX_LOCKS),
            waiters: SeededMap::default(),
            chains: Tally::new(MAX_KEYS),
            through: Tally::new(MAX_KEYS),
            samples: Tally::new(MAX_KEYS),
            sample_count: SampleCount::default(),
            after_wait_ns: Sum::default(),
            own_waits: Tally::new(MAX_KEYS),
            scheduling: Scheduling::default(),
            current: Current::default(),
        }
    }
}

impl Cause {
    /// Adds a part of a thread's wait, with the direct owner if that is another one. Returns whether it is the first
    /// one of this wait. `contention` is the number of the contention that it is a part of, if that is known.
    pub(super) fn add_part(
        &mut self,
        waiter: ThreadIndex,
        part: &RootPart,
        through: Option<Through>,
        contention: Option<usize>,
    ) -> bool {
        let is_another = contention.is_none() || contention != self.current.contention;
        if is_another {
            self.contentions = self.contentions.saturating_add(part.contentions);
            self.current.contention = contention;
        }
        self.current.duration_ns = self.current.duration_ns.saturating_add(part.duration_ns);
        if let RootEnd::Owner(Owner::Thread { thread, chain }) = part.root.end {
            self.owner_threads.add(thread);
            self.chains.add(chain, part.duration_ns, 1);
        }
        self.locks.add(part.root.lock, part.duration_ns, 1);
        if let Some(through) = through {
            self.through.add(through, part.duration_ns, 1);
        } else if let Some(sample) = part.sample {
            self.samples.add(sample, part.duration_ns, 1);
            self.sample_count.add(waiter, part.duration_ns);
        }
        !std::mem::replace(&mut self.current.is_touched, true)
    }

    /// Adds time in which the owner waited itself, for something that is no lock.
    pub(super) fn add_own_wait(
        &mut self,
        kind: WaitKind,
        chain: ChainIndex,
        lock: LockIndex,
        duration_ns: u64,
    ) {
        self.own_waits.add((kind, chain, lock), duration_ns, 1);
        self.scheduling.add(Scheduling {
            not_on_processor_ns: duration_ns,
            ..Scheduling::default()
        });
    }

    /// Adds where a part of a wait lies, with the lock at the end of its chain.
    pub(super) fn add_place(
        &mut self,
        wait: &Wait,
        lock: LockIndex,
        (start_ns, end_ns): (u64, u64),
    ) {
        self.coverage.add(wait.id.trace, lock, start_ns, end_ns);
    }

    /// Ends a wait of which parts were added, for a lock of a class, in a method.
    pub(super) fn end_wait(&mut self, wait: &Wait, waiter: Value, lock_class: Option<ClassIndex>) {
        let duration_ns = std::mem::take(&mut self.current).duration_ns.min(MAX_NS);
        self.waits += 1;
        self.duration_ns.add(duration_ns);
        self.whole_ns.add(wait.duration_ns);
        self.histogram.add(duration_ns, 1);
        if wait.after_wait {
            self.after_wait_ns.add(duration_ns);
        }
        let safepoint_ns = wait.safepoint_ns.min(wait.duration_ns);
        self.safepoint_ns
            .add_sum(Sum::from(safepoint_ns).part(duration_ns, wait.duration_ns));
        let end_ns = wait.start_ns.saturating_add(wait.duration_ns);
        self.series.add(wait.start_ns, end_ns, duration_ns);
        self.threads.add(wait.thread);
        if self.waiters.len() < MAX_KEYS || self.waiters.contains_key(&waiter) {
            let site = self
                .waiters
                .entry(waiter)
                .or_insert_with(|| WaiterSite::new(lock_class));
            site.add(wait, duration_ns);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.duration_ns.add_sum(other.duration_ns);
        self.contentions = self.contentions.saturating_add(other.contentions);
        self.waits += other.waits;
        let buckets = other.histogram.buckets();
        self.histogram
            .add_buckets(buckets.into_iter(), other.histogram.max_ns());
        self.safepoint_ns.add_sum(other.safepoint_ns);
        self.whole_ns.add_sum(other.whole_ns);
        self.coverage.merge(&other.coverage);
        self.parts_have_places &= other.parts_have_places;
        self.series.merge(&other.series);
        self.threads.merge(&other.threads);
        self.owner_threads.merge(&other.owner_threads);
        self.locks.merge(&other.locks);
        for (&waiter, site) in &other.waiters {
            self.waiters
                .entry(waiter)
                .or_insert_with(|| WaiterSite::new(site.lock_class))
                .merge(site);
        }
        self.chains.merge(&other.chains);
        self.through.merge(&other.through);
        self.samples.merge(&other.samples);
        self.sample_count.merge(&other.sample_count);
        self.after_wait_ns.add_sum(other.after_wait_ns);
        self.own_waits.merge(&other.own_waits);
        self.scheduling.add(other.scheduling);
    }

    /// Returns whether the lock with the most time is one of another cause, too.
    pub(crate) fn shares_locks_with(&self, other: &Self) -> bool {
        let most_ns = self.locks.iter().map(|(_, sum)| sum.duration_ns).max();
        let mut largest = self
            .locks
            .iter()
            .filter(|(_, sum)| Some(sum.duration_ns) == most_ns);
        largest.any(|(lock, _)| other.locks.duration_ns(&lock) > 0)
    }

    /// Returns the locks that it is about: all, unless those with a hundredth of the time are most of it.
    pub(crate) fn main_locks(&self) -> Vec<LockIndex> {
        let all_ns = self.locks.total_ns();
        let large = |&(_, sum): &(LockIndex, TallySum)| sum.duration_ns >= all_ns / 100;
        let large: Vec<_> = self.locks.iter().filter(large).collect();
        let large_ns: u64 = large.iter().map(|(_, sum)| sum.duration_ns).sum();
        if large_ns >= all_ns / 2 {
            large.into_iter().map(|(lock, _)| lock).collect()
        } else {
            self.locks.iter().map(|(lock, _)| lock).collect()
        }
    }

    /// Returns the number of methods that waited for its own locks, not behind another one.
    pub(crate) fn direct_sites(&self) -> u64 {
        let sites = self.waiters.values();
        let direct = sites.filter(|site| {
            site.locks
                .iter()
                .any(|(lock, _)| self.locks.duration_ns(&lock) > 0)
        });
        direct.count() as u64
    }

    /// Returns the time in which any thread waited because of it, in nanoseconds, and whether that is exact.
    pub(crate) fn wall_ns(&self) -> (u64, bool) {
        let union_ns = self.coverage.covered().duration_ns;
        match self.parts_have_places {
            true => (union_ns, self.coverage.is_exact()),
            false => {
                let share = self.duration_ns.of(self.whole_ns);
                ((union_ns as f64 * share).round() as u64, false)
            }
        }
    }
}

impl WaiterSite {
    fn new(lock_class: Option<ClassIndex>) -> Self {
        Self {
            lock_class,
            duration_ns: 0,
            waits: 0,
            threads: ThreadSet::default(),
            locks: Tally::new(MAX_KEYS),
            chains: Tally::new(MAX_KEYS),
        }
    }

    fn add(&mut self, wait: &Wait, duration_ns: u64) {
        self.duration_ns = self.duration_ns.saturating_add(duration_ns);
        self.waits += 1;
        self.threads.add(wait.thread);
        self.locks.add(wait.lock, duration_ns, 1);
        self.chains.add(wait.chain, duration_ns, 1);
    }

    fn merge(&mut self, other: &Self) {
        self.duration_ns = self.duration_ns.saturating_add(other.duration_ns);
        self.waits += other.waits;
        self.threads.merge(&other.threads);
        self.locks.merge(&other.locks);
        self.chains.merge(&other.chains);
    }
}
