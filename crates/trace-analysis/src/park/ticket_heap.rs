//! Waiting threads in some state, by a key.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Keys of which the least are asked for. They come and go with the state of what they stand for,
/// which is asked when they are met: so nothing is searched when one goes.
#[derive(Debug)]
pub(super) struct TicketHeap<K> {
    /// Also some that are gone, or that came twice.
    entries: BinaryHeap<Reverse<K>>,
    len: usize,
}

/// So many entries may be of keys that are gone in any case.
const FEW: usize = 16;

impl<K: Ord> Default for TicketHeap<K> {
    fn default() -> Self {
        Self {
            entries: BinaryHeap::new(),
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
    pub(super) fn insert(&mut self, key: K, is_in: impl Fn(K) -> bool) {
        if self.entries.len() >= self.len * 2 + FEW {
            let mut entries = std::mem::take(&mut self.entries).into_vec();
            entries.retain(|&Reverse(key)| is_in(key));
            entries.sort_unstable();
            entries.dedup();
            entries.shrink_to(self.len * 2 + FEW);
            self.entries = entries.into();
        }
        self.entries.push(Reverse(key));
        self.len += 1;
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
        while let Some(&Reverse(first)) = self.entries.peek() {
            if is_in(first) {
                return Some(first);
            }
            self.entries.pop();
        }
        None
    }

    /// Those less than `bound`, which are about to be removed.
    pub(super) fn take_before(&mut self, bound: K, is_in: impl Fn(K) -> bool, taken: &mut Vec<K>) {
        while let Some(&Reverse(first)) = self.entries.peek()
            && first < bound
        {
            self.entries.pop();
            if is_in(first) && taken.last() != Some(&first) {
                taken.push(first);
            }
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
                prop_assert!(heap.entries.len() <= 2 * 12 + FEW);
            }
        }
    }
}
