//! What the analysis takes of time and memory, whatever a trace is like.
//!
//! Time is that of the processor, so that a busy machine makes no difference, and one test runs
//! at a time. `cargo test --release` has the bounds that the project promises; with overflow and
//! debug assertions, everything may take four times as long.

mod convoys;
mod events;
mod forgetting;
mod hostile;
mod memory;
mod meter;
mod trace;
