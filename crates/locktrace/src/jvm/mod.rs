//! Running JVMs: the processes, what they trace, and commands for them.

pub(crate) mod attach;
pub(crate) mod process;
pub(crate) mod started_trace;
pub(crate) mod target;
