//! Bounds of the analysis's time and memory, whatever a trace is like.
//!
//! Processor time is measured, so that a busy machine makes no difference, and one test runs
//! at a time. `cargo test --release` has the bounds that the project promises; with overflow and
//! debug assertions, everything may take four times as long.

mod convoys;
mod events;
mod forgetting;
mod hostile;
mod memory;
mod meter;
mod trace;
