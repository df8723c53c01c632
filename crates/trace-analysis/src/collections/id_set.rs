//! Sets of serial numbers.

use std::marker::PhantomData;

use crate::collections::hash::SeededMap;

/// A set of serial numbers: a bit for each, where many are near each other.
#[derive(Clone, Debug)]
pub(crate) struct IdSet<Id> {
    /// By the number of the page.
    pages: SeededMap<u64, u64>,
    len: u64,
    of: PhantomData<Id>,
}

impl<Id> Default for IdSet<Id> {
    fn default() -> Self {
        Self {
            pages: SeededMap::default(),
            len: 0,
            of: PhantomData,
        }
    }
}

impl<Id: Into<u64>> IdSet<Id> {
    const PAGE: u64 = u64::BITS as u64;

    /// Returns `false` if it was there.
    pub(crate) fn insert(&mut self, id: Id) -> bool {
        let id = id.into();
        let page = self.pages.entry(id / Self::PAGE).or_default();
        let bit = 1 << (id % Self::PAGE);
        let is_new = *page & bit == 0;
        *page |= bit;
        self.len += u64::from(is_new);
        is_new
    }

    pub(crate) fn contains(&self, id: Id) -> bool {
        let id = id.into();
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

    use trace_format::ChainId;

    use super::*;

    #[test]
    fn holds_what_was_inserted() {
        let inserted = [0, 1, 63, 64, 64, 1000, 1, u32::MAX].map(ChainId);
        let mut set = IdSet::default();
        let mut expected = BTreeSet::new();
        for id in inserted {
            assert_eq!(set.insert(id), expected.insert(id), "{id}");
        }
        assert_eq!(set.len(), expected.len() as u64);
        for id in (0..2000).chain([u32::MAX - 1, u32::MAX]).map(ChainId) {
            assert_eq!(set.contains(id), expected.contains(&id), "{id}");
        }
    }
}
