//! The commands, each with its arguments and what it prints.

pub(crate) mod attach;
mod attach_progress;
pub(crate) mod collect;
pub(crate) mod contentions;
pub(crate) mod convoys;
pub(crate) mod diff;
pub(crate) mod dump;
pub(crate) mod export;
pub(crate) mod lock_order;
pub(crate) mod metrics;
pub(crate) mod query;
pub(crate) mod report;
pub(crate) mod stat;
pub(crate) mod statistics;
pub(crate) mod summary;
pub(crate) mod top;
pub(crate) mod view;
pub(crate) mod what_if;
