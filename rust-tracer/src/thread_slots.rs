//! What other threads see of a thread that is traced.

use std::iter;
use std::ptr;

use crate::buffer::Buffer;
use crate::buffer_slot::{BufferSlot, CheckedOut};
use crate::fallible::try_box;
use crate::grace_period::{Reader, Reading};
use crate::hook_costs::HookCosts;
use crate::primitive::{AtomicBool, AtomicIsize, AtomicPtr, Ordering};
use crate::thread_identity::ThreadIdentity;

/// The shared part of a thread's tracer. Slots are used again and freed with all of
/// [`ThreadSlots`] only, so that anybody may look at all of them at any time.
///
/// Aligned to a pair of cache lines, which processors fetch together: a thread
/// writes to its slot with every event.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct ThreadSlot {
    buffer: BufferSlot,
    /// Of the call-chain set.
    reader: Reader,
    /// Of all threads that ever had the slot.
    costs: HookCosts,
    identity: ThreadIdentity,
    taken: AtomicBool,
    /// Set before the slot is published and constant afterwards.
    next: AtomicPtr<ThreadSlot>,
}

impl ThreadSlot {
    /// Takes the thread's buffer, unless it is being written to.
    pub(crate) fn reclaim(&self) -> Result<Option<Box<Buffer>>, CheckedOut> {
        self.buffer.take()
    }

    /// Whether the thread reads the call-chain set.
    pub(crate) fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The slot that was made before this one.
    pub(crate) fn older(&self) -> Option<&'static Self> {
        // SAFETY: null or a slot that `take` leaked, hence valid as long as anybody uses
        // the slots. Relaxed: who sees this slot initialized sees older ones so.
        unsafe { self.next.load(Ordering::Relaxed).as_ref() }
    }

    /// Who has the slot.
    pub(crate) fn identity(&self) -> &ThreadIdentity {
        &self.identity
    }

    /// What hooks have cost the threads of this slot.
    pub(crate) fn costs(&self) -> &HookCosts {
        &self.costs
    }
}

/// The right of one thread to a slot; frees the slot when dropped.
#[derive(Debug)]
pub(crate) struct OwnedThreadSlot {
    slot: &'static ThreadSlot,
    slots: &'static ThreadSlots,
}

impl OwnedThreadSlot {
    /// Takes the thread's buffer, if it has one, to write to it.
    pub(crate) fn check_out(&mut self) -> Option<Box<Buffer>> {
        self.slot.buffer.check_out()
    }

    /// Puts a buffer, checked out or new, where others can take it; `None` if the
    /// thread has none any more.
    pub(crate) fn check_in(&mut self, buffer: Option<Box<Buffer>>) {
        self.slot.buffer.check_in(buffer);
    }

    /// The thread reads the call-chain set until the result is dropped.
    pub(crate) fn read(&mut self) -> Reading<'_> {
        // SAFETY: this is the slot's owner, and `&mut` excludes another reading.
        unsafe { self.slot.reader.begin() }
    }

    /// Where others see which thread has the slot.
    pub(crate) fn identity(&mut self) -> &ThreadIdentity {
        &self.slot.identity
    }

    /// The slot belongs to `slots`.
    pub(crate) fn is_one_of(&self, slots: &ThreadSlots) -> bool {
        ptr::eq(self.slots, slots)
    }

    /// Where the thread counts, and no other thread.
    pub(crate) fn costs(&mut self) -> &HookCosts {
        &self.slot.costs
    }
}

impl Drop for OwnedThreadSlot {
    fn drop(&mut self) {
        self.slot.identity.clear();
        // Release: the next thread sees what this one did with the slot.
        self.slot.taken.store(false, Ordering::Release);
        self.slots.free.fetch_add(1, Ordering::Relaxed);
    }
}

/// All slots of a runtime.
#[derive(Debug, Default)]
pub(crate) struct ThreadSlots {
    newest: AtomicPtr<ThreadSlot>,
    /// Estimate of the slots that are free; spares threads the search for one
    /// where there is none.
    free: AtomicIsize,
}

impl ThreadSlots {
    /// A slot for a thread, or `None` when memory is short.
    pub(crate) fn take(&'static self) -> Option<OwnedThreadSlot> {
        if self.free.load(Ordering::Relaxed) > 0 {
            // Acquire: sees what the previous thread did with the slot.
            let free = self.iter().find(|slot| {
                let taken = &slot.taken;
                !taken.load(Ordering::Relaxed) && !taken.swap(true, Ordering::Acquire)
            });
            if let Some(slot) = free {
                self.free.fetch_sub(1, Ordering::Relaxed);
                return Some(OwnedThreadSlot { slot, slots: self });
            }
        }
        let slot = try_box(ThreadSlot {
            taken: AtomicBool::new(true),
            ..ThreadSlot::default()
        })?;
        Some(OwnedThreadSlot {
            slot: self.publish(Box::leak(slot)),
            slots: self,
        })
    }

    fn publish(&self, slot: &'static ThreadSlot) -> &'static ThreadSlot {
        let mut newest = self.newest.load(Ordering::Relaxed);
        loop {
            slot.next.store(newest, Ordering::Relaxed);
            // Release: who finds the slot sees it initialized.
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

    /// All slots, the free ones included.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static ThreadSlot> + use<> {
        iter::successors(self.newest(), |slot| slot.older())
    }

    /// The slot that was made last.
    pub(crate) fn newest(&self) -> Option<&'static ThreadSlot> {
        // SAFETY: null or a slot that `take` leaked, hence valid as long as anybody uses
        // the slots. Acquire: sees the slot initialized, and with it all older ones.
        unsafe { self.newest.load(Ordering::Acquire).as_ref() }
    }
}

impl Drop for ThreadSlots {
    fn drop(&mut self) {
        let mut newest = self.newest.load(Ordering::Acquire);
        while !newest.is_null() {
            // SAFETY: `take` leaked it, and `&mut self` proves that nobody uses it: who
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
    use crate::buffer::BufferBudget;

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
