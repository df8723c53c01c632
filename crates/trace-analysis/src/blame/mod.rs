//! Blame: which thread made which other thread wait, and for how long.

pub(crate) mod activity;
pub(crate) mod facts;
pub(crate) mod monitor;
pub(crate) mod park;
pub(crate) mod root_owner;
pub(crate) mod timeline;
