//! Events in the order of their sequence numbers, park ends with their unparks.

pub(crate) mod lock_event;
pub(crate) mod park;
pub(crate) mod rearranger;
pub(crate) mod system_fact;
