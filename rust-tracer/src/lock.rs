//! The tracer's part of a monitor.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use trace_format::LockId;

use crate::counters::Serial;
use crate::runtime::Runtime;

/// The tracer's state in each monitor; all zero in a fresh one.
// Relaxed throughout: sequence numbers get their order from the single atomic
// they are taken from, and from the monitor itself, which its owner holds. A thread
// that reads the identifier before the description is written only takes a higher
// number than the description's.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Lock {
    /// The lock's identifier; 0 if it was never contended.
    id: AtomicU64,
    /// The sequence number taken last; the description has 0.
    last_sequence: AtomicU64,
}

// As on the C side.
const _: () = assert!(offset_of!(Lock, last_sequence) == 8);

impl Lock {
    /// Returns the lock's identifier, none if it was never contended.
    pub fn id(&self) -> LockId {
        LockId(self.id.load(Relaxed))
    }

    /// Gives the lock an identifier of the trace. Returns `true` to the one caller that did,
    /// which has to describe it, and `false` if the lock had one.
    pub fn claim_in(&self, runtime: &Runtime) -> bool {
        self.claim(&runtime.ids.locks)
    }

    /// Gives the lock an identifier. Returns `true` to the one caller that did,
    /// and `false` if the lock had one.
    pub(crate) fn claim(&self, ids: &Serial) -> bool {
        self.id().is_none()
            && self
                .id
                .compare_exchange(0, ids.next(), Relaxed, Relaxed)
                .is_ok()
    }

    /// Takes the next sequence number.
    pub fn next_sequence(&self) -> u64 {
        self.last_sequence.fetch_add(1, Relaxed).wrapping_add(1)
    }

    /// Makes the monitor a fresh one. No other thread may use it meanwhile.
    pub(crate) fn reset(&self) {
        self.id.store(0, Relaxed);
        self.last_sequence.store(0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_lives_from_claim_to_reset() {
        let ids = Serial::default();
        let lock = Lock::default();
        assert!(lock.claim(&ids));
        assert!(!lock.claim(&ids));
        assert_eq!(lock.id(), LockId(1));
        assert_eq!([lock.next_sequence(), lock.next_sequence()], [1, 2]);

        lock.reset();
        assert_eq!(lock.id(), LockId::NONE);
        assert!(lock.claim(&ids));
        assert_eq!(lock.id(), LockId(2));
        assert_eq!(lock.next_sequence(), 1);
    }
}
