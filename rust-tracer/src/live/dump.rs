//! A copy of the trace so far, made while it goes on.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use trace_format::{ChunkWriter, EndReason};

use crate::os::InWords;
use crate::output::destination::{Destination, OpenError};
use crate::output::progress::Extent;
use crate::runtime::Runtime;

/// How long to wait for the drainer. It takes the buffers of all threads once a second.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often to check that it is still at work.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Why a copy failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DumpError {
    #[error("it goes to a pipe or a device, not to a file")]
    NoFile,
    #[error("events are analyzed in the JVM, and there is no trace file; ask for a report")]
    OnlyAnalyzed,
    #[error("the trace has ended")]
    Ended,
    #[error("writing takes too long")]
    Late,
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("'{}' is no new file", .0.display())]
    NotNew(PathBuf),
    #[error("cannot read '{}': {}", path.display(), InWords(error))]
    Read { path: PathBuf, error: io::Error },
    #[error("cannot write '{}': {}", path.display(), InWords(error))]
    Write { path: PathBuf, error: io::Error },
}

/// Copies the trace so far to a file of its own, which gets a number if its
/// name is taken. Returns the name. Blocks for up to ten seconds, and while it copies.
///
/// # Errors
///
/// The trace cannot be read, or the copy not be written. Nothing stays.
pub(crate) fn dump(runtime: &Runtime, path: PathBuf) -> Result<PathBuf, DumpError> {
    if runtime.sink.only_analyzes() {
        return Err(DumpError::OnlyAnalyzed);
    }
    if !runtime.sink.is_file {
        return Err(DumpError::NoFile);
    }
    let extent = await_extent(runtime)?;
    let trace = runtime.path();
    let from = File::open(trace).map_err(|error| DumpError::Read {
        path: trace.to_owned(),
        error,
    })?;
    let (path, to) = match Destination::open(path)? {
        (path, Destination::Created(to)) => (path, to),
        (path, Destination::Given(_) | Destination::Pipe) => return Err(DumpError::NotNew(path)),
    };
    match copy(from, to, extent) {
        Ok(()) => Ok(path),
        Err(error) => {
            // A failure to remove half a copy cannot be reported.
            let _ = fs::remove_file(&path);
            Err(DumpError::Write { path, error })
        }
    }
}

pub(crate) fn await_extent(runtime: &Runtime) -> Result<Extent, DumpError> {
    let now_ns = runtime.clock.elapsed_ns();
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if let Some(extent) = runtime.drainer.progress.wait(now_ns, LOOK_INTERVAL) {
            return Ok(extent);
        }
        if runtime.buffers.are_closed() {
            return Err(DumpError::Ended);
        }
    }
    Err(DumpError::Late)
}

fn copy(from: File, mut to: File, extent: Extent) -> io::Result<()> {
    let Extent {
        len,
        chunks,
        complete_until_ns,
    } = extent;
    if io::copy(&mut from.take(len), &mut to)? < len {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    let mut end = ChunkWriter::new(false);
    to.write_all(end.early_end(complete_until_ns, chunks, EndReason::Copied))
}
