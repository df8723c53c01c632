//! The identifiers of a trace.

use trace_format::PARK_DOMAINS;

use crate::counters::Serial;

/// Gives out serial numbers for all that events refer to, except chains.
#[derive(Debug)]
pub(crate) struct Identifiers {
    pub(crate) threads: Serial,
    /// The first ones are those of the domains of parks.
    pub(crate) locks: Serial,
    pub(crate) forward_refs: Serial,
    /// Classes and methods.
    pub(crate) entities: Serial,
}

impl Identifiers {
    /// Begins after the last identifier of a class or a method in the previous trace, 0 without
    /// one.
    pub(crate) fn after(last_entity: u32) -> Self {
        Self {
            threads: Serial::default(),
            locks: Serial::after(PARK_DOMAINS),
            forward_refs: Serial::default(),
            entities: Serial::after(last_entity.into()),
        }
    }
}
