//! Trace files.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use trace_format::{Chunk, Counter, FileHeader, HeaderError, TraceReader};

use crate::input::crash_buffers;

/// Why a file cannot be analyzed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file cannot be opened or read.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is no file that can be read, or not as it has to be.
    #[error("{path}: expected {expected}, found {found}", path = .path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
        /// What is needed.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// The file is not a trace of a known version.
    #[error("{path}: {source}", path = .path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// Why.
        source: HeaderError,
    },
}

/// A trace file, at the length that it has when it is opened: a trace that is still being
/// written is the same whenever it is read.
#[derive(Clone, Debug)]
pub struct TraceFile {
    path: PathBuf,
    byte_len: u64,
    header: FileHeader,
    /// The process that wrote it had ended when the file was opened. So the buffers that it left,
    /// if any, belong to the file at this length.
    has_left_buffers: bool,
}

/// Reads a trace file.
pub type FileReader = TraceReader<Box<dyn Read + Send>>;

impl TraceFile {
    /// Finds out whether the file at `path` is a trace.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is no trace of a version that can be
    /// read.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let path = path.to_owned();
        // Before the length: it does not change any more then.
        let has_left_buffers = crash_buffers::open(&path).is_some();
        let metadata = match std::fs::metadata(&path) {
            Ok(metadata) => metadata,
            Err(source) => return Err(TraceError::Io { path, source }),
        };
        if !metadata.is_file() {
            let found = if metadata.is_dir() {
                "a directory"
            } else {
                "a special file"
            };
            return Err(TraceError::NotAFile {
                path,
                expected: "a trace file",
                found,
            });
        }
        let byte_len = metadata.len();
        let header = read(&path, byte_len)?.header().clone();
        Ok(Self {
            path,
            byte_len,
            header,
            has_left_buffers,
        })
    }

    /// What was read under this name, from a source that cannot be read again.
    pub(crate) fn of_source(path: PathBuf, byte_len: u64, header: FileHeader) -> Self {
        Self {
            path,
            byte_len,
            header,
            has_left_buffers: false,
        }
    }

    /// Returns where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the length of the file in bytes.
    pub fn byte_len(&self) -> u64 {
        self.byte_len
    }

    /// Returns what the trace says about itself.
    pub fn header(&self) -> &FileHeader {
        &self.header
    }

    /// Reads the file from its start.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn read(&self) -> Result<FileReader, TraceError> {
        let reader = read(&self.path, self.byte_len)?;
        if !self.has_left_buffers {
            return Ok(reader);
        }
        let (path, header, len) = (self.path.clone(), self.header.clone(), self.byte_len);
        Ok(reader.with_left_buffers(move || {
            crash_buffers::find(crash_buffers::open(&path)?, &header, len)
        }))
    }

    /// Returns when the trace ended, in nanoseconds since its start; if its end is missing,
    /// when it went on for certain. Reads the file, mostly without looking at events.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn end_ns(&self) -> Result<u64, TraceError> {
        let mut reader = self.read()?.only_metadata();
        let mut known_ns = 0;
        while let Some(chunk) = self.next_chunk(&mut reader)? {
            match chunk {
                Chunk::End { time_ns, .. } => return Ok(time_ns),
                Chunk::Counters(counters) => {
                    let complete = counters
                        .flatten()
                        .filter(|&(counter, _)| counter == Counter::CompleteUntilNs);
                    known_ns = complete
                        .map(|(_, time_ns)| time_ns)
                        .fold(known_ns, u64::max);
                }
                Chunk::Events(_) | Chunk::System(_) => {}
            }
        }
        let mut reader = self.read()?;
        while let Some(chunk) = self.next_chunk(&mut reader)? {
            if let Chunk::Events(events) = chunk {
                let events = events
                    .segments()
                    .flatten()
                    .flat_map(|segment| segment.events());
                let times_ns = events.flatten().filter_map(|event| event.time_ns());
                known_ns = times_ns.fold(known_ns, u64::max);
            }
        }
        Ok(known_ns)
    }

    /// Returns the next chunk that `reader`, which reads this file, can read.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn next_chunk<'r>(
        &self,
        reader: &'r mut FileReader,
    ) -> Result<Option<Chunk<'r>>, TraceError> {
        reader.next_chunk().map_err(|source| TraceError::Io {
            path: self.path.clone(),
            source,
        })
    }
}

fn read(path: &Path, byte_len: u64) -> Result<FileReader, TraceError> {
    let io_error = |source| TraceError::Io {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(io_error)?;
    reader(path, Box::new(file.take(byte_len)))
}

/// Reads a trace called `path` from `source`.
pub(crate) fn reader(path: &Path, source: Box<dyn Read + Send>) -> Result<FileReader, TraceError> {
    TraceReader::new(source).map_err(|error| match error {
        HeaderError::Io(source) => TraceError::Io {
            path: path.to_owned(),
            source,
        },
        source => TraceError::Header {
            path: path.to_owned(),
            source,
        },
    })
}
