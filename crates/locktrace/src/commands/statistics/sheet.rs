//! A table whose columns are for people, for machines, or for both.

use std::fmt;
use std::io::{self, Write};

use anstyle::Style;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::output;
use crate::text::{human, labelled_table};

/// What is known of locks, or of threads.
pub(super) struct Sheet {
    /// What a row is about, as the title of its label.
    pub(super) label_title: &'static str,
    /// For machines: what the names of a row are called.
    pub(super) name_keys: [&'static str; 2],
    pub(super) columns: &'static [Column],
    pub(super) rows: Vec<SheetRow>,
}

/// A column of numbers.
#[derive(Clone, Copy)]
pub(super) struct Column {
    /// For machines; with the unit of its numbers.
    pub(super) key: &'static str,
    /// For people.
    pub(super) title: &'static str,
    pub(super) is_duration: bool,
    /// People only see it if they ask for all.
    pub(super) is_detail: bool,
}

impl Column {
    pub(super) const fn duration(key: &'static str, title: &'static str) -> Self {
        Self {
            key,
            title,
            is_duration: true,
            is_detail: false,
        }
    }

    pub(super) const fn count(key: &'static str, title: &'static str) -> Self {
        Self {
            is_duration: false,
            ..Self::duration(key, title)
        }
    }

    pub(super) const fn detail(self) -> Self {
        Self {
            is_detail: true,
            ..self
        }
    }

    fn text(&self, number: Option<u64>) -> String {
        match number {
            None => "–".to_owned(),
            Some(duration_ns) if self.is_duration => human::duration(duration_ns),
            Some(count) => human::count(count),
        }
    }
}

pub(super) struct SheetRow {
    /// For people.
    pub(super) label: String,
    /// For machines: what tells the row apart from others.
    pub(super) names: [Name; 2],
    /// As many as there are columns; `None` if there is nothing to tell.
    pub(super) numbers: Vec<Option<u64>>,
}

/// What tells a row apart from others.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Name {
    Text(String),
    Number(u64),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
        }
    }
}

impl Sheet {
    /// Puts the rows first of which a column has most; others keep their order.
    pub(super) fn sort_by(&mut self, key: &str) {
        if let Some(at) = self.columns.iter().position(|column| column.key == key) {
            self.rows
                .sort_by_key(|row| std::cmp::Reverse(row.numbers[at]));
        }
    }

    /// The rows for people.
    pub(super) fn write_table(&self, text: &mut String, is_wide: bool, width: Option<usize>) {
        let columns = self.columns.iter().enumerate();
        let shown: Vec<_> = columns
            .filter(|(_, column)| is_wide || !column.is_detail)
            .collect();
        let titles: Vec<&str> = shown.iter().map(|(_, column)| column.title).collect();
        let rows = self.rows.iter().map(|row| labelled_table::Row {
            numbers: shown
                .iter()
                .map(|&(at, column)| column.text(row.numbers[at]))
                .collect(),
            label: row.label.clone(),
            style: Style::new(),
        });
        let rows: Vec<_> = rows.collect();
        labelled_table::add(text, &titles, self.label_title, &rows, width);
    }

    pub(super) fn write_csv(&self, out: impl Write) -> io::Result<()> {
        let mut out = csv::Writer::from_writer(out);
        let keys = self.columns.iter().map(|column| column.key);
        out.write_record(self.name_keys.into_iter().chain(keys))
            .map_err(output::csv_error)?;
        for row in &self.rows {
            let names = row.names.iter().map(Name::to_string);
            let numbers = row.numbers.iter().map(|number| match number {
                Some(number) => number.to_string(),
                None => String::new(),
            });
            out.write_record(names.chain(numbers))
                .map_err(output::csv_error)?;
        }
        out.flush()
    }

    pub(super) fn records(&self) -> Vec<RowRecord<'_>> {
        let records = self.rows.iter().map(|row| RowRecord { sheet: self, row });
        records.collect()
    }
}

/// A row for machines.
pub(super) struct RowRecord<'a> {
    sheet: &'a Sheet,
    row: &'a SheetRow,
}

impl Serialize for RowRecord<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, name) in self.sheet.name_keys.iter().zip(&self.row.names) {
            map.serialize_entry(key, name)?;
        }
        for (column, number) in self.sheet.columns.iter().zip(&self.row.numbers) {
            map.serialize_entry(column.key, number)?;
        }
        map.end()
    }
}
