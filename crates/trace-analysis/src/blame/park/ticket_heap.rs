//! A queue of waiting threads in one state, ordered by key.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A priority queue of keys that removes lazily: keys come and go with the state of the threads,
/// and a stale key is recognized only when it is met, so that removing one needs no search.
#[derive(Debug)]
pub(super) struct TicketHeap<K> {
    /// Keys that were not less than their predecessor when added: nearly all. Some are stale or
    /// duplicates.
    in_order: VecDeque<K>,
    /// The other keys, the least first.
    others: BinaryHeap<Reverse<K>>,
    len: usize,
}

/// Number of stale entries that is always tolerated.
const FEW: usize = 16;

impl<K: Ord> Default for TicketHeap<K> {
    fn default() -> Self {
        Self {
            in_order: VecDeque::new(),
            others: BinaryHeap::new(),
            len: 0,
        }
    }
}

impl<K: Ord + Copy> TicketHeap<K> {
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds a key, for which `is_in` is true, as for all others.
    #[inline]
    pub(super) fn insert(&mut self, key: K, is_in: impl Fn(K) -> bool) {
        if self.entries() >= self.len * 2 + FEW {
            self.forget_others(is_in);
        }
        match self.in_order.back() {
            Some(last) if key < *last => self.others.push(Reverse(key)),
            _ => self.in_order.push_back(key),
        }
        self.len += 1;
    }

    /// Returns the number of entries, including stale ones.
    fn entries(&self) -> usize {
        self.in_order.len() + self.others.len()
    }

    /// Forgets stale entries and sorts the rest.
    #[inline(never)]
    fn forget_others(&mut self, is_in: impl Fn(K) -> bool) {
        let others = std::mem::take(&mut self.others).into_iter();
        let mut keys: Vec<K> = Vec::from(std::mem::take(&mut self.in_order));
        keys.extend(others.map(|Reverse(key)| key));
        keys.retain(|&key| is_in(key));
        keys.sort_unstable();
        keys.dedup();
        keys.shrink_to(self.len * 2 + FEW);
        self.in_order = keys.into();
    }

    /// Notes that `is_in` is not true for one key any more.
    pub(super) fn remove(&mut self) {
        self.len -= 1;
    }

    /// Returns the least key.
    pub(super) fn first(&mut self, is_in: impl Fn(K) -> bool) -> Option<K> {
        if self.is_empty() {
            return None;
        }
        while let Some(first) = self.peek() {
            if is_in(first) {
                return Some(first);
            }
            self.pop(first);
        }
        None
    }

    /// Returns the keys less than `bound`. The caller removes them.
    #[inline]
    pub(super) fn take_before(&mut self, bound: K, is_in: impl Fn(K) -> bool, taken: &mut Vec<K>) {
        while let Some(first) = self.peek()
            && first < bound
        {
            self.pop(first);
            if is_in(first) && taken.last() != Some(&first) {
                taken.push(first);
            }
        }
    }

    /// Returns the least entry, which may be stale.
    #[inline]
    pub(super) fn peek(&self) -> Option<K> {
        match (self.in_order.front(), self.others.peek()) {
            (Some(&first), None) => Some(first),
            (Some(&first), Some(&Reverse(other))) => Some(first.min(other)),
            (None, other) => other.map(|&Reverse(key)| key),
        }
    }

    /// Forgets the [least](Self::peek).
    #[inline]
    fn pop(&mut self, least: K) {
        match self.in_order.front() {
            Some(first) if *first == least => _ = self.in_order.pop_front(),
            _ => _ = self.others.pop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set(
            operations in prop::collection::vec((0..4_u8, 0..12_u32), 0..400),
        ) {
            let mut heap = TicketHeap::default();
            let mut model = BTreeSet::new();
            for (operation, key) in operations {
                match operation {
                    0 | 1 => if model.insert(key) {
                        heap.insert(key, |key| model.contains(&key));
                    },
                    2 => if model.remove(&key) {
                        heap.remove();
                    },
                    _ => {
                        let mut taken = Vec::new();
                        heap.take_before(key, |key| model.contains(&key), &mut taken);
                        let rest = model.split_off(&key);
                        let before: Vec<_> = std::mem::replace(&mut model, rest).into_iter().collect();
                        before.iter().for_each(|_| heap.remove());
                        prop_assert_eq!(taken, before);
                    }
                }
                let first = heap.first(|key| model.contains(&key));
                prop_assert_eq!(first, model.first().copied());
                prop_assert_eq!(heap.is_empty(), model.is_empty());
                prop_assert!(heap.entries() <= 2 * 12 + FEW);
            }
        }
    }
}
