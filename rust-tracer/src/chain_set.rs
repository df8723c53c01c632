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
//! What is removed lives until no thread reads it any more, which crossbeam-epoch
//! finds out. There, a reader may come to run what others have deferred. Here
//! that only drops a reference: the drainer holds another one, and frees the
//! memory itself.

use std::fmt::Debug;
use std::mem;
use std::sync::Arc;

use crossbeam_epoch::{Atomic, Collector, Guard, LocalHandle, Owned};
use trace_format::ChainId;

use crate::chain_entry::Entry;
use crate::chain_key::ChainKey;
use crate::chain_table::{Added, Table};
use crate::counters::Serial;
use crate::primitive::{AtomicU64, Ordering};
use crate::unloaded_code::UnloadedCode;

/// Known call chains and their identifiers.
#[derive(Debug)]
pub(crate) struct ChainSet {
    collector: Collector,
    /// Never null.
    table: Atomic<Arc<Table>>,
    max_bytes: u64,
    ids: Serial,
    resets: Serial,
    purged: AtomicU64,
}

impl ChainSet {
    /// An empty set whose entries take about `max_bytes`.
    pub(crate) fn new(max_bytes: u64) -> Self {
        Self {
            collector: Collector::new(),
            table: Atomic::new(Arc::new(Table::new())),
            max_bytes,
            ids: Serial::default(),
            resets: Serial::default(),
            purged: AtomicU64::new(0),
        }
    }

    /// A thread's access to the set. Allocates, and aborts when memory is short:
    /// about 2 KiB here and when the access is dropped.
    pub(crate) fn access(&self) -> ChainAccess<'_> {
        ChainAccess {
            set: self,
            handle: self.collector.register(),
        }
    }

    /// How many identifiers were given out.
    pub(crate) fn chains(&self) -> u64 {
        self.ids.count()
    }

    /// How often the set was full and emptied.
    pub(crate) fn resets(&self) -> u64 {
        self.resets.count()
    }

    /// How many chains were removed because their code is gone.
    pub(crate) fn purged(&self) -> u64 {
        self.purged.load(Ordering::Relaxed)
    }
}

impl Drop for ChainSet {
    fn drop(&mut self) {
        // SAFETY: never null, and `&mut self` proves that nobody reads it: each
        // access borrows the set.
        drop(unsafe { mem::take(&mut self.table).into_owned() });
    }
}

/// What one thread at a time reads and changes a [`ChainSet`] with. It knows
/// nothing of the thread, so another one may go on with it after a hand-over
/// that synchronizes the two.
#[derive(Debug)]
pub(crate) struct ChainAccess<'a> {
    set: &'a ChainSet,
    /// Of the set's own collector.
    handle: LocalHandle,
}

impl ChainAccess<'_> {
    /// The identifier of a chain that was described in `epoch`.
    pub(crate) fn find(&self, key: ChainKey<'_>, epoch: u32) -> Option<ChainId> {
        self.table(&self.handle.pin()).find(key, epoch)
    }

    /// Finds or inserts a chain and decides who describes it in `epoch`. `None`
    /// when memory is short or the set is overfull, because the drainer does not
    /// come to exchange the table.
    pub(crate) fn add(&self, key: ChainKey<'_>, epoch: u32) -> Option<Added> {
        let max_bytes = self.set.max_bytes.saturating_mul(2);
        self.table(&self.handle.pin())
            .add(key, epoch, max_bytes, || self.set.ids.next_u32())
    }

    fn table<'g>(&self, guard: &'g Guard) -> &'g Table {
        // SAFETY: never null. Acquire: sees the table initialized. It is
        // destroyed only after `guard`, which belongs to the set's collector:
        // this is private, and only called with a guard of `self.handle`.
        unsafe { self.set.table.load(Ordering::Acquire, guard).deref() }
    }
}

/// Removes from a [`ChainSet`] what is not to stay. There is one, the drainer's.
#[derive(Debug)]
pub(crate) struct ChainKeeper<'a> {
    access: ChainAccess<'a>,
    /// What was removed last, as long as a reader may hold it. If something else
    /// is removed meanwhile, whoever runs what is deferred frees this.
    removed: Option<Arc<dyn Debug + Send + Sync>>,
}

impl<'a> ChainKeeper<'a> {
    pub(crate) fn new(set: &'a ChainSet) -> Self {
        Self {
            access: set.access(),
            removed: None,
        }
    }

