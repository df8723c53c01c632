//! The threads that were lately seen to own contended locks, for the drainer.
//!
//! A waiting thread notes the owner that it sees, and an owner notes itself when it releases. Two
//! owners that hash to one place displace each other: an owner that holds a lock for long is seen again.

use std::array;

use trace_format::{JavaThreadId, LockOwner, ThreadId};

use crate::primitive::{AtomicU64, Ordering};

const PLACES: usize = 1 << PLACE_BITS;
const PLACE_BITS: u32 = if cfg!(loom) { 1 } else { 7 };

const JAVA: u64 = 1 << 62;
const STACK: u64 = 1 << 63;

/// An owner, as far as a hook can identify it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeenOwner {
    /// Its number in the trace.
    Thread(ThreadId),
    /// `Thread.getId()`.
    Java(JavaThreadId),
    /// An address on its stack.
    OnStack(u64),
}

impl SeenOwner {
    fn word(self) -> u64 {
        match self {
            Self::Thread(thread) => thread.into(),
            Self::Java(thread) => JAVA | thread.0,
            Self::OnStack(address) => STACK | address,
        }
    }

    fn of_word(word: u64) -> Self {
        if word & STACK != 0 {
            Self::OnStack(word & !STACK)
        } else if word & JAVA != 0 {
            Self::Java(JavaThreadId(word & !JAVA))
        } else {
            Self::Thread(ThreadId(u32::try_from(word).unwrap_or(0)))
        }
    }
}

/// The owners seen since the drainer last looked. In cache lines of their own, since contending
/// threads write here.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct OwnersSeen {
    /// 0 for none.
    places: [AtomicU64; PLACES],
}

impl Default for OwnersSeen {
    fn default() -> Self {
        Self {
            places: array::from_fn(|_| AtomicU64::new(0)),
        }
    }
}

impl OwnersSeen {
    // Relaxed throughout: a note guards no other memory.

    /// Notes an owner that a thread saw when it began to wait.
    #[inline]
    pub(crate) fn note_seen(&self, owner: LockOwner) {
        match owner {
            LockOwner::NotKnown => {}
            LockOwner::Thread(thread) => self.note(SeenOwner::Thread(thread)),
            LockOwner::OnStack(address) => self.note(SeenOwner::OnStack(address)),
        }
    }

    /// Notes an owner.
    #[inline]
    pub(crate) fn note(&self, owner: SeenOwner) {
        let word = owner.word();
        let hash = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (hash >> (u64::BITS - PLACE_BITS)) as usize;
        if let Some(place) = self.places.get(place)
            // The cache line stays shared by all processors while owners stay the same.
            && place.load(Ordering::Relaxed) != word
        {
            place.store(word, Ordering::Relaxed);
        }
    }

    /// Takes the owners noted. By the drainer alone.
    pub(crate) fn take(&self) -> impl Iterator<Item = SeenOwner> {
        let noted = self.places.iter().filter_map(|place| {
            let word = place.load(Ordering::Relaxed);
            (word != 0).then(|| place.swap(0, Ordering::Relaxed))
        });
        noted.filter(|&word| word != 0).map(SeenOwner::of_word)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn owners_are_taken_once() {
        let seen = OwnersSeen::default();
        let owners = [
            SeenOwner::Thread(ThreadId(7)),
            SeenOwner::Java(JavaThreadId(7)),
            SeenOwner::OnStack(0x7fff_1234_5678),
        ];
        for owner in owners.iter().chain(&owners) {
            seen.note(*owner);
        }
        seen.note_seen(LockOwner::NotKnown);
        let taken: Vec<_> = seen.take().collect();
        assert_eq!(taken.len(), owners.len());
        assert!(owners.iter().all(|owner| taken.contains(owner)));
        assert_eq!(seen.take().count(), 0);
    }
}
