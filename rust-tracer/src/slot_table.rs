//! Finds thread slots by number.

use std::array;
use std::ptr;

use crate::fallible::try_box;
use crate::primitive::{AtomicPtr, AtomicU32, Ordering};
use crate::thread_slots::ThreadSlot;

type Entries = Vec<AtomicPtr<ThreadSlot>>;

/// How many slots the first block is for. The model checker wants several blocks.
const FIRST_LEN: usize = if cfg!(loom) { 1 } else { 64 };
/// All that a number of 32 bits may need.
const BLOCKS: usize = if cfg!(loom) { 3 } else { 27 };

/// The slots by their numbers 1, 2, …, in blocks that stay where they are. Each is twice as long
/// as the one before.
#[derive(Debug)]
pub(crate) struct SlotTable {
    last: AtomicU32,
    blocks: [AtomicPtr<Entries>; BLOCKS],
}

impl Default for SlotTable {
    fn default() -> Self {
        Self {
            last: AtomicU32::new(0),
            blocks: array::from_fn(|_| AtomicPtr::default()),
        }
    }
}

impl SlotTable {
    /// A number for a new slot, and where the slot is to be entered. `None` when memory is short.
    pub(crate) fn reserve(&self) -> Option<(u32, &AtomicPtr<ThreadSlot>)> {
        // Relaxed: only the number's uniqueness matters.
        let number = self.last.fetch_add(1, Ordering::Relaxed).checked_add(1)?;
        let (block, place) = position(number)?;
        let entries = self.block(block).or_else(|| self.add_block(block))?;
        Some((number, entries.get(place)?))
    }

    /// The slot of this number, if there is one.
    pub(crate) fn get(&self, number: u32) -> Option<&'static ThreadSlot> {
        let (block, place) = position(number)?;
        let entry = self.block(block)?.get(place)?;
        // SAFETY: null or a slot that `ThreadSlots` leaked, hence valid as long as anybody uses
        // the slots. Acquire: sees the slot initialized.
        unsafe { entry.load(Ordering::Acquire).as_ref() }
    }

    fn block(&self, block: usize) -> Option<&Entries> {
        // SAFETY: null or from a box that only `drop` frees. Acquire: sees its content.
        unsafe { self.blocks.get(block)?.load(Ordering::Acquire).as_ref() }
    }

    /// Adds a block unless another thread did.
    #[cold]
    fn add_block(&self, block: usize) -> Option<&Entries> {
        let len = FIRST_LEN << block;
        let mut entries = Vec::new();
        entries.try_reserve_exact(len).ok()?;
        entries.resize_with(len, AtomicPtr::default);
        let added = Box::into_raw(try_box(entries)?);
        // Release: who finds the block sees its content.
        let result = self.blocks.get(block)?.compare_exchange(
            ptr::null_mut(),
            added,
            Ordering::Release,
            Ordering::Relaxed,
        );
        if result.is_err() {
            // SAFETY: comes from the box above, and nobody else has seen it.
            drop(unsafe { Box::from_raw(added) });
        }
        self.block(block)
    }
}

/// The block of a number, and the place there; `None` for 0.
fn position(number: u32) -> Option<(usize, usize)> {
    let index = FIRST_LEN.checked_add(number.checked_sub(1)? as usize)?;
    let block = index.checked_ilog2()?.checked_sub(FIRST_LEN.ilog2())? as usize;
    let place = index.checked_sub(FIRST_LEN << block)?;
    Some((block, place))
}

impl Drop for SlotTable {
    fn drop(&mut self) {
        for block in &self.blocks {
            let entries = block.load(Ordering::Acquire);
            if !entries.is_null() {
                // SAFETY: `add_block` stored a box, and `&mut self` proves that nobody uses it.
                drop(unsafe { Box::from_raw(entries) });
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_a_place_of_its_own() {
        assert_eq!(position(0), None);
        let mut expected = (0, 0);
        for number in 1..100_000 {
            assert_eq!(position(number), Some(expected));
            expected.1 += 1;
            if expected.1 == FIRST_LEN << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
        let (block, place) = position(u32::MAX).unwrap();
        assert!(block < BLOCKS && place < FIRST_LEN << block);
    }
}
