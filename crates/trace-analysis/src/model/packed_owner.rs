//! Owners in eight bytes: they are compared for each part of each wait.

use crate::model::entity::{ChainIndex, ThreadIndex};
use crate::model::wait::{Owner, UnknownOwner};

/// An [`Owner`] in 64 bits, the thread's number above the chain's. The last numbers stand for free
/// locks, unknown owners and the frozen process; no thread has them, for as many would not fit
/// into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackedOwner(u64);

impl PackedOwner {
    const FREE: u64 = u64::MAX;
    const FROZEN: u64 = Self::FREE - 1 - UnknownOwner::ALL.len() as u64;
    const LAST_THREAD: u64 = Self::FROZEN - 1;

    /// The owner of a free lock.
    pub(crate) const NOBODY: Self = Self(Self::FREE);

    /// No owner at all, not even an unknown one.
    pub(crate) const NONE: Self = Self(Self::LAST_THREAD);

    #[inline]
    pub(crate) const fn unknown(reason: UnknownOwner) -> Self {
        Self(Self::FREE - 1 - reason as u64)
    }

    #[inline]
    pub(crate) fn get(self) -> Owner {
        match (self.thread(), Self::FREE - self.0) {
            (Some(thread), _) => Owner::Thread {
                thread,
                chain: ChainIndex(self.0 as u32),
            },
            (None, 0) => Owner::Free,
            (None, _) if self.0 == Self::FROZEN => Owner::Frozen,
            (None, reason) => Owner::Unknown(UnknownOwner::ALL[reason as usize - 1]),
        }
    }

    /// It is this thread.
    #[inline]
    pub(crate) fn is_thread(self, thread: ThreadIndex) -> bool {
        self.0 >> u32::BITS == u64::from(thread.0) && self.0 <= Self::LAST_THREAD
    }

    /// The thread, if it is known.
    #[inline]
    pub(crate) fn thread(self) -> Option<ThreadIndex> {
        let is_thread = self.0 <= Self::LAST_THREAD;
        is_thread.then_some(ThreadIndex((self.0 >> u32::BITS) as u32))
    }

    /// A number for each owner that differs in the bits of `mask`.
    #[inline]
    pub(crate) fn key(self, mask: u64) -> u64 {
        match self.0 {
            thread @ ..=Self::LAST_THREAD => thread & mask,
            nobody => nobody,
        }
    }
}

impl From<Owner> for PackedOwner {
    #[inline]
    fn from(owner: Owner) -> Self {
        match owner {
            Owner::Thread { thread, chain } => {
                Self(u64::from(thread.0) << u32::BITS | u64::from(chain.0))
            }
            Owner::Free => Self(Self::FREE),
            Owner::Frozen => Self(Self::FROZEN),
            Owner::Unknown(reason) => Self::unknown(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_owner_is_unpacked_as_it_was() {
        let thread = |thread, chain| Owner::Thread {
            thread: ThreadIndex(thread),
            chain: ChainIndex(chain),
        };
        let threads = [thread(0, 0), thread(7, u32::MAX), thread(u32::MAX - 1, 3)];
        let unknown = UnknownOwner::ALL.map(Owner::Unknown);
        let nobody = [Owner::Free, Owner::Frozen];
        let owners = threads.into_iter().chain(nobody).chain(unknown);
        for owner in owners {
            let packed = PackedOwner::from(owner);
            assert_eq!(packed.get(), owner);
            let known = owner.thread().map(|(thread, _)| thread);
            assert_eq!(packed.thread(), known);
            let is_same_code =
                packed.key(u32::MAX.into()) == PackedOwner::from(thread(1, 3)).key(u32::MAX.into());
            assert_eq!(is_same_code, owner == thread(u32::MAX - 1, 3), "{owner:?}");
        }
    }
}
