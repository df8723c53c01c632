//! Predictions of `locktrace what-if`, compared with programs that were really changed.

mod measure;
mod outcome;
mod pairs;

pub use measure::measure;
pub use outcome::{Measured, Outcome, Predicted, median};
pub use pairs::{PAIRS, Pair};
