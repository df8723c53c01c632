//! How long waits are: counts in buckets that are as wide as they are far from 0.

/// The base-2 logarithm of the number of buckets in each power of two.
const STEPS_BITS: u32 = 4;
const STEPS: u64 = 1 << STEPS_BITS;

/// Returns the bucket of a duration, which its five leading bits determine.
pub fn bucket(duration_ns: u64) -> u16 {
    if duration_ns < STEPS {
        return duration_ns as u16;
    }
    let exponent = duration_ns.ilog2();
    let mantissa = duration_ns >> (exponent - STEPS_BITS);
    // The mantissa has its leading bit, so that the buckets go on from those below.
    (u64::from(exponent - STEPS_BITS) * STEPS + mantissa) as u16
}

/// The least duration of a bucket.
pub fn bucket_start_ns(bucket: u16) -> u64 {
    let bucket = u64::from(bucket);
    if bucket < STEPS {
        return bucket;
    }
    let exponent = bucket / STEPS - 1;
    let mantissa = STEPS + bucket % STEPS;
    mantissa.checked_shl(exponent as u32).unwrap_or(u64::MAX)
}

/// Counts of durations.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// By bucket, as far as there are any.
    counts: Counts,
    max_ns: u64,
    total: u64,
}

/// Most groups have few waits.
#[derive(Clone, Debug)]
enum Counts {
    Few(Vec<(u16, u64)>),
    Many(Vec<u64>),
}

impl Default for Counts {
    fn default() -> Self {
        Counts::Few(Vec::new())
    }
}

/// The most buckets that are kept one by one.
const FEW: usize = 24;

impl Histogram {
    /// One duration, `count` times.
    pub fn of(duration_ns: u64, count: u64) -> Self {
        let mut histogram = Self::default();
        histogram.add(duration_ns, count);
        histogram
    }

    /// Adds a duration `count` times.
    pub fn add(&mut self, duration_ns: u64, count: u64) {
        self.add_to_bucket(bucket(duration_ns), count);
        self.max_ns = self.max_ns.max(duration_ns);
    }

    /// Adds durations that are known by their bucket only, none above `max_ns`.
    pub fn add_buckets(&mut self, buckets: impl Iterator<Item = (u16, u64)>, max_ns: u64) {
        for (bucket, count) in buckets.filter(|&(_, count)| count > 0) {
            self.add_to_bucket(bucket, count);
        }
        self.max_ns = self.max_ns.max(max_ns);
    }

    fn add_to_bucket(&mut self, bucket: u16, count: u64) {
        self.total += count;
        match &mut self.counts {
            Counts::Few(counts) => {
                match counts.iter_mut().find(|&&mut (known, _)| known == bucket) {
                    Some((_, known)) => *known += count,
                    None => counts.push((bucket, count)),
                }
                if counts.len() > FEW {
                    let few = std::mem::take(counts);
                    self.counts = Counts::Many(Vec::new());
                    for (bucket, count) in few {
                        self.place(bucket, count);
                    }
                }
            }
            Counts::Many(_) => self.place(bucket, count),
        }
    }

    fn place(&mut self, bucket: u16, count: u64) {
        if let Counts::Many(counts) = &mut self.counts {
            let at = usize::from(bucket);
            if counts.len() <= at {
                counts.resize(at + 1, 0);
            }
            counts[at] += count;
        }
    }

    /// The buckets that have any, the shortest durations first.
    pub fn buckets(&self) -> Vec<(u16, u64)> {
        match &self.counts {
            Counts::Few(counts) => {
                let mut counts = counts.clone();
                counts.sort_unstable();
                counts
            }
            Counts::Many(counts) => {
                let counts = counts.iter().enumerate().filter(|&(_, &count)| count > 0);
                counts.map(|(at, &count)| (at as u16, count)).collect()
            }
        }
    }

    /// The longest.
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// Returns the percentile of the durations: the middle of its bucket.
    pub fn percentile_ns(&self, percent: u64) -> u64 {
        let rank = u128::from(self.total) * u128::from(percent);
        let rank = rank.div_ceil(100).max(1);
        let mut seen = 0;
        for (bucket, count) in self.buckets() {
            seen += u128::from(count);
            if seen >= rank {
                let (from_ns, to_ns) = bucket_range_ns(bucket);
                return (from_ns + (to_ns - from_ns) / 2).min(self.max_ns);
            }
        }
        self.max_ns
    }
}

/// From where to where a bucket goes.
pub fn bucket_range_ns(bucket: u16) -> (u64, u64) {
    (bucket_start_ns(bucket), bucket_start_ns(bucket + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other() {
        for duration_ns in (0..10_000).chain([1 << 52, (1 << 53) - 1]) {
            let (from_ns, to_ns) = bucket_range_ns(bucket(duration_ns));
            assert!(
                from_ns <= duration_ns && duration_ns < to_ns,
                "{duration_ns}"
            );
            assert!(to_ns - from_ns <= (from_ns / STEPS).max(1), "{duration_ns}");
        }
        assert_eq!(bucket(16), 16);
        assert_eq!(bucket(31), 31);
        assert_eq!(bucket(32), 32);
        assert_eq!(bucket(33), 32);
        assert_eq!(bucket(34), 33);
    }

    #[test]
    fn percentiles_are_within_a_bucket() {
        let mut histogram = Histogram::default();
        for duration_ns in 1..=100_000 {
            histogram.add(duration_ns, 1);
        }
        for (percent, expected) in [(50, 50_000.0), (99, 99_000.0)] {
            let found = histogram.percentile_ns(percent) as f64;
            assert!((found / expected - 1.0).abs() < 0.033, "{found}");
        }
        assert!(histogram.percentile_ns(100) <= 100_000);
        assert_eq!(histogram.max_ns(), 100_000);
    }

    #[test]
    fn nothing_has_no_percentiles() {
        assert_eq!(Histogram::default().percentile_ns(50), 0);
    }
}
