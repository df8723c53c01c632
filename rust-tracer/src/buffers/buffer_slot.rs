//! Where a thread keeps its buffer, and other threads may take it from.
//!
//! The owner checks the buffer out, writes, and checks it in. While it is
//! checked out no other thread can take it; once checked in, any thread can, at any time and
//! without stopping the owner, which then finds the slot empty and gets another
//! buffer. This is how buffers are reclaimed at garbage collections (paper,
//! section 3.2, "Event ordering").

use std::ptr;

use crate::buffers::buffer::Buffer;
use crate::primitive::{AtomicPtr, Ordering};

/// Holds one buffer or none, or knows that it is checked out.
#[derive(Debug, Default)]
pub(crate) struct BufferSlot {
    /// Null, [`CHECKED_OUT`], or from `Box::into_raw`, which then belongs to the thread that
    /// replaces it. Only the slot's owner replaces `CHECKED_OUT`.
    buffer: AtomicPtr<Buffer>,
}

/// No buffer has this address, which is not aligned.
const CHECKED_OUT: *mut Buffer = ptr::without_provenance_mut(1);

/// The slot's owner has checked the buffer out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CheckedOut;

impl BufferSlot {
    /// Takes the buffer, if any.
    pub(crate) fn take(&self) -> Result<Option<Box<Buffer>>, CheckedOut> {
        // Acquire: if the buffer is gone, sees what became of it.
        let mut buffer = self.buffer.load(Ordering::Acquire);
        loop {
            if buffer.is_null() {
                return Ok(None);
            }
            if buffer == CHECKED_OUT {
                return Err(CheckedOut);
            }
            // Acquire: sees what the owner wrote before its `check_in`. Release:
            // a thread that finds the slot empty sees that this one took the buffer.
            let taken = self.buffer.compare_exchange_weak(
                buffer,
                ptr::null_mut(),
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            match taken {
                // SAFETY: `check_in` or `try_put` stored a box, and the exchange
                // makes this the only one to get it.
                Ok(_) => return Ok(Some(unsafe { Box::from_raw(buffer) })),
                Err(found) => buffer = found,
            }
        }
    }

    /// Returns whether the slot was empty a moment ago.
    pub(crate) fn looks_empty(&self) -> bool {
        // Relaxed: only a hint.
        self.buffer.load(Ordering::Relaxed).is_null()
    }

    /// Puts a buffer into the slot, unless it has one. Any thread may call this,
    /// but only on slots without an owner.
    pub(crate) fn try_put(&self, buffer: Box<Buffer>) -> Result<(), Box<Buffer>> {
        let buffer = Box::into_raw(buffer);
        // Release: the thread that takes the buffer sees it whole.
        let put = self.buffer.compare_exchange(
            ptr::null_mut(),
            buffer,
            Ordering::Release,
            Ordering::Relaxed,
        );
        match put {
            Ok(_) => Ok(()),
            // SAFETY: comes from the box above, and no other thread has seen it.
            Err(_) => Err(unsafe { Box::from_raw(buffer) }),
        }
    }

    /// Takes the buffer, if any, and keeps the slot until
    /// [`check_in`](Self::check_in). Only for the slot's owner.
    pub(crate) fn check_out(&self) -> Option<Box<Buffer>> {
        // Acquire: sees what a thread announced before it took the buffer.
        let buffer = self.buffer.swap(CHECKED_OUT, Ordering::Acquire);
        // SAFETY: neither null nor `CHECKED_OUT`, which only the owner stores and
        // replaces: `check_in` stored a box, and the swap makes this the only one
        // to get it.
        (!buffer.is_null() && buffer != CHECKED_OUT).then(|| unsafe { Box::from_raw(buffer) })
    }

    /// Puts a buffer into the slot, or leaves it empty. Only for the slot's
    /// owner, after [`check_out`](Self::check_out).
    pub(crate) fn check_in(&self, buffer: Option<Box<Buffer>>) {
        let buffer = buffer.map_or(ptr::null_mut(), Box::into_raw);
        // Release: a thread that takes the buffer sees what was written to it; one
        // that finds none sees where it went.
        #[cfg(not(loom))]
        self.buffer.store(buffer, Ordering::Release);
        // Loom would let an earlier exchange of another thread come after this
        // store, which the atomicity of the exchange rules out.
        #[cfg(loom)]
        self.buffer.swap(buffer, Ordering::Release);
    }
}

impl Drop for BufferSlot {
    fn drop(&mut self) {
        drop(self.take());
    }
}
