//! A cache of the rows to which parts of waits were added last.

use crate::collections::hash::MIXER;
use crate::model::packed_owner::PackedOwner;
use crate::model::wait::{Root, RootEnd, RootPart, Wait};

/// The key of a row, in as few numbers as possible: they are compared for each part of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathKey {
    /// The lock and the waiting thread's chain.
    lock_and_chain: u64,
    /// The mechanism, the kind, the end, and the thread if waits are distinguished by thread.
    thread_and_kind: u64,
    /// The distinguishing part of the owner's [`PackedOwner::key`].
    owner: u64,
}

/// The key of a row where parts have root owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RootKey {
    direct: PathKey,
    /// The distinguishing part of the root owner's key; [`PackedOwner::NONE`] of a cycle.
    end: u64,
    lock_and_depth: u64,
    /// What the owner did, or where it was sampled.
    did: u64,
}

/// The properties by which root owners are distinguished.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RootKeyParts {
    /// Of the root owner, as of a [`PackedOwner::key`].
    pub(crate) end_mask: u64,
    pub(crate) by_depth: bool,
    pub(crate) by_activity: bool,
    pub(crate) by_sample: bool,
}

/// What [`RowCache`] are known by.
pub(crate) trait Key: Copy + Eq {
    /// The key of no part.
    const NONE: Self;

    /// A number for it, whose highest bits look random.
    fn mixed(&self) -> u64;
}

impl Key for PathKey {
    const NONE: Self = Self {
        lock_and_chain: 0,
        thread_and_kind: u64::MAX,
        owner: 0,
    };

    #[inline]
    fn mixed(&self) -> u64 {
        let waiter = self.lock_and_chain ^ self.thread_and_kind >> 16;
        (waiter.wrapping_mul(MIXER) ^ self.owner).wrapping_mul(MIXER)
    }
}

impl Key for RootKey {
    const NONE: Self = Self {
        direct: PathKey::NONE,
        end: 0,
        lock_and_depth: 0,
        did: 0,
    };

    #[inline]
    fn mixed(&self) -> u64 {
        let root = self.end ^ self.lock_and_depth.rotate_left(16) ^ self.did << 48;
        (self.direct.mixed() ^ root).wrapping_mul(MIXER)
    }
}

impl RootKey {
    /// Of a part of a wait, whose [`PathKey`] with the direct owner that is.
    #[inline]
    pub(crate) fn of(direct: PathKey, part: &RootPart, parts: RootKeyParts) -> Self {
        let Root {
            end, lock, depth, ..
        } = part.root;
        let end = match end {
            RootEnd::Owner(owner) => PackedOwner::from(owner),
            RootEnd::Cycle => PackedOwner::NONE,
        };
        let depth = if parts.by_depth { depth } else { 0 };
        let activity = match part.owner_activity() {
            Some(activity) if parts.by_activity => activity as u64 + 1,
            _ => 0,
        };
        let sample = match part.sample {
            Some(chain) if parts.by_sample => u64::from(chain.0) + 1,
            _ => 0,
        };
        Self {
            direct,
            end: end.key(parts.end_mask),
            lock_and_depth: u64::from(lock.0) << 32 | u64::from(depth),
            did: activity << 48 | sample,
        }
    }
}

impl PathKey {
    /// Returns the key of a wait, which includes its thread if `by_thread`.
    #[inline]
    pub(crate) fn of(wait: &Wait, by_thread: bool) -> Self {
        const THREAD: u64 = 1 << 16;
        let thread = match by_thread {
            true => u64::from(wait.thread.0) << 32 | THREAD,
            false => 0,
        };
        let (mechanism, kind) = (wait.mechanism as u64, wait.kind as u64);
        let end = wait.end as u64;
        Self {
            lock_and_chain: u64::from(wait.lock.0) << 32 | u64::from(wait.chain.0),
            thread_and_kind: thread | end << 20 | mechanism << 8 | kind,
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
pub(crate) struct RowCache<K> {
    keys: Vec<K>,
    /// One after the other.
    nodes: Vec<u32>,
    /// Nodes of a path.
    depth: usize,
}

/// How many are kept: few enough to stay in the processor's nearest cache.
const PLACES_LOG: u32 = 8;

impl<K: Key> RowCache<K> {
    /// Creates a cache of paths of `depth` nodes.
    pub(crate) fn new(depth: usize) -> Self {
        Self {
            keys: vec![K::NONE; 1 << PLACES_LOG],
            nodes: vec![0; depth << PLACES_LOG],
            depth,
        }
    }

    /// The path of `key`; if it is not known, what `find` fills in.
    #[inline]
    pub(crate) fn path(&mut self, key: K, find: impl FnOnce(&mut [u32])) -> &[u32] {
        let place = (key.mixed() >> (u64::BITS - PLACES_LOG)) as usize;
        let first = place * self.depth;
        let path = &mut self.nodes[first..first + self.depth];
        if self.keys[place] != key {
            self.keys[place] = key;
            find(path);
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entity::LockIndex;

    fn key(lock: u32, owner: u64) -> PathKey {
        let wait = Wait {
            lock: LockIndex(lock),
            ..Wait::blank()
        };
        PathKey::of(&wait, false).with_owner(owner)
    }

    #[test]
    fn a_key_finds_its_own_path_whatever_came_between() {
        let mut paths = RowCache::new(2);
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
