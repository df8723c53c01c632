//! The types of a recording. The JDK's are as JDK 17 describes them in its recordings, field by
//! field: some tools rely on them. `docs/export.md` lists the differences.

mod annotations;
mod description;
mod events;
mod numbers;
mod values;

pub(super) use description::{Annotation, Field, Form, Holds, Type};
pub(super) use numbers::*;

/// Returns all types.
pub(super) fn all() -> impl Iterator<Item = &'static Type> {
    [values::TYPES, events::TYPES, annotations::TYPES]
        .into_iter()
        .flatten()
}
