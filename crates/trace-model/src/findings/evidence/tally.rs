//! Sums of time by what it is about, of a limited number of things.

use std::hash::Hash;

use foldhash::fast::RandomState;
use indexmap::IndexMap;

/// Time and numbers by key. What comes when there are as many keys as allowed counts for none of them.
#[derive(Clone, Debug)]
pub(crate) struct Tally<K> {
    sums: IndexMap<K, TallySum, RandomState>,
    max_keys: usize,
    /// The position of the key that was added last: the next one is mostly the same.
    recent: usize,
}

/// The sums of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TallySum {
    pub(crate) duration_ns: u64,
    pub(crate) count: u64,
}

impl<K: Copy + Eq + Hash> Tally<K> {
    pub(crate) fn new(max_keys: usize) -> Self {
        Self {
            sums: IndexMap::default(),
            max_keys,
            recent: 0,
        }
    }

    pub(crate) fn add(&mut self, key: K, duration_ns: u64, count: u64) {
        if self
            .sums
            .get_index(self.recent)
            .is_none_or(|(recent, _)| *recent != key)
        {
            if self.sums.len() >= self.max_keys && !self.sums.contains_key(&key) {
                return;
            }
            let entry = self.sums.entry(key);
            self.recent = entry.index();
            entry.or_default();
        }
        let sum = &mut self.sums[self.recent];
        sum.duration_ns = sum.duration_ns.saturating_add(duration_ns);
        sum.count += count;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (&key, sum) in &other.sums {
            self.add(key, sum.duration_ns, sum.count);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.sums.len()
    }

    /// Returns the time of a key, in nanoseconds.
    pub(crate) fn duration_ns(&self, key: &K) -> u64 {
        self.sum(key).duration_ns
    }

    /// Returns the sums of a key.
    pub(crate) fn sum(&self, key: &K) -> TallySum {
        self.sums.get(key).copied().unwrap_or_default()
    }

    /// Returns whether there may be others.
    pub(crate) fn is_full(&self) -> bool {
        self.sums.len() >= self.max_keys
    }

    /// Returns the sum of all times, in nanoseconds.
    pub(crate) fn total_ns(&self) -> u64 {
        let durations_ns = self.sums.values().map(|sum| sum.duration_ns);
        durations_ns.fold(0, u64::saturating_add)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, TallySum)> {
        self.sums.iter().map(|(&key, &sum)| (key, sum))
    }

    /// Returns the keys with the most time first. Of equal time, `name` decides, so that the order is the
    /// same in every run.
    pub(crate) fn by_time(&self, name: impl Fn(K) -> String) -> Vec<(K, TallySum)> {
        let mut sums: Vec<_> = self.iter().collect();
        sums.sort_by_cached_key(|&(key, sum)| (u64::MAX - sum.duration_ns, name(key)));
        sums
    }

    /// Returns the key with the most time.
    pub(crate) fn largest(&self, name: impl Fn(K) -> String) -> Option<(K, TallySum)> {
        let most_ns = self.sums.values().map(|sum| sum.duration_ns).max()?;
        let largest = self.iter().filter(|(_, sum)| sum.duration_ns == most_ns);
        largest.min_by_key(|&(key, _)| name(key))
    }
}
