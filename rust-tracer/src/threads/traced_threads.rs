//! The threads that have tracers.

use std::ptr;

use trace_format::JavaThreadId;

use crate::threads::numbers::ThreadNumbers;
use crate::threads::owners_seen::{OwnersSeen, SeenOwner};
use crate::threads::thread_slot::ThreadSlot;
use crate::threads::thread_slots::ThreadSlots;

/// Finds traced threads by slot, by address, or because they own contended locks.
#[derive(Debug)]
pub(crate) struct TracedThreads {
    /// Leaked: threads keep references to slots for as long as they have tracers.
    pub(crate) slots: &'static ThreadSlots,
    pub(crate) numbers: ThreadNumbers,
    pub(crate) owners_seen: OwnersSeen,
}

impl TracedThreads {
    pub(crate) fn new() -> Self {
        Self {
            slots: Box::leak(Box::default()),
            numbers: ThreadNumbers::new(),
            owners_seen: OwnersSeen::default(),
        }
    }

    /// Frees the slots.
    ///
    /// # Safety
    ///
    /// No tracer is left, and no thread uses the slots during the call or afterwards.
    pub(crate) unsafe fn free_slots(&self) {
        // SAFETY: as the caller promises, and `new` has leaked a box.
        drop(unsafe { Box::from_raw(ptr::from_ref(self.slots).cast_mut()) });
    }

    /// Returns the slot of the thread of the JVM at this address, if it has a tracer.
    pub(crate) fn find_slot(
        &self,
        vm_thread: u64,
        java_id: JavaThreadId,
    ) -> Option<&'static ThreadSlot> {
        match self.numbers.find_slot(vm_thread) {
            Some(number) => self.slots.get(number),
            None if self.numbers.are_complete() => None,
            None => self
                .slots
                .iter()
                .find(|slot| slot.identity().is(SeenOwner::Java(java_id))),
        }
    }
}
