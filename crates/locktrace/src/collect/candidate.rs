//! A trace that has perhaps ended.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trace_analysis::{TraceError, TraceFile};
use trace_format::{EndReason, buffer_file};

use super::unreadable;
use crate::{paths, process};

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
        let metadata = fs::metadata(&path).map_err(|source| unreadable(&path, source))?;
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
        let stamp = |file: &Metadata| (file.len(), file.modified().ok());
        let is_unchanged = |now: Metadata| {
            paths::are_same_file(&now, &self.metadata) && stamp(&now) == stamp(&self.metadata)
        };
        if fs::metadata(&self.path).is_ok_and(is_unchanged) {
            remove(&self.path)?;
            remove(&paths::beside(&self.path, buffer_file::EXTENSION))?;
        }
        Ok(())
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(paths::named(path, &error)),
        _ => Ok(()),
    }
}
