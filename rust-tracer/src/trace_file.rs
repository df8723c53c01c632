//! The file that the drainer writes.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};

/// A trace file, until writing to it fails. Then tracing goes off, the user
/// reads one line, and the application goes on.
#[derive(Debug)]
pub(crate) struct TraceFile {
    /// `None` after a failure.
    file: Option<File>,
    path: PathBuf,
    /// Regular files can be removed and cut off; pipes and devices cannot.
    is_regular: bool,
    /// Length of the file, which always ends with the header or a whole chunk.
    len: u64,
    /// Set to 0 after a failure.
    enabled: Option<&'static AtomicU8>,
}

/// The trace file could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot open '{}': {}", path.display(), cause(error))]
pub(crate) struct OpenError {
    path: PathBuf,
    error: io::Error,
}

impl TraceFile {
    /// Creates or overwrites the file.
    pub(crate) fn create(
        path: PathBuf,
        enabled: Option<&'static AtomicU8>,
    ) -> Result<Self, OpenError> {
        // The standard library opens files with O_CLOEXEC.
        match File::create(&path) {
            Ok(file) => {
                let is_regular = file.metadata().is_ok_and(|metadata| metadata.is_file());
                Ok(Self {
                    file: Some(file),
                    path,
                    is_regular,
                    len: 0,
                    enabled,
                })
            }
            Err(error) => Err(OpenError { path, error }),
        }
    }

    /// Writing has not failed yet.
    pub(crate) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Appends the header or a chunk; returns whether it is in the file.
    ///
    /// Only the drainer may write: it has blocked the signal that writing to a
    /// closed pipe raises.
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

    /// Entries if somebody has removed the file.
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    static ENABLED: AtomicU8 = AtomicU8::new(1);

    fn create(path: &str) -> Result<TraceFile, OpenError> {
        TraceFile::create(PathBuf::from(path), Some(&ENABLED))
    }

    #[test]
    fn errors_name_the_file_and_the_cause() {
        let message = |path| create(path).unwrap_err().to_string();
        assert_eq!(
            message("/no/such/x.lct"),
            "cannot open '/no/such/x.lct': No such file or directory"
        );
        assert_eq!(message("/"), "cannot open '/': Is a directory");
    }

    #[test]
    fn a_removed_file_ends_tracing() {
        let path = format!(
            "{}/locktrace-removed-{}.lct",
            std::env::temp_dir().display(),
            std::process::id()
        );
        let mut file = create(&path).unwrap();
        assert!(file.append(b"chunk"));
        file.check();
        assert!(file.append(b"chunk"));
        fs::remove_file(path).unwrap();
        assert_eq!(ENABLED.load(Ordering::Acquire), 1);
        file.check();
        assert_eq!(ENABLED.load(Ordering::Acquire), 0);
        assert!(!file.append(b"chunk"));
    }
}
