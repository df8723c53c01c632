//! A table that is being written, in one file.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use tempfile::{NamedTempFile, TempPath};

use super::column::{Cell, Column, Values};
use super::layout::Layout;
use super::place::Place;

/// Rows that are passed on together.
const BATCH_ROWS: usize = 8192;

/// Rows that a reader can pass over together; as many are in memory, encoded.
const GROUP_ROWS: usize = 131_072;

/// A table that is being written, under a name that readers pass over.
pub(super) struct Table {
    /// What it will be called.
    path: PathBuf,
    temporary: TempPath,
    writer: ArrowWriter<File>,
    schema: SchemaRef,
    values: Vec<Values>,
    rows: usize,
}

/// A table that is complete, but has no name yet. Vanishes if it gets none.
pub(super) struct Finished {
    path: PathBuf,
    temporary: TempPath,
}

impl Table {
    /// Begins a table. `version` is that of the layout of all tables.
    pub(super) fn create(layout: &Layout, place: &Place, version: u32) -> io::Result<Self> {
        let fields: Vec<_> = layout.columns.iter().map(Column::field).collect();
        let schema = Arc::new(Schema::new(fields));
        let directory = place.directory();
        let (file, temporary) = temporary_file(directory)
            .map_err(|error| named(directory, error))?
            .into_parts();
        let options = ArrowWriterOptions::new()
            .with_properties(properties(version))
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(file, Arc::clone(&schema), options);
        let writer = writer.map_err(|error| named(&temporary, io_error(error)))?;
        let values = layout.columns.iter().map(|column| Values::new(column.kind));
        Ok(Self {
            path: place.file(layout.name),
            temporary,
            writer,
            schema,
            values: values.collect(),
            rows: 0,
        })
    }

    /// Adds a row: a cell for each column.
    pub(super) fn push<const N: usize>(&mut self, row: [Cell<'_>; N]) -> io::Result<()> {
        debug_assert_eq!(N, self.values.len(), "a cell for each column");
        for (values, cell) in self.values.iter_mut().zip(row) {
            values.push(cell);
        }
        self.rows += 1;
        if self.rows == BATCH_ROWS {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let columns = self.values.iter_mut().map(Values::take).collect();
        self.rows = 0;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        let batch = batch.map_err(io::Error::other)?;
        let written = self.writer.write(&batch);
        written.map_err(|error| named(&self.path, io_error(error)))
    }

    /// Writes what is left.
    pub(super) fn finish(mut self) -> io::Result<Finished> {
        self.flush()?;
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

    /// Gives the table its name in one step: whoever reads the folder never sees a part of it.
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

/// A file in `directory`, which is made if need be. Other users read it later, as far as the umask
/// lets them.
fn temporary_file(directory: &Path) -> io::Result<NamedTempFile> {
    fs::create_dir_all(directory)?;
    tempfile::Builder::new()
        .prefix(".locktrace-")
        .suffix(".tmp")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory)
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

/// The error of the system, if that is what went wrong.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}
