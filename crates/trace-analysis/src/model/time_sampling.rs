//! Which slices of a trace's time are kept, if there is too much in all of it.

/// The fewest slices: when there is still too much with that many, they get shorter.
const MIN_SLICES: u64 = 8;

/// Slices are about a quarter of a second long at first, so that waits are short in comparison. It is always the
/// same, so that samples of the same trace fit together.
const FIRST_BITS: u32 = 28;

/// A systematic sample of time: the first part of each period. What a coarser sample keeps, a
/// finer one keeps too, so that samples of the same trace can be put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeSampling {
    /// A period is a power of two of nanoseconds, and so is the part of it that is kept.
    period_bits: u32,
    kept_bits: u32,
}

impl Default for TimeSampling {
    /// Keeps all time, as one slice.
    fn default() -> Self {
        Self {
            period_bits: u64::BITS - 1,
            kept_bits: u64::BITS - 1,
        }
    }
}

impl TimeSampling {
    pub(crate) fn keeps_all(self) -> bool {
        self == Self::default()
    }

    pub(crate) fn keeps(self, time_ns: u64) -> bool {
        time_ns & ((1 << self.period_bits) - 1) < 1 << self.kept_bits
    }

    /// The number of the slice that a time is in.
    pub(crate) fn slice(self, time_ns: u64) -> u64 {
        time_ns >> self.period_bits
    }

    /// Which share is kept of the time between two points.
    pub(crate) fn share(self, first_ns: u64, last_ns: u64) -> f64 {
        if self.keeps_all() || first_ns >= last_ns {
            return 1.0;
        }
        let kept_ns = |until_ns: u64| {
            let begun_ns = until_ns & ((1 << self.period_bits) - 1);
            (self.slice(until_ns) << self.kept_bits) + begun_ns.min(1 << self.kept_bits)
        };
        (kept_ns(last_ns) - kept_ns(first_ns)) as f64 / (last_ns - first_ns) as f64
    }

    /// Keeps half of what it keeps, of a trace that has something from `first_ns` to `last_ns`: every other
    /// slice, or half of each if there are few. Returns whether it can.
    pub(crate) fn halve(&mut self, first_ns: u64, last_ns: u64) -> bool {
        if self.keeps_all() {
            (self.period_bits, self.kept_bits) = (FIRST_BITS, FIRST_BITS);
        }
        if self.slice(last_ns) - self.slice(first_ns) >= 2 * MIN_SLICES {
            self.period_bits += 1;
        } else if self.kept_bits > 0 {
            self.kept_bits -= 1;
        } else {
            return false;
        }
        true
    }

    /// Keeps only what `other` keeps as well.
    pub(crate) fn meet(&mut self, other: Self) {
        if self.keeps_all() {
            *self = other;
        } else if !other.keeps_all() {
            self.period_bits = self.period_bits.max(other.period_bits);
            self.kept_bits = self.kept_bits.min(other.kept_bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_spread_over_all_of_the_time() {
        let mut sampling = TimeSampling::default();
        let mut latest_ns = 20_000_000_000;
        let mut kept: Vec<u64> = (0..latest_ns).step_by(700_001).collect();
        for _ in 0..8 {
            let before = kept.len();
            assert!(sampling.halve(0, latest_ns));
            kept.retain(|&time_ns| sampling.keeps(time_ns));
            let share = kept.len() as f64 / before as f64;
            assert!((0.4..0.6).contains(&share), "{sampling:?} {share}");
            let slices: std::collections::BTreeSet<_> = kept
                .iter()
                .map(|&time_ns| sampling.slice(time_ns))
                .collect();
            assert!(slices.len() as u64 >= MIN_SLICES / 2, "{sampling:?}");
            kept.extend(
                (latest_ns..latest_ns * 2)
                    .step_by(700_001)
                    .filter(|&it| sampling.keeps(it)),
            );
            latest_ns *= 2;
        }
        let share = sampling.share(0, latest_ns) * 256.0;
        assert!((0.9..1.1).contains(&share), "{share}");
    }

    #[test]
    fn what_two_samples_keep_is_what_both_keep() {
        for (halved, other) in [(1, 4), (3, 3), (7, 2)] {
            let (mut one, mut two) = (TimeSampling::default(), TimeSampling::default());
            (0..halved).for_each(|_| assert!(one.halve(0, 5_000)));
            (0..other).for_each(|_| assert!(two.halve(0, 90_000)));
            let mut both = one;
            both.meet(two);
            for time_ns in 0..200_000 {
                let kept = one.keeps(time_ns) && two.keeps(time_ns);
                assert!(kept || !both.keeps(time_ns), "{time_ns}");
            }
        }
    }
}
