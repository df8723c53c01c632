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
/// How often to look whether it is still there.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Why there is no copy.
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

/// Copies what was written until now to a file of its own, which gets a number where its
/// name is taken. Returns the name. Blocks for up to ten seconds, and to copy.
///
/// # Errors
///
/// There is nothing to copy, or nowhere to copy it to. Nothing is left behind.
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
            // There is nobody to tell that half a copy stays.
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
