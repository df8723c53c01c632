//! The slots of all traced threads.

use std::iter;
use std::ptr;

use crate::buffers::buffer::Buffer;
use crate::fallible::try_box;
use crate::primitive::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use crate::threads::hook_costs::HookCosts;
use crate::threads::identity::ThreadIdentity;
use crate::threads::new_name::Name;
use crate::threads::reader::Reading;
use crate::threads::thread_slot::ThreadSlot;
use crate::threads::thread_slot_table::ThreadSlotTable;

/// The right of one thread to a slot; frees the slot when dropped.
#[derive(Debug)]
pub(crate) struct OwnedThreadSlot {
    slot: &'static ThreadSlot,
    slots: &'static ThreadSlots,
}

impl OwnedThreadSlot {
    /// Takes the thread's buffer, if it has one, to write to.
    pub(crate) fn check_out(&mut self) -> Option<Box<Buffer>> {
        self.slot.buffer.check_out()
    }

    /// Notes that the thread gets a new buffer, which is to be checked in next.
    pub(crate) fn note_buffer(&mut self) {
        self.slots.table.note_buffer(self.slot.number);
    }

    /// Puts a buffer, checked out or new, where others can take it; `None` if the
    /// thread has none.
    pub(crate) fn check_in(&mut self, buffer: Option<Box<Buffer>>) {
        self.slot.buffer.check_in(buffer);
    }

    /// Announces that the thread reads the set of call chains until the result is dropped.
    pub(crate) fn read(&mut self) -> Reading<'_> {
        // SAFETY: this is the slot's owner, and `&mut` excludes another reading.
        unsafe { self.slot.reader.begin() }
    }

    /// Returns where others see which thread has the slot.
    pub(crate) fn identity(&mut self) -> &ThreadIdentity {
        &self.slot.identity
    }

    /// Takes a name that the thread was given and has not written.
    #[inline]
    pub(crate) fn take_new_name(&mut self) -> Option<Box<Name>> {
        self.slot.new_name.take()
    }

    /// Returns the part that others see.
    pub(crate) fn shared(&self) -> &'static ThreadSlot {
        self.slot
    }

    /// Returns whether the slot belongs to `slots`.
    pub(crate) fn is_one_of(&self, slots: &ThreadSlots) -> bool {
        ptr::eq(self.slots, slots)
    }

    /// Returns the thread's own counts.
    pub(crate) fn costs(&mut self) -> &HookCosts {
        &self.slot.costs
    }
}

impl Drop for OwnedThreadSlot {
    fn drop(&mut self) {
        self.slot.identity.clear();
        self.slots.free(self.slot);
    }
}

/// All slots of a runtime.
#[derive(Debug, Default)]
pub(crate) struct ThreadSlots {
    newest: AtomicPtr<ThreadSlot>,
    table: ThreadSlotTable,
    /// The free slots: a stack (Treiber 1986). The lower half is the number of the slot on
    /// top, 0 for none. The upper half counts how often one was taken off: a thread that still sees
    /// the same word can rely on the link of the slot on top, even if that was taken and
    /// freed in between.
    free: AtomicU64,
    /// A slot got a new name since the drainer last looked.
    is_renamed: AtomicBool,
}

impl ThreadSlots {
    /// Returns a slot for a thread, or `None` when memory is short.
    pub(crate) fn take(&'static self) -> Option<OwnedThreadSlot> {
        let slot = self.take_free().or_else(|| self.add())?;
        Some(OwnedThreadSlot { slot, slots: self })
    }

