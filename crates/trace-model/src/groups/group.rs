//! The groups of an answer.

use serde::Serialize;

use crate::sum::Sum;

/// Sums over what has the same values.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Group {
    /// Positions of the values, outermost first.
    pub path: Vec<u32>,
    /// The time waited, in nanoseconds.
    pub duration_ns: Sum,
    /// How many waits have a part in it.
    pub waits: u64,
    /// How many parts.
    pub contentions: u64,
    /// The longest time of one wait in the group, in nanoseconds.
    pub max_ns: u64,
    /// Half of the waits have at most that, in nanoseconds.
    pub p50_ns: u64,
    /// Of 100 waits, 99 have at most that, in nanoseconds.
    pub p99_ns: u64,
    /// How many threads waited.
    pub threads: u64,
    /// The time in which any of them waited, in nanoseconds.
    pub wall_ns: u64,
    /// How many groups it divides into at the next depth, with those that the limit left out.
    pub children: u64,
    /// How much of it was spent in safepoints, in nanoseconds, as far as waits are known one
    /// by one.
    #[serde(skip)]
    pub safepoint_ns: Sum,
    /// The time waited, in nanoseconds, by time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Sum>,
    /// The time in which any of them waited, in nanoseconds, by time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wall_series: Vec<Sum>,
    /// The time that those who waited spent in safepoints, in nanoseconds, by time: spread
    /// evenly over each wait, since the trace does not say when they were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub safepoint_series: Vec<Sum>,
}

/// Groups that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Omitted {
    /// How many.
    pub groups: u64,
    /// Their time, in nanoseconds.
    pub duration_ns: Sum,
}
