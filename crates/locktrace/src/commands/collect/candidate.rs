//! A file that is called as a trace is, which has perhaps ended.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use trace_analysis::{TraceError, TraceFile};
use trace_format::{EndReason, HeaderError, buffer_file};

use crate::commands::collect::watermark::MARGIN;
use crate::files::paths;
use crate::jvm::process;

/// A tracer writes something at least once a second. One that has not for so long has been killed,
/// if nobody has its file open.
const SILENCE_OF_THE_KILLED: Duration = Duration::from_secs(600);

/// What the names of files end with that are not looked at again.
const ASIDE: &str = ".aside";

/// A file, and what it was like when it was found.
pub(super) struct Candidate {
    path: PathBuf,
    metadata: Metadata,
}

/// What is in a file.
pub(super) enum Content {
    Trace(TraceFile),
    /// Nothing that anybody can read, now or later, and why.
    NoTrace(String),
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
    /// # Errors
    ///
    /// If nobody lets us look at it.
    pub(super) fn find(path: PathBuf) -> Result<Self, TraceError> {
        let metadata = fs::metadata(&path).map_err(|source| unreadable(&path, source))?;
        Ok(Self { path, metadata })
    }

    /// Returns where the file is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file as far as it is written.
    ///
    /// # Errors
    ///
    /// If it cannot be read, though perhaps by others: another user, or a later version.
    pub(super) fn open(&self) -> Result<Content, TraceError> {
        match TraceFile::open(&self.path) {
            Ok(trace) => Ok(Content::Trace(trace)),
            Err(TraceError::Header { .. }) if self.metadata.len() == 0 => {
                Ok(Content::NoTrace("the file is empty".to_owned()))
            }
            Err(TraceError::Header {
                source:
                    source @ (HeaderError::NotATrace { .. }
                    | HeaderError::Truncated { .. }
                    | HeaderError::Checksum { .. }),
                ..
            }) => Ok(Content::NoTrace(source.to_string())),
            Err(error) => Err(error),
        }
    }

    /// When the trace that the file may become began at the earliest, in nanoseconds since
    /// 1970.
    pub(super) fn earliest_start_unix_ns(&self) -> u64 {
        let times = [self.metadata.created(), self.metadata.modified()];
        let since_1970 = |time: SystemTime| time.duration_since(UNIX_EPOCH).ok();
        let earliest = times.into_iter().flatten().filter_map(since_1970).min();
        let earliest = earliest.unwrap_or_default().saturating_sub(MARGIN);
        u64::try_from(earliest.as_nanos()).unwrap_or(u64::MAX)
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

    /// Nothing has been written for long, and nobody can write.
    pub(super) fn is_of_a_killed_process(&self) -> bool {
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
        if self.is_unchanged() {
            unless_gone(&self.path, fs::remove_file(&self.path))?;
            let buffers = paths::beside(&self.path, buffer_file::EXTENSION);
            unless_gone(&buffers, fs::remove_file(&buffers))?;
        }
        Ok(())
    }

    /// Gives the file, and what a killed process has left beside it, a name that is no trace's.
    /// Returns it; `None` if the file has changed meanwhile.
    ///
    /// # Errors
    ///
    /// Those of the system; the file is named.
    pub(super) fn set_aside(&self) -> io::Result<Option<PathBuf>> {
        if !self.is_unchanged() {
            return Ok(None);
        }
        let aside = self.free_name();
        unless_gone(&self.path, fs::rename(&self.path, &aside))?;
        let [buffers, buffers_aside] =
            [&self.path, &aside].map(|path| paths::beside(path, buffer_file::EXTENSION));
        unless_gone(&buffers, fs::rename(&buffers, buffers_aside))?;
        Ok(Some(aside))
    }

    /// Only one process at a time gives files such names.
    fn free_name(&self) -> PathBuf {
        let mut name = paths::beside(&self.path, ASIDE);
        let mut number = 1;
        while name.symlink_metadata().is_ok() {
            name = paths::beside(&self.path, &format!(".{number}{ASIDE}"));
            number += 1;
        }
        name
    }

    fn is_unchanged(&self) -> bool {
        let stamp = |file: &Metadata| (file.len(), file.modified().ok());
        fs::metadata(&self.path).is_ok_and(|now| {
            paths::are_same_file(&now, &self.metadata) && stamp(&now) == stamp(&self.metadata)
        })
    }
}

fn unless_gone(path: &Path, done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(paths::named(path, &error)),
        _ => Ok(()),
    }
}

/// Returns the error of a file or a folder that cannot be read.
pub(super) fn unreadable(path: &Path, source: io::Error) -> TraceError {
    TraceError::Io {
        path: path.to_owned(),
        source,
    }
}
