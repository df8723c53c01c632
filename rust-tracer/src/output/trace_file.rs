//! The file that the drainer writes.

use std::collections::TryReserveError;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};

use trace_format::EndReason;

use crate::os::{self, InWords};
use crate::output::destination::{self, Destination, OpenError};

/// A trace file, until writing to it fails.
#[derive(Debug)]
pub(crate) struct TraceFile {
    path: PathBuf,
    /// `None` after a failure.
    destination: Option<Destination>,
    /// Length of the file, which always ends with the header or a whole chunk.
    len: u64,
    /// Length of the file without its last chunk, but with the header.
    len_before: u64,
    /// Set to 0 after a failure.
    enabled: Option<&'static AtomicU8>,
}

/// Why a trace ends before the JVM does.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The file cannot be written.
    #[error("{}", InWords(.0))]
    Write(#[from] io::Error),
    /// The file was removed.
    #[error("the file was removed")]
    Removed,
    /// No process has opened the named pipe until the end.
    #[error("nobody reads it")]
    NoReader,
    /// The drainer cannot go on.
    #[error("memory is short")]
    Memory(#[from] TryReserveError),
}

impl Failure {
    /// Returns the reason that the trace gives, if it can.
    pub(crate) fn reason(&self) -> Option<EndReason> {
        match self {
            Self::Write(error) => Some(EndReason::WriteError {
                error: error.raw_os_error().unwrap_or_default().cast_unsigned(),
            }),
            Self::Memory(_) => Some(EndReason::MemoryShort),
            Self::Removed | Self::NoReader => None,
        }
    }
}

impl TraceFile {
    /// Creates the file, with a number if its name is taken, which it reports.
    ///
    /// # Errors
    ///
    /// The file cannot be created.
    pub(crate) fn create(
        path: PathBuf,
        enabled: Option<&'static AtomicU8>,
    ) -> Result<Self, OpenError> {
        let (opened, destination) = Destination::open(path.clone())?;
        if opened != path {
            let (path, opened) = (path.display(), opened.display());
            // A failure to write to standard error cannot be reported.
            let _ = writeln!(
                io::stderr(),
                "locktrace: '{path}' exists; the trace goes to '{opened}'"
            );
        }
        Ok(Self {
            path: opened,
            destination: Some(destination),
            len: 0,
            len_before: 0,
            enabled,
        })
    }

    /// Returns the file's name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether writing may wait for a reader.
    pub(crate) fn has_reader(&self) -> bool {
        !matches!(self.destination, Some(Destination::Created(_)))
    }

    /// Length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Opens a named pipe if it has a reader, and returns whether the file can be
    /// written. To be called until then.
    ///
    /// # Errors
    ///
    /// The pipe cannot be opened any more.
    pub(crate) fn connect(&mut self) -> Result<bool, Failure> {
        if matches!(self.destination, Some(Destination::Pipe)) {
            let Some(pipe) = destination::open_pipe(&self.path)? else {
                return Ok(false);
            };
            self.destination = Some(Destination::Given(pipe));
        }
        Ok(true)
    }

    /// Appends the header or a chunk. One that does not fit is cut off again.
    ///
    /// Only the drainer may write: it has blocked the signal that writing to a
    /// closed pipe raises.
    ///
    /// # Errors
    ///
    /// The chunk is not, or not as a whole, in the file.
    pub(crate) fn append(&mut self, chunk: &[u8]) -> Result<(), Failure> {
        let Some(Destination::Created(file) | Destination::Given(file)) = &mut self.destination
        else {
            return Err(Failure::NoReader);
        };
        if let Err(error) = write_all(file, chunk) {
            self.cut_off(self.len);
            return Err(error.into());
        }
        let len = self.len.saturating_add(chunk.len() as u64);
        self.len_before = if self.len == 0 { len } else { self.len };
        self.len = len;
        Ok(())
    }

    /// Checks that the file is still there.
    ///
    /// # Errors
    ///
    /// The file was removed.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match &self.destination {
            Some(Destination::Created(file)) if file.metadata()?.nlink() == 0 => {
                Err(Failure::Removed)
            }
            _ => Ok(()),
        }
    }

    /// Cuts off the last chunk, to free space on a full disk. Returns whether
    /// there was one.
    pub(crate) fn cut_off_last(&mut self) -> bool {
        let is_possible = self.len_before < self.len && self.cut_off(self.len_before);
        if is_possible {
            self.len = self.len_before;
        }
        is_possible
    }

    /// Truncates the file, if it is one.
    fn cut_off(&self, len: u64) -> bool {
        match &self.destination {
            Some(Destination::Created(file)) => file.set_len(len).is_ok(),
            // The reader finds a torn chunk at the end, which it can stand.
            _ => false,
        }
    }

    /// Ends tracing: it goes off, the user reads one line, and the application goes on.
    /// Takes no memory.
    pub(crate) fn give_up(&self, failure: &Failure) {
        if let Some(enabled) = self.enabled {
            // Release, as the JVM's own stores to this flag.
            enabled.store(0, Ordering::Release);
        }
        let path = self.path.display();
        // A failure to write to standard error cannot be reported.
        let _ = writeln!(
            io::stderr(),
            "locktrace: cannot write '{path}': {failure}; tracing is off, the application goes on"
        );
    }

    /// Stops writing.
    pub(crate) fn close(&mut self) {
        self.destination = None;
    }
}

