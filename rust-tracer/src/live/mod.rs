//! A running trace: its analysis in this process, and copies of what is written so far.

pub(crate) mod analysis;
pub(crate) mod dump;
