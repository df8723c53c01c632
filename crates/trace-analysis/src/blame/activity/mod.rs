//! What owners did while others waited for their locks.

pub(crate) mod overhead;
pub(crate) mod own_waits;
pub(crate) mod owner_fact;
pub(crate) mod owner_facts;
pub(crate) mod per_thread;
pub(crate) mod run_delays;
pub(crate) mod sums;
