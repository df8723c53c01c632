//! Data structures of the analysis that know nothing of traces.

pub(crate) mod batch;
pub(crate) mod cached_map;
pub(crate) mod galloping;
pub(crate) mod hash;
pub(crate) mod id_set;
pub(crate) mod interner;
pub(crate) mod shrink;
pub(crate) mod small_map;
