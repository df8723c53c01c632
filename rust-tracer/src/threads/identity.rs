//! Which thread has a slot, for others to read at any time.

use trace_format::{JavaThreadId, StackRange, ThreadId};

use crate::primitive::{AtomicU32, AtomicU64, Ordering, fence};
use crate::threads::owners_seen::SeenOwner;

/// The thread's identity. A reader that finds the same number before and after has read what
/// belongs to it: numbers are not used again.
#[derive(Debug, Default)]
pub(crate) struct ThreadIdentity {
    /// 0 while the slot is free or is being filled in.
    number: AtomicU32,
    os_id: AtomicU32,
    java_id: AtomicU64,
    stack_lowest: AtomicU64,
    stack_size: AtomicU64,
}

impl ThreadIdentity {
    /// The slot belongs to this thread from now on. By the thread that has the slot.
    pub(crate) fn set(
        &self,
        number: ThreadId,
        java_id: JavaThreadId,
        stack: StackRange,
        os_id: u32,
    ) {
        self.clear();
        self.os_id.store(os_id, Ordering::Relaxed);
        self.java_id.store(java_id.0, Ordering::Relaxed);
        self.stack_lowest.store(stack.lowest, Ordering::Relaxed);
        self.stack_size.store(stack.size, Ordering::Relaxed);
        // Release: who sees the number sees the rest.
        self.number.store(number.0, Ordering::Release);
    }

    /// The thread is about to end.
    pub(crate) fn clear(&self) {
        self.number.store(0, Ordering::Relaxed);
        // Release: who sees what another thread stores from now on sees that this one has gone.
        fence(Ordering::Release);
    }

    /// The number of the thread that has the slot.
    pub(crate) fn number(&self) -> ThreadId {
        // Acquire: what is read from now on is what came with it, or later.
        ThreadId(self.number.load(Ordering::Acquire))
    }

    /// The thread as the operating system knows it; `None` if the slot is another thread's now,
    /// or that is not known.
    pub(crate) fn os_id(&self, number: ThreadId) -> Option<u32> {
        let os_id = self.os_id.load(Ordering::Relaxed);
        (self.is_still(number) && os_id != 0).then_some(os_id)
    }

    /// The slot still belongs to the thread of this number, whose read came before.
    pub(crate) fn is_still(&self, number: ThreadId) -> bool {
        // Acquire: what was read before this is no later thread's, or the number has changed.
        fence(Ordering::Acquire);
        self.number.load(Ordering::Relaxed) == number.0
    }

    /// The thread is the one seen.
    pub(crate) fn is(&self, seen: SeenOwner) -> bool {
        match seen {
            SeenOwner::Thread(thread) => self.number.load(Ordering::Relaxed) == thread.0,
            SeenOwner::Java(thread) => self.java_id.load(Ordering::Relaxed) == thread.0,
            SeenOwner::OnStack(address) => {
                let lowest = self.stack_lowest.load(Ordering::Relaxed);
                let size = self.stack_size.load(Ordering::Relaxed);
                address
                    .checked_sub(lowest)
                    .is_some_and(|above| above < size)
            }
        }
    }
}
