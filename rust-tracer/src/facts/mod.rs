//! What the JVM did, in rings that the drainer empties.

pub(crate) mod hook_parts;
pub(crate) mod ring;
pub(crate) mod safepoints;
