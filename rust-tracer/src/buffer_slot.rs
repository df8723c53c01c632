//! Where a thread keeps its buffer, and other threads may take it from.
//!
//! The owner checks the buffer out, writes, and checks it in. While it is
//! checked out the slot is empty, so nobody can take it; once checked in,
//! anybody can, at any time and without stopping the owner, who then finds the
//! slot empty and gets another buffer. This is how buffers are reclaimed at
//! garbage collections (paper, section 3.2, "Event ordering").

use std::ptr;

use crate::buffer::Buffer;
use crate::primitive::{AtomicPtr, Ordering};

/// Holds one buffer or none.
#[derive(Debug, Default)]
pub(crate) struct BufferSlot {
    /// Null or from `Box::into_raw`; whoever swaps it out owns it.
    buffer: AtomicPtr<Buffer>,
}

impl BufferSlot {
    /// Takes the buffer, if there is one.
    pub(crate) fn take(&self) -> Option<Box<Buffer>> {
        // Acquire: sees what the owner wrote before its `check_in`.
        let buffer = self.buffer.swap(ptr::null_mut(), Ordering::Acquire);
        // SAFETY: not null means that `check_in` stored a box, and the swap
        // makes this the only one to get it.
        (!buffer.is_null()).then(|| unsafe { Box::from_raw(buffer) })
    }

    /// The slot was empty a moment ago.
    pub(crate) fn looks_empty(&self) -> bool {
        // Relaxed: only a hint.
        self.buffer.load(Ordering::Relaxed).is_null()
    }

    /// Puts a buffer into the slot, unless there is one. Anybody may call this,
    /// but only on slots that have no owner.
    pub(crate) fn try_put(&self, buffer: Box<Buffer>) -> Result<(), Box<Buffer>> {
        let buffer = Box::into_raw(buffer);
        // Release: whoever takes the buffer sees it whole.
        let put = self.buffer.compare_exchange(
            ptr::null_mut(),
            buffer,
            Ordering::Release,
            Ordering::Relaxed,
        );
        match put {
            Ok(_) => Ok(()),
            // SAFETY: comes from the box above, and nobody else has seen it.
            Err(_) => Err(unsafe { Box::from_raw(buffer) }),
        }
    }

    /// Puts a buffer into the slot. Only the slot's owner may call this, and
    /// only while it has taken the buffer, so the slot is empty.
    pub(crate) fn check_in(&self, buffer: Box<Buffer>) {
        let buffer = Box::into_raw(buffer);
        // Release: whoever takes the buffer sees what was written to it.
        #[cfg(not(loom))]
        self.buffer.store(buffer, Ordering::Release);
        // Loom would let the null of an earlier `take` come after this store,
        // which the atomicity of the exchange rules out.
        #[cfg(loom)]
        self.buffer.swap(buffer, Ordering::Release);
    }
}

impl Drop for BufferSlot {
    fn drop(&mut self) {
        drop(self.take());
    }
}
