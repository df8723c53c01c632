//! The owners of one lock over time, and how a wait is divided among them.

pub(crate) mod code_prefix_sums;
pub(crate) mod coverage;
pub(crate) mod hold_range;
pub(crate) mod hold_spans;
pub(crate) mod owner_timeline;
pub(crate) mod prefix_sums;
pub(crate) mod splitter;
pub(crate) mod waiters;
