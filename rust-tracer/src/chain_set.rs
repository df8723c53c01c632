//! The set of known call chains (paper, section 3.4, "Call chains").
//!
//! A hash table with a fixed number of buckets, each a linked list. A lookup
//! walks the list without any synchronization but its reader's
//! [`Presence`]; an insertion replaces the list's head
//! with one compare-and-set and looks again if another thread was faster.
//!
//! A key is the sequence of *physical* frames, so that inlined methods need
//! only be resolved for a chain that is not known. Keys never become ambiguous,
//! so entries stay until the set is full; then the drainer exchanges the whole
//! table for an empty one, and chains get new identifiers as they come again.

use std::hash::Hasher;
use std::ptr;

use rustc_hash::FxHasher;
use trace_format::ChainId;

use crate::counters::Serial;
use crate::fallible::{try_box, try_to_vec};
use crate::grace::{GracePeriod, Presence, Present};
use crate::primitive::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Number of buckets; a power of two. The model checker wants collisions.
const BUCKETS: usize = if cfg!(loom) { 1 } else { 1 << 16 };

/// Known call chains and their identifiers.
#[derive(Debug)]
pub(crate) struct ChainSet {
    /// From `Box::into_raw`.
    table: AtomicPtr<Table>,
    max_bytes: u64,
    ids: Serial,
    resets: Serial,
}

/// What [`ChainSet::add`] found or did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// The chain has this identifier, and the caller must describe it.
    Describe(ChainId),
    /// The chain has this identifier, and somebody describes it.
    Known(ChainId),
}

/// A table that was replaced, until its readers have left.
#[derive(Debug)]
pub(crate) struct RetiredTable<'a> {
    /// From `Box::into_raw`, and no longer in a set.
    table: *mut Table,
    readers: GracePeriod<'a>,
}

impl RetiredTable<'_> {
    /// Frees the table, unless somebody still reads it.
    pub(crate) fn try_free(mut self) -> Result<(), Self> {
        if !self.readers.is_over() {
            return Err(self);
        }
        // SAFETY: the table was taken out of the set before the grace period
        // began, so no reader holds it any more.
        drop(unsafe { Box::from_raw(self.table) });
        Ok(())
    }
}

impl ChainSet {
    /// An empty set whose entries take about `max_bytes`.
    pub(crate) fn new(max_bytes: u64) -> Self {
        Self {
            table: AtomicPtr::new(Box::into_raw(Box::new(Table::new()))),
            max_bytes,
            ids: Serial::default(),
            resets: Serial::default(),
        }
    }

    /// The identifier of a chain that was described in `epoch`.
    pub(crate) fn find(&self, reader: &Present<'_>, key: &[u64], epoch: u32) -> Option<ChainId> {
        let hash = hash(key);
        let table = self.table(reader);
        let head = table.bucket(hash)?.load(Ordering::Acquire);
        // SAFETY: `head` was just loaded from a bucket.
        let entry = unsafe { table.find(head, ptr::null(), hash, key) }?;
        (entry.epoch.load(Ordering::Relaxed) >= epoch).then_some(entry.id)
    }

    /// Finds or inserts a chain and decides who describes it in `epoch`. `None`
    /// when memory is short or the set is overfull.
    pub(crate) fn add(&self, reader: &Present<'_>, key: &[u64], epoch: u32) -> Option<Added> {
        let hash = hash(key);
        let table = self.table(reader);
        let bucket = table.bucket(hash)?;
        let mut head = bucket.load(Ordering::Acquire);
        // SAFETY: `head` was just loaded from a bucket.
        if let Some(known) = unsafe { table.find(head, ptr::null(), hash, key) } {
            return Some(known.describe_in(epoch));
        }
        // Only when the drainer does not come to exchange the table.
        if table.bytes.load(Ordering::Relaxed) > self.max_bytes.saturating_mul(2) {
            return None;
        }
        let mut entry = Entry::try_new(hash, key, self.ids.next_u32(), epoch)?;
        loop {
            entry.next = head;
            let (id, size) = (entry.id, entry.size());
            let new = Box::into_raw(entry);
            // Release: who finds the entry sees its content. Acquire on failure:
            // the entries in front of `head` are looked at next.
            let newer =
                match bucket.compare_exchange(head, new, Ordering::Release, Ordering::Acquire) {
                    Ok(_) => {
                        table.bytes.fetch_add(size, Ordering::Relaxed);
                        return Some(Added::Describe(id));
                    }
                    Err(newer) => newer,
                };
            // SAFETY: `new` comes from the box above and was not published.
            entry = unsafe { Box::from_raw(new) };
            // SAFETY: the failed exchange loaded `newer` from the bucket.
            if let Some(known) = unsafe { table.find(newer, head, hash, key) } {
                return Some(known.describe_in(epoch));
            }
            head = newer;
        }
    }

