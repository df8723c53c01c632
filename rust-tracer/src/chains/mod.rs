//! The set of call chains that all threads share (paper, section 3.2), and how chains of unloaded code leave it.

pub(crate) mod entry;
pub(crate) mod grace_period;
pub(crate) mod key;
pub(crate) mod set;
pub(crate) mod table;
pub(crate) mod unload_queue;
pub(crate) mod unloaded_code;
