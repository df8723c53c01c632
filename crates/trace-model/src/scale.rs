//! Numbers scaled by a fraction.

/// A fraction: a part of a whole, of nanoseconds or of waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    part: u64,
    whole: u64,
}

impl Scale {
    pub(crate) fn new(part: u64, whole: u64) -> Self {
        Self { part, whole }
    }

    /// Returns this fraction of `number`, rounded down.
    pub(crate) fn down(self, number: u64) -> u64 {
        if self.part >= self.whole {
            return number;
        }
        match number.checked_mul(self.part) {
            Some(product) => product / self.whole,
            None => {
                let product = u128::from(number) * u128::from(self.part);
                (product / u128::from(self.whole)) as u64
            }
        }
    }

    /// Returns this fraction of `number`, rounded up.
    pub(crate) fn up(self, number: u64) -> u64 {
        if self.part >= self.whole {
            return number;
        }
        let product = u128::from(number) * u128::from(self.part);
        product.div_ceil(u128::from(self.whole)) as u64
    }

    /// Returns this fraction of `number`, which follows numbers that add up to `sum`: rounded so that
    /// all results add up to the fraction of the sum.
    pub(crate) fn step(self, sum: u64, number: u64) -> u64 {
        self.down(sum.saturating_add(number)) - self.down(sum)
    }
}
