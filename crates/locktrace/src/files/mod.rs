//! Files and where tables go.

pub(crate) mod atomic_file;
pub(crate) mod destination;
pub(crate) mod paths;
