//! The types of a recording. Those of the JDK are as JDK 17 describes them in its recordings, field by
//! field: some tools know the JDK's events by heart. What differs is in `docs/export.md`.

mod annotations;
mod events;
mod values;

/// A type: its number, its name, and what it consists of.
pub(super) struct Type {
    pub(super) number: u64,
    pub(super) name: &'static str,
    pub(super) form: Form,
    pub(super) fields: &'static [Field],
    pub(super) annotations: &'static [Annotation],
}

#[derive(Clone, Copy)]
pub(super) enum Form {
    /// A number, a text, or what consists of fields.
    Plain,
    /// Stands for its only field.
    Simple,
    Event,
    Annotation,
}

pub(super) struct Field {
    pub(super) name: &'static str,
    /// The number of its type.
    pub(super) of: u64,
    pub(super) holds: Holds,
    pub(super) annotations: &'static [Annotation],
}

/// What a field has.
#[derive(Clone, Copy)]
pub(super) enum Holds {
    Value,
    Values,
    /// The number of a constant, 0 for none.
    Constant,
}

/// An annotation: the number of its type, and its values.
pub(super) type Annotation = (u64, &'static [&'static str]);

impl Type {
    const fn new(number: u64, name: &'static str, fields: &'static [Field]) -> Self {
        Self {
            number,
            name,
            form: Form::Plain,
            fields,
            annotations: &[],
        }
    }

    const fn simple(number: u64, name: &'static str, fields: &'static [Field]) -> Self {
        Self {
            form: Form::Simple,
            ..Self::new(number, name, fields)
        }
    }

    const fn event(
        number: u64,
        name: &'static str,
        annotations: &'static [Annotation],
        fields: &'static [Field],
    ) -> Self {
        Self {
            form: Form::Event,
            annotations,
            ..Self::new(number, name, fields)
        }
    }

    const fn annotation(number: u64, name: &'static str, fields: &'static [Field]) -> Self {
        Self {
            form: Form::Annotation,
            ..Self::new(number, name, fields)
        }
    }

    /// An annotation that says how a number is shown.
    const fn content_type(number: u64, name: &'static str, fields: &'static [Field]) -> Self {
        Self {
            annotations: &[(CONTENT_TYPE, &[])],
            ..Self::annotation(number, name, fields)
        }
    }
}

const fn field(name: &'static str, of: u64, annotations: &'static [Annotation]) -> Field {
    Field {
        name,
        of,
        holds: Holds::Value,
        annotations,
    }
}

const fn constant(name: &'static str, of: u64, annotations: &'static [Annotation]) -> Field {
    Field {
        holds: Holds::Constant,
        ..field(name, of, annotations)
    }
}

const fn array(name: &'static str, of: u64, annotations: &'static [Annotation]) -> Field {
    Field {
        holds: Holds::Values,
        ..field(name, of, annotations)
    }
}

/// Behind what types are numbered: where no JVM numbers its own, for files that are put together of several recordings.
/// The JDK reads constants of types with the same number as if they were of the first one.
const BEFORE: u64 = 10_000;

const BOOLEAN: u64 = BEFORE + 2;
const INT: u64 = BEFORE + 3;
const LONG: u64 = BEFORE + 4;
pub(super) const STRING: u64 = BEFORE + 5;
pub(super) const CLASS: u64 = BEFORE + 6;
pub(super) const THREAD: u64 = BEFORE + 7;
pub(super) const SYMBOL: u64 = BEFORE + 8;
pub(super) const METHOD: u64 = BEFORE + 9;
pub(super) const STACK_TRACE: u64 = BEFORE + 10;
const STACK_FRAME: u64 = BEFORE + 11;
const FRAME_TYPE: u64 = BEFORE + 12;
const CLASS_LOADER: u64 = BEFORE + 13;
const PACKAGE: u64 = BEFORE + 14;
const THREAD_GROUP: u64 = BEFORE + 15;
const MODULE: u64 = BEFORE + 16;

pub(super) const JVM_INFORMATION: u64 = BEFORE + 20;
pub(super) const MONITOR_ENTER: u64 = BEFORE + 21;
pub(super) const THREAD_PARK: u64 = BEFORE + 22;
pub(super) const BLAME: u64 = BEFORE + 23;
const MONITOR_WAIT: u64 = BEFORE + 24;
const THREAD_SLEEP: u64 = BEFORE + 25;
const SOCKET_READ: u64 = BEFORE + 26;
const SOCKET_WRITE: u64 = BEFORE + 27;
const FILE_READ: u64 = BEFORE + 28;
const FILE_WRITE: u64 = BEFORE + 29;

const LABEL: u64 = BEFORE + 30;
const DESCRIPTION: u64 = BEFORE + 31;
pub(super) const CATEGORY: u64 = BEFORE + 32;
const TIMESTAMP: u64 = BEFORE + 33;
const TIMESPAN: u64 = BEFORE + 34;
const UNSIGNED: u64 = BEFORE + 35;
const MEMORY_ADDRESS: u64 = BEFORE + 36;
const MONITOR_ADDRESS: u64 = BEFORE + 37;
const CONTENT_TYPE: u64 = BEFORE + 38;
const DATA_AMOUNT: u64 = BEFORE + 39;

/// All types.
pub(super) fn all() -> impl Iterator<Item = &'static Type> {
    [values::TYPES, events::TYPES, annotations::TYPES]
        .into_iter()
        .flatten()
}
