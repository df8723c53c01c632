//! Sums over waits, and the aspects by which they are distinguished (paper, section 4.2).

pub(crate) mod aggregation;
pub(crate) mod aspect;
pub(crate) mod convoys;
pub mod histogram;
pub(crate) mod idle_workers;
pub(crate) mod kind_totals;
pub(crate) mod lock_order;
pub(crate) mod method_table;
pub(crate) mod overloads;
pub(crate) mod pattern;
pub(crate) mod row_cache;
pub(crate) mod selection;
pub(crate) mod statistics;
pub(crate) mod still_blocked;
pub(crate) mod value;
pub(crate) mod wait_stats;
