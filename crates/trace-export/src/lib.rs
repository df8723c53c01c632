//! Lock contention in the formats of other tools.
//!
//! | module | what comes out | opened by |
//! |---|---|---|
//! | [`collapsed`] | a line for each call chain | inferno, speedscope, `flamegraph.pl` |
//! | [`pprof`] | a profile as Go's runtime writes for mutexes and blocking | `go tool pprof`, speedscope |
//! | [`otlp`] | profiles of OpenTelemetry | collectors |
//! | [`firefox`] | a profile: waits as markers, owners' call chains as samples | the Firefox Profiler |
//! | [`perfetto`] | a trace: waits on the tracks of threads, owners on those of locks | Perfetto's page and trace processor |
//! | [`jfr`] | a recording: waits as events of the JDK, and an event of its own for each owner | `jfr`, JDK Mission Control |
//! | [`tables`] | Parquet files: waits, what owners had of them, threads, locks, code | DuckDB, Spark, pandas |
//!
//! The first three are sums over call chains, which [`StackSums`] makes of waits; the others are written as waits are
//! found. In every format the sum is the blocked time of a report on the same waits, to the nanosecond.

#![forbid(unsafe_code)]

pub mod collapsed;
pub mod firefox;
mod frames;
pub mod jfr;
mod labels;
pub mod otlp;
pub mod perfetto;
mod period;
pub mod pprof;
mod stacks;
mod stretches;
mod table;
pub mod tables;

pub use period::Period;
pub use stacks::{GroupBy, StackSums, Stacks};
