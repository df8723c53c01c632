//! The drainer: takes buffers from the queue and writes them, and what only it looks at.

pub(crate) mod drainer;
pub(crate) mod freezes;
pub(crate) mod retirement;
pub(crate) mod thread_times;
