//! The time covered by intervals that may overlap.

use trace_analysis::LockIndex;

/// The most separate intervals that are kept apart.
const MAX_INTERVALS: usize = 1 << 14;

/// A union of intervals, each of which is about a lock.
#[derive(Clone, Debug)]
pub(crate) struct Coverage<L = LockIndex> {
    /// The trace that the intervals are of.
    trace: u32,
    /// In order, without overlaps.
    intervals: Vec<Interval<L>>,
    /// The sums of the traces before.
    before: Covered,
    /// How long intervals about different locks overlapped, in nanoseconds.
    mixed_ns: u64,
    /// How long the gaps between intervals are that were filled for want of memory, in nanoseconds. What falls
    /// into one of them later is lost.
    filled_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval<L> {
    start_ns: u64,
    end_ns: u64,
    /// `None` if it is about several.
    lock: Option<L>,
}

/// The size of a union of intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Covered {
    /// The time covered, in nanoseconds.
    pub(crate) duration_ns: u64,
    /// The number of times without a gap, of those that are at least a tenth as long as the longest.
    pub(crate) periods: u64,
    /// The duration of these.
    pub(crate) periods_ns: u64,
}

impl<L> Default for Coverage<L> {
    fn default() -> Self {
        Self {
            trace: 0,
            intervals: Vec::new(),
            before: Covered::default(),
            mixed_ns: 0,
            filled_ns: 0,
        }
    }
}

