//! Where a trace comes from: a file, a file that grows, a pipe, a socket.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use trace_format::{Chunk, Damage, FileHeader};

use crate::input::crash_buffers;
use crate::input::read_ahead::feed;
use crate::input::trace_file::{FileReader, TraceError, TraceFile, reader};

/// A trace that is read once, from its start to its end, from whatever it comes from.
pub struct TraceInput {
    path: PathBuf,
    /// `None` if it is not known.
    byte_len: Option<u64>,
    /// Reading ends with the trace, not with the file.
    follows: bool,
    has_ended: bool,
    reader: FileReader,
}

impl TraceInput {
    /// Opens a file at the length that it has now, or reads a pipe or a socket to its end.
    ///
    /// # Errors
    ///
    /// If that is not possible, or it is no trace of a version that can be read.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let io_error = |source| TraceError::Io {
            path: path.to_owned(),
            source,
        };
        let metadata = fs::metadata(path).map_err(io_error)?;
        if metadata.is_file() {
            return TraceFile::open(path)?.input();
        }
        if metadata.is_dir() {
            return Err(TraceError::NotAFile {
                path: path.to_owned(),
                expected: "a trace file",
                found: "a directory",
            });
        }
        if metadata.file_type().is_socket() {
            let socket = UnixStream::connect(path).map_err(io_error)?;
            return Self::of_source(path, socket);
        }
        Self::of_source(path, File::open(path).map_err(io_error)?)
    }

    /// Opens a file that may still grow: waits for more until the trace ends, or `goes_on`,
    /// which is asked now and then, returns `false`.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn follow(
        path: &Path,
        goes_on: impl FnMut() -> bool + Send + 'static,
    ) -> Result<Self, TraceError> {
        let file = File::open(path).map_err(|source| TraceError::Io {
            path: path.to_owned(),
            source,
        })?;
        let growing = Growing { file, goes_on };
        let mut input = Self::of_source(path, growing)?;
        let (path, header) = (path.to_owned(), input.header().clone());
        input.reader = input.reader.with_left_buffers(move || {
            let file = crash_buffers::open(&path)?;
            let len = fs::metadata(&path).ok()?.len();
            crash_buffers::find(file, &header, len)
        });
        Ok(Self {
            follows: true,
            ..input
        })
    }

    /// Reads a trace from `source`, which errors call `path`.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is no trace of a version that can be read.
    pub fn of_source(path: &Path, source: impl Read + Send + 'static) -> Result<Self, TraceError> {
        Ok(Self {
            path: path.to_owned(),
            byte_len: None,
            follows: false,
            has_ended: false,
            reader: reader(path, Box::new(source))?,
        })
    }

    /// Lets a thread of its own wait for more of the trace, so that
    /// [`poll_chunk`](Self::poll_chunk) does not. Nobody else may ask for chunks then.
    #[must_use]
    pub fn fed(self) -> Self {
        let reader = self
            .reader
            .map_source(|source| -> Box<dyn Read + Send> { Box::new(feed(source)) });
        Self { reader, ..self }
    }

    /// Returns what it is called.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what the trace says about itself.
    pub fn header(&self) -> &FileHeader {
        self.reader.header()
    }

    /// Returns the version of the trace's format.
    pub fn version(&self) -> u16 {
        self.reader.version()
    }

    /// Returns how long the trace is in bytes, if it is a file of which the length is known.
    pub fn byte_len(&self) -> Option<u64> {
        self.byte_len
    }

    /// Returns how many bytes have been read.
    pub fn offset(&self) -> u64 {
        self.reader.offset()
    }

    /// Returns what is missing from the part read so far.
    pub fn damage(&self) -> &Damage {
        self.reader.damage()
    }

    /// Returns when the trace ends, as [`TraceFile::end_ns`], before it has been read.
    ///
    /// # Errors
    ///
    /// If it is no regular file, whose end can be looked at, or that cannot be read.
    pub fn end_ns(&self) -> Result<u64, TraceError> {
        if self.byte_len.is_none() {
            return Err(TraceError::NotAFile {
                path: self.path.clone(),
                expected: "a file, to look at its end first",
                found: "what is read only once",
            });
        }
        TraceFile::open(&self.path)?.end_ns()
    }

    /// Returns the next chunk that can be read; `None` at the end.
    ///
    /// # Errors
    ///
    /// If the trace cannot be read.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk<'_>>, TraceError> {
        if self.has_ended {
            return Ok(None);
        }
        let Self {
            path,
            follows,
            has_ended,
            reader,
            ..
        } = self;
        let chunk = reader.next_chunk().map_err(|source| TraceError::Io {
            path: path.clone(),
            source,
        })?;
        *has_ended = *follows && matches!(chunk, Some(Chunk::End { .. }));
        Ok(chunk)
    }

    /// Returns the next chunk as [`next_chunk`](Self::next_chunk); of an input that is
    /// [fed](Self::fed), [`Pending`](Poll::Pending) if it has not come yet.
    ///
    /// # Errors
    ///
    /// If the trace cannot be read.
    pub fn poll_chunk(&mut self) -> Result<Poll<Option<Chunk<'_>>>, TraceError> {
        match self.next_chunk() {
            Ok(chunk) => Ok(Poll::Ready(chunk)),
            Err(TraceError::Io { source, .. }) if source.kind() == io::ErrorKind::WouldBlock => {
                Ok(Poll::Pending)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns what has been read, for a summary.
    pub(crate) fn file(&self) -> TraceFile {
        let byte_len = self.byte_len.unwrap_or(self.offset());
        TraceFile::of_source(self.path.clone(), byte_len, self.header().clone())
    }
}

impl TraceFile {
    /// Reads the file from its start.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn input(&self) -> Result<TraceInput, TraceError> {
        Ok(TraceInput {
            path: self.path().to_owned(),
            byte_len: Some(self.byte_len()),
            follows: false,
            has_ended: false,
            reader: self.read()?,
        })
    }
}

/// A file that another process writes to.
struct Growing<F> {
    file: File,
    goes_on: F,
}

/// How long to wait for more.
const PAUSE: Duration = Duration::from_millis(50);

impl<F: FnMut() -> bool> Read for Growing<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let len = self.file.read(buffer)?;
            if len > 0 || buffer.is_empty() {
                return Ok(len);
            }
            if !(self.goes_on)() {
                // What was written after the end was seen, and before nobody wrote any more.
                return self.file.read(buffer);
            }
            thread::sleep(PAUSE);
        }
    }
}
