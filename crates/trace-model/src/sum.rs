//! Sums of durations.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::time_axis::MAX_NS;

/// A sum of durations, in nanoseconds. An answer has it as a number that JavaScript reads exactly, or
/// rounded to a double.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum(u128);

impl Sum {
    pub(crate) fn add(&mut self, duration_ns: u64) {
        self.0 += u128::from(duration_ns);
    }

    pub(crate) fn add_sum(&mut self, other: Sum) {
        self.0 += other.0;
    }

    /// Returns a fraction of it, rounded down.
    pub(crate) fn part(self, part_ns: u64, whole_ns: u64) -> Self {
        // Sums above 2^64 take centuries of tracing.
        Sum(self.0.saturating_mul(part_ns.into()) / u128::from(whole_ns.max(1)))
    }

    pub(crate) fn without(self, other: Self) -> Self {
        Sum(self.0.saturating_sub(other.0))
    }

    /// Returns the sum in nanoseconds, saturated.
    pub fn ns(self) -> u64 {
        self.0.try_into().unwrap_or(u64::MAX)
    }

    /// Returns whether a double does not hold it exactly.
    pub fn is_rounded(self) -> bool {
        self.0 > u128::from(MAX_NS)
    }

    /// Returns its share of a whole, from 0 to 1; 1 if the whole is 0.
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
            // Rounded, but still an integer.
            serializer.serialize_u128(self.0 as f64 as u128)
        } else {
            serializer.serialize_u64(self.0 as u64)
        }
    }
}
