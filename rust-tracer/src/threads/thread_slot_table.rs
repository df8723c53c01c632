//! Finds thread slots by number, and those with buffers without looking at the others.

use std::array;
use std::ptr;

use crate::fallible::try_box;
use crate::primitive::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use crate::threads::thread_slot::ThreadSlot;

/// Slots in a group, at most one for each bit of a word. The model checker needs several groups.
const GROUP_LEN: usize = if cfg!(loom) { 2 } else { 64 };
/// Enough for all numbers of 32 bits.
const BLOCKS: usize = if cfg!(loom) { 2 } else { 27 };

/// The slots by their numbers 1, 2, …, in groups, and these in blocks that never move. Each block
/// is twice as long as the one before.
#[derive(Debug)]
pub(crate) struct ThreadSlotTable {
    last: AtomicU32,
    blocks: [AtomicPtr<Vec<Group>>; BLOCKS],
}

#[derive(Debug)]
struct Group {
    slots: [AtomicPtr<ThreadSlot>; GROUP_LEN],
    /// A bit for each slot, set if it has a buffer, or may have had one.
    buffers: AtomicU64,
}

impl Default for Group {
    fn default() -> Self {
        Self {
            slots: array::from_fn(|_| AtomicPtr::default()),
            buffers: AtomicU64::new(0),
        }
    }
}

impl Group {
    fn slot(&self, place: usize) -> Option<&'static ThreadSlot> {
        // SAFETY: null or a slot that `ThreadSlots` leaked, hence valid as long as any thread
        // uses the slots. Acquire: sees the slot initialized.
        unsafe { self.slots.get(place)?.load(Ordering::Acquire).as_ref() }
    }
}

impl Default for ThreadSlotTable {
    fn default() -> Self {
        Self {
            last: AtomicU32::new(0),
            blocks: array::from_fn(|_| AtomicPtr::default()),
        }
    }
}

impl ThreadSlotTable {
    /// Returns a number for a new slot, and its place in the table. `None` when memory is short.
    pub(crate) fn reserve(&self) -> Option<(u32, &AtomicPtr<ThreadSlot>)> {
        // Relaxed: only the number's uniqueness matters.
        let number = self.last.fetch_add(1, Ordering::Relaxed).checked_add(1)?;
        let position = Position::of(number)?;
        let groups = self
            .block(position.block)
            .or_else(|| self.add_block(position.block))?;
        let group = groups.get(position.group)?;
        Some((number, group.slots.get(position.place)?))
    }

    /// Returns the slot of this number, if it exists.
    pub(crate) fn get(&self, number: u32) -> Option<&'static ThreadSlot> {
        let position = Position::of(number)?;
        self.group(position)?.slot(position.place)
    }

    /// Notes that the slot of this number, which its owner has checked out, gets a buffer.
    pub(crate) fn note_buffer(&self, number: u32) {
        if let Some(position) = Position::of(number)
            && let Some(group) = self.group(position)
        {
            // Release: a thread that sees the bit sees the slot checked out, or what came later.
            group.buffers.fetch_or(position.bit(), Ordering::Release);
        }
    }

    /// Shows all slots that have a buffer to `empty`, which returns whether it has left none.
    pub(crate) fn empty_slots(&self, mut empty: impl FnMut(&'static ThreadSlot) -> bool) {
        let blocks = (0..BLOCKS).map_while(|block| self.block(block));
        for group in blocks.flatten() {
            // Acquire: see `note_buffer`.
            let mut left = group.buffers.load(Ordering::Acquire);
            while left != 0 {
                let place = left.trailing_zeros();
                let bit = 1 << place;
                left &= !bit;
                let Some(slot) = group.slot(place as usize) else {
                    continue;
                };
                if empty(slot) {
                    // Only now, so that other threads that look for buffers miss none that is still being
                    // taken. Acquire: sees the buffer, if the slot has got one again before.
                    group.buffers.fetch_and(!bit, Ordering::AcqRel);
                    if !slot.looks_empty() {
                        group.buffers.fetch_or(bit, Ordering::Release);
                    }
                }
            }
        }
    }

    fn group(&self, position: Position) -> Option<&Group> {
        self.block(position.block)?.get(position.group)
    }

    fn block(&self, block: usize) -> Option<&Vec<Group>> {
        // SAFETY: null or from a box that only `drop` frees. Acquire: sees its content.
        unsafe { self.blocks.get(block)?.load(Ordering::Acquire).as_ref() }
    }

    /// Adds a block unless another thread did.
    #[cold]
    fn add_block(&self, block: usize) -> Option<&Vec<Group>> {
        let len = 1 << block;
        let mut groups = Vec::new();
        groups.try_reserve_exact(len).ok()?;
        groups.resize_with(len, Group::default);
        let added = Box::into_raw(try_box(groups)?);
        // Release: a thread that finds the block sees its content.
        let result = self.blocks.get(block)?.compare_exchange(
            ptr::null_mut(),
            added,
            Ordering::Release,
            Ordering::Relaxed,
        );
        if result.is_err() {
            // SAFETY: comes from the box above, and no other thread has seen it.
            drop(unsafe { Box::from_raw(added) });
        }
        self.block(block)
    }
}

/// The place of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    block: usize,
    /// In the block.
    group: usize,
    /// In the group.
    place: usize,
}

impl Position {
    /// `None` for 0.
    fn of(number: u32) -> Option<Self> {
        let index = number.checked_sub(1)? as usize;
        let group = (index / GROUP_LEN).checked_add(1)?;
        let block = group.ilog2();
        Some(Self {
            block: block as usize,
            group: group.checked_sub(1 << block)?,
            place: index % GROUP_LEN,
        })
    }

    fn bit(self) -> u64 {
        1 << self.place
    }
}

impl Drop for ThreadSlotTable {
    fn drop(&mut self) {
        for block in &self.blocks {
            let groups = block.load(Ordering::Acquire);
            if !groups.is_null() {
                // SAFETY: `add_block` stored a box, and `&mut self` proves that it is not used.
                drop(unsafe { Box::from_raw(groups) });
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_a_place_of_its_own() {
        assert_eq!(Position::of(0), None);
        let mut expected = Position {
            block: 0,
            group: 0,
            place: 0,
        };
        for number in 1..100_000 {
            assert_eq!(Position::of(number), Some(expected));
            expected.place += 1;
            if expected.place == GROUP_LEN {
                expected.place = 0;
                expected.group += 1;
            }
            if expected.group == 1 << expected.block {
                expected.group = 0;
                expected.block += 1;
            }
        }
        let last = Position::of(u32::MAX).unwrap();
        assert!(last.block < BLOCKS && last.group < 1 << last.block);
    }
}
