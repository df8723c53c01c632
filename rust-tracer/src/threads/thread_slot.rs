//! The part of a tracer that other threads see.

use trace_format::JavaThreadId;

use crate::buffers::buffer::Buffer;
use crate::buffers::buffer_slot::{BufferSlot, CheckedOut};
use crate::primitive::{AtomicPtr, AtomicU32, Ordering};
use crate::threads::hook_costs::HookCosts;
use crate::threads::identity::ThreadIdentity;
use crate::threads::new_name::{Name, NewName};
use crate::threads::reader::Reader;

/// The shared part of a thread's tracer. Slots are used again, and only freed with all of
/// [`ThreadSlots`](super::thread_slots::ThreadSlots), so that any thread may look at all of them at
/// any time.
///
/// Aligned to a pair of cache lines, which processors fetch together: a thread
/// writes to its slot with every event.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct ThreadSlot {
    pub(super) buffer: BufferSlot,
    /// Announces readings of the set of call chains.
    pub(super) reader: Reader,
    /// The sums of all threads that ever had the slot.
    pub(super) costs: HookCosts,
    pub(super) identity: ThreadIdentity,
    pub(super) new_name: NewName,
    /// Constant.
    pub(super) number: u32,
    /// Set before the slot is published and constant afterwards.
    pub(super) next: AtomicPtr<ThreadSlot>,
    /// While the slot is free, the number of the one freed before it; 0 for none.
    pub(super) next_free: AtomicU32,
}

impl ThreadSlot {
    /// Takes the thread's buffer, unless it is being written to.
    pub(crate) fn reclaim(&self) -> Result<Option<Box<Buffer>>, CheckedOut> {
        self.buffer.take()
    }

    /// Returns whether the thread had no buffer a moment ago.
    pub(crate) fn looks_empty(&self) -> bool {
        self.buffer.looks_empty()
    }

    /// Returns where the thread announces that it reads the set of call chains.
    pub(crate) fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Returns the slot that was made before this one.
    pub(crate) fn older(&self) -> Option<&'static Self> {
        // SAFETY: null or a slot that `take` leaked, hence valid as long as any thread
        // uses the slots. Relaxed: a thread that sees this slot initialized sees older ones so.
        unsafe { self.next.load(Ordering::Relaxed).as_ref() }
    }

    /// Returns which thread has the slot.
    pub(crate) fn identity(&self) -> &ThreadIdentity {
        &self.identity
    }

    /// Returns the cost of hooks of the threads that had this slot.
    pub(crate) fn costs(&self) -> &HookCosts {
        &self.costs
    }

    /// Returns the number by which other threads know the slot.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Renames the thread. `None` when memory is short.
    pub(crate) fn rename(&self, java_id: JavaThreadId, name: &str) -> Option<()> {
        self.new_name.give(Name::try_new(java_id, name)?);
        Some(())
    }

    /// Returns a name that the thread will write, but has not yet; each once. For the drainer.
    pub(crate) fn unwritten_name(&self) -> Option<Box<Name>> {
        self.new_name.copy()
    }

    /// Takes the name that was not written by a thread that goes on without a tracer. For the drainer.
    pub(crate) fn last_name(&self) -> Option<Box<Name>> {
        self.new_name.take()
    }
}