impl<L: Copy + PartialEq> Coverage<L> {
    /// Adds an interval of a trace that is about a lock. Intervals mostly come in the order in which they end.
    pub(crate) fn add(&mut self, trace: u32, lock: L, start_ns: u64, end_ns: u64) {
        if trace != self.trace {
            self.finish_trace(trace);
        }
        if start_ns < end_ns {
            self.insert(Interval {
                start_ns,
                end_ns,
                lock: Some(lock),
            });
        }
        if self.intervals.len() > MAX_INTERVALS {
            self.fill_gaps();
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.before.add(other.before);
        self.mixed_ns = self.mixed_ns.saturating_add(other.mixed_ns);
        self.filled_ns = self.filled_ns.saturating_add(other.filled_ns);
        if other.trace != self.trace {
            self.finish_trace(other.trace);
        }
        for &interval in &other.intervals {
            self.insert(interval);
        }
        if self.intervals.len() > MAX_INTERVALS {
            self.fill_gaps();
        }
    }

    pub(crate) fn covered(&self) -> Covered {
        let mut covered = self.before;
        covered.add(self.of_trace());
        covered.duration_ns = covered.duration_ns.saturating_sub(self.filled_ns);
        covered
    }

    /// Returns how much is covered from a time of the last trace on, in nanoseconds.
    pub(crate) fn covered_from_ns(&self, from_ns: u64) -> u64 {
        let first = self.intervals.partition_point(|it| it.end_ns <= from_ns);
        let after = self.intervals[first..].iter();
        let durations_ns = after.map(|it| it.end_ns - it.start_ns.max(from_ns));
        durations_ns.sum()
    }

    /// Returns how long intervals about different locks overlapped, in nanoseconds.
    pub(crate) fn mixed_ns(&self) -> u64 {
        self.mixed_ns
    }

    /// Returns whether no gap was filled.
    pub(crate) fn is_exact(&self) -> bool {
        self.filled_ns == 0
    }

    fn of_trace(&self) -> Covered {
        let durations_ns = self.intervals.iter().map(|it| it.end_ns - it.start_ns);
        let longest_ns = durations_ns.clone().max().unwrap_or(0);
        let long_ns = durations_ns.clone().filter(|&ns| ns >= longest_ns / 10);
        Covered {
            duration_ns: durations_ns.sum(),
            periods: long_ns.clone().count() as u64,
            periods_ns: long_ns.sum(),
        }
    }

    fn finish_trace(&mut self, next: u32) {
        self.before.add(self.of_trace());
        self.intervals.clear();
        self.trace = next;
    }

    fn insert(&mut self, new: Interval<L>) {
        match self.intervals.last_mut() {
            Some(last) if new.start_ns < last.start_ns => self.insert_before_last(new),
            Some(last) if new.start_ns <= last.end_ns => {
                let mixed_ns = last.join(new);
                self.mixed_ns = self.mixed_ns.saturating_add(mixed_ns);
            }
            _ => self.intervals.push(new),
        }
    }

    fn insert_before_last(&mut self, mut new: Interval<L>) {
        let first = self
            .intervals
            .partition_point(|it| it.end_ns < new.start_ns);
        let end = first + self.intervals[first..].partition_point(|it| it.start_ns <= new.end_ns);
        for &old in &self.intervals[first..end] {
            let mixed_ns = new.join(old);
            self.mixed_ns = self.mixed_ns.saturating_add(mixed_ns);
        }
        self.intervals.splice(first..end, [new]);
    }

    /// Fills the shorter half of the gaps.
    fn fill_gaps(&mut self) {
        let gap_ns = |pair: &[Interval<L>]| pair[1].start_ns - pair[0].end_ns;
        let mut gaps_ns: Vec<u64> = self.intervals.windows(2).map(gap_ns).collect();
        let middle = gaps_ns.len() / 2;
        let Some((_, &mut median_ns, _)) =
            (middle < gaps_ns.len()).then(|| gaps_ns.select_nth_unstable(middle))
        else {
            return;
        };
        let mut kept: Vec<Interval<L>> = Vec::with_capacity(MAX_INTERVALS);
        for interval in self.intervals.drain(..) {
            match kept.last_mut() {
                Some(last) if interval.start_ns - last.end_ns <= median_ns => {
                    let gap_ns = interval.start_ns - last.end_ns;
                    self.filled_ns = self.filled_ns.saturating_add(gap_ns);
                    last.end_ns = interval.end_ns;
                    last.lock = last.lock.filter(|_| last.lock == interval.lock);
                }
                _ => kept.push(interval),
            }
        }
        self.intervals = kept;
    }
}

impl<L: Copy + PartialEq> Interval<L> {
    /// Extends the interval to another one that it overlaps or touches. Returns how long both overlap, if
    /// they are about different locks.
    fn join(&mut self, other: Self) -> u64 {
        let is_same = self.lock.is_some() && self.lock == other.lock;
        let overlap_end_ns = self.end_ns.min(other.end_ns);
        let overlap_ns = overlap_end_ns.saturating_sub(self.start_ns.max(other.start_ns));
        self.start_ns = self.start_ns.min(other.start_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        if is_same {
            return 0;
        }
        self.lock = None;
        overlap_ns
    }
}

impl Covered {
    fn add(&mut self, other: Self) {
        self.duration_ns = self.duration_ns.saturating_add(other.duration_ns);
        self.periods += other.periods;
        self.periods_ns = self.periods_ns.saturating_add(other.periods_ns);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(intervals: &[(u32, u64, u64)]) -> Coverage<u32> {
        let mut coverage = Coverage::default();
        for &(lock, start_ns, end_ns) in intervals {
            coverage.add(0, lock, start_ns, end_ns);
        }
        coverage
    }

    #[test]
    fn overlaps_count_once_and_locks_are_told_apart() {
        let coverage = of(&[
            (1, 10, 20),
            (1, 15, 30),
            (2, 40, 50),
            (1, 45, 60),
            (1, 70, 70),
        ]);
        let expected = Covered {
            duration_ns: 40,
            periods: 2,
            periods_ns: 40,
        };
        assert_eq!(coverage.covered(), expected);
        assert_eq!((coverage.mixed_ns(), coverage.is_exact()), (5, true));
        let from = [0, 25, 30, 55, 60].map(|from_ns| coverage.covered_from_ns(from_ns));
        assert_eq!(from, [40, 25, 20, 5, 0]);
    }

    #[test]
    fn times_of_another_trace_are_others() {
        let mut coverage = of(&[(1, 10, 20)]);
        coverage.add(1, 1, 10, 20);
        assert_eq!(coverage.covered().duration_ns, 20);
        assert_eq!(coverage.covered().periods, 2);
    }

    #[test]
    fn many_intervals_are_about_right() {
        let intervals: Vec<_> = (0..40_000).map(|it| (1, it * 100, it * 100 + 90)).collect();
        let coverage = of(&intervals);
        let covered_ns = coverage.covered().duration_ns;
        assert!(!coverage.is_exact() && coverage.intervals.len() <= MAX_INTERVALS);
        assert_eq!(covered_ns, 40_000 * 90);
    }

    proptest! {
        /// By marking each nanosecond, in any order, and merged of two halves.
        #[test]
        fn unions_are_right(
            intervals in prop::collection::vec((0..3_u32, 0..200_u64, 0..40_u64), 0..40),
            split in any::<prop::sample::Index>(),
        ) {
            let intervals: Vec<_> =
                intervals.iter().map(|&(lock, start_ns, length_ns)| (lock, start_ns, start_ns + length_ns)).collect();
            let mut marked = [false; 240];
            for &(_, start_ns, end_ns) in &intervals {
                marked[start_ns as usize..end_ns as usize].fill(true);
            }
            let expected_ns = marked.iter().filter(|&&it| it).count() as u64;
            prop_assert_eq!(of(&intervals).covered().duration_ns, expected_ns);
            let (first, rest) = intervals.split_at(split.index(intervals.len() + 1).min(intervals.len()));
            let mut merged = of(first);
            merged.merge(&of(rest));
            prop_assert_eq!(merged.covered(), of(&intervals).covered());
        }
    }
}
