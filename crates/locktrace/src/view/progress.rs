//! How far the reading has come.

use crate::input;

/// How far the traces are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Progress {
    pub(crate) bytes: u64,
    pub(crate) total_bytes: u64,
    /// The last trace is still being written, and what is written of it is read.
    pub(crate) live: bool,
    pub(crate) done: bool,
}

impl Progress {
    /// Notes the bytes that are read, of a total.
    pub(super) fn read(&mut self, bytes: u64, total_bytes: u64) {
        self.bytes = bytes;
        self.total_bytes = self.total_bytes.max(bytes).max(total_bytes);
        if self.total_bytes - self.bytes > input::MAX_UNREAD_BYTES {
            self.live = false;
        }
    }

    /// There is nothing to read at the moment, or half a chunk. Returns whether that is news.
    pub(super) fn has_caught_up(&mut self) -> bool {
        let was_live = self.live;
        self.live = self.total_bytes - self.bytes <= input::MAX_UNREAD_BYTES;
        self.live != was_live
    }
}
