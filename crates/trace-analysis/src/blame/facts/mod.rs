//! What is known of all threads: safepoints, freezes, and what each was last heard of.

pub(crate) mod freezes;
pub(crate) mod latest;
pub(crate) mod safepoints;
pub(crate) mod trace_end;
