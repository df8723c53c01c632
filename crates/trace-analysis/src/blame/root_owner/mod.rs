//! Who is at the end of the chain of owners behind each part of a wait.

pub(crate) mod cache;
pub(crate) mod held_runs;
pub(crate) mod hold_history;
pub(crate) mod reorder_buffer;
pub(crate) mod resolver;
pub(crate) mod samples;
pub(crate) mod sharing_policy;
pub(crate) mod wait_history;