    fn take_free(&self) -> Option<&'static ThreadSlot> {
        // Acquire: sees what the previous thread did with the slot.
        let mut top = self.free.load(Ordering::Acquire);
        loop {
            let slot = self.get(number_of(top))?;
            // Relaxed: it came with `top`. If it did not, the slot is another thread's, and the
            // exchange fails.
            let below = slot.next_free.load(Ordering::Relaxed);
            let takes = takes_of(top).wrapping_add(1);
            let taken = self.free.compare_exchange_weak(
                top,
                top_of_free(below, takes),
                Ordering::Acquire,
                Ordering::Acquire,
            );
            match taken {
                Ok(_) => return Some(slot),
                Err(found) => top = found,
            }
        }
    }

    fn free(&self, slot: &ThreadSlot) {
        let mut top = self.free.load(Ordering::Relaxed);
        loop {
            slot.next_free.store(number_of(top), Ordering::Relaxed);
            // Release: the next thread sees the link, and what this one did with the slot.
            let freed = self.free.compare_exchange_weak(
                top,
                top_of_free(slot.number, takes_of(top)),
                Ordering::Release,
                Ordering::Relaxed,
            );
            match freed {
                Ok(_) => return,
                Err(found) => top = found,
            }
        }
    }

    /// Makes a new slot, which belongs to the caller.
    #[cold]
    fn add(&self) -> Option<&'static ThreadSlot> {
        let (number, entry) = self.table.reserve()?;
        let slot = try_box(ThreadSlot {
            number,
            ..ThreadSlot::default()
        })?;
        let slot = self.publish(Box::leak(slot));
        // Release: a thread that finds the slot sees it initialized.
        entry.store(ptr::from_ref(slot).cast_mut(), Ordering::Release);
        Some(slot)
    }

    /// Shows all slots that have a buffer to `empty`, which returns whether it has left none.
    pub(crate) fn empty(&self, empty: impl FnMut(&'static ThreadSlot) -> bool) {
        self.table.empty_slots(empty);
    }

    /// Returns the slot of this number, if it exists.
    pub(crate) fn get(&self, number: u32) -> Option<&'static ThreadSlot> {
        self.table.get(number)
    }

    /// Notes that a slot has got a new name.
    pub(crate) fn note_renamed(&self) {
        // Release, and an exchange, which continues what others have released: the thread that takes
        // the mark sees the names of all that left it.
        self.is_renamed.swap(true, Ordering::Release);
    }

    /// Returns whether a slot has got a new name since the last call. For the drainer.
    pub(crate) fn take_renamed(&self) -> bool {
        self.is_renamed.swap(false, Ordering::Acquire)
    }

    fn publish(&self, slot: &'static ThreadSlot) -> &'static ThreadSlot {
        let mut newest = self.newest.load(Ordering::Relaxed);
        loop {
            slot.next.store(newest, Ordering::Relaxed);
            // Release: a thread that finds the slot sees it initialized.
            let published = self.newest.compare_exchange_weak(
                newest,
                ptr::from_ref(slot).cast_mut(),
                Ordering::Release,
                Ordering::Relaxed,
            );
            match published {
                Ok(_) => return slot,
                Err(found) => newest = found,
            }
        }
    }

    /// Returns all slots, including free ones.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static ThreadSlot> + use<> {
        iter::successors(self.newest(), |slot| slot.older())
    }

    /// Returns the slot that was made last.
    pub(crate) fn newest(&self) -> Option<&'static ThreadSlot> {
        // SAFETY: null or a slot that `take` leaked, hence valid as long as any thread
        // uses the slots. Acquire: sees the slot initialized, and with it all older ones.
        unsafe { self.newest.load(Ordering::Acquire).as_ref() }
    }
}

fn number_of(top_of_free: u64) -> u32 {
    top_of_free as u32
}

fn takes_of(top_of_free: u64) -> u32 {
    (top_of_free >> u32::BITS) as u32
}

fn top_of_free(number: u32, takes: u32) -> u64 {
    u64::from(takes) << u32::BITS | u64::from(number)
}

impl Drop for ThreadSlots {
    fn drop(&mut self) {
        let mut newest = self.newest.load(Ordering::Acquire);
        while !newest.is_null() {
            // SAFETY: `take` leaked it, and `&mut self` proves that it is not used: a thread that
            // refers to a slot has a `&'static` reference to this.
            let slot = unsafe { Box::from_raw(newest) };
            newest = slot.next.load(Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use trace_format::ThreadId;

    use super::*;
    use crate::buffers::buffer::BufferBudget;

    #[test]
    fn thread_slots_are_used_again() {
        let slots: &ThreadSlots = Box::leak(Box::default());
        for _ in 0..100 {
            let both = (slots.take().unwrap(), slots.take().unwrap());
            assert!(!ptr::eq(both.0.slot, both.1.slot));
        }
        assert_eq!(slots.iter().count(), 2);
    }

    #[test]
    fn no_two_threads_get_the_same_slot() {
        let slots: &ThreadSlots = Box::leak(Box::default());
        let budget: &BufferBudget = Box::leak(Box::default());
        thread::scope(|scope| {
            for number in 0..8 {
                scope.spawn(move || {
                    for round in 0..2000 {
                        let mut slot = slots.take().unwrap();
                        let charge = budget.charge(100, u64::MAX).unwrap();
                        slot.check_out();
                        slot.check_in(Buffer::try_new(charge, 100, ThreadId(number), round));
                        thread::yield_now();
                        // Another thread's, if it came to the same slot.
                        let buffer = slot.check_out().unwrap();
                        assert_eq!((buffer.thread(), buffer.index()), (ThreadId(number), round));
                        slot.check_in(None);
                    }
                });
            }
        });
        assert!(slots.iter().count() <= 8);
    }
}
