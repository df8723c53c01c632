//! From the identifiers of a trace to entities.

pub(crate) mod code;
pub(crate) mod forward_refs;
pub(crate) mod owned_event;
pub(crate) mod resolver;
pub(crate) mod seen_owner;
pub(crate) mod stacks;
pub(crate) mod unresolved_events;
