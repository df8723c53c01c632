//! Numbers scaled by a fraction.

/// A part of a whole: of nanoseconds, or of waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    part: u64,
    whole: u64,
}

impl Scale {
    pub(crate) fn new(part: u64, whole: u64) -> Self {
        Self { part, whole }
    }

    /// So much of `number`, rounded down.
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

    /// So much of `number`, rounded up.
    pub(crate) fn up(self, number: u64) -> u64 {
        if self.part >= self.whole {
            return number;
        }
        let product = u128::from(number) * u128::from(self.part);
        product.div_ceil(u128::from(self.whole)) as u64
    }

    /// So much of `number`, if numbers before it made `sum`: so rounded that all together
    /// are so much of their sum.
    pub(crate) fn step(self, sum: u64, number: u64) -> u64 {
        self.down(sum.saturating_add(number)) - self.down(sum)
    }
}
