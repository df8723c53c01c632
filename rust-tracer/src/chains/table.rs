//! The hash table of a [`ChainSet`](crate::chains::set::ChainSet).
//!
//! Each bucket is a linked list. A lookup walks it without any synchronization;
//! an insertion replaces the head with one compare-and-set and looks again if
//! another thread was faster.
//!
//! One thread unlinks entries. Since others change nothing but heads, an entry
//! further inside is simply skipped over, and the head is replaced with a
//! compare-and-set. An unlinked entry keeps its link, so that a lookup that
//! stands there goes on to all entries that followed it.

use std::collections::TryReserveError;

use trace_format::ChainId;

use crate::chains::entry::{Added, Entry, Header, Link};
use crate::chains::key::ChainKey;
use crate::primitive::{AtomicPtr, AtomicU64, Ordering};

/// Number of buckets at first; a power of two. The model checker wants
/// collisions.
const MIN_BUCKETS: usize = if cfg!(loom) { 1 } else { 1 << 12 };
/// Beyond that, lists grow. As many of the smallest entries take 40 MiB.
const MAX_BUCKETS: usize = 1 << 20;
/// By how much the number of buckets grows at a time.
const GROWTH: usize = 4;

/// Known call chains and their identifiers.
#[derive(Debug)]
pub(crate) struct Table {
    /// Heads of lists of entries; their number is a power of two.
    buckets: Vec<AtomicPtr<Header>>,
    // Relaxed throughout: these guard no other memory.
    entries: AtomicU64,
    bytes: AtomicU64,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self::with_buckets(MIN_BUCKETS, Vec::new())
    }

    /// An empty table with as many buckets, or `None` when memory is short.
    pub(crate) fn emptied(&self) -> Option<Self> {
        Self::try_with_buckets(self.buckets.len())
    }

    /// A table with more buckets and a copy of each entry, or `None` when memory
    /// is short. Lacks what others add meanwhile.
    pub(crate) fn grown(&self) -> Option<Self> {
        let grown = Self::try_with_buckets(self.buckets.len().saturating_mul(GROWTH))?;
        for bucket in &self.buckets {
            let mut link = bucket.load(Ordering::Acquire);
            // SAFETY: loaded from a list of this table with acquire ordering.
            while let Some(entry) = unsafe { Entry::at(link) } {
                grown.add(entry.key(), entry.epoch(), u64::MAX, || entry.id())?;
                link = entry.next().load(Ordering::Acquire);
            }
        }
        Some(grown)
    }

    fn try_with_buckets(count: usize) -> Option<Self> {
        let mut memory = Vec::new();
        memory.try_reserve_exact(count).ok()?;
        Some(Self::with_buckets(count, memory))
    }

    fn with_buckets(count: usize, mut memory: Vec<AtomicPtr<Header>>) -> Self {
        memory.resize_with(count, AtomicPtr::default);
        Self {
            buckets: memory,
            entries: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Memory that the entries take, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Lists are longer than they need be.
    pub(crate) fn is_crowded(&self) -> bool {
        let buckets = self.buckets.len();
        buckets < MAX_BUCKETS && self.entries.load(Ordering::Relaxed) > buckets as u64
    }

    /// The identifier of a chain that was described in `epoch`.
    pub(crate) fn find(&self, key: ChainKey<'_>, epoch: u32) -> Option<ChainId> {
        // Acquire: the head is found as it was put there, and so are the older
        // entries after it.
        let head = self.bucket(key)?.load(Ordering::Acquire);
        // SAFETY: `head` was just loaded from a bucket.
        let entry = unsafe { self.find_before(head, None, key) }?;
        (entry.epoch() >= epoch).then_some(entry.id())
    }

    /// Finds a chain or inserts it with the identifier that `new_id` makes, and
    /// decides who describes it in `epoch`. `None` when memory is short or the
    /// entries would take more than `max_bytes`.
    pub(crate) fn add(
        &self,
        key: ChainKey<'_>,
        epoch: u32,
        max_bytes: u64,
        new_id: impl FnOnce() -> ChainId,
    ) -> Option<Added> {
        let bucket = self.bucket(key)?;
        let mut head = bucket.load(Ordering::Acquire);
        // SAFETY: `head` was just loaded from a bucket.
        if let Some(known) = unsafe { self.find_before(head, None, key) } {
            return Some(known.describe_in(epoch));
        }
        if self.bytes() > max_bytes {
            return None;
        }
        let mut entry = Entry::try_new(key, new_id(), epoch)?;
        // Counted first: once published, the entry may be unlinked at any time.
        self.count(&entry);
        loop {
            // Relaxed: published by the exchange.
            entry.next().store(head, Ordering::Relaxed);
            let id = entry.id();
            let new = entry.into_link();
            // Release: who finds the entry sees its content. Acquire on failure:
            // the entries in front of `head` are looked at next.
            let newer =
                match bucket.compare_exchange(head, new, Ordering::Release, Ordering::Acquire) {
                    Ok(_) => return Some(Added::Describe(id)),
                    Err(newer) => newer,
                };
            // SAFETY: `new` comes from the entry above and was not published.
            entry = unsafe { Entry::from_link(new) };
            // If `head` was unlinked, this looks through the whole list again.
            // SAFETY: the failed exchange loaded `newer` from the bucket.
            if let Some(known) = unsafe { self.find_before(newer, Some(head), key) } {
                self.discount(&entry);
                return Some(known.describe_in(epoch));
            }
            head = newer;
        }
    }

    /// Removes all entries that `is_unloaded`. When memory is short it stops, and
    /// returns why besides those that are removed.
    ///
    /// # Safety
    ///
    /// Only one thread does this, and drops the result after the end of all other
    /// uses of the table that have begun before the end of this one.
    pub(crate) unsafe fn unlink(
        &self,
        is_unloaded: impl FnMut(&Entry) -> bool,
    ) -> (Unlinked, Result<(), TryReserveError>) {
        let mut unlinked = Unlinked::default();
        // SAFETY: as the caller promises.
        let outcome = unsafe { self.unlink_into(&mut unlinked, is_unloaded) };
        unlinked.entries().for_each(|entry| self.discount(entry));
        (unlinked, outcome)
    }

    /// # Safety
    ///
    /// As for [`unlink`](Self::unlink).
    unsafe fn unlink_into(
        &self,
        unlinked: &mut Unlinked,
        mut is_unloaded: impl FnMut(&Entry) -> bool,
    ) -> Result<(), TryReserveError> {
        for bucket in &self.buckets {
            let mut place = bucket;
            loop {
                let link = place.load(Ordering::Acquire);
                // SAFETY: loaded from a list of this table with acquire ordering;
                // entries are freed by this thread only.
                let Some(entry) = (unsafe { Entry::at(link) }) else {
                    break;
                };
                if !is_unloaded(entry) {
                    place = entry.next();
                    continue;
                }
                unlinked.links.try_reserve(1)?;
                let next = entry.next().load(Ordering::Acquire);
                // Release: who comes to `next` from here sees it whole. Fails if
                // `place` is a head and no longer that: then the link to the entry
                // stands further inside, after the new ones.
                if place
                    .compare_exchange(link, next, Ordering::Release, Ordering::Relaxed)
                    .is_ok()
                {
                    unlinked.links.push(link);
                }
            }
        }
        Ok(())
    }

    fn count(&self, entry: &Entry) {
        self.entries.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(entry.size(), Ordering::Relaxed);
    }

    fn discount(&self, entry: &Entry) {
        self.entries.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(entry.size(), Ordering::Relaxed);
    }

    fn bucket(&self, key: ChainKey<'_>) -> Option<&AtomicPtr<Header>> {
        let mask = self.buckets.len().wrapping_sub(1);
        self.buckets.get(key.hash as usize & mask)
    }

    /// The entry for `key` in the list from `first` to before `end`.
    ///
    /// # Safety
    ///
    /// `first` was loaded with acquire ordering from a bucket of this table.
    unsafe fn find_before(
        &self,
        first: Link,
        end: Option<Link>,
        key: ChainKey<'_>,
    ) -> Option<&Entry> {
        let mut link = first;
        while Some(link) != end {
            // SAFETY: null or an entry of this table, found while this method
            // runs. It lives until then, even if it is unlinked meanwhile.
            let entry = unsafe { Entry::at(link) }?;
            if entry.has_key(key) {
                return Some(entry);
            }
            // Acquire: sees the next entry whole.
            link = entry.next().load(Ordering::Acquire);
        }
        None
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        for bucket in &self.buckets {
            let mut link = bucket.load(Ordering::Acquire);
            while !link.is_null() {
                // SAFETY: the list consists of entries that no other code reaches:
                // `&mut self` proves that no reader is left.
                let entry = unsafe { Entry::from_link(link) };
                link = entry.next().load(Ordering::Acquire);
            }
        }
    }
}

/// Entries that no lookup finds any more. Frees them when dropped.
#[derive(Debug, Default)]
pub(crate) struct Unlinked {
    /// None of them null.
    links: Vec<Link>,
}

// SAFETY: nothing in an entry belongs to a thread; it may be freed in any.
unsafe impl Send for Unlinked {}
// SAFETY: what can be changed in an entry is atomic.
unsafe impl Sync for Unlinked {}

impl Unlinked {
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        // SAFETY: the entries live until `self` is dropped.
        self.links
            .iter()
            .filter_map(|&link| unsafe { Entry::at(link) })
    }
}

