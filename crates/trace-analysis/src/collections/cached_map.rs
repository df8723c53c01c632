//! A map with a direct-mapped cache, for lookups that repeat.

use std::hash::Hash;

use indexmap::IndexMap;
use trace_format::{JavaThreadId, LockId, Permit};

use crate::collections::hash::Seed;

/// A key that is a number.
pub(crate) trait NumberKey: Copy + Eq + Hash {
    fn number(self) -> u64;
}

impl NumberKey for LockId {
    #[inline]
    fn number(self) -> u64 {
        self.0
    }
}

impl NumberKey for JavaThreadId {
    #[inline]
    fn number(self) -> u64 {
        self.0
    }
}

impl NumberKey for (JavaThreadId, Permit) {
    #[inline]
    fn number(self) -> u64 {
        let (thread, permit) = self;
        thread.0 ^ u64::from(permit.0)
    }
}

/// Caches the position of one entry for each remainder of the keys, so that repeated lookups need
/// no hash. A file whose keys all share one remainder only makes it as slow as a plain map.
#[derive(Debug)]
pub(crate) struct CachedMap<K, V> {
    entries: IndexMap<K, V, Seed>,
    /// Perhaps of another key, or beyond the end.
    recent: [u32; RECENT],
}

const RECENT: usize = 64;

impl<K, V> Default for CachedMap<K, V> {
    fn default() -> Self {
        Self {
            entries: IndexMap::default(),
            recent: [0; RECENT],
        }
    }
}

impl<K: NumberKey, V> CachedMap<K, V> {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Where the entry of a key is.
    #[inline]
    fn find(&mut self, key: K) -> Option<usize> {
        let index = self.recent[key.number() as usize % RECENT] as usize;
        match self.entries.get_index(index) {
            Some((&known, _)) if known == key => Some(index),
            _ => self.look_up(key),
        }
    }

    #[inline(never)]
    fn look_up(&mut self, key: K) -> Option<usize> {
        let index = self.entries.get_index_of(&key)?;
        self.recent[key.number() as usize % RECENT] = index as u32;
        Some(index)
    }

    #[inline]
    pub(crate) fn get(&self, key: K) -> Option<&V> {
        let index = self.recent[key.number() as usize % RECENT] as usize;
        match self.entries.get_index(index) {
            Some((&known, value)) if known == key => Some(value),
            _ => self.entries.get(&key),
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        let index = self.find(key)?;
        self.entries.get_index_mut(index).map(|(_, value)| value)
    }

    #[inline]
    pub(crate) fn get_or_insert_with(&mut self, key: K, new: impl FnOnce() -> V) -> &mut V {
        let index = match self.find(key) {
            Some(index) => index,
            None => self.entries.insert_full(key, new()).0,
        };
        &mut self.entries[index]
    }

    #[inline]
    /// Returns what was there before.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.get_mut(key) {
            Some(known) => Some(std::mem::replace(known, value)),
            None => self.entries.insert(key, value),
        }
    }

    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        self.entries.swap_remove(&key)
    }

    pub(crate) fn retain(&mut self, is_wanted: impl FnMut(&K, &mut V) -> bool) {
        self.entries.retain(is_wanted);
    }

    /// Takes out the entries that `is_wanted`.
    pub(crate) fn extract_if(&mut self, mut is_wanted: impl FnMut(&V) -> bool) -> Vec<(K, V)> {
        let found = self.entries.extract_if(.., |_, value| is_wanted(value));
        found.collect()
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.entries.shrink_to_fit();
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    /// In no order that means anything.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.entries.iter().map(|(&key, value)| (key, value))
    }

    /// The same, to change them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (K, &mut V)> {
        self.entries.iter_mut().map(|(&key, value)| (key, value))
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.values()
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.values_mut()
    }

    pub(crate) fn into_entries(self) -> impl Iterator<Item = (K, V)> {
        self.entries.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map(operations in prop::collection::vec((0..5_u8, 0..4_u64, 0..6_u64), 0..300)) {
            let mut map = CachedMap::default();
            let mut model = BTreeMap::new();
            for (step, (operation, row, column)) in operations.into_iter().enumerate() {
                // Some have the same remainder.
                let key = LockId(row + column * RECENT as u64);
                match operation {
                    0 => {
                        map.insert(key, step);
                        model.insert(key, step);
                    }
                    1 => prop_assert_eq!(map.remove(key), model.remove(&key)),
                    2 => {
                        let value = *map.get_or_insert_with(key, || step);
                        prop_assert_eq!(value, *model.entry(key).or_insert(step));
                    }
                    3 => {
                        map.retain(|_, value| *value % 7 > 0);
                        model.retain(|_, value| *value % 7 > 0);
                    }
                    _ => prop_assert_eq!(map.get_mut(key).copied(), model.get(&key).copied()),
                }
                prop_assert_eq!(map.get(key), model.get(&key));
                prop_assert_eq!(map.len(), model.len());
            }
            let entries: BTreeMap<_, _> = map.into_entries().collect();
            prop_assert_eq!(entries, model);
        }
    }
}
