//! Waiting threads in some state, by a key.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Keys of which the least are asked for. They come and go with the state of what they stand for,
/// which is asked when they are met: so nothing is searched when one goes.
#[derive(Debug)]
pub(super) struct TicketHeap<K> {
    /// Those that were not less than the one in front of them when they came: nearly all. Also some
    /// that are gone, or that came twice.
    in_order: VecDeque<K>,
    /// The others, the least first.
    others: BinaryHeap<Reverse<K>>,
    len: usize,
}

/// So many entries may be of keys that are gone in any case.
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

    /// One more, which `is_in` finds in, as all others.
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

    /// How many there are, with those that are not in any more.
    fn entries(&self) -> usize {
        self.in_order.len() + self.others.len()
    }

    /// Forgets those that are not in any more, and puts all in order.
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

    /// `is_in` does not find one of them any more.
    pub(super) fn remove(&mut self) {
        self.len -= 1;
    }

    /// The least of them.
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

    /// Those less than `bound`, which are about to be removed.
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

    /// The least, perhaps not in any more.
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
