//! Where threads get their buffers, and the drainer leaves those that it has
//! written.
//!
//! To give memory back to the system interrupts every processor that runs a
//! thread of the JVM, and fresh memory costs a fault for each page. So a few
//! buffers are kept for the next threads.

use std::array;
use std::sync::Arc;

use trace_format::ThreadId;

use crate::buffers::buffer::{Buffer, BufferBudget};
use crate::buffers::buffer_slot::BufferSlot;
use crate::buffers::file::BufferFile;
use crate::buffers::lengths::{SMALL_CAPACITY, USUAL_CAPACITY};
use crate::buffers::memory::BufferMemory;

/// Most buffers of a length that are kept: some more than busy threads fill between two
/// looks of the drainer. The model checker wants collisions.
const SLOTS: usize = if cfg!(loom) { 1 } else { 64 };

/// Unused buffers, by the length of their memory.
#[derive(Debug, Default)]
pub(crate) struct BufferPool {
    /// The memory of buffers, until the file is full.
    file: Option<Arc<BufferFile>>,
    usual: Kept,
    small: Kept,
}

/// Buffers of the same length.
#[derive(Debug)]
struct Kept {
    slots: [BufferSlot; SLOTS],
}

impl Default for Kept {
    fn default() -> Self {
        Self {
            slots: array::from_fn(|_| BufferSlot::default()),
        }
    }
}

impl BufferPool {
    /// A pool of buffers in the file, or in memory of their own.
    pub(crate) fn new(file: Option<Arc<BufferFile>>) -> Self {
        if let Some(file) = &file {
            file.make_room();
        }
        Self {
            file,
            ..Self::default()
        }
    }

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
        let len = Buffer::mapped_len(capacity);
        let charge = budget.charge(len, max_bytes)?;
        if let Some(mut buffer) = self.kept(len).and_then(Kept::take) {
            buffer.restart(charge, capacity, thread, index);
            return Some(buffer);
        }
        let mut buffer = Buffer::unused(self.memory(len)?)?;
        buffer.restart(charge, capacity, thread, index);
        Some(buffer)
    }

    fn memory(&self, len: usize) -> Option<BufferMemory> {
        let slot = self.file.as_ref().and_then(|file| file.take(len));
        match slot {
            Some(slot) => Some(BufferMemory::in_slot(slot)),
            None => BufferMemory::anonymous(len),
        }
    }

    /// Keeps a buffer whose events are no longer needed, or gives its memory
    /// back.
    pub(crate) fn keep(&self, mut buffer: Box<Buffer>) {
        let Some(kept) = self.kept(buffer.memory_len()) else {
            return;
        };
        buffer.release();
        for slot in &kept.slots {
            match slot.try_put(buffer) {
                Ok(()) => return,
                Err(rejected) => buffer = rejected,
            }
        }
    }

    /// The buffers with `len` bytes of memory, if such are kept.
    fn kept(&self, len: usize) -> Option<&Kept> {
        if len == Buffer::mapped_len(SMALL_CAPACITY) {
            Some(&self.small)
        } else if len == Buffer::mapped_len(USUAL_CAPACITY) {
            Some(&self.usual)
        } else {
            None
        }
    }
}

impl Kept {
    fn take(&self) -> Option<Box<Buffer>> {
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
        let first = pool.take(budget, u64::MAX, 9000, ThreadId(1), 5).unwrap();
        assert_eq!(budget.bytes(), 24 << 10);
        let address = ptr::from_ref(&*first);
        pool.keep(first);
        assert_eq!(budget.bytes(), 0);

        assert!(pool.take(budget, 24_000, 9000, ThreadId(2), 7).is_none());
        let small = pool.take(budget, 9000, 1000, ThreadId(2), 7).unwrap();
        assert_eq!(budget.bytes(), 8 << 10);
        pool.keep(small);
        let long = pool
            .take(budget, u64::MAX, 100_000, ThreadId(2), 7)
            .unwrap();
        assert!(!ptr::eq(address, &*long));
        let second = pool.take(budget, u64::MAX, 20_000, ThreadId(2), 8).unwrap();
        assert!(ptr::eq(address, &*second));
        assert_eq!((second.thread(), second.index()), (ThreadId(2), 8));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let pool = BufferPool::default();
        let budget: &BufferBudget = Box::leak(Box::default());
        let take = |capacity| {
            pool.take(budget, u64::MAX, capacity, ThreadId(1), 0)
                .unwrap()
        };
        pool.keep(take(100_000));
        let all_slots = || pool.usual.slots.iter().chain(&pool.small.slots);
        assert!(all_slots().all(BufferSlot::looks_empty));

        for capacity in [1, 9000] {
            let buffers: Vec<_> = (0..2 * SLOTS).map(|_| take(capacity)).collect();
            buffers.into_iter().for_each(|buffer| pool.keep(buffer));
        }
        assert!(!all_slots().any(BufferSlot::looks_empty));
        assert_eq!(budget.bytes(), 0);
    }
}
