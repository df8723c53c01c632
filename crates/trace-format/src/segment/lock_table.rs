//! The recent locks of a segment. Encoder and decoder keep the same table.

use crate::event::{Blocker, ParkTimeout};
use crate::id::{ChainId, JavaThreadId, LockId, Permit};

/// Number of locks kept: one less than fits four bits.
const SLOTS: usize = 15;

/// The argument of an event whose lock is not in the table.
pub(super) const NEW_LOCK: u8 = SLOTS as u8;

/// The state of a lock that its next event is encoded against.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LockState {
    pub(super) sequence: u64,
    /// Chain of the last contended enter that did not follow a wait; of a
    /// domain's last park.
    pub(super) enter_chain: ChainId,
    /// Chain of the last contended exit that named one; of a domain's last
    /// unpark.
    pub(super) exit_chain: ChainId,
    /// Chain of a domain's last release.
    pub(super) release_chain: ChainId,
    /// Blocker of a domain's last park, unpark or release.
    pub(super) blocker: Blocker,
    /// Target of a domain's last unpark, and permit of the last that was no notification.
    pub(super) target: JavaThreadId,
    pub(super) permit: Permit,
    /// Threads that waited at a domain's last unpark; 0 if that was no notification.
    pub(super) waiters: u32,
    /// A domain's last begin was of `Object.wait`, and its timeout.
    pub(super) waits: bool,
    pub(super) wait_timeout: ParkTimeout,
}

/// Replaces its oldest entry, whether used since or not. That is cheaper than keeping the order of
/// use, and a thread seldom contends on more than fifteen locks within one buffer.
#[derive(Clone, Debug)]
pub(super) struct LockTable {
    locks: [LockId; SLOTS],
    states: [LockState; SLOTS],
    /// Slots in use.
    len: u8,
    /// The slot that the next new lock takes.
    next: u8,
}

impl LockTable {
    pub(super) const fn new() -> Self {
        const FRESH: LockState = LockState {
            sequence: 0,
            enter_chain: ChainId::NONE,
            exit_chain: ChainId::NONE,
            release_chain: ChainId::NONE,
            blocker: Blocker::NONE,
            target: JavaThreadId::NONE,
            permit: Permit::NONE,
            waiters: 0,
            waits: false,
            wait_timeout: ParkTimeout::None,
        };
        Self {
            locks: [LockId::NONE; SLOTS],
            states: [FRESH; SLOTS],
            len: 0,
            next: 0,
        }
    }

    /// Returns the slot of `lock`.
    #[inline]
    fn find(&self, lock: LockId) -> Option<u8> {
        let used = self.locks.get(..usize::from(self.len))?;
        used.iter()
            .position(|&known| known == lock)
            .map(|slot| slot as u8)
    }

    /// Returns the slot of `lock`, if it has one, and its state.
    #[inline]
    pub(super) fn slot_and_state(&self, lock: LockId) -> (Option<u8>, LockState) {
        let slot = self.find(lock);
        let known = slot.and_then(|slot| self.entry(slot));
        (
            slot,
            known.map_or_else(LockState::default, |(_, state)| state),
        )
    }

    /// Returns the lock in `slot` and its state.
    #[inline]
    pub(super) fn entry(&self, slot: u8) -> Option<(LockId, LockState)> {
        if slot >= self.len {
            return None;
        }
        let slot = usize::from(slot);
        Some((*self.locks.get(slot)?, *self.states.get(slot)?))
    }

    /// Returns the lock in `slot` and its state, to be changed.
    #[inline]
    pub(super) fn entry_mut(&mut self, slot: u8) -> Option<(LockId, &mut LockState)> {
        if slot >= self.len {
            return None;
        }
        let slot = usize::from(slot);
        Some((*self.locks.get(slot)?, self.states.get_mut(slot)?))
    }

    /// Makes `lock` replace the oldest entry.
    #[inline]
    pub(super) fn insert(&mut self, lock: LockId) -> &mut LockState {
        let slot = usize::from(self.advance());
        self.locks[slot] = lock;
        self.states[slot] = LockState::default();
        &mut self.states[slot]
    }

    /// Sets the state of `lock`, which is in `slot` or, if that is `None`,
    /// replaces the oldest entry.
    #[inline]
    pub(super) fn update(&mut self, slot: Option<u8>, lock: LockId, state: LockState) {
        let slot = usize::from(slot.unwrap_or_else(|| self.advance()));
        if let (Some(known), Some(old)) = (self.locks.get_mut(slot), self.states.get_mut(slot)) {
            *known = lock;
            *old = state;
        }
    }

    fn advance(&mut self) -> u8 {
        let slot = self.next;
        self.next = (slot + 1) % NEW_LOCK;
        self.len = self.len.max(slot + 1);
        slot
    }
}
