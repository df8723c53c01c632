//! The set of known call chains (paper, section 3.4, "Call chains").
//!
//! A key is the sequence of *physical* frames, so that inlined methods need
//! only be resolved for a chain that is not known. Keys never become ambiguous:
//! chains of code that is gone are removed only to save memory. A table whose
//! lists get long is exchanged for a larger copy; the few chains that are added
//! while it is copied get new identifiers when they come again. When the set is
//! full for other reasons, its table is exchanged for an empty one, and all
//! chains do.
//!
//! Removed parts live until no thread reads them ([`GracePeriod`]). The drainer waits for
//! that, and alone frees memory. It removes nothing else before, so that a thread that is
//! stopped while it reads costs one table, not one after the other.

use std::collections::TryReserveError;
use std::mem;

use trace_format::ChainId;

use crate::chains::entry::{Added, Entry};
use crate::chains::grace_period::GracePeriod;
use crate::chains::key::{ChainKey, SITE};
use crate::chains::table::{Table, Unlinked};
use crate::chains::unloaded_code::UnloadedCode;
use crate::counters::Serial;
use crate::fallible::{try_box, try_collect};
use crate::primitive::{AtomicPtr, AtomicU64, Ordering};
use crate::threads::thread_slots::{OwnedThreadSlot, ThreadSlots};

/// Known call chains and their identifiers.
#[derive(Debug)]
pub(crate) struct ChainSet {
    /// Only their owners may read the table.
    slots: &'static ThreadSlots,
    /// Never null; from `Box::into_raw`. Only the keeper replaces it.
    table: AtomicPtr<Table>,
    max_bytes: u64,
    ids: Serial,
    resets: Serial,
    purged: AtomicU64,
}

impl ChainSet {
    /// Returns an empty set whose entries take about `max_bytes`, for the owners of `slots`.
    pub(crate) fn new(slots: &'static ThreadSlots, max_bytes: u64) -> Self {
        Self {
            slots,
            table: AtomicPtr::new(Box::into_raw(Box::new(Table::new()))),
            max_bytes,
            ids: Serial::default(),
            resets: Serial::default(),
            purged: AtomicU64::new(0),
        }
    }

    /// Returns the identifier of a chain that was described in `epoch`.
    pub(crate) fn find(
        &self,
        slot: &mut OwnedThreadSlot,
        key: ChainKey<'_>,
        epoch: u32,
    ) -> Option<ChainId> {
        self.read(slot, |table| table.find(key, epoch))
    }

    /// Finds or inserts a chain and decides who describes it in `epoch`. `None`
    /// when memory is short, or the set is overfull because the drainer is late to
    /// exchange the table.
    pub(crate) fn add(
        &self,
        slot: &mut OwnedThreadSlot,
        key: ChainKey<'_>,
        epoch: u32,
    ) -> Option<Added> {
        let max_bytes = self.max_bytes.saturating_mul(2);
        self.read(slot, |table| {
            table.add(key, epoch, max_bytes, || ChainId(self.ids.next_u32()))
        })
    }

    /// Returns how many identifiers were given out.
    pub(crate) fn chains(&self) -> u64 {
        self.ids.count()
    }

    /// Returns how often the set was full and emptied.
    pub(crate) fn resets(&self) -> u64 {
        self.resets.count()
    }

    /// Returns how many chains were removed because their code is gone.
    pub(crate) fn purged(&self) -> u64 {
        self.purged.load(Ordering::Relaxed)
    }

    /// Runs `read`. Nothing that it sees of the table is freed before its end.
    fn read<R>(
        &self,
        slot: &mut OwnedThreadSlot,
        read: impl FnOnce(&Table) -> Option<R>,
    ) -> Option<R> {
        if !slot.is_one_of(self.slots) {
            return None;
        }
        let _reading = slot.read();
        // Acquire: sees the table initialized.
        let table = self.table.load(Ordering::Acquire);
        // SAFETY: never null. Parts that the keeper removes live until a grace period of
        // `slots` is over, hence as long as `_reading`.
        read(unsafe { &*table })
    }
}

