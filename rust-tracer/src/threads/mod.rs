//! Traced threads, as other threads see them.

pub(crate) mod hook_costs;
pub(crate) mod identity;
pub(crate) mod new_name;
pub(crate) mod numbers;
pub(crate) mod owners_seen;
pub(crate) mod reader;
pub(crate) mod thread_slot;
pub(crate) mod thread_slot_table;
pub(crate) mod thread_slots;
pub(crate) mod traced_threads;
