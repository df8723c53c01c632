//! A trace that has perhaps ended.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trace_analysis::{TraceError, TraceFile};
use trace_format::buffer_file;

use crate::process;

/// A tracer writes something at least once a second. One that has not for so long has been killed,
/// if nobody has its file open.
const SILENCE_OF_THE_KILLED: Duration = Duration::from_secs(600);

/// A trace, and what its file was like when it was opened.
pub(super) struct Candidate {
    path: PathBuf,
    metadata: Metadata,
}

impl Candidate {
    /// Opens a trace as far as it is written.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is none.
    pub(super) fn open(path: PathBuf) -> Result<(Self, TraceFile), TraceError> {
        let metadata = fs::metadata(&path).map_err(|source| TraceError::Io {
            path: path.clone(),
            source,
        })?;
        let trace = TraceFile::open(&path)?;
        Ok((Self { path, metadata }, trace))
    }

    /// Nothing will be written any more.
    ///
    /// # Errors
    ///
    /// If the trace cannot be read.
    pub(super) fn has_ended(&self, trace: &TraceFile) -> Result<bool, TraceError> {
        let modified = self.metadata.modified();
        let is_silent = modified.is_ok_and(|modified| {
            let silence = modified.elapsed();
            silence.is_ok_and(|silence| silence >= SILENCE_OF_THE_KILLED)
        });
        Ok(says_so(trace)? || (is_silent && !process::is_written_by_any(&self.metadata)))
    }

    /// Deletes the trace, and then what a killed process has left beside it: the other way round, a
    /// trace without it could be read once more. A file that has changed meanwhile stays.
    ///
    /// # Errors
    ///
    /// Those of the system; the file is named.
    pub(super) fn delete(&self) -> io::Result<()> {
        let stamp = |file: &Metadata| (file.dev(), file.ino(), file.len(), file.modified().ok());
        let now = fs::metadata(&self.path);
        if now.is_ok_and(|now| stamp(&now) == stamp(&self.metadata)) {
            remove(&self.path)?;
            let mut buffers = OsString::from(&self.path);
            buffers.push(buffer_file::EXTENSION);
            remove(Path::new(&buffers))?;
        }
        Ok(())
    }
}

/// There is an end chunk.
fn says_so(trace: &TraceFile) -> Result<bool, TraceError> {
    let mut reader = trace.read()?.only_metadata();
    while trace.next_chunk(&mut reader)?.is_some() {}
    Ok(reader.damage().end_seen)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let message = format!("{}: {error}", path.display());
            Err(io::Error::new(error.kind(), message))
        }
        _ => Ok(()),
    }
}
