//! Sets of serial numbers.

use rustc_hash::FxHashMap;

/// A set of serial numbers: a bit for each, where many are near each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdSet {
    /// By the number of the page.
    pages: FxHashMap<u32, u64>,
    len: u64,
}

impl IdSet {
    const PAGE: u32 = u64::BITS;

    /// `false` if it was there.
    pub(crate) fn insert(&mut self, id: u32) -> bool {
        let page = self.pages.entry(id / Self::PAGE).or_default();
        let bit = 1 << (id % Self::PAGE);
        let is_new = *page & bit == 0;
        *page |= bit;
        self.len += u64::from(is_new);
        is_new
    }

    pub(crate) fn contains(&self, id: u32) -> bool {
        let page = self.pages.get(&(id / Self::PAGE));
        page.is_some_and(|page| page & 1 << (id % Self::PAGE) != 0)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn holds_what_was_inserted() {
        let inserted = [0, 1, 63, 64, 64, 1000, 1, u32::MAX];
        let mut set = IdSet::default();
        let mut expected = BTreeSet::new();
        for id in inserted {
            assert_eq!(set.insert(id), expected.insert(id), "{id}");
        }
        assert_eq!(set.len(), expected.len() as u64);
        for id in (0..2000).chain([u32::MAX - 1, u32::MAX]) {
            assert_eq!(set.contains(id), expected.contains(&id), "{id}");
        }
    }
}
