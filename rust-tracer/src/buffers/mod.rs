//! Buffers of encoded events, and their way from a thread to the drainer and back.

pub(crate) mod buffer;
pub(crate) mod buffer_slot;
pub(crate) mod file;
pub(crate) mod lengths;
pub(crate) mod memory;
pub(crate) mod pool;
pub(crate) mod queue;
pub(crate) mod shared;
