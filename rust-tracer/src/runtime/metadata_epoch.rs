//! When metadata has to be written again.

use crate::primitive::{AtomicBool, AtomicU32, Ordering};

/// Counts epochs: metadata that was written in an older one may have been lost.
#[derive(Debug)]
pub(crate) struct MetadataEpoch {
    first: u32,
    current: AtomicU32,
    has_loss: AtomicBool,
}

impl MetadataEpoch {
    /// Begins after the last epoch of the previous trace, 0 without one.
    pub(crate) fn after(last: u32) -> Self {
        let first = last.saturating_add(1);
        Self {
            first,
            current: AtomicU32::new(first),
            has_loss: AtomicBool::new(false),
        }
    }

    #[inline]
    pub(crate) fn current(&self) -> u32 {
        // Relaxed: an epoch seen late only delays the repetition.
        self.current.load(Ordering::Relaxed)
    }

    /// Returns how often metadata had to be written again.
    pub(crate) fn repeats(&self) -> u64 {
        self.current().saturating_sub(self.first).into()
    }

    /// Notes that metadata was lost.
    pub(crate) fn note_loss(&self) {
        // Relaxed: guards no other memory.
        self.has_loss.store(true, Ordering::Relaxed);
    }

    /// Begins a new epoch if metadata was lost. Left to the drainer, so that
    /// metadata is repeated only once buffers are taken again.
    pub(crate) fn repeat_lost(&self) {
        if self.has_loss.swap(false, Ordering::Relaxed) {
            self.current.fetch_add(1, Ordering::Relaxed);
        }
    }
}
