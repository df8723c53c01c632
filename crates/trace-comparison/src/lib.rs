//! The change of lock contention between traces, and its certainty.
//!
//! Two runs of the same program never contend equally. A difference is worth reporting if it is
//! larger than the variation of the runs from one moment to another, and from run to run where
//! there are several of each:
//!
//! ```text
//! waits → RunSums: rows × slices of time, for each trace
//!                → Comparison: rows of both sides, per second or per unit of work,
//!                              with intervals by resampling runs and slices
//! ```
//!
//! [`RunCollector`] takes the waits of all traces, as any sink; [`Comparison::new`] compares.

#![forbid(unsafe_code)]

mod collector;
mod comparison;
mod resampling;
mod row;
mod series;

pub use collector::{RunCollector, Unit};
pub use comparison::{Comparison, Work};
pub use resampling::{CONFIDENCE, Change, Verdict};
pub use row::{Amount, ComparedRow, NamedValue};
