//! Descriptions of types.

use super::numbers::CONTENT_TYPE;

/// A type: its number, its name, and its fields.
pub(in crate::jfr) struct Type {
    pub(in crate::jfr) number: u64,
    pub(in crate::jfr) name: &'static str,
    pub(in crate::jfr) form: Form,
    pub(in crate::jfr) fields: &'static [Field],
    pub(in crate::jfr) annotations: &'static [Annotation],
}

#[derive(Clone, Copy)]
pub(in crate::jfr) enum Form {
    /// A number, a text, or a type with fields.
    Plain,
    /// Stands for its only field.
    Simple,
    Event,
    Annotation,
}

pub(in crate::jfr) struct Field {
    pub(in crate::jfr) name: &'static str,
    /// The number of its type.
    pub(in crate::jfr) of: u64,
    pub(in crate::jfr) holds: Holds,
    pub(in crate::jfr) annotations: &'static [Annotation],
}

/// The kinds of value of a field.
#[derive(Clone, Copy)]
pub(in crate::jfr) enum Holds {
    Value,
    Values,
    /// The number of a constant, 0 for none.
    Constant,
}

/// An annotation: the number of its type, and its values.
pub(in crate::jfr) type Annotation = (u64, &'static [&'static str]);

impl Type {
    pub(in crate::jfr) const fn new(
        number: u64,
        name: &'static str,
        fields: &'static [Field],
    ) -> Self {
        Self {
            number,
            name,
            form: Form::Plain,
            fields,
            annotations: &[],
        }
    }

    pub(in crate::jfr) const fn simple(
        number: u64,
        name: &'static str,
        fields: &'static [Field],
    ) -> Self {
        Self {
            form: Form::Simple,
            ..Self::new(number, name, fields)
        }
    }

    pub(in crate::jfr) const fn event(
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

    pub(in crate::jfr) const fn annotation(
        number: u64,
        name: &'static str,
        fields: &'static [Field],
    ) -> Self {
        Self {
            form: Form::Annotation,
            ..Self::new(number, name, fields)
        }
    }

    /// Returns the annotation that says how a number is shown.
    pub(in crate::jfr) const fn content_type(
        number: u64,
        name: &'static str,
        fields: &'static [Field],
    ) -> Self {
        Self {
            annotations: &[(CONTENT_TYPE, &[])],
            ..Self::annotation(number, name, fields)
        }
    }
}

pub(in crate::jfr) const fn field(
    name: &'static str,
    of: u64,
    annotations: &'static [Annotation],
) -> Field {
    Field {
        name,
        of,
        holds: Holds::Value,
        annotations,
    }
}

pub(in crate::jfr) const fn constant(
    name: &'static str,
    of: u64,
    annotations: &'static [Annotation],
) -> Field {
    Field {
        holds: Holds::Constant,
        ..field(name, of, annotations)
    }
}

pub(in crate::jfr) const fn array(
    name: &'static str,
    of: u64,
    annotations: &'static [Annotation],
) -> Field {
    Field {
        holds: Holds::Values,
        ..field(name, of, annotations)
    }
}
