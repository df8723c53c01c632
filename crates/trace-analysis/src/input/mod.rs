//! Where the chunks of a trace come from.

pub(crate) mod crash_buffers;
pub(crate) mod read_ahead;
pub(crate) mod trace_file;
pub(crate) mod trace_input;
