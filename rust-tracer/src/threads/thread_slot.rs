//! What other threads see of one traced thread.

use trace_format::JavaThreadId;

use crate::buffers::buffer::Buffer;
use crate::buffers::buffer_slot::{BufferSlot, CheckedOut};
use crate::primitive::{AtomicPtr, AtomicU32, Ordering};
use crate::threads::hook_costs::HookCosts;
use crate::threads::identity::ThreadIdentity;
use crate::threads::new_name::{Name, NewName};
use crate::threads::reader::Reader;

/// The shared part of a thread's tracer. Slots are used again and freed with all of
/// [`ThreadSlots`](super::thread_slots::ThreadSlots) only, so that anybody may look at all of them at any time.
///
/// Aligned to a pair of cache lines, which processors fetch together: a thread
/// writes to its slot with every event.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct ThreadSlot {
    pub(super) buffer: BufferSlot,
    /// Of the call-chain set.
    pub(super) reader: Reader,
    /// Of all threads that ever had the slot.
    pub(super) costs: HookCosts,
    pub(super) identity: ThreadIdentity,
    pub(super) new_name: NewName,
    /// Constant.
    pub(super) number: u32,
    /// Set before the slot is published and constant afterwards.
    pub(super) next: AtomicPtr<ThreadSlot>,
    /// While nobody has the slot, the number of one that nobody had before; 0 for none.
    pub(super) next_free: AtomicU32,
}

impl ThreadSlot {
    /// Takes the thread's buffer, unless it is being written to.
    pub(crate) fn reclaim(&self) -> Result<Option<Box<Buffer>>, CheckedOut> {
        self.buffer.take()
    }

    /// The thread had no buffer a moment ago.
    pub(crate) fn looks_empty(&self) -> bool {
        self.buffer.looks_empty()
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

    /// Other threads know the slot by this number.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// The thread is called otherwise from now on. `None` when memory is short.
    pub(crate) fn rename(&self, java_id: JavaThreadId, name: &str) -> Option<()> {
        self.new_name.give(Name::try_new(java_id, name)?);
        Some(())
    }

    /// A name that the thread has not written yet, and will. Each is returned once. For the drainer.
    pub(crate) fn name_to_tell(&self) -> Option<Box<Name>> {
        self.new_name.copy()
    }

    /// The name that a thread has not written which goes on without a tracer. For the drainer.
    pub(crate) fn last_name(&self) -> Option<Box<Name>> {
        self.new_name.take()
    }
}
