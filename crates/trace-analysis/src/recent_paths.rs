//! Where parts of waits have been added last.

use crate::contention::{Mechanism, WaitKind};
use crate::entity::{ChainIndex, LockIndex, ThreadIndex};

/// What decides under which values a part of a wait counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathKey {
    pub(crate) lock: LockIndex,
    pub(crate) chain: ChainIndex,
    /// `None` if waits are not told apart by threads.
    pub(crate) thread: Option<ThreadIndex>,
    pub(crate) mechanism: Mechanism,
    pub(crate) kind: WaitKind,
    /// What is told apart of the owner, a [`PackedOwner::key`](crate::packed_owner::PackedOwner::key).
    pub(crate) owner: u64,
}

/// The nodes of a tree that parts went through, for some of their keys.
///
/// A trace is mostly about the same few locks and code again and again. One that is not, or that
/// is made so that all keys want the same place, costs what each part would cost without this.
#[derive(Clone, Debug)]
pub(crate) struct RecentPaths {
    keys: Vec<Option<PathKey>>,
    /// One after the other.
    nodes: Vec<u32>,
    /// Nodes of a path.
    depth: usize,
}

/// How many are kept: few enough to stay in the processor's nearest cache.
const PLACES_LOG: u32 = 8;

impl RecentPaths {
    /// For paths of so many nodes.
    pub(crate) fn new(depth: usize) -> Self {
        Self {
            keys: vec![None; 1 << PLACES_LOG],
            nodes: vec![0; depth << PLACES_LOG],
            depth,
        }
    }

    /// The path of `key`; if it is not known, what `find` fills in.
    #[inline]
    pub(crate) fn path(&mut self, key: PathKey, find: impl FnOnce(&mut [u32])) -> &[u32] {
        let place = key.place();
        let first = place * self.depth;
        let path = &mut self.nodes[first..first + self.depth];
        if self.keys[place] != Some(key) {
            self.keys[place] = Some(key);
            find(path);
        }
        path
    }
}

impl PathKey {
    /// The place for it.
    #[inline]
    fn place(&self) -> usize {
        /// An odd number whose bits look random.
        const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;
        let thread = self.thread.map_or(0, |thread| thread.0);
        let waiter = u64::from(self.lock.0) << 32 | u64::from(self.chain.0 ^ thread << 16);
        let mixed = (waiter.wrapping_mul(MIXER) ^ self.owner).wrapping_mul(MIXER);
        (mixed >> (u64::BITS - PLACES_LOG)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(lock: u32, owner: u64) -> PathKey {
        PathKey {
            lock: LockIndex(lock),
            chain: ChainIndex::NOT_RECORDED,
            thread: None,
            mechanism: Mechanism::Monitor,
            kind: WaitKind::Contention,
            owner,
        }
    }

    #[test]
    fn a_path_is_that_of_its_key_whatever_came_between() {
        let mut paths = RecentPaths::new(2);
        let mut found = 0;
        for round in 0..3 {
            for lock in 0..40 {
                for owner in [7, 8, u64::MAX] {
                    let path = paths.path(key(lock, owner), |path| {
                        found += 1;
                        path.copy_from_slice(&[lock, owner as u32]);
                    });
                    assert_eq!(path, [lock, owner as u32], "round {round}");
                }
            }
        }
        // More than the places would hold if all had one of their own.
        assert!(found < 3 * 120, "none was found again");
        for lock in 0..10_000 {
            let path = paths.path(key(lock, 1), |path| path.fill(lock));
            assert_eq!(path, [lock, lock]);
        }
    }
}
