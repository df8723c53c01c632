//! Where a trace goes, as threads other than the drainer see it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::output::feed::Feed;

/// The name of a trace without a file.
pub(crate) const NO_FILE: &str = "<online analysis>";

/// The file of a trace, the analysis in this process, or both.
#[derive(Debug)]
pub(crate) struct Sink {
    /// The trace file, under the name that was free.
    pub(crate) path: PathBuf,
    /// It is a file, not a pipe or a device.
    pub(crate) is_file: bool,
    /// How long the end of the trace waits while nothing can be written.
    pub(crate) max_stall: Duration,
    /// Feeds the analysis in this process.
    pub(crate) feed: Option<Arc<Feed>>,
}

impl Sink {
    /// Events are analyzed, and written nowhere.
    pub(crate) fn only_analyzes(&self) -> bool {
        self.path == Path::new(NO_FILE)
    }
}

impl Default for Sink {
    fn default() -> Self {
        Self {
            path: PathBuf::new(),
            is_file: false,
            max_stall: Duration::MAX,
            feed: None,
        }
    }
}