impl Drop for Unlinked {
    fn drop(&mut self) {
        for &link in &self.links {
            // SAFETY: `Table::unlink` put it here, whose caller has promised that
            // no other code uses it any more.
            drop(unsafe { Entry::from_link(link) });
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_found_after_it_was_added() {
        let table = Table::new();
        let add = |key: &[u64], id| table.add(ChainKey::new(key), 1, u64::MAX, || id);
        assert_eq!(table.find(ChainKey::new(&[1, 2]), 1), None);
        assert_eq!(add(&[1, 2], ChainId(1)), Some(Added::Describe(ChainId(1))));
        assert_eq!(add(&[1, 2], ChainId(2)), Some(Added::Known(ChainId(1))));
        assert_eq!(table.find(ChainKey::new(&[1, 2]), 1), Some(ChainId(1)));
        for other in [&[1][..], &[2, 1], &[1, 2, 3], &[]] {
            assert_eq!(table.find(ChainKey::new(other), 1), None);
        }
        assert_eq!(add(&[], ChainId(2)), Some(Added::Describe(ChainId(2))));
    }

    #[test]
    fn a_chain_is_described_once_in_each_epoch() {
        let table = Table::new();
        let add = |epoch| table.add(ChainKey::new(&[7]), epoch, u64::MAX, || ChainId(1));
        assert_eq!(add(1), Some(Added::Describe(ChainId(1))));
        assert_eq!(table.find(ChainKey::new(&[7]), 2), None);
        assert_eq!(add(2), Some(Added::Describe(ChainId(1))));
        assert_eq!(add(2), Some(Added::Known(ChainId(1))));
        // By a thread that has not seen the new epoch.
        assert_eq!(table.find(ChainKey::new(&[7]), 1), Some(ChainId(1)));
        assert_eq!(add(1), Some(Added::Known(ChainId(1))));
    }

    #[test]
    fn an_overfull_table_takes_no_more() {
        let table = Table::new();
        let added = (0..100)
            .take_while(|&key| {
                table
                    .add(ChainKey::new(&[key]), 1, 2000, || ChainId(1))
                    .is_some()
            })
            .count();
        assert!((10..100).contains(&added), "{added}");
        assert!((2000..2200).contains(&table.bytes()));
        assert_eq!(
            table.add(ChainKey::new(&[0]), 1, 2000, || ChainId(2)),
            Some(Added::Known(ChainId(1)))
        );
    }

    /// Of lists of all lengths, entries at every place are removed.
    #[test]
    fn unlinked_entries_are_not_found() {
        let table = Table::new();
        let keys = 0..50_000_u64;
        for key in keys.clone() {
            table.add(ChainKey::new(&[key]), 1, u64::MAX, || ChainId(key as u32));
        }
        let bytes = table.bytes();
        // SAFETY: only this thread uses the table.
        let (unlinked, _) = unsafe { table.unlink(|entry| entry.id().0 % 3 == 0) };
        assert_eq!(unlinked.entries().count(), 16_667);
        assert!(unlinked.entries().all(|entry| entry.id().0 % 3 == 0));
        let entry_bytes = bytes / 50_000;
        assert_eq!(table.bytes(), bytes - 16_667 * entry_bytes);
        for key in keys {
            let expected = (key % 3 != 0).then_some(ChainId(key as u32));
            assert_eq!(table.find(ChainKey::new(&[key]), 1), expected);
        }
    }

    /// Lookups stay right, and lists short.
    #[test]
    fn a_crowded_table_grows() {
        let mut table = Table::new();
        assert!(!table.is_crowded());
        for key in 0..20_000 {
            let frames = [key, key];
            table.add(ChainKey::new(&frames), 5, u64::MAX, || ChainId(key as u32));
            if table.is_crowded() {
                table = table.grown().unwrap();
                assert!(!table.is_crowded());
            }
        }
        assert_eq!(table.buckets.len(), 1 << 16);
        for key in 0..20_000 {
            let frames = [key, key];
            assert_eq!(
                table.find(ChainKey::new(&frames), 5),
                Some(ChainId(key as u32))
            );
            assert_eq!(table.find(ChainKey::new(&frames), 6), None);
        }
        let empty = table.emptied().unwrap();
        assert_eq!((empty.buckets.len(), empty.bytes()), (1 << 16, 0));
    }
}