    /// To be called again and again: frees what was removed last once nobody
    /// reads it, then replaces the table if it is full or crowded.
    pub(crate) fn step(&mut self) {
        // Runs what was deferred, if all readers of then are gone, so that little
        // is left for the application's threads to run.
        let guard = self.access.handle.pin();
        guard.flush();
        // Frees what is removed if the reference here is the only one.
        self.removed
            .take_if(|removed| Arc::strong_count(removed) == 1);
        if !self.is_ready() {
            return;
        }
        let table = self.access.table(&guard);
        if table.bytes() > self.access.set.max_bytes {
            self.empty();
        } else if table.is_crowded()
            && let Some(grown) = table.grown()
        {
            self.exchange(grown);
        }
    }

    /// Nothing that was removed is still being read. It bounds the memory to
    /// remove something then only.
    pub(crate) fn is_ready(&self) -> bool {
        self.removed.is_none()
    }

    /// Forgets all chains. Returns false when memory is short.
    pub(crate) fn empty(&mut self) -> bool {
        let table = self.access.table(&self.access.handle.pin()).emptied();
        let Some(table) = table else { return false };
        self.exchange(table);
        self.access.set.resets.next();
        true
    }

    /// Forgets the chains with frames of unloaded code and returns their identifiers.
    pub(crate) fn purge(&mut self, unloaded: &UnloadedCode) -> Vec<ChainId> {
        let guard = self.access.handle.pin();
        let is_unloaded =
            |entry: &Entry| entry.frames().iter().any(|&frame| unloaded.contains(frame));
        // SAFETY: there is one keeper. Of the two references to the entries, one is
        // dropped by what is deferred, after the end of all guards of now.
        let unlinked = Arc::new(unsafe { self.access.table(&guard).unlink(is_unloaded) });
        let ids: Vec<_> = unlinked.entries().map(Entry::id).collect();
        let purged = &self.access.set.purged;
        purged.fetch_add(ids.len() as u64, Ordering::Relaxed);
        let readers_reference = Arc::clone(&unlinked);
        guard.defer(move || drop(readers_reference));
        self.removed = Some(unlinked);
        ids
    }

