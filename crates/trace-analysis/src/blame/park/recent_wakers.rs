//! The most recent wakers of threads.

use crate::collections::cached_map::{CachedMap, NumberKey};
use crate::model::entity::LockIndex;
use crate::order::park::permits::Waker;

/// The most recent wake-up for each key, with the lock. Old ones are forgotten.
#[derive(Debug)]
pub(super) struct RecentWakers<K> {
    by: CachedMap<K, WakeUp>,
    /// Number of wake-ups so far, modulo 2³².
    count: u32,
    /// Number of entries at which old ones are forgotten.
    max: usize,
}

/// A wake-up of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct WakeUp {
    /// The lock that the thread waited for.
    pub(super) lock: LockIndex,
    pub(super) waker: Waker,
    /// Number of wake-ups before, modulo 2³².
    number: u32,
}

/// Number of later wake-ups after which one is not looked up any more.
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

    /// Removes and returns the wake-up for a key.
    pub(super) fn take(&mut self, key: K) -> Option<WakeUp> {
        self.by.remove(key)
    }

    pub(super) fn get(&self, key: K) -> Option<WakeUp> {
        self.by.get(key).copied()
    }
}
