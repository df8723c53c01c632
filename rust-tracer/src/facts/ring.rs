//! Facts from threads to the drainer, besides events: a few words each.

use std::array;

use crate::primitive::{AtomicU64, Ordering};

/// Facts that fit between two looks of the drainer, which are 15 ms apart.
pub(crate) const ROOM: usize = if cfg!(loom) { 2 } else { 1 << 10 };
/// The last place; their number is a power of two.
const LAST: u64 = ROOM as u64 - 1;

/// Facts of `WORDS` words on their way to the drainer.
#[derive(Debug)]
pub(crate) struct FactRing<const WORDS: usize> {
    slots: [[AtomicU64; WORDS]; ROOM],
    /// Facts ever added.
    added: AtomicU64,
    /// Facts ever taken.
    taken: AtomicU64,
    lost: AtomicU64,
}

impl<const WORDS: usize> Default for FactRing<WORDS> {
    fn default() -> Self {
        Self {
            slots: array::from_fn(|_| array::from_fn(|_| AtomicU64::new(0))),
            added: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }
}

impl<const WORDS: usize> FactRing<WORDS> {
    /// Adds a fact, or counts it as lost if the ring is full. By one thread at a time.
    pub(crate) fn add(&self, fact: [u64; WORDS]) {
        let added = self.added.load(Ordering::Relaxed);
        // Acquire: the drainer has read the previous fact in the slot.
        let taken = self.taken.load(Ordering::Acquire);
        if added.wrapping_sub(taken) >= ROOM as u64 {
            return self.lose();
        }
        for (word, value) in self.slot(added).iter().zip(fact) {
            word.store(value, Ordering::Relaxed);
        }
        // Release: a thread that sees the new count sees the slot.
        self.added.store(added.wrapping_add(1), Ordering::Release);
    }

    /// Counts a fact as lost.
    pub(crate) fn lose(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes the oldest fact. By the drainer alone.
    pub(crate) fn take(&self) -> Option<[u64; WORDS]> {
        let taken = self.taken.load(Ordering::Relaxed);
        // Acquire: sees what was stored into the slot.
        if self.added.load(Ordering::Acquire) == taken {
            return None;
        }
        let mut words = self.slot(taken).iter();
        let fact = array::from_fn(|_| words.next().map_or(0, |word| word.load(Ordering::Relaxed)));
        // Release: the slot is read before another one may be stored there.
        self.taken.store(taken.wrapping_add(1), Ordering::Release);
        Some(fact)
    }

    /// Returns how many facts were lost.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn slot(&self, number: u64) -> &[AtomicU64] {
        let place = (number & LAST) as usize;
        // Never out of bounds.
        self.slots.get(place).map_or(&[], |slot| slot)
    }
}
