//! Root owners: the end of the chain of owners for each part of a wait.

pub(crate) mod cache;
mod part_walk;
pub(crate) mod reorder_buffer;
pub(crate) mod resolver;
pub(crate) mod samples;
pub(crate) mod wait_history;