impl Drop for ChainSet {
    fn drop(&mut self) {
        // SAFETY: never null, from a box, and `&mut self` proves that it is not read.
        drop(unsafe { Box::from_raw(self.table.load(Ordering::Acquire)) });
    }
}

/// Removes chains from a [`ChainSet`]. Only the drainer has one.
#[derive(Debug)]
pub(crate) struct ChainKeeper<'a> {
    set: &'a ChainSet,
    /// The last removal, as long as a thread may read its parts.
    removed: Option<Removed>,
}

/// Parts that lookups no longer find, but some may have found. Frees them when dropped,
/// or leaks them if they are still read: that is for the end of the trace.
#[derive(Debug)]
struct Removed {
    content: Option<Content>,
    period: GracePeriod,
}

#[derive(Debug)]
#[expect(dead_code, reason = "kept to be dropped")]
enum Content {
    Table(OldTable),
    Entries(Unlinked),
}

/// A table that the set no longer has. Not a box, which would have to be unique: others may
/// still read the table.
#[derive(Debug)]
struct OldTable(*mut Table);

impl Drop for OldTable {
    fn drop(&mut self) {
        // SAFETY: from a box, and no thread reads the table, or `Removed` would
        // have leaked it.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl Drop for Removed {
    fn drop(&mut self) {
        if !self.period.is_over() {
            mem::forget(self.content.take());
        }
    }
}

impl<'a> ChainKeeper<'a> {
    pub(crate) fn new(set: &'a ChainSet) -> Self {
        Self { set, removed: None }
    }

    /// To be called repeatedly: frees the last removal once it is no longer read,
    /// then replaces the table if it is full or crowded.
    pub(crate) fn step(&mut self) {
        self.removed.take_if(|removed| removed.period.is_over());
        if !self.is_ready() {
            return;
        }
        let table = self.table();
        if table.bytes() > self.set.max_bytes {
            self.empty();
        } else if table.is_crowded()
            && let Some(grown) = table.grown().and_then(try_box)
        {
            self.exchange(grown);
        }
    }

    /// Returns whether nothing that was removed is still being read. To remove more only then
    /// bounds the memory.
    pub(crate) fn is_ready(&self) -> bool {
        self.removed.is_none()
    }

    /// Forgets all chains. Returns false when memory is short.
    pub(crate) fn empty(&mut self) -> bool {
        let emptied = self.table().emptied().and_then(try_box);
        let Some(table) = emptied else { return false };
        self.exchange(table);
        self.set.resets.next();
        true
    }

    /// Forgets the chains with frames of unloaded code and returns their identifiers.
    ///
    /// # Errors
    ///
    /// Memory is short. Some of the chains are forgotten.
    pub(crate) fn purge(
        &mut self,
        unloaded: &UnloadedCode,
    ) -> Result<Vec<ChainId>, TryReserveError> {
        let is_unloaded = |entry: &Entry| {
            let frames = entry.frames();
            frames.first() != Some(&SITE) && frames.iter().any(|&frame| unloaded.contains(frame))
        };
        // SAFETY: this is the only keeper, and it keeps the entries until all current readings
        // are over.
        let (unlinked, outcome) = unsafe { self.table().unlink(is_unloaded) };
        let ids = try_collect(unlinked.entries().map(Entry::id));
        self.keep(Content::Entries(unlinked));
        outcome?;
        let ids = ids?;
        let purged = &self.set.purged;
        purged.fetch_add(ids.len() as u64, Ordering::Relaxed);
        Ok(ids)
    }

    fn exchange(&mut self, table: Box<Table>) {
        // Release: readers see the table initialized. Acquire: the thread that frees the old
        // one sees all of it.
        let old = self.set.table.swap(Box::into_raw(table), Ordering::AcqRel);
        self.keep(Content::Table(OldTable(old)));
    }

