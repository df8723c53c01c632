//! The analysis of parked threads.

mod history;
pub(crate) mod random;
pub(crate) mod script;
pub(crate) mod simulator;
mod small_traces;
mod truth;
