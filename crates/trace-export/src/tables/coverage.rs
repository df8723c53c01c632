//! Coverage of a run by its tables.

use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::record::Field;

/// Coverage of a run by its tables. A greater value covers more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coverage {
    /// Nothing is missing.
    pub(super) is_complete: bool,
    /// The time from the start of the trace.
    pub(super) duration_ns: u64,
    /// The number of waits.
    pub(super) waits: u64,
}

impl Coverage {
    /// Returns whether nothing is missing.
    pub fn is_complete(self) -> bool {
        self.is_complete
    }

    /// Reads the coverage from a file of the table `runs`; `None` if the file is damaged.
    pub fn read(runs: impl ChunkReader + 'static) -> Option<Self> {
        let runs = SerializedFileReader::new(runs).ok()?;
        let run = runs.get_row_iter(None).ok()?.next()?.ok()?;
        let column = |name| {
            let mut columns = run.get_column_iter();
            columns.find_map(|(column, field)| (column == name).then_some(field))
        };
        let number = |name| match column(name)? {
            &Field::Long(number) => u64::try_from(number).ok(),
            _ => None,
        };
        let Field::Bool(is_complete) = *column("is_complete")? else {
            return None;
        };
        Some(Self {
            is_complete,
            duration_ns: number("duration_ns")?,
            waits: number("waits")?,
        })
    }
}