    /// Replaces the table by an empty one if it is full.
    ///
    /// # Safety
    ///
    /// Every [`Present`] that is ever passed to this set belongs to one of
    /// `readers`. No two threads call this at once.
    pub(crate) unsafe fn exchange_if_full<'a>(
        &self,
        readers: impl Iterator<Item = &'a Presence>,
    ) -> Option<RetiredTable<'a>> {
        // SAFETY: only this function replaces the table, and nobody else calls
        // it meanwhile.
        let bytes = unsafe { &(*self.table.load(Ordering::Acquire)).bytes };
        if bytes.load(Ordering::Relaxed) <= self.max_bytes {
            return None;
        }
        let empty = Box::into_raw(Box::new(Table::new()));
        // Release: readers see the table initialized. Acquire: who frees the old
        // one sees it initialized, too.
        let table = self.table.swap(empty, Ordering::AcqRel);
        self.resets.next();
        Some(RetiredTable {
            table,
            readers: GracePeriod::begin(readers),
        })
    }

    /// How many identifiers were given out.
    pub(crate) fn chains(&self) -> u64 {
        self.ids.count()
    }

    /// How often the set was full.
    pub(crate) fn resets(&self) -> u64 {
        self.resets.count()
    }

    fn table<'a>(&'a self, _reader: &'a Present<'_>) -> &'a Table {
        // SAFETY: the table comes from a box. It is freed with the set or, once
        // it was replaced, at the end of a grace period that awaits the reader.
        unsafe { &*self.table.load(Ordering::Acquire) }
    }
}

impl Drop for ChainSet {
    fn drop(&mut self) {
        // SAFETY: from `Box::into_raw`; `&mut self` proves that nobody reads it.
        drop(unsafe { Box::from_raw(self.table.load(Ordering::Acquire)) });
    }
}

#[derive(Debug)]
struct Table {
    /// Heads of lists of entries, each from `Box::into_raw`.
    buckets: Vec<AtomicPtr<Entry>>,
    /// Memory that the entries take.
    bytes: AtomicU64,
}

impl Table {
    fn new() -> Self {
        let buckets = (0..BUCKETS).map(|_| AtomicPtr::default()).collect();
        Self {
            buckets,
            bytes: AtomicU64::new(0),
        }
    }

    fn bucket(&self, hash: u64) -> Option<&AtomicPtr<Entry>> {
        self.buckets.get(hash as usize & (BUCKETS - 1))
    }

