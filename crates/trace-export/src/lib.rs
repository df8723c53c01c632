//! Lock contention in the formats of other tools.
//!
//! | module | what comes out | opened by |
//! |---|---|---|
//! | [`collapsed`] | a line for each call chain | inferno, speedscope, `flamegraph.pl` |
//! | [`pprof`] | a profile as Go's runtime writes for mutexes and blocking | `go tool pprof`, speedscope |
//!
//!
//! Both are sums over call chains, which [`StackSums`] makes of waits. Whatever the format, its
//! sum is the blocked time of a report on the same waits, to the nanosecond.

#![forbid(unsafe_code)]

pub mod collapsed;
mod frames;
pub mod pprof;
mod stacks;

pub use stacks::{StackSums, Stacks, Told};
