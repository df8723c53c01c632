//! The types of a recording. Those of the JDK are as JDK 17 describes them in its recordings, field by
//! field: some tools know the JDK's events by heart. What differs is in `docs/export.md`.

mod annotations;
mod description;
mod events;
mod numbers;
mod values;

pub(super) use description::{Annotation, Field, Form, Holds, Type};
pub(super) use numbers::*;

/// All types.
pub(super) fn all() -> impl Iterator<Item = &'static Type> {
    [values::TYPES, events::TYPES, annotations::TYPES]
        .into_iter()
        .flatten()
}
