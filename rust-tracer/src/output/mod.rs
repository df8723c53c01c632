//! Where the drainer writes to: a file, the analysis in the same process, or both.

pub(crate) mod destination;
pub(crate) mod feed;
pub(crate) mod progress;
pub(crate) mod sink;
pub(crate) mod stop_signal;
pub(crate) mod trace_file;

use std::io::{self, Write};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use crate::output::feed::Feed;
use crate::output::trace_file::{Failure, TraceFile};

/// A trace on its way out. All destinations get the same bytes.
#[derive(Debug)]
pub(crate) struct Output {
    file: Option<TraceFile>,
    feed: Option<Arc<Feed>>,
    /// Bytes written, without those that were cut off.
    len: u64,
    /// Set to 0 after a failure.
    enabled: Option<&'static AtomicU8>,
    /// The duration of [`append`](Self::append) since last asked for.
    appending: Duration,
}

impl Output {
    pub(crate) fn new(
        file: Option<TraceFile>,
        feed: Option<Arc<Feed>>,
        enabled: Option<&'static AtomicU8>,
    ) -> Self {
        Self {
            file,
            feed,
            len: 0,
            enabled,
            appending: Duration::ZERO,
        }
    }

    /// Returns whether writing may wait for the reader of a pipe.
    pub(crate) fn has_reader(&self) -> bool {
        self.file.as_ref().is_some_and(TraceFile::has_reader)
    }

    /// Length of the trace in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// As [`TraceFile::connect`].
    pub(crate) fn connect(&mut self) -> Result<bool, Failure> {
        self.file.as_mut().map_or(Ok(true), TraceFile::connect)
    }

    /// As [`TraceFile::append`]. Waits for the analysis if that is far behind.
    pub(crate) fn append(&mut self, chunk: &[u8]) -> Result<(), Failure> {
        let begin = Instant::now();
        if let Some(file) = &mut self.file {
            file.append(chunk)?;
        }
        if let Some(feed) = &self.feed {
            feed.append(chunk);
        }
        self.len = self.len.saturating_add(chunk.len() as u64);
        self.appending = self.appending.saturating_add(begin.elapsed());
        Ok(())
    }

    /// Returns how long appending took since the last call, whether the thread was busy or
    /// waited.
    pub(crate) fn take_appending(&mut self) -> Duration {
        mem::take(&mut self.appending)
    }

    /// As [`TraceFile::check`].
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.file.as_ref().map_or(Ok(()), TraceFile::check)
    }

    /// As [`TraceFile::cut_off_last`].
    pub(crate) fn cut_off_last(&mut self) -> bool {
        let Some(file) = &mut self.file else {
            return false;
        };
        let is_cut_off = file.cut_off_last();
        self.len = file.len();
        is_cut_off
    }

    /// As [`TraceFile::give_up`].
    pub(crate) fn give_up(&self, failure: &Failure) {
        if let Some(file) = &self.file {
            return file.give_up(failure);
        }
        if let Some(enabled) = self.enabled {
            // Release, as the JVM's own stores to this flag.
            enabled.store(0, Ordering::Release);
        }
        // A failure to write to standard error cannot be reported.
        let _ = writeln!(
            io::stderr(),
            "locktrace: {failure}; tracing is off, the application goes on"
        );
    }

    /// Stops writing, and waits for the analysis to end.
    pub(crate) fn close(&mut self) {
        if let Some(file) = &mut self.file {
            file.close();
        }
        if let Some(feed) = &self.feed {
            feed.close();
            feed.await_end();
        }
    }
}
