//! Sums of durations.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::time_axis::MAX_NS;

/// A sum of durations, in nanoseconds. In an answer it is a number that JavaScript
/// reads without losing anything, or one that is rounded to what a double holds.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum(u128);

impl Sum {
    pub(crate) fn add(&mut self, duration_ns: u64) {
        self.0 += u128::from(duration_ns);
    }

    pub(crate) fn add_sum(&mut self, other: Sum) {
        self.0 += other.0;
    }

    /// So much of it, rounded down.
    pub(crate) fn part(self, part_ns: u64, whole_ns: u64) -> Self {
        // Larger sums than 2^64 do not occur before some centuries are traced.
        Sum(self.0.saturating_mul(part_ns.into()) / u128::from(whole_ns.max(1)))
    }

    pub(crate) fn without(self, other: Self) -> Self {
        Sum(self.0.saturating_sub(other.0))
    }

    /// The sum in nanoseconds; the greatest number if it is greater.
    pub fn ns(self) -> u64 {
        self.0.try_into().unwrap_or(u64::MAX)
    }

    /// A double does not hold it exactly.
    pub fn is_rounded(self) -> bool {
        self.0 > u128::from(MAX_NS)
    }

    /// Its share of a whole, 0 to 1; 1 if that is nothing.
    pub fn of(self, whole: Sum) -> f64 {
        if whole.0 == 0 {
            1.0
        } else {
            (self.0 as f64 / whole.0 as f64).min(1.0)
        }
    }
}

impl From<u64> for Sum {
    fn from(duration_ns: u64) -> Self {
        Sum(duration_ns.into())
    }
}

impl fmt::Debug for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.0)
    }
}

impl Serialize for Sum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_rounded() {
            // A whole number all the same.
            serializer.serialize_u128(self.0 as f64 as u128)
        } else {
            serializer.serialize_u64(self.0 as u64)
        }
    }
}
