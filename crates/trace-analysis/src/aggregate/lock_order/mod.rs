//! The orders in which locks were nested, and where they contradict each other: what may deadlock.
//!
//! A thread that owns one lock and waits for another one has nested them. The trace shows this of
//! locks that were contended at the time: a thread waited for the first, and its owner for the second.

mod cycles;
mod nestings;

pub use cycles::{OrderCycle, Risk};
pub use nestings::{LockOrder, Nesting, NestingCode, Order};
