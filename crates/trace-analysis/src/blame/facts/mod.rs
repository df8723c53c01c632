//! Facts about all threads: safepoints, freezes, and the last event of each.

pub(crate) mod freezes;
pub(crate) mod latest;
pub(crate) mod safepoints;
pub(crate) mod trace_end;
