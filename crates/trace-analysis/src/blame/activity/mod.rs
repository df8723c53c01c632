//! What owners did while others waited for their locks.
//!
//! [`owner_facts`] takes facts and passes them to [`sums`], here or in a thread of its own. There they wait
//! until all is known: what threads waited for themselves ([`own_waits`]), how they were scheduled
//! ([`run_delays`]) and what the tracer took of their time ([`overhead`]). What results is
//! [`owner_times`].

pub(crate) mod overhead;
mod own_waits;
pub(crate) mod owner_facts;
pub(crate) mod owner_times;
mod per_thread;
mod run_delays;
mod sums;
