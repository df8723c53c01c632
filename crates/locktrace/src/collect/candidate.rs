//! A trace that has perhaps ended.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trace_analysis::{TraceError, TraceFile};
use trace_format::{EndReason, buffer_file};

use crate::process;

/// A tracer writes something at least once a second. One that has not for so long has been killed,
/// if nobody has its file open.
const SILENCE_OF_THE_KILLED: Duration = Duration::from_secs(600);

/// A trace, and what its file was like when it was opened.
pub(super) struct Candidate {
    path: PathBuf,
    metadata: Metadata,
}

/// What will become of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing will be written any more.
    Ended,
    /// It may still be written.
    GoesOn,
    /// It is the first part of another trace, whose tables it must not replace.
    Copy,
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

    /// Whether something will still be written.
    ///
    /// # Errors
    ///
    /// If the trace cannot be read.
    pub(super) fn state(&self, trace: &TraceFile) -> Result<State, TraceError> {
        let mut reader = trace.read()?.only_metadata();
        while trace.next_chunk(&mut reader)?.is_some() {}
        let damage = reader.damage();
        Ok(match damage.ended_early {
            Some(EndReason::Copied) => State::Copy,
            _ if damage.end_seen || self.is_of_a_killed_process() => State::Ended,
            _ => State::GoesOn,
        })
    }

    fn is_of_a_killed_process(&self) -> bool {
        let modified = self.metadata.modified();
        let is_silent = modified.is_ok_and(|modified| {
            let silence = modified.elapsed();
            silence.is_ok_and(|silence| silence >= SILENCE_OF_THE_KILLED)
        });
        is_silent && !process::is_written_by_any(&self.metadata)
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

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let message = format!("{}: {error}", path.display());
            Err(io::Error::new(error.kind(), message))
        }
        _ => Ok(()),
    }
}
