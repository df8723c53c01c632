//! Durations, spread over buckets of equal width.

use std::sync::Arc;

use crate::scale::Scale;
use crate::sum::Sum;

/// A series of durations over time.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    from_ns: u64,
    to_ns: u64,
    /// The starts of the buckets, and the end of the last one.
    bounds_ns: Arc<[u64]>,
    values: Vec<Sum>,
    /// The durations that are spread over all buckets.
    everywhere_ns: Sum,
    /// The time up to which [`add_covered`](Self::add_covered) has counted.
    covered_ns: u64,
}

impl Series {
    /// Creates a series, without buckets if the range is empty.
    pub(crate) fn new(from_ns: u64, to_ns: u64, buckets: usize) -> Self {
        let buckets = if from_ns < to_ns { buckets } else { 0 };
        let width = u128::from(to_ns.saturating_sub(from_ns));
        let bounds_ns = (0..=buckets as u128)
            .map(|bucket| from_ns + (width * bucket / buckets.max(1) as u128) as u64);
        Self {
            from_ns,
            to_ns,
            bounds_ns: bounds_ns.collect(),
            values: vec![Sum::default(); buckets],
            everywhere_ns: Sum::default(),
            covered_ns: 0,
        }
    }

    /// Returns the same buckets, empty.
    pub(crate) fn emptied(&self) -> Self {
        Self {
            bounds_ns: Arc::clone(&self.bounds_ns),
            values: vec![Sum::default(); self.values.len()],
            everywhere_ns: Sum::default(),
            covered_ns: 0,
            ..*self
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns where a bucket begins.
    fn start_ns(&self, bucket: usize) -> u64 {
        self.bounds_ns[bucket]
    }

    /// Returns the bucket of a time in the range.
    pub(crate) fn bucket(&self, time_ns: u64) -> usize {
        let time_ns = time_ns.clamp(self.from_ns, self.to_ns - 1);
        let share = (time_ns - self.from_ns) as f64 / (self.to_ns - self.from_ns) as f64;
        // Off by one bucket at most, as exact as a double is.
        let mut bucket = (share * self.values.len() as f64) as usize;
        bucket = bucket.min(self.values.len() - 1);
        while self.start_ns(bucket) > time_ns {
            bucket -= 1;
        }
        while self.start_ns(bucket + 1) <= time_ns {
            bucket += 1;
        }
        bucket
    }

    /// Returns the first and the last bucket of a period in the range.
    pub(crate) fn buckets(&self, from_ns: u64, to_ns: u64) -> (usize, usize) {
        let first = self.bucket(from_ns);
        if from_ns >= to_ns || first + 1 == self.values.len() || to_ns <= self.start_ns(first + 1) {
            return (first, first);
        }
        (first, self.bucket(to_ns - 1))
    }

    /// Spreads `duration_ns` evenly from `from_ns` to `to_ns`, which is in the range.
    pub(crate) fn add(&mut self, from_ns: u64, to_ns: u64, duration_ns: u64) {
        if !self.is_empty() {
            self.add_to(self.buckets(from_ns, to_ns), from_ns, to_ns, duration_ns);
        }
    }

    /// Like [`add`](Self::add), with known buckets.
    pub(crate) fn add_to(
        &mut self,
        (first, last): (usize, usize),
        from_ns: u64,
        to_ns: u64,
        duration_ns: u64,
    ) {
        if first == last {
            self.values[first].add(duration_ns);
            return;
        }
        if from_ns == self.from_ns && to_ns == self.to_ns {
            self.everywhere_ns.add(duration_ns);
            return;
        }
        let mut before = 0;
        for bucket in first..=last {
            let end_ns = if bucket == last {
                to_ns
            } else {
                self.start_ns(bucket + 1)
            };
            let until = Scale::new(end_ns - from_ns, to_ns - from_ns).down(duration_ns);
            self.values[bucket].add(until - before);
            before = until;
        }
    }

    /// Adds a period, of which overlaps count once. Periods come in the order of their starts.
    pub(crate) fn add_covered(&mut self, from_ns: u64, to_ns: u64) {
        let from_ns = from_ns.max(self.covered_ns);
        if from_ns < to_ns {
            self.add(from_ns, to_ns, to_ns - from_ns);
            self.covered_ns = to_ns;
        }
    }

    /// Adds a duration, capped at the period that it is spread over.
    pub(crate) fn add_capped(&mut self, from_ns: u64, to_ns: u64, duration_ns: u64) {
        self.add(
            from_ns,
            to_ns,
            duration_ns.min(to_ns.saturating_sub(from_ns)),
        );
    }

    pub(crate) fn finish(mut self) -> Vec<Sum> {
        let mut before = Sum::default();
        for bucket in 0..self.values.len() {
            let until_ns = self.start_ns(bucket + 1) - self.from_ns;
            let until = self.everywhere_ns.part(until_ns, self.to_ns - self.from_ns);
            self.values[bucket].add_sum(until.without(before));
            before = until;
        }
        self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_between_buckets() {
        for buckets in [1, 3, 7, 60] {
            let mut series = Series::new(100, 1_107, buckets);
            series.add(100, 1_107, 997);
            series.add(333, 777, 1_000_003);
            series.add(500, 500, 5);
            series.add(1_106, 1_107, 1);
            let mut total = Sum::default();
            for &value in &series.clone().finish() {
                total.add_sum(value);
            }
            assert_eq!(total.ns(), 997 + 1_000_003 + 5 + 1, "{buckets}");
        }
    }

    #[test]
    fn time_is_where_it_belongs() {
        let mut series = Series::new(0, 100, 4);
        series.add(20, 60, 40);
        let values: Vec<u64> = series.finish().into_iter().map(Sum::ns).collect();
        assert_eq!(values, [5, 25, 10, 0]);
    }

    #[test]
    fn overlaps_count_once() {
        let mut series = Series::new(0, 100, 2);
        series.add_covered(0, 60);
        series.add_covered(10, 30);
        series.add_covered(40, 80);
        let values: Vec<u64> = series.finish().into_iter().map(Sum::ns).collect();
        assert_eq!(values, [50, 30]);
    }
}
