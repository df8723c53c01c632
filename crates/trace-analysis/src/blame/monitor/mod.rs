//! Intrinsic locks: replays the events of each lock (paper, section 4.1).

pub(crate) mod analyzer;
pub(crate) mod dispatcher;
pub(crate) mod last_wait_end;
