//! Values that are known by their position.

use std::hash::Hash;

use foldhash::fast::RandomState;
use indexmap::IndexSet;

/// Each value once, in the order of insertion.
#[derive(Debug)]
pub(crate) struct Table<T>(IndexSet<T, RandomState>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(IndexSet::default())
    }
}

impl<T: Hash + Eq> Table<T> {
    /// Returns the position of `value`, which is added if it is missing.
    pub(crate) fn position(&mut self, value: T) -> usize {
        self.0.insert_full(value).0
    }

    pub(crate) fn into_values(self) -> impl Iterator<Item = T> {
        self.0.into_iter()
    }
}
