//! Arguments that several commands have.

pub(crate) mod aspects;
pub(crate) mod filter;
pub(crate) mod index;
pub(crate) mod origin;
pub(crate) mod range;
pub(crate) mod structure;
pub(crate) mod threads;
pub(crate) mod waits;
