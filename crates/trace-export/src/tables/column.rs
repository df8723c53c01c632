//! Columns while they are filled.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, TimestampMicrosecondArray};
use arrow_schema::{DataType, Field, TimeUnit};

/// What a column holds. Numbers are signed, and moments in microseconds, because not every reader
/// of Parquet knows others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// UTF-8.
    Text,
    /// 64 bits.
    Number,
    Flag,
    /// A moment in UTC.
    Time,
}

/// A column: its name, and whether a row may have nothing in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) is_optional: bool,
}

impl Column {
    pub(super) const fn text(name: &'static str) -> Self {
        Self::of(name, Kind::Text)
    }

    pub(super) const fn number(name: &'static str) -> Self {
        Self::of(name, Kind::Number)
    }

    pub(super) const fn flag(name: &'static str) -> Self {
        Self::of(name, Kind::Flag)
    }

    pub(super) const fn time(name: &'static str) -> Self {
        Self::of(name, Kind::Time)
    }

    const fn of(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            is_optional: false,
        }
    }

    /// A row may have nothing in it.
    pub(super) const fn optional(self) -> Self {
        Self {
            is_optional: true,
            ..self
        }
    }

    pub(super) fn field(&self) -> Field {
        let data_type = match self.kind {
            Kind::Text => DataType::Utf8,
            Kind::Number => DataType::Int64,
            Kind::Flag => DataType::Boolean,
            Kind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
        };
        Field::new(self.name, data_type, self.is_optional)
    }
}

const UTC: &str = "UTC";

/// One value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Text(&'a str),
    Number(u64),
    Flag(bool),
    /// Nanoseconds since 1970.
    Time(u64),
    Nothing,
}

impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Nothing, Self::Text)
    }
}

impl From<Option<u64>> for Cell<'_> {
    fn from(number: Option<u64>) -> Self {
        number.map_or(Self::Nothing, Self::Number)
    }
}

/// The values of a column of some rows.
pub(super) enum Values {
    Text(StringBuilder),
    Number(Int64Builder),
    Flag(BooleanBuilder),
    Time(Int64Builder),
}

impl Values {
    pub(super) fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(StringBuilder::new()),
            Kind::Number => Self::Number(Int64Builder::new()),
            Kind::Flag => Self::Flag(BooleanBuilder::new()),
            Kind::Time => Self::Time(Int64Builder::new()),
        }
    }

    /// Adds a value, or nothing if the column is of another kind.
    pub(super) fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Self::Text(texts), Cell::Text(text)) => texts.append_value(text),
            (Self::Text(texts), _) => texts.append_null(),
            (Self::Number(numbers), Cell::Number(number)) => numbers.append_value(signed(number)),
            (Self::Number(numbers), _) => numbers.append_null(),
            (Self::Flag(flags), Cell::Flag(flag)) => flags.append_value(flag),
            (Self::Flag(flags), _) => flags.append_null(),
            (Self::Time(times), Cell::Time(time)) => times.append_value(signed(time / 1_000)),
            (Self::Time(times), _) => times.append_null(),
        }
    }

    /// What was added, and is then no longer here.
    pub(super) fn take(&mut self) -> ArrayRef {
        match self {
            Self::Text(texts) => Arc::new(texts.finish()),
            Self::Number(numbers) => Arc::new(numbers.finish()),
            Self::Flag(flags) => Arc::new(flags.finish()),
            Self::Time(times) => {
                let (_, values, nulls) = times.finish().into_parts();
                let times = TimestampMicrosecondArray::new(values, nulls);
                Arc::new(times.with_timezone(UTC))
            }
        }
    }
}

/// What is beyond the greatest signed number is that number.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