    fn exchange(&mut self, table: Table) {
        let guard = self.access.handle.pin();
        let table = Owned::new(Arc::new(table));
        // Release: readers see the table initialized. Acquire: so does who drops
        // the reference to the old one.
        let old = self.access.set.table.swap(table, Ordering::AcqRel, &guard);
        // SAFETY: never null, and not destroyed before the next line.
        self.removed = Some(Arc::<Table>::clone(unsafe { old.deref() }));
        // SAFETY: the set does not hold the reference any more, and this is the
        // only swap that returned it. Readers that still do are pinned.
        unsafe { guard.defer_destroy(old) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::HashMap;
    use std::sync::{Weak, mpsc};
    use std::{iter, thread};

    use super::*;
    use crate::chain_key::CodeUnit;

    /// Fills the set until it takes no more.
    fn fill(access: &ChainAccess<'_>) {
        let mut key = 0;
        while access.add(ChainKey::of(&[key]), 1).is_some() {
            key += 1;
        }
    }

    impl ChainSet {
        fn bytes(&self) -> u64 {
            self.access()
                .table(&self.collector.register().pin())
                .bytes()
        }
    }

    fn current(set: &ChainSet) -> Weak<Table> {
        let guard = set.collector.register().pin();
        // SAFETY: never null, and pinned.
        Arc::downgrade(unsafe { set.table.load(Ordering::Acquire, &guard).deref() })
    }

    #[test]
    fn a_full_table_is_exchanged_and_freed_when_unused() {
        let set = ChainSet::new(1000);
        let mut keeper = ChainKeeper::new(&set);
        let access = set.access();
        access.add(ChainKey::of(&[0]), 1);
        keeper.step();
        assert_eq!(
            (access.find(ChainKey::of(&[0]), 1), set.resets()),
            (Some(1), 0)
        );

        fill(&access);
        let old = current(&set);
        let reader = access.handle.pin();
        keeper.step();
        assert_eq!(set.resets(), 1);
        assert_eq!(access.find(ChainKey::of(&[0]), 1), None);
        let fresh_id = set.chains() as ChainId + 1;
        assert_eq!(
            access.add(ChainKey::of(&[0]), 1),
            Some(Added::Describe(fresh_id))
        );

        // The reader holds the old table, and a second one must wait.
        fill(&access);
        (0..10).for_each(|_| keeper.step());
        assert_eq!((old.strong_count() > 0, set.resets()), (true, 1));

        drop(reader);
        (0..10).for_each(|_| keeper.step());
        assert_eq!((old.strong_count(), set.resets()), (0, 2));
    }

    /// A reader that runs what the drainer has deferred does not free the table.
    #[test]
    fn only_the_drainer_frees_tables() {
        let set = ChainSet::new(1000);
        let mut keeper = ChainKeeper::new(&set);
        let access = set.access();
        fill(&access);
        let old = current(&set);
        keeper.step();
        keeper.step();
        (0..10).for_each(|_| access.handle.pin().flush());
        assert_eq!(old.strong_count(), 1);
        keeper.step();
        assert_eq!(old.strong_count(), 0);
    }

    /// Many threads add the same chains while the table is exchanged again and
    /// again: between two exchanges each chain has one identifier, described by
    /// one thread; no identifier has two meanings.
    #[test]
    fn threads_agree_on_the_chains() {
        const THREADS: u64 = 4;
        const ROUNDS: u64 = 20_000;
        let set = ChainSet::new(64 << 10);
        let work = |number| {
            let access = set.access();
            let mut described = Vec::new();
            let mut round = 0;
            // At least until the keeper, which may not run for a while, did its part.
            while round < ROUNDS || set.resets() == 0 {
                let key = (round + number * 3) % 1500;
                if let Some(Added::Describe(id)) = access.add(ChainKey::of(&[key; 9]), 1) {
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
        UnloadedCode::new(compile_ids.filter_map(CodeUnit::compiled).collect())
    }

    #[test]
    fn chains_of_unloaded_code_are_forgotten() {
        let set = ChainSet::new(1 << 20);
        let mut keeper = ChainKeeper::new(&set);
        let access = set.access();
        let alive = [compiled(1), compiled(2)];
        let gone = [compiled(1), compiled(3), compiled(2)];
        access.add(ChainKey::of(&alive), 1);
        let bytes = set.bytes();
        access.add(ChainKey::of(&gone), 1);

        let reader = access.handle.pin();
        assert_eq!(keeper.purge(&unloaded([3, 4].into_iter())), [2]);
        assert_eq!((set.purged(), set.bytes()), (1, bytes));
        assert_eq!(access.find(ChainKey::of(&gone), 1), None);
        assert_eq!(access.find(ChainKey::of(&alive), 1), Some(1));
        assert_eq!(access.add(ChainKey::of(&gone), 1), Some(Added::Describe(3)));

        // A reader may still look at the first one.
        (0..10).for_each(|_| keeper.step());
        assert!(!keeper.is_ready());
        drop(reader);
        (0..10).for_each(|_| keeper.step());
        assert!(keeper.is_ready());
    }

    /// A crowded table is exchanged, and the chains stay.
    #[test]
    fn the_set_grows() {
        let set = ChainSet::new(u64::MAX);
        let mut keeper = ChainKeeper::new(&set);
        let access = set.access();
        let keys = 0..30_000;
        for key in keys.clone() {
            access.add(ChainKey::of(&[key]), 1);
            if key % 64 == 0 {
                keeper.step();
            }
        }
        let table = current(&set);
        assert!(!table.upgrade().unwrap().is_crowded());
        for key in keys {
            let id = access.find(ChainKey::of(&[key]), 1);
            assert_eq!(id, Some(key as ChainId + 1));
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
        let set = ChainSet::new(u64::MAX);
        let mut keeper = ChainKeeper::new(&set);
        let alive_key = |number: u64| [compiled(1), compiled(2 + number % ALIVE)];
        let access = set.access();
        // Makes room: what is added while a table grows is forgotten without a word.
        (1..=ROOM).for_each(|unit| _ = access.add(ChainKey::of(&[compiled(unit)]), 1));
        while !keeper.is_ready() || current(&set).upgrade().unwrap().is_crowded() {
            keeper.step();
        }
        keeper.purge(&unloaded(1..=ROOM as u32));
        (0..ALIVE).for_each(|number| _ = access.add(ChainKey::of(&alive_key(number)), 1));
        let alive_bytes = set.bytes();

        let (sender, receiver) = mpsc::sync_channel(WAITING);
        let work = |number: u64, unloads: mpsc::SyncSender<u32>| {
            let access = set.access();
            let mut described = HashMap::new();
            for unit in (0..UNITS).map(|unit| 10_000 + unit * THREADS + number) {
                for place in 0..CHAINS {
                    let key = [compiled(1), compiled(unit), compiled(2 + place)];
                    let added = access.add(ChainKey::of(&key), 1);
                    let Some(Added::Describe(id)) = added else {
                        panic!("{added:?}");
                    };
                    assert_eq!(access.find(ChainKey::of(&key), 1), Some(id));
                    assert_eq!(described.insert(id, unit as u32), None);
                }
                let id = access.find(ChainKey::of(&alive_key(unit)), 1);
                assert_eq!(id, Some((ROOM + unit % ALIVE) as ChainId + 1));
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
                forgotten.extend(keeper.purge(&unloaded(units.into_iter())));
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