    fn keep(&mut self, content: Content) {
        self.removed = Some(Removed {
            content: Some(content),
            period: GracePeriod::start(self.set.slots),
        });
    }

    fn table(&self) -> &Table {
        // SAFETY: never null. Only the keeper replaces and frees tables, and it is
        // borrowed.
        unsafe { &*self.set.table.load(Ordering::Acquire) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::HashMap;
    use std::sync::mpsc;
    use std::{iter, thread};

    use super::*;
    use crate::chains::key::CodeUnit;

    fn new_set(max_bytes: u64) -> ChainSet {
        ChainSet::new(Box::leak(Box::default()), max_bytes)
    }

    /// A thread's access to the set.
    struct Access<'a> {
        set: &'a ChainSet,
        slot: OwnedThreadSlot,
    }

    impl Access<'_> {
        fn find(&mut self, key: &[u64]) -> Option<ChainId> {
            self.set.find(&mut self.slot, ChainKey::new(key), 1)
        }

        fn add(&mut self, key: &[u64]) -> Option<Added> {
            self.set.add(&mut self.slot, ChainKey::new(key), 1)
        }

        /// Fills the set until it takes no more.
        fn fill(&mut self) {
            let mut key = 0;
            while self.add(&[key]).is_some() {
                key += 1;
            }
        }
    }

    impl ChainSet {
        fn access(&self) -> Access<'_> {
            Access {
                set: self,
                slot: self.slots.take().unwrap(),
            }
        }

        fn bytes(&self) -> u64 {
            let mut slot = self.slots.take().unwrap();
            self.read(&mut slot, |table| Some(table.bytes())).unwrap()
        }

        fn is_crowded(&self) -> bool {
            let mut slot = self.slots.take().unwrap();
            self.read(&mut slot, |table| Some(table.is_crowded()))
                .unwrap()
        }
    }

    #[test]
    fn a_full_table_is_exchanged_and_freed_when_unused() {
        let set = new_set(1000);
        let mut keeper = ChainKeeper::new(&set);
        let mut access = set.access();
        access.add(&[0]);
        keeper.step();
        assert_eq!((access.find(&[0]), set.resets()), (Some(ChainId(1)), 0));

        access.fill();
        let mut reader = set.access();
        let reading = reader.slot.read();
        keeper.step();
        assert_eq!(set.resets(), 1);
        assert_eq!(access.find(&[0]), None);
        let fresh_id = ChainId(set.chains() as u32 + 1);
        assert_eq!(access.add(&[0]), Some(Added::Describe(fresh_id)));

        // The reader may hold the old table, and a second one must wait.
        access.fill();
        (0..10).for_each(|_| keeper.step());
        assert_eq!((keeper.is_ready(), set.resets()), (false, 1));

        drop(reading);
        keeper.step();
        assert_eq!(set.resets(), 2);
        keeper.step();
        assert!(keeper.is_ready());
    }

    /// A thread that stands still while it reads costs as much memory as the set may
    /// take, and what was removed last.
    #[test]
    fn memory_is_bounded_while_a_reader_stalls() {
        const MAX_BYTES: u64 = 10_000;
        let set = new_set(MAX_BYTES);
        let mut keeper = ChainKeeper::new(&set);
        let mut reader = set.access();
        let _reading = reader.slot.read();
        let mut access = set.access();
        let refused = (0..100_000)
            .filter(|&key| {
                keeper.step();
                access.add(&[key]).is_none()
            })
            .count();
        assert_eq!(set.resets(), 1);
        assert!(refused > 90_000);
        assert!(set.bytes() <= 2 * MAX_BYTES + 100, "{}", set.bytes());
    }

