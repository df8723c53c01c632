//! A table under construction, in one file.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use tempfile::{NamedTempFile, TempPath};

use super::column::{Cell, Cells, Column};
use super::layout::Layout;
use super::place::Place;

/// The rows of a group, which a reader can skip together; as many are in memory.
const GROUP_ROWS: usize = 131_072;

/// A table under construction, with a name that readers skip.
pub(super) struct Table {
    /// The final path.
    path: PathBuf,
    temporary: TempPath,
    writer: SerializedFileWriter<File>,
    columns: Vec<Cells>,
    rows: usize,
}

/// A table that is complete, but not yet named. Vanishes if it stays so.
pub(super) struct Finished {
    path: PathBuf,
    temporary: TempPath,
}

impl Table {
    /// Begins a table. `version` is the version of the layout of all tables.
    pub(super) fn create(layout: &Layout, place: &Place, version: u32) -> io::Result<Self> {
        let directory = &place.directory;
        let (file, temporary) = temporary_file(directory, &place.temporary_prefix)
            .map_err(|error| named(directory, error))?
            .into_parts();
        let writer = schema(layout)
            .and_then(|schema| SerializedFileWriter::new(file, schema, properties(version).into()));
        let writer = writer.map_err(|error| named(&temporary, io_error(error)))?;
        Ok(Self {
            path: place.file(layout.name),
            temporary,
            writer,
            columns: layout.columns.iter().map(Cells::new).collect(),
            rows: 0,
        })
    }

    /// Adds a row: a cell for each column.
    pub(super) fn push<const N: usize>(&mut self, row: [Cell<'_>; N]) -> io::Result<()> {
        debug_assert_eq!(N, self.columns.len(), "a cell for each column");
        for (cells, cell) in self.columns.iter_mut().zip(row) {
            cells.push(cell);
        }
        self.rows += 1;
        if self.rows == GROUP_ROWS {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.rows = 0;
        let written = self.write_group();
        written.map_err(|error| named(&self.path, io_error(error)))
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for cells in &mut self.columns {
            let Some(mut column) = group.next_column()? else {
                break;
            };
            cells.write(&mut column)?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Writes the rest.
    pub(super) fn finish(mut self) -> io::Result<Finished> {
        if self.rows > 0 {
            self.flush()?;
        }
        let Self {
            path,
            temporary,
            writer,
            ..
        } = self;
        let file = writer.into_inner();
        let file = file.map_err(|error| named(&path, io_error(error)))?;
        file.sync_all().map_err(|error| named(&path, error))?;
        Ok(Finished { path, temporary })
    }
}

impl Finished {
    /// Deletes the file that has the name now, if there is one.
    pub(super) fn remove_old(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(named(&self.path, error)),
            _ => Ok(()),
        }
    }

    /// Gives the table its name in one step, so that readers of the folder never see a part of it.
    /// Returns the name.
    pub(super) fn publish(self) -> io::Result<PathBuf> {
        let Self { path, temporary } = self;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| named(folder, error))?;
        }
        match temporary.persist(&path) {
            Ok(()) => Ok(path),
            Err(failed) => Err(named(&path, failed.error)),
        }
    }
}

/// Creates a file in `directory`, which is created if missing. Other users read it later, as far as
/// the umask lets them.
fn temporary_file(directory: &Path, prefix: &str) -> io::Result<NamedTempFile> {
    fs::create_dir_all(directory)?;
    tempfile::Builder::new()
        .prefix(prefix)
        .suffix(".tmp")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory)
}

fn schema(layout: &Layout) -> Result<TypePtr, ParquetError> {
    let columns = layout.columns.iter().map(Column::schema);
    let columns = columns.collect::<Result<_, _>>()?;
    let table = Type::group_type_builder(layout.name).with_fields(columns);
    table.build().map(Arc::new)
}

fn properties(version: u32) -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_created_by(format!("locktrace {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![KeyValue::new(
            "locktrace.tables".to_owned(),
            version.to_string(),
        )]))
        .build()
}

fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Returns the error of the system, if there is one.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}
