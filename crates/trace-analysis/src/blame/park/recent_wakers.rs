//! Who woke threads up the last time.

use crate::collections::cached_map::{CachedMap, NumberKey};
use crate::model::entity::LockIndex;
use crate::order::park::permits::Waker;

/// Who woke threads up the last time, and on what: one waker for each key. Those of long
/// ago are forgotten.
#[derive(Debug)]
pub(super) struct RecentWakers<K> {
    by: CachedMap<K, WakeUp>,
    /// How many there were so far, modulo 2³².
    count: u32,
    /// When this many are known, those of long ago are forgotten.
    max: usize,
}

/// That a thread was woken up.
#[derive(Clone, Copy, Debug)]
pub(super) struct WakeUp {
    /// What it waited for.
    pub(super) lock: LockIndex,
    pub(super) waker: Waker,
    /// How many there were before, modulo 2³².
    number: u32,
}

/// After so many others, nobody asks for a waker any more.
const LONG: u32 = 1 << 10;

impl<K> Default for RecentWakers<K> {
    fn default() -> Self {
        Self {
            by: CachedMap::default(),
            count: 0,
            max: 0,
        }
    }
}

impl<K: NumberKey> RecentWakers<K> {
    pub(super) fn note(&mut self, key: K, lock: LockIndex, waker: Waker) {
        self.count = self.count.wrapping_add(1);
        let number = self.count;
        if self.by.len() > self.max.max(LONG as usize) {
            self.by
                .retain(|_, wake_up| number.wrapping_sub(wake_up.number) <= LONG);
            self.max = self.by.len() * 2;
        }
        let wake_up = WakeUp {
            lock,
            waker,
            number,
        };
        self.by.insert(key, wake_up);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by.len() == 0
    }

    /// Returns what is known under a key, and forgets it.
    pub(super) fn take(&mut self, key: K) -> Option<WakeUp> {
        self.by.remove(key)
    }

    pub(super) fn get(&self, key: K) -> Option<WakeUp> {
        self.by.get(key).copied()
    }
}
