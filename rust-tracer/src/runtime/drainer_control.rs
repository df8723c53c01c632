//! The drainer, as other threads see it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::output::progress::Progress;
use crate::output::stop_signal::StopSignal;

/// Stops the drainer, and says how far it is.
#[derive(Debug, Default)]
pub(crate) struct DrainerControl {
    pub(crate) stop_signal: StopSignal,
    pub(crate) progress: Progress,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl DrainerControl {
    /// Notes that the drainer has started.
    pub(crate) fn set_thread(&self, thread: JoinHandle<()>) {
        *self.lock() = Some(thread);
    }

    /// Waits for the thread of a drainer that has finished.
    pub(crate) fn join(&self) {
        let thread = self.lock().take();
        // It has nothing left to do but exit, and a panic of it is over.
        let _ = thread.map(JoinHandle::join);
    }

    /// A poisoned lock is as good as any: the handle is always valid.
    fn lock(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
