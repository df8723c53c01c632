//! The activity of lock owners while other threads waited for their locks.
//!
//! [`owner_facts`] collects facts and passes them to [`sums`], in the same thread or a separate
//! one. There they wait until everything relevant is known: the owners' own waits ([`own_waits`]),
//! how they were scheduled ([`run_delays`]), and the tracer's overhead ([`overhead`]). The result
//! is [`owner_times`].

pub(crate) mod overhead;
mod own_waits;
pub(crate) mod owner_facts;
pub(crate) mod owner_times;
mod per_thread;
mod run_delays;
pub(crate) mod scheduling;
mod sums;
