//! Sums of time by what it is about, of a limited number of things.

use std::hash::Hash;

use crate::hash::SeededMap;

/// Time and numbers by key. What comes when there are as many keys as allowed counts for none of them.
#[derive(Clone, Debug)]
pub(crate) struct Tally<K> {
    sums: SeededMap<K, TallySum>,
    max_keys: usize,
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
            sums: SeededMap::default(),
            max_keys,
        }
    }

    pub(crate) fn add(&mut self, key: K, duration_ns: u64, count: u64) {
        if self.sums.len() >= self.max_keys && !self.sums.contains_key(&key) {
            return;
        }
        let sum = self.sums.entry(key).or_default();
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
