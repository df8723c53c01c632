//! The order of park events, and the unpark that ended each park.

pub(crate) mod event;
pub(crate) mod park_order;
pub(crate) mod permit_map;
pub(crate) mod permits;
