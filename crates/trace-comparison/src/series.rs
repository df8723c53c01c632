//! Sums by slices of time.

/// The most slices of a run. When there are more, two at a time are joined, so a run that is long
/// enough has at least half as many.
pub(crate) const MAX_SLICES: u64 = 128;

/// Sums of the slices of a run, equally wide. The run knows their width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Series {
    /// The position of the first slice with a sum of its own: those before it are zero.
    first: u64,
    sums: Vec<u64>,
}

impl Series {
    /// Adds to one slice.
    pub(crate) fn add(&mut self, slice: u64, amount: u64) {
        let sum = self.sum_mut(slice);
        *sum = sum.saturating_add(amount);
    }

    /// Adds `amount`, spread evenly from `start_ns` to `end_ns`: to each slice the part that lies
    /// in it. Rounding loses nothing, and widening slices later gives the same sums as wider ones
    /// from the start.
    pub(crate) fn spread(&mut self, amount: u64, start_ns: u64, end_ns: u64, width_ns: u64) {
        let (first, last) = (start_ns / width_ns, end_ns / width_ns);
        if first == last || end_ns <= start_ns {
            return self.add(first, amount);
        }
        let whole_ns = u128::from(end_ns - start_ns);
        let mut before = 0;
        for slice in first..=last {
            let until_ns = (slice + 1).saturating_mul(width_ns).min(end_ns) - start_ns;
            let until = (u128::from(amount) * u128::from(until_ns) / whole_ns) as u64;
            if until > before {
                self.add(slice, until - before);
            }
            before = until;
        }
    }

    fn sum_mut(&mut self, slice: u64) -> &mut u64 {
        if self.sums.is_empty() {
            self.first = slice;
        }
        if slice < self.first {
            let missing = (self.first - slice) as usize;
            self.sums.splice(0..0, std::iter::repeat_n(0, missing));
            self.first = slice;
        }
        let at = (slice - self.first) as usize;
        if at >= self.sums.len() {
            self.sums.resize(at + 1, 0);
        }
        &mut self.sums[at]
    }

    /// Joins two slices at a time.
    pub(crate) fn widen(&mut self) {
        let narrow = std::mem::take(self);
        for (slice, sum) in narrow.iter() {
            if sum > 0 {
                self.add(slice / 2, sum);
            }
        }
    }

    /// Adds another series with slices of the same width.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (slice, sum) in other.iter() {
            if sum > 0 {
                self.add(slice, sum);
            }
        }
    }

    /// Returns the slices that have sums, and some that are zero.
    fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        (self.first..).zip(self.sums.iter().copied())
    }

    /// Returns the sums of the first `count` slices. Later ones count for the last.
    pub(crate) fn sums(&self, count: usize) -> Vec<u64> {
        let mut sums = vec![0_u64; count];
        for (slice, sum) in self.iter() {
            let at = (slice as usize).min(count.saturating_sub(1));
            if let Some(slot) = sums.get_mut(at) {
                *slot = slot.saturating_add(sum);
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn spreading_conserves_and_widening_commutes(
            waits in prop::collection::vec((0..10_000_u64, 0..5_000_u64, 0..1_000_000_u64), 0..60),
            width_ns in 1..500_u64,
        ) {
            let (mut narrow, mut wide) = (Series::default(), Series::default());
            for &(start_ns, duration_ns, amount) in &waits {
                narrow.spread(amount, start_ns, start_ns + duration_ns, width_ns);
                wide.spread(amount, start_ns, start_ns + duration_ns, 2 * width_ns);
            }
            let total: u64 = waits.iter().map(|&(.., amount)| amount).sum();
            prop_assert_eq!(narrow.sums(1), vec![total]);
            narrow.widen();
            let count = 15_001 / (2 * width_ns as usize) + 2;
            prop_assert_eq!(narrow.sums(count), wide.sums(count));
        }

        #[test]
        fn parts_add_up_to_the_whole(
            waits in prop::collection::vec((0..10_000_u64, 0..5_000_u64, 0..1_000_u64, any::<bool>()), 0..60),
        ) {
            let (mut whole, mut parts) = (Series::default(), [Series::default(), Series::default()]);
            for (start_ns, duration_ns, amount, second) in waits {
                whole.spread(amount, start_ns, start_ns + duration_ns, 100);
                parts[usize::from(second)].spread(amount, start_ns, start_ns + duration_ns, 100);
            }
            let [mut first, second] = parts;
            first.merge(&second);
            prop_assert_eq!(first.sums(200), whole.sums(200));
        }
    }
}
