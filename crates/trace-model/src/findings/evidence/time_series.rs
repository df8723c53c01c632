//! When time was spent, over a run whose duration is not known yet.

/// The number of buckets.
const BUCKETS: usize = 128;
/// The width of the first buckets.
const FIRST_BUCKET_NS: u64 = 1 << 20;

/// Time by buckets, which become wider as the run goes on.
#[derive(Clone, Debug)]
pub(crate) struct TimeSeries {
    bucket_ns: u64,
    sums_ns: Box<[u64; BUCKETS]>,
}

impl Default for TimeSeries {
    fn default() -> Self {
        Self {
            bucket_ns: FIRST_BUCKET_NS,
            sums_ns: Box::new([0; BUCKETS]),
        }
    }
}

impl TimeSeries {
    /// Adds a duration that is spread evenly over an interval.
    pub(crate) fn add(&mut self, start_ns: u64, end_ns: u64, duration_ns: u64) {
        self.widen_to(end_ns);
        let length_ns = end_ns.saturating_sub(start_ns).max(1);
        let mut left_ns = duration_ns;
        let (first, last) = (self.bucket(start_ns), self.bucket(end_ns));
        for bucket in first..last {
            let until_ns = (bucket as u64 + 1) * self.bucket_ns;
            let inside_ns = until_ns - start_ns.max(bucket as u64 * self.bucket_ns);
            let part = u128::from(duration_ns) * u128::from(inside_ns) / u128::from(length_ns);
            let part_ns = (part as u64).min(left_ns);
            self.sums_ns[bucket] = self.sums_ns[bucket].saturating_add(part_ns);
            left_ns -= part_ns;
        }
        self.sums_ns[last] = self.sums_ns[last].saturating_add(left_ns);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.widen_to((other.bucket_ns - 1).saturating_mul(BUCKETS as u64));
        for (bucket, &sum_ns) in other.sums_ns.iter().enumerate() {
            let at = self.bucket(bucket as u64 * other.bucket_ns);
            self.sums_ns[at] = self.sums_ns[at].saturating_add(sum_ns);
        }
    }

    /// Returns how much was spent until then, in nanoseconds; of the bucket in which that is, in proportion.
    pub(crate) fn until_ns(&self, time_ns: u64) -> u64 {
        let last = self.bucket(time_ns);
        let whole_ns = self.sums_ns[..last]
            .iter()
            .fold(0, |sum_ns: u64, &ns| sum_ns.saturating_add(ns));
        let into_ns = time_ns
            .saturating_sub(last as u64 * self.bucket_ns)
            .min(self.bucket_ns);
        let part =
            u128::from(self.sums_ns[last]) * u128::from(into_ns) / u128::from(self.bucket_ns);
        whole_ns.saturating_add(part as u64)
    }

    fn bucket(&self, time_ns: u64) -> usize {
        ((time_ns / self.bucket_ns) as usize).min(BUCKETS - 1)
    }

    fn widen_to(&mut self, time_ns: u64) {
        while time_ns / self.bucket_ns >= BUCKETS as u64 {
            for bucket in 0..BUCKETS / 2 {
                self.sums_ns[bucket] =
                    self.sums_ns[2 * bucket].saturating_add(self.sums_ns[2 * bucket + 1]);
            }
            self.sums_ns[BUCKETS / 2..].fill(0);
            self.bucket_ns *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_where_it_was_spent() {
        let mut series = TimeSeries::default();
        series.add(0, 1_000_000_000, 300_000);
        series.add(9_000_000_000, 10_000_000_000, 700_000);
        assert_eq!(series.until_ns(5_000_000_000), 300_000);
        assert_eq!(series.until_ns(u64::MAX), 1_000_000);
        assert!(series.until_ns(500_000_000).abs_diff(150_000) <= 15_000);
        let mut merged = TimeSeries::default();
        merged.add(0, 1_000_000, 50_000);
        merged.merge(&series);
        assert_eq!(merged.until_ns(5_000_000_000), 350_000);
        assert_eq!(merged.until_ns(u64::MAX), 1_050_000);
    }
}
