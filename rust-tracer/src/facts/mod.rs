//! Facts about the JVM and the tracer, in rings that the drainer empties.

pub(crate) mod hook_parts;
pub(crate) mod ring;
pub(crate) mod safepoints;

use crate::facts::hook_parts::HookParts;
use crate::facts::safepoints::Safepoints;

/// Facts on their way to the drainer, which writes them as system records.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) safepoints: Safepoints,
    pub(crate) hook_parts: HookParts,
}
