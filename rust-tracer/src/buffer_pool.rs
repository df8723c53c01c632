//! Where threads get their buffers, and the drainer leaves those that it has
//! written.
//!
//! To give memory back to the system interrupts every processor that runs a
//! thread of the JVM, and fresh memory costs a fault for each page. So a few
//! buffers are kept for the next threads.

use std::array;

use trace_format::ThreadId;

use crate::buffer::{Buffer, BufferBudget, USUAL_LEN};
use crate::buffer_slot::BufferSlot;

/// Most buffers that are kept: some more than busy threads fill between two
/// looks of the drainer. The model checker wants collisions.
const SLOTS: usize = if cfg!(loom) { 1 } else { 64 };

/// Buffers in nobody's use.
#[derive(Debug)]
pub(crate) struct BufferPool {
    slots: [BufferSlot; SLOTS],
}

impl Default for BufferPool {
    fn default() -> Self {
        Self {
            slots: array::from_fn(|_| BufferSlot::default()),
        }
    }
}

impl BufferPool {
    /// A buffer for `capacity` bytes, or `None` if all buffers in use would
    /// exceed `max_bytes` or memory is short.
    pub(crate) fn take(
        &self,
        budget: &'static BufferBudget,
        max_bytes: u64,
        capacity: usize,
        thread: ThreadId,
        index: u64,
    ) -> Option<Box<Buffer>> {
        let charge = budget.charge(Buffer::mapped_len(capacity), max_bytes)?;
        if capacity <= USUAL_LEN
            && let Some(mut buffer) = self.take_kept()
        {
            buffer.restart(charge, capacity, thread, index);
            return Some(buffer);
        }
        Buffer::try_new(charge, capacity, thread, index)
    }

    /// Keeps a buffer whose events nobody needs any more, or gives its memory
    /// back.
    pub(crate) fn keep(&self, mut buffer: Box<Buffer>) {
        if !buffer.has_usual_len() {
            return;
        }
        buffer.release_charge();
        for slot in &self.slots {
            match slot.try_put(buffer) {
                Ok(()) => return,
                Err(rejected) => buffer = rejected,
            }
        }
    }

    fn take_kept(&self) -> Option<Box<Buffer>> {
        // Looking first spares an exchange with each empty slot.
        let mut full = self.slots.iter().filter(|slot| !slot.looks_empty());
        full.find_map(|slot| slot.take().ok().flatten())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn usual_buffers_are_used_again() {
        let pool = BufferPool::default();
        let budget: &BufferBudget = Box::leak(Box::default());
        let first = pool.take(budget, u64::MAX, 9000, 1, 5).unwrap();
        assert_eq!(budget.bytes(), 24 << 10);
        let address = ptr::from_ref(&*first);
        pool.keep(first);
        assert_eq!(budget.bytes(), 0);

        assert!(pool.take(budget, 24_000, 1000, 2, 7).is_none());
        let long = pool.take(budget, u64::MAX, 100_000, 2, 7).unwrap();
        assert!(!ptr::eq(address, &*long));
        let second = pool.take(budget, u64::MAX, 20_000, 2, 8).unwrap();
        assert!(ptr::eq(address, &*second));
        assert_eq!((second.thread(), second.index()), (2, 8));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let pool = BufferPool::default();
        let budget: &BufferBudget = Box::leak(Box::default());
        let take = |capacity| pool.take(budget, u64::MAX, capacity, 1, 0).unwrap();
        pool.keep(take(100_000));
        assert!(pool.slots.iter().all(BufferSlot::looks_empty));

        let buffers: Vec<_> = (0..2 * SLOTS).map(|_| take(1)).collect();
        buffers.into_iter().for_each(|buffer| pool.keep(buffer));
        assert!(!pool.slots.iter().any(BufferSlot::looks_empty));
        assert_eq!(budget.bytes(), 0);
    }
}
