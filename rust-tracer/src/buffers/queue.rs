//! The buffers on their way from the threads to the drainer.
//!
//! A stack of linked buffers (Treiber 1986) that the drainer takes as a whole
//! and reverses, which gives the order of submission. Taking everything at once
//! excludes the ABA problem. Submitting a buffer wakes no thread: the
//! drainer looks by itself.

use std::collections::TryReserveError;
use std::ptr;

use crate::buffers::buffer::Buffer;
use crate::fallible::try_collect;
use crate::primitive::{AtomicPtr, Ordering};

/// Buffers submitted and not yet taken.
#[derive(Debug, Default)]
pub(crate) struct BufferQueue {
    /// Null or from `Box::into_raw`; each buffer owns the one that it links to.
    newest: AtomicPtr<Buffer>,
}

impl BufferQueue {
    /// Appends a buffer.
    pub(crate) fn push(&self, buffer: Box<Buffer>) {
        let buffer = Box::into_raw(buffer);
        let mut newest = self.newest.load(Ordering::Relaxed);
        loop {
            // SAFETY: `buffer` comes from a box and is not in the queue yet.
            unsafe { &*buffer }.next.store(newest, Ordering::Relaxed);
            // Release: the drainer sees the buffer's content and link.
            let pushed = self.newest.compare_exchange_weak(
                newest,
                buffer,
                Ordering::Release,
                Ordering::Relaxed,
            );
            match pushed {
                Ok(_) => return,
                Err(found) => newest = found,
            }
        }
    }

    /// Takes all buffers, in the order of their submission.
    ///
    /// # Errors
    ///
    /// Memory is short. The buffers are given back.
    #[expect(clippy::vec_box, reason = "the pool keeps the boxes")]
    pub(crate) fn take_all(&self) -> Result<Vec<Box<Buffer>>, TryReserveError> {
        let mut buffers = try_collect(self.take_newest_first())?;
        buffers.reverse();
        Ok(buffers)
    }

    /// Gives all buffers back.
    pub(crate) fn discard_all(&self) {
        drop(self.take_newest_first());
    }

    fn take_newest_first(&self) -> Taken {
        // Acquire: sees what the threads wrote before `push`. All pushes in
        // between are read-modify-writes, so this synchronizes with each.
        let newest = self.newest.swap(ptr::null_mut(), Ordering::Acquire);
        Taken { newest }
    }
}

/// Buffers on their way out of the queue, the newest first. Those that are left are
/// given back.
struct Taken {
    /// Null or from `Box::into_raw`; each buffer owns the one that it links to.
    newest: *mut Buffer,
}

impl Iterator for Taken {
    type Item = Box<Buffer>;

    fn next(&mut self) -> Option<Box<Buffer>> {
        if self.newest.is_null() {
            return None;
        }
        // SAFETY: `push` stored a box, and taking the list made it ours alone.
        let buffer = unsafe { Box::from_raw(self.newest) };
        self.newest = buffer.next.load(Ordering::Relaxed);
        Some(buffer)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

impl Drop for BufferQueue {
    fn drop(&mut self) {
        self.discard_all();
    }
}
