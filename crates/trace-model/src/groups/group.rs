//! The groups of an answer.

use serde::Serialize;

use crate::sum::Sum;

/// The sums over waits with the same values.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Group {
    /// The positions of the values, outermost first.
    pub path: Vec<u32>,
    /// The time waited, in nanoseconds.
    pub duration_ns: Sum,
    /// The number of waits with a part in it.
    pub waits: u64,
    /// The number of parts.
    pub contentions: u64,
    /// The longest duration of one wait in the group, in nanoseconds.
    pub max_ns: u64,
    /// The median duration of a wait in the group, in nanoseconds.
    pub p50_ns: u64,
    /// The 99th percentile of these durations, in nanoseconds.
    pub p99_ns: u64,
    /// The number of threads that waited.
    pub threads: u64,
    /// The time in which any of them waited, in nanoseconds.
    pub wall_ns: u64,
    /// The number of its groups at the next depth, with those that the limit left out.
    pub children: u64,
    /// The time of it that was spent in safepoints, in nanoseconds, as far as waits are known one by
    /// one.
    #[serde(skip)]
    pub safepoint_ns: Sum,
    /// The time waited, in nanoseconds, over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Sum>,
    /// The time in which any of them waited, in nanoseconds, over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wall_series: Vec<Sum>,
    /// The time that waiting threads spent in safepoints, in nanoseconds, over time: spread evenly
    /// over each wait, since the trace does not say when they were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub safepoint_series: Vec<Sum>,
}

/// Groups that the limit left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Omitted {
    /// The number of groups.
    pub groups: u64,
    /// Their time, in nanoseconds.
    pub duration_ns: Sum,
}
