//! Columns under construction.

use std::mem;
use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::IndexSet;
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;
use parquet::schema::types::{Type, TypePtr};

/// The type of a column. Numbers are signed, and moments in microseconds, because not every reader
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

/// A column: its name, and whether it is optional.
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

    /// Makes the column optional.
    pub(super) const fn optional(self) -> Self {
        Self {
            is_optional: true,
            ..self
        }
    }

    pub(super) fn schema(&self) -> Result<TypePtr, ParquetError> {
        let (physical, logical) = match self.kind {
            Kind::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Number => (PhysicalType::INT64, None),
            Kind::Flag => (PhysicalType::BOOLEAN, None),
            Kind::Time => {
                let utc = LogicalType::timestamp(true, TimeUnit::MICROS);
                (PhysicalType::INT64, Some(utc))
            }
        };
        let repetition = if self.is_optional {
            Repetition::OPTIONAL
        } else {
            Repetition::REQUIRED
        };
        let column = Type::primitive_type_builder(self.name, physical)
            .with_logical_type(logical)
            .with_repetition(repetition);
        column.build().map(Arc::new)
    }
}

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

/// A column of some rows.
pub(super) struct Cells {
    values: Values,
    /// For each row of an optional column: 1 if it has a value, 0 if not.
    levels: Option<Vec<i16>>,
}

/// The values that exist.
enum Values {
    Text(Texts),
    Number(Vec<i64>),
    Flag(Vec<bool>),
    Time(Vec<i64>),
}

impl Cells {
    pub(super) fn new(column: &Column) -> Self {
        let values = match column.kind {
            Kind::Text => Values::Text(Texts::default()),
            Kind::Number => Values::Number(Vec::new()),
            Kind::Flag => Values::Flag(Vec::new()),
            Kind::Time => Values::Time(Vec::new()),
        };
        Self {
            values,
            levels: column.is_optional.then(Vec::new),
        }
    }

    /// Adds a cell of the column's type, or the absence of a value to an optional column.
    pub(super) fn push(&mut self, cell: Cell<'_>) {
        if let Some(levels) = &mut self.levels {
            levels.push(i16::from(cell != Cell::Nothing));
        }
        match (&mut self.values, cell) {
            (Values::Text(texts), Cell::Text(text)) => texts.push(text),
            (Values::Number(numbers), Cell::Number(number)) => numbers.push(signed(number)),
            (Values::Flag(flags), Cell::Flag(flag)) => flags.push(flag),
            (Values::Time(times), Cell::Time(time)) => times.push(signed(time / 1_000)),
            (_, cell) => debug_assert!(
                cell == Cell::Nothing && self.levels.is_some(),
                "a cell that its column may have"
            ),
        }
    }

    /// Writes the cells and removes them.
    pub(super) fn write(
        &mut self,
        writer: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        let levels = self.levels.as_deref();
        match &mut self.values {
            Values::Text(texts) => {
                let texts = texts.take();
                writer
                    .typed::<ByteArrayType>()
                    .write_batch(&texts, levels, None)?;
            }
            Values::Number(numbers) | Values::Time(numbers) => {
                writer
                    .typed::<Int64Type>()
                    .write_batch(numbers, levels, None)?;
                numbers.clear();
            }
            Values::Flag(flags) => {
                writer
                    .typed::<BoolType>()
                    .write_batch(flags, levels, None)?;
                flags.clear();
            }
        }
        if let Some(levels) = &mut self.levels {
            levels.clear();
        }
        Ok(())
    }
}

/// Texts, most of which are repeated.
#[derive(Default)]
struct Texts {
    /// Each text once.
    distinct: IndexSet<Box<str>, RandomState>,
    /// The position of each row's text.
    positions: Vec<u32>,
}

impl Texts {
    fn push(&mut self, text: &str) {
        let position = match self.distinct.get_index_of(text) {
            Some(position) => position,
            None => self.distinct.insert_full(text.into()).0,
        };
        // A group has fewer rows than that, and no more texts than rows.
        self.positions.push(position as u32);
    }

    /// Takes the text of each row; equal ones share their memory.
    fn take(&mut self) -> Vec<ByteArray> {
        let distinct: Vec<_> = mem::take(&mut self.distinct)
            .into_iter()
            .map(|text| ByteArray::from(text.into_boxed_bytes().into_vec()))
            .collect();
        let rows = self.positions.drain(..);
        rows.map(|position| distinct[position as usize].clone())
            .collect()
    }
}

/// Converts to a signed number; a greater number becomes the greatest one.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
