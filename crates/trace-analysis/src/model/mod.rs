//! Entities, waits and counters: what all stages of the analysis speak of.

pub(crate) mod counter;
pub(crate) mod detail;
pub(crate) mod entity;
pub(crate) mod entity_store;
pub(crate) mod jdk_wait;
pub(crate) mod label;
pub(crate) mod library;
pub(crate) mod lock_group;
pub(crate) mod optional_index;
pub(crate) mod packed_owner;
pub(crate) mod pending_chains;
pub(crate) mod placeholder;
pub(crate) mod signature;
pub(crate) mod synchronizer;
pub(crate) mod thread_life;
pub(crate) mod time_range;
pub(crate) mod time_sampling;
pub(crate) mod wait;
pub(crate) mod wait_sink;
