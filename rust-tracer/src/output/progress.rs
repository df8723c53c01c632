//! How far the trace file is complete, for copies of it.

use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The complete part of the trace file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    /// Length of the file in bytes. A chunk ends there.
    pub(crate) len: u64,
    /// Chunks in it.
    pub(crate) chunks: u64,
    /// The file has all events before this time, in nanoseconds since the trace's start.
    pub(crate) complete_until_ns: u64,
}

/// The extent that the drainer has published last.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    extent: Mutex<Extent>,
    changed: Condvar,
}

impl Progress {
    pub(crate) fn publish(&self, extent: Extent) {
        let before = mem::replace(&mut *self.lock(), extent);
        // A wake-up without a waiter is not free: the kernel searches the sleeping threads of the process.
        if extent.complete_until_ns != before.complete_until_ns {
            self.changed.notify_all();
        }
    }

    /// Waits up to `timeout` until the file has all events before `time_ns`.
    pub(crate) fn wait(&self, time_ns: u64, timeout: Duration) -> Option<Extent> {
        let behind = |extent: &mut Extent| extent.complete_until_ns < time_ns;
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), timeout, behind);
        let (extent, _) = waited.unwrap_or_else(PoisonError::into_inner);
        (extent.complete_until_ns >= time_ns).then_some(*extent)
    }

    /// A poisoned lock is as good as any: the extent is always valid.
    fn lock(&self) -> MutexGuard<'_, Extent> {
        self.extent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
