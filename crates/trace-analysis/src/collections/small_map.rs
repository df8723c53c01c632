//! A map that usually has few entries.

use std::hash::Hash;

use crate::collections::hash::SeededMap;
use crate::collections::shrink::shrink_map;

/// Searches its entries one by one while they are few, which is faster than hashing, and hashes
/// when they are many.
#[derive(Debug)]
pub(crate) struct SmallMap<K, V> {
    /// Empty while `many` is not.
    few: Vec<(K, V)>,
    many: SeededMap<K, V>,
}

/// The most entries that are searched.
const MAX_FEW: usize = 12;

/// A large map becomes a small one again when this many entries are left.
const FEW_AGAIN: usize = MAX_FEW / 2;

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> Self {
        Self {
            few: Vec::new(),
            many: SeededMap::default(),
        }
    }
}

impl<K: Copy + Eq + Hash, V> SmallMap<K, V> {
    #[inline]
    pub(crate) fn get(&self, key: K) -> Option<&V> {
        match self.few.iter().find(|(known, _)| *known == key) {
            Some((_, value)) => Some(value),
            None if self.many.is_empty() => None,
            None => self.many.get(&key),
        }
    }

    /// Puts the value in the place of another one of the key.
    #[inline]
    pub(crate) fn insert(&mut self, key: K, value: V) {
        if let Some((_, known)) = self.few.iter_mut().find(|(known, _)| *known == key) {
            *known = value;
        } else if self.many.is_empty() && self.few.len() < MAX_FEW {
            self.few.push((key, value));
        } else {
            self.insert_many(key, value);
        }
    }

    fn insert_many(&mut self, key: K, value: V) {
        self.many.extend(self.few.drain(..));
        self.many.insert(key, value);
    }

    #[inline]
    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        match self.few.iter().position(|(known, _)| *known == key) {
            Some(index) => Some(self.few.swap_remove(index).1),
            None if self.many.is_empty() => None,
            None => self.remove_many(key),
        }
    }

    #[cold]
    fn remove_many(&mut self, key: K) -> Option<V> {
        let value = self.many.remove(&key)?;
        if self.many.len() <= FEW_AGAIN {
            self.few.extend(std::mem::take(&mut self.many));
        } else {
            shrink_map(&mut self.many);
        }
        Some(value)
    }

    /// In no order that means anything.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        let few = self.few.iter().map(|(key, value)| (*key, value));
        few.chain(self.many.iter().map(|(key, value)| (*key, value)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map(operations in prop::collection::vec((0..5_u8, 0..40_u32), 0..400)) {
            let mut map = SmallMap::default();
            let mut model = BTreeMap::new();
            for (step, (operation, key)) in operations.into_iter().enumerate() {
                match operation {
                    0 | 1 => {
                        map.insert(key, step);
                        model.insert(key, step);
                    }
                    _ => prop_assert_eq!(map.remove(key), model.remove(&key)),
                }
                prop_assert_eq!(map.get(key), model.get(&key));
                let entries: BTreeMap<_, _> = map.iter().map(|(key, &value)| (key, value)).collect();
                prop_assert_eq!(&entries, &model);
            }
        }
    }
}
