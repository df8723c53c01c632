//! Where parts of waits have been added last.

use crate::contention::Wait;

/// What decides under which values a part of a wait counts, in as few numbers as possible: they are
/// compared for each part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathKey {
    /// The lock and the waiting thread's chain.
    lock_and_chain: u64,
    /// The waiting thread, if waits are told apart by threads, the mechanism and the kind.
    thread_and_kind: u64,
    /// What is told apart of the owner, a [`PackedOwner::key`](crate::packed_owner::PackedOwner::key).
    owner: u64,
}

impl PathKey {
    /// That of no part.
    const NONE: Self = Self {
        lock_and_chain: 0,
        thread_and_kind: u64::MAX,
        owner: 0,
    };

    /// Of a wait whose parts have owners of these [keys](crate::packed_owner::PackedOwner::key);
    /// waits are told apart `by_thread`.
    #[inline]
    pub(crate) fn of(wait: &Wait, by_thread: bool) -> Self {
        const THREAD: u64 = 1 << 16;
        let thread = match by_thread {
            true => u64::from(wait.thread.0) << 32 | THREAD,
            false => 0,
        };
        let (mechanism, kind) = (wait.mechanism as u64, wait.kind as u64);
        Self {
            lock_and_chain: u64::from(wait.lock.0) << 32 | u64::from(wait.chain.0),
            thread_and_kind: thread | mechanism << 8 | kind,
            owner: 0,
        }
    }

    /// The same with this owner.
    #[inline]
    pub(crate) fn with_owner(self, owner: u64) -> Self {
        Self { owner, ..self }
    }
}

/// The nodes of a tree that parts went through, for some of their keys.
///
/// A trace is mostly about the same few locks and code again and again. One that is not, or that
/// is made so that all keys want the same place, costs what each part would cost without this.
#[derive(Clone, Debug)]
pub(crate) struct RecentPaths {
    keys: Vec<PathKey>,
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
            keys: vec![PathKey::NONE; 1 << PLACES_LOG],
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
        if self.keys[place] != key {
            self.keys[place] = key;
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
        let waiter = self.lock_and_chain ^ self.thread_and_kind >> 16;
        let mixed = (waiter.wrapping_mul(MIXER) ^ self.owner).wrapping_mul(MIXER);
        (mixed >> (u64::BITS - PLACES_LOG)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::LockIndex;

    fn key(lock: u32, owner: u64) -> PathKey {
        let wait = Wait {
            lock: LockIndex(lock),
            ..Wait::blank()
        };
        PathKey::of(&wait, false).with_owner(owner)
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