    /// The entry for `key` in the list from `first` to before `end`.
    ///
    /// # Safety
    ///
    /// `first` was loaded with acquire ordering from a bucket of this table.
    unsafe fn find(
        &self,
        first: *const Entry,
        end: *const Entry,
        hash: u64,
        key: &[u64],
    ) -> Option<&Entry> {
        let mut next = first;
        while next != end {
            // SAFETY: null or an entry of this table, which lives as long as the
            // table and does not change once it can be found.
            let entry = unsafe { next.as_ref() }?;
            if entry.hash == hash && entry.key == key {
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
    key: Vec<u64>,
    next: *mut Entry,
}

impl Entry {
    fn try_new(hash: u64, key: &[u64], id: ChainId, epoch: u32) -> Option<Box<Self>> {
        let key = try_to_vec(key)?;
        try_box(Self {
            hash,
            id,
            epoch: AtomicU32::new(epoch),
            key,
            next: ptr::null_mut(),
        })
    }

    fn size(&self) -> u64 {
        (size_of::<Self>().saturating_add(size_of_val(self.key.as_slice()))) as u64
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

fn hash(key: &[u64]) -> u64 {
    let mut hasher = FxHasher::default();
    for &frame in key {
        hasher.write_u64(frame);
    }
    hasher.finish()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::HashMap;
    use std::thread;

    use super::*;

    #[test]
    fn a_chain_is_found_after_it_was_added() {
        let set = ChainSet::new(1 << 20);
        let reader = Presence::default();
        let reader = reader.enter();
        assert_eq!(set.find(&reader, &[1, 2], 1), None);
        assert_eq!(set.add(&reader, &[1, 2], 1), Some(Added::Describe(1)));
        assert_eq!(set.add(&reader, &[1, 2], 1), Some(Added::Known(1)));
        assert_eq!(set.find(&reader, &[1, 2], 1), Some(1));
        for other in [&[1][..], &[2, 1], &[1, 2, 3], &[]] {
            assert_eq!(set.find(&reader, other, 1), None);
        }
        assert_eq!(set.add(&reader, &[], 1), Some(Added::Describe(2)));
    }

    #[test]
    fn a_chain_is_described_once_in_each_epoch() {
        let set = ChainSet::new(1 << 20);
        let reader = Presence::default();
        let reader = reader.enter();
        assert_eq!(set.add(&reader, &[7], 1), Some(Added::Describe(1)));
        assert_eq!(set.find(&reader, &[7], 2), None);
        assert_eq!(set.add(&reader, &[7], 2), Some(Added::Describe(1)));
        assert_eq!(set.add(&reader, &[7], 2), Some(Added::Known(1)));
        // By a thread that has not seen the new epoch.
        assert_eq!(set.find(&reader, &[7], 1), Some(1));
        assert_eq!(set.add(&reader, &[7], 1), Some(Added::Known(1)));
    }

    #[test]
    fn a_full_table_is_exchanged_and_freed_when_unused() {
        let set = ChainSet::new(1000);
        let presence = Presence::default();
        let exchange = || {
            // SAFETY: there is one reader and one thread.
            unsafe { set.exchange_if_full([&presence].into_iter()) }
        };
        let reader = presence.enter();
        assert!(exchange().is_none());
        let mut added = 0;
        while set.add(&reader, &[added], 1).is_some() {
            added += 1;
        }
        assert!(
            (10..100).contains(&added),
            "the bound is twice the usual size: {added}"
        );

        let retired = exchange().unwrap();
        let retired = retired.try_free().unwrap_err();
        drop(reader);
        retired.try_free().unwrap();

        let reader = presence.enter();
        assert_eq!(set.find(&reader, &[0], 1), None);
        let fresh_id = set.chains() as ChainId + 1;
        assert_eq!(set.add(&reader, &[0], 1), Some(Added::Describe(fresh_id)));
        assert_eq!(set.resets(), 1);
    }

    /// Many threads add the same chains while the table is exchanged again and
    /// again: between two exchanges each chain has one identifier, described by
    /// one thread; no identifier has two meanings.
    #[test]
    fn threads_agree_on_the_chains() {
        const THREADS: usize = 4;
        const ROUNDS: u64 = 20_000;
        let set = ChainSet::new(64 << 10);
        let readers: Vec<_> = (0..THREADS).map(|_| Presence::default()).collect();
        let described: Vec<Vec<(ChainId, u64)>> = thread::scope(|scope| {
            let workers: Vec<_> = readers
                .iter()
                .enumerate()
                .map(|(number, presence)| {
                    let set = &set;
                    scope.spawn(move || {
                        let mut described = Vec::new();
                        for round in 0..ROUNDS {
                            let key = (round + number as u64 * 3) % 1500;
                            let reader = presence.enter();
                            if let Some(Added::Describe(id)) = set.add(&reader, &[key; 9], 1) {
                                described.push((id, key));
                            }
                        }
                        described
                    })
                })
                .collect();
            let mut retired = Vec::new();
            while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
                // SAFETY: these are all readers, and this is the only thread
                // that exchanges.
                retired.extend(unsafe { set.exchange_if_full(readers.iter()) });
                retired = retired
                    .into_iter()
                    .filter_map(|table| table.try_free().err())
                    .collect();
            }
            for table in retired {
                table.try_free().unwrap();
            }
            workers
                .into_iter()
                .map(|worker| worker.join().unwrap())
                .collect()
        });

        assert!(set.resets() > 0);
        let mut meanings = HashMap::new();
        let mut descriptions = HashMap::new();
        for (id, key) in described.into_iter().flatten() {
            assert_eq!(meanings.insert(id, key), None, "chain {id} described twice");
            *descriptions.entry(key).or_insert(0) += 1;
        }
        // Once in each table, at most.
        assert!(
            descriptions
                .values()
                .all(|&times| times <= set.resets() + 1)
        );
    }
}
