//! The owners of one lock over time, and how a wait is divided among them.
//!
//! [`owner_timeline`] keeps the intervals and decides how to divide a wait: at each interval
//! ([`each_interval`]), by the sums of one code ([`by_code`]), or by those of each owner ([`by_owner`]).

mod barging;
mod by_code;
mod by_owner;
pub(crate) mod code_prefix_sums;
pub(crate) mod context;
pub(crate) mod coverage;
mod each_interval;
pub(crate) mod hold_chunks;
pub(crate) mod hold_spans;
pub(crate) mod interval;
mod marks;
pub(crate) mod owner_timeline;
pub(crate) mod prefix_sums;
pub(crate) mod sampled_parts;
mod shared_holds;
pub(crate) mod splitter;
#[cfg(test)]
mod tests;
pub(crate) mod waiters;