/// Writes all bytes, also to a descriptor that does not wait for its reader by itself.
fn write_all(file: &mut File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => os::await_writable(file),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::*;

    static ENABLED: AtomicU8 = AtomicU8::new(1);

    #[test]
    fn a_removed_file_ends_tracing() {
        let path = std::env::temp_dir().join(format!("removed-{}.lct", std::process::id()));
        let mut file = TraceFile::create(path.clone(), Some(&ENABLED)).unwrap();
        assert!(file.append(b"chunk").is_ok());
        assert!(file.check().is_ok());
        assert!(file.append(b"chunk").is_ok());
        fs::remove_file(path).unwrap();
        assert_eq!(ENABLED.load(Ordering::Acquire), 1);
        let failure = file.check().unwrap_err();
        assert!(matches!(failure, Failure::Removed));
        file.give_up(&failure);
        file.close();
        assert_eq!(ENABLED.load(Ordering::Acquire), 0);
        assert!(file.append(b"chunk").is_err());
    }

    /// A chunk that does not fit leaves no trace, and the last one can make room.
    #[test]
    fn room_is_made_by_the_last_chunk() {
        let path = std::env::temp_dir().join(format!("room-{}.lct", std::process::id()));
        let mut file = TraceFile::create(path.clone(), None).unwrap();
        for bytes in ["header", "first", "second"] {
            assert!(file.append(bytes.as_bytes()).is_ok());
        }
        assert!(file.cut_off_last());
        assert!(!file.cut_off_last());
        assert!(file.append(b"end").is_ok());
        assert_eq!(fs::read_to_string(&path).unwrap(), "headerfirstend");
        assert_eq!(file.len(), 14);
        fs::remove_file(path).unwrap();
    }

    /// As when the JVM's standard output is another program's non-blocking socket.
    #[test]
    fn a_descriptor_that_does_not_wait_is_waited_for() {
        const LEN: usize = 4 << 20;
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let ours = OwnedFd::from(ours);
        let name = format!("/proc/self/fd/{}", ours.as_raw_fd());
        let mut file = TraceFile::create(name.into(), None).unwrap();
        drop(ours);
        let reader = thread::spawn(move || {
            let mut read = Vec::new();
            theirs.read_to_end(&mut read).unwrap();
            read.len()
        });
        assert!(file.append(&vec![7; LEN]).is_ok());
        drop(file);
        assert_eq!(reader.join().unwrap(), LEN);
    }
}
