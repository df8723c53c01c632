//! The file next to a trace that holds the buffers a killed process had not written.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use trace_format::{FileHeader, LeftBuffers, buffer_file};

/// Opens the file of buffers next to the trace at `path`, if the process that wrote to it has ended
/// without removing it.
pub(crate) fn open(path: &Path) -> Option<File> {
    let file = File::open(buffers_path(path)).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    match file.try_lock_shared() {
        // The process holds a lock on the file as long as it lives, and writes the buffers
        // to the trace.
        Err(TryLockError::WouldBlock) => None,
        // Not every file system knows locks. The tracer has none on those.
        Ok(()) | Err(TryLockError::Error(_)) => Some(file),
    }
}

/// Finds the buffers in such a file that the trace with this header and length lacks.
pub(crate) fn find(file: File, header: &FileHeader, trace_len: u64) -> Option<LeftBuffers> {
    // What cannot be read there is missing from the trace as if there were no such file.
    LeftBuffers::find(file, header, trace_len).ok().flatten()
}

/// Returns the path of the buffers' file, next to the trace, which may be named by a link.
fn buffers_path(path: &Path) -> PathBuf {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut name: OsString = path.into_os_string();
    name.push(buffer_file::EXTENSION);
    name.into()
}