    /// Whose slot is another set's cannot read this one.
    #[test]
    fn only_owners_of_its_slots_read_the_set() {
        let set = new_set(1000);
        let mut stranger = new_set(1000).slots.take().unwrap();
        assert_eq!(set.add(&mut stranger, ChainKey::new(&[1]), 1), None);
        assert_eq!(set.chains(), 0);
    }

    /// Many threads add the same chains while the table is exchanged again and
    /// again: between two exchanges each chain has one identifier, described by
    /// one thread; no identifier has two meanings.
    #[test]
    fn threads_agree_on_the_chains() {
        const THREADS: u64 = 4;
        const ROUNDS: u64 = 20_000;
        let set = new_set(64 << 10);
        let work = |number| {
            let mut access = set.access();
            let mut described = Vec::new();
            let mut round = 0;
            // At least until the keeper, which may not run for a while, did its part.
            while round < ROUNDS || set.resets() == 0 {
                let key = (round + number * 3) % 1500;
                if let Some(Added::Describe(id)) = access.add(&[key; 9]) {
                    described.push((id, key));
                }
                round += 1;
            }
            described
        };
        let described: Vec<Vec<(ChainId, u64)>> = thread::scope(|scope| {
            let workers: Vec<_> = (0..THREADS)
                .map(|number| scope.spawn(move || work(number)))
                .collect();
            let mut keeper = ChainKeeper::new(&set);
            while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
                keeper.step();
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

    /// A frame of a compiled method.
    fn compiled(compile_id: u64) -> u64 {
        1 << 63 | compile_id << 32 | 12
    }

    fn unloaded(compile_ids: impl Iterator<Item = u32>) -> UnloadedCode {
        UnloadedCode::new(compile_ids.filter_map(CodeUnit::compiled).collect()).unwrap()
    }

    #[test]
    fn chains_of_unloaded_code_are_forgotten() {
        let set = new_set(1 << 20);
        let mut keeper = ChainKeeper::new(&set);
        let mut access = set.access();
        let alive = [compiled(1), compiled(2)];
        let gone = [compiled(1), compiled(3), compiled(2)];
        access.add(&alive);
        let bytes = set.bytes();
        access.add(&gone);

        let mut reader = set.access();
        let reading = reader.slot.read();
        assert_eq!(
            keeper.purge(&unloaded([3, 4].into_iter())).unwrap(),
            [ChainId(2)]
        );
        assert_eq!((set.purged(), set.bytes()), (1, bytes));
        assert_eq!(access.find(&gone), None);
        assert_eq!(access.find(&alive), Some(ChainId(1)));
        assert_eq!(access.add(&gone), Some(Added::Describe(ChainId(3))));

        // A reader may still look at the first one.
        (0..10).for_each(|_| keeper.step());
        assert!(!keeper.is_ready());
        drop(reading);
        (0..10).for_each(|_| keeper.step());
        assert!(keeper.is_ready());
    }

    /// The trace may name them later.
    #[test]
    fn chains_that_allocated_objects_outlive_their_code() {
        let set = new_set(1 << 20);
        let mut keeper = ChainKeeper::new(&set);
        let mut access = set.access();
        access.add(&[SITE, compiled(1), compiled(3)]);
        access.add(&[compiled(1), compiled(3)]);
        assert_eq!(
            keeper.purge(&unloaded([3].into_iter())).unwrap(),
            [ChainId(2)]
        );
        assert_eq!(
            access.find(&[SITE, compiled(1), compiled(3)]),
            Some(ChainId(1))
        );
    }

    /// A crowded table is exchanged, and the chains stay.
    #[test]
    fn the_set_grows() {
        let set = new_set(u64::MAX);
        let mut keeper = ChainKeeper::new(&set);
        let mut access = set.access();
        let keys = 0..30_000;
        for key in keys.clone() {
            access.add(&[key]);
            if key % 64 == 0 {
                keeper.step();
            }
        }
        assert!(!set.is_crowded());
        for key in keys {
            let id = access.find(&[key]);
            assert_eq!(id, Some(ChainId(key as u32 + 1)));
        }
        assert_eq!(set.resets(), 0);
    }

    /// Threads use code, which dies, while the drainer forgets it: the set stays
    /// as small as what is alive, nothing of which is forgotten, and every chain
    /// that is forgotten was one of unloaded code.
    #[test]
    fn the_set_stays_small_while_code_comes_and_goes() {
        const THREADS: u64 = 4;
        const UNITS: u64 = 5_000;
        const ALIVE: u64 = 1000;
        /// Of each unit.
        const CHAINS: u64 = 3;
        /// Unloaded code that the drainer has not heard of yet.
        const WAITING: usize = 100;
        /// Chains of what waits in the channel, and of what the threads and the drainer
        /// hold.
        const DYING: u64 = (2 * WAITING as u64 + 2 * THREADS) * CHAINS;
        const ROOM: u64 = 2 * (ALIVE + DYING);
        let set = new_set(u64::MAX);
        let mut keeper = ChainKeeper::new(&set);
        let alive_key = |number: u64| [compiled(1), compiled(2 + number % ALIVE)];
        let mut access = set.access();
        // Makes room: what is added while a table grows is forgotten without a word.
        (1..=ROOM).for_each(|unit| _ = access.add(&[compiled(unit)]));
        while !keeper.is_ready() || set.is_crowded() {
            keeper.step();
        }
        keeper.purge(&unloaded(1..=ROOM as u32)).unwrap();
        (0..ALIVE).for_each(|number| _ = access.add(&alive_key(number)));
        let alive_bytes = set.bytes();

        let (sender, receiver) = mpsc::sync_channel(WAITING);
        let work = |number: u64, unloads: mpsc::SyncSender<u32>| {
            let mut access = set.access();
            let mut described = HashMap::new();
            for unit in (0..UNITS).map(|unit| 10_000 + unit * THREADS + number) {
                for place in 0..CHAINS {
                    let key = [compiled(1), compiled(unit), compiled(2 + place)];
                    let added = access.add(&key);
                    let Some(Added::Describe(id)) = added else {
                        panic!("{added:?}");
                    };
                    assert_eq!(access.find(&key), Some(id));
                    assert_eq!(described.insert(id, unit as u32), None);
                }
                let id = access.find(&alive_key(unit));
                assert_eq!(id, Some(ChainId((ROOM + unit % ALIVE) as u32 + 1)));
                unloads.send(unit as u32).unwrap();
            }
            described
        };
        let mut forgotten = Vec::new();
        let mut peak_bytes = 0;
        let described: Vec<HashMap<ChainId, u32>> = thread::scope(|scope| {
            let workers: Vec<_> = (0..THREADS)
                .map(|number| {
                    let (work, sender) = (&work, sender.clone());
                    scope.spawn(move || work(number, sender))
                })
                .collect();
            drop(sender);
            while let Ok(first) = receiver.recv() {
                peak_bytes = peak_bytes.max(set.bytes());
                let others = receiver.try_iter().take(WAITING);
                let units: Vec<u32> = iter::once(first).chain(others).collect();
                while !keeper.is_ready() {
                    keeper.step();
                }
                forgotten.extend(keeper.purge(&unloaded(units.into_iter())).unwrap());
            }
            workers
                .into_iter()
                .map(|worker| worker.join().unwrap())
                .collect()
        });

        // All that was described, each once.
        forgotten.sort_unstable();
        let mut described: Vec<ChainId> =
            described.into_iter().flatten().map(|(id, _)| id).collect();
        described.sort_unstable();
        assert!(forgotten == described);
        assert_eq!(set.bytes(), alive_bytes);
        let chain_bytes = alive_bytes / ALIVE + 8;
        assert!(
            peak_bytes <= alive_bytes + DYING * chain_bytes,
            "{peak_bytes}"
        );
    }
}
