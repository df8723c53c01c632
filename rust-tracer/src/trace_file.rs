//! The file that the drainer writes.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};

use trace_format::FileHeader;

use crate::runtime::Config;

/// A trace file, until writing to it fails. Then tracing goes off, the user
/// reads one line, and the application goes on.
#[derive(Debug)]
pub(crate) struct TraceFile {
    /// `None` after a failure.
    file: Option<File>,
    path: PathBuf,
    /// Regular files can be removed and cut off; pipes and devices cannot.
    is_regular: bool,
    /// Length of the file, which always ends with a whole chunk.
    len: u64,
    compress: bool,
    /// Set to 0 after a failure.
    enabled: Option<&'static AtomicU8>,
}

/// There is no trace file to write to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CreateError {
    #[error("cannot open '{}': {}", path.display(), cause(error))]
    Open { path: PathBuf, error: io::Error },
    #[error("cannot write '{}': {}", path.display(), cause(error))]
    Write { path: PathBuf, error: io::Error },
}

impl TraceFile {
    /// Creates or overwrites the file and writes its header.
    pub(crate) fn create(config: Config) -> Result<Self, CreateError> {
        let Config {
            path,
            compress,
            start_unix_ns,
            pid,
            jvm,
            enabled,
            ..
        } = config;
        // The standard library opens files with O_CLOEXEC.
        let mut file = match File::create(&path) {
            Ok(file) => file,
            Err(error) => return Err(CreateError::Open { path, error }),
        };
        let header = FileHeader {
            compressed: compress,
            start_unix_ns,
            pid,
            jvm,
        }
        .encode();
        if let Err(error) = file.write_all(&header) {
            return Err(CreateError::Write { path, error });
        }
        let is_regular = file.metadata().is_ok_and(|metadata| metadata.is_file());
        let len = header.len() as u64;
        Ok(Self {
            file: Some(file),
            path,
            is_regular,
            len,
            compress,
            enabled,
        })
    }

    /// The chunks are to be compressed.
    pub(crate) fn compress(&self) -> bool {
        self.compress
    }

    /// Length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Appends a chunk; returns whether it is in the file.
    pub(crate) fn append(&mut self, chunk: &[u8]) -> bool {
        let Some(file) = &mut self.file else {
            return false;
        };
        match file.write_all(chunk) {
            Ok(()) => {
                self.len = self.len.saturating_add(chunk.len() as u64);
                true
            }
            Err(error) => {
                self.fail(&cause(&error));
                false
            }
        }
    }

    /// Notices if somebody has removed the file.
    pub(crate) fn check(&mut self) {
        let Some(file) = &self.file else { return };
        if self.is_regular && file.metadata().is_ok_and(|metadata| metadata.nlink() == 0) {
            self.fail("the file was removed");
        }
    }

    fn fail(&mut self, cause: &str) {
        if let Some(enabled) = self.enabled {
            // Release, as the JVM's own stores to this flag.
            enabled.store(0, Ordering::Release);
        }
        let path = self.path.display();
        // There is nobody to tell that standard error cannot be written.
        let _ = writeln!(
            io::stderr(),
            "locktrace: cannot write '{path}': {cause}; tracing is off, the application goes on"
        );
        if let Some(file) = self.file.take()
            && self.is_regular
        {
            // Else the reader finds a torn chunk at the end, which it can stand.
            let _ = file.set_len(self.len);
        }
    }
}

/// The error in words, without its number.
fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}
