//! The hash table of a [`ChainSet`](crate::chain_set::ChainSet).
//!
//! A fixed number of buckets, each a linked list that only grows, at its head.
//! A lookup walks the list without any synchronization; an insertion replaces
//! the head with one compare-and-set and looks again if another thread was
//! faster.

use std::ptr;

use trace_format::ChainId;

use crate::chain_key::ChainKey;
use crate::fallible::{try_box, try_to_vec};
use crate::primitive::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Number of buckets; a power of two. The model checker wants collisions.
const BUCKETS: usize = if cfg!(loom) { 1 } else { 1 << 16 };

/// What [`Table::add`] found or did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// The chain has this identifier, and the caller must describe it.
    Describe(ChainId),
    /// The chain has this identifier, and somebody describes it.
    Known(ChainId),
}

/// Known call chains and their identifiers.
#[derive(Debug)]
pub(crate) struct Table {
    /// Heads of lists of entries, each from `Box::into_raw`.
    buckets: Vec<AtomicPtr<Entry>>,
    /// Memory that the entries take.
    bytes: AtomicU64,
}

impl Table {
    pub(crate) fn new() -> Self {
        let buckets = (0..BUCKETS).map(|_| AtomicPtr::default()).collect();
        Self {
            buckets,
            bytes: AtomicU64::new(0),
        }
    }

    /// Memory that the entries take, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        // Relaxed: guards no other memory.
        self.bytes.load(Ordering::Relaxed)
    }

    /// The identifier of a chain that was described in `epoch`.
    pub(crate) fn find(&self, key: ChainKey<'_>, epoch: u32) -> Option<ChainId> {
        let head = self.bucket(key)?.load(Ordering::Acquire);
        // SAFETY: `head` was just loaded from a bucket.
        let entry = unsafe { self.find_between(head, ptr::null(), key) }?;
        (entry.epoch.load(Ordering::Relaxed) >= epoch).then_some(entry.id)
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
        if let Some(known) = unsafe { self.find_between(head, ptr::null(), key) } {
            return Some(known.describe_in(epoch));
        }
        if self.bytes() > max_bytes {
            return None;
        }
        let mut entry = Entry::try_new(key, new_id(), epoch)?;
        loop {
            entry.next = head;
            let (id, size) = (entry.id, entry.size());
            let new = Box::into_raw(entry);
            // Release: who finds the entry sees its content. Acquire on failure:
            // the entries in front of `head` are looked at next.
            let newer =
                match bucket.compare_exchange(head, new, Ordering::Release, Ordering::Acquire) {
                    Ok(_) => {
                        self.bytes.fetch_add(size, Ordering::Relaxed);
                        return Some(Added::Describe(id));
                    }
                    Err(newer) => newer,
                };
            // SAFETY: `new` comes from the box above and was not published.
            entry = unsafe { Box::from_raw(new) };
            // SAFETY: the failed exchange loaded `newer` from the bucket.
            if let Some(known) = unsafe { self.find_between(newer, head, key) } {
                return Some(known.describe_in(epoch));
            }
            head = newer;
        }
    }

    fn bucket(&self, key: ChainKey<'_>) -> Option<&AtomicPtr<Entry>> {
        self.buckets.get(key.hash as usize & (BUCKETS - 1))
    }

    /// The entry for `key` in the list from `first` to before `end`.
    ///
    /// # Safety
    ///
    /// `first` was loaded with acquire ordering from a bucket of this table.
    unsafe fn find_between(
        &self,
        first: *const Entry,
        end: *const Entry,
        key: ChainKey<'_>,
    ) -> Option<&Entry> {
        let mut next = first;
        while next != end {
            // SAFETY: null or an entry of this table, which lives as long as the
            // table and does not change once it can be found.
            let entry = unsafe { next.as_ref() }?;
            if entry.hash == key.hash && entry.frames == key.frames {
                return Some(entry);
            }
            next = entry.next;
        }
        None
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        for bucket in &self.buckets {
            let mut next = bucket.load(Ordering::Acquire);
            while !next.is_null() {
                // SAFETY: the list consists of boxes that nobody else reaches:
                // `&mut self` proves that no reader is left.
                let entry = unsafe { Box::from_raw(next) };
                next = entry.next;
            }
        }
    }
}

/// Constant once published, but for the epoch.
#[derive(Debug)]
struct Entry {
    hash: u64,
    id: ChainId,
    /// The chain was described in this epoch, at the latest.
    epoch: AtomicU32,
    frames: Vec<u64>,
    next: *mut Entry,
}

impl Entry {
    fn try_new(key: ChainKey<'_>, id: ChainId, epoch: u32) -> Option<Box<Self>> {
        let frames = try_to_vec(key.frames)?;
        try_box(Self {
            hash: key.hash,
            id,
            epoch: AtomicU32::new(epoch),
            frames,
            next: ptr::null_mut(),
        })
    }

    fn size(&self) -> u64 {
        (size_of::<Self>().saturating_add(size_of_val(self.frames.as_slice()))) as u64
    }

    fn describe_in(&self, epoch: u32) -> Added {
        // Relaxed: decides only who describes the chain.
        let described = self.epoch.fetch_max(epoch, Ordering::Relaxed);
        if described < epoch {
            Added::Describe(self.id)
        } else {
            Added::Known(self.id)
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_found_after_it_was_added() {
        let table = Table::new();
        let add = |key: &[u64], id| table.add(ChainKey::of(key), 1, u64::MAX, || id);
        assert_eq!(table.find(ChainKey::of(&[1, 2]), 1), None);
        assert_eq!(add(&[1, 2], 1), Some(Added::Describe(1)));
        assert_eq!(add(&[1, 2], 2), Some(Added::Known(1)));
        assert_eq!(table.find(ChainKey::of(&[1, 2]), 1), Some(1));
        for other in [&[1][..], &[2, 1], &[1, 2, 3], &[]] {
            assert_eq!(table.find(ChainKey::of(other), 1), None);
        }
        assert_eq!(add(&[], 2), Some(Added::Describe(2)));
    }

    #[test]
    fn a_chain_is_described_once_in_each_epoch() {
        let table = Table::new();
        let add = |epoch| table.add(ChainKey::of(&[7]), epoch, u64::MAX, || 1);
        assert_eq!(add(1), Some(Added::Describe(1)));
        assert_eq!(table.find(ChainKey::of(&[7]), 2), None);
        assert_eq!(add(2), Some(Added::Describe(1)));
        assert_eq!(add(2), Some(Added::Known(1)));
        // By a thread that has not seen the new epoch.
        assert_eq!(table.find(ChainKey::of(&[7]), 1), Some(1));
        assert_eq!(add(1), Some(Added::Known(1)));
    }

    #[test]
    fn an_overfull_table_takes_no_more() {
        let table = Table::new();
        let added = (0..100)
            .take_while(|&key| table.add(ChainKey::of(&[key]), 1, 2000, || 1).is_some())
            .count();
        assert!((10..100).contains(&added), "{added}");
        assert!((2000..2200).contains(&table.bytes()));
        assert_eq!(
            table.add(ChainKey::of(&[0]), 1, 2000, || 2),
            Some(Added::Known(1))
        );
    }
}
