//! The metadata resolver (paper, section 4.1): from the identifiers in a trace
//! to entities.
//!
//! A thread can turn out to be called otherwise only later: it is renamed then. A reference waits for the description
//! ([`UnresolvedEvents`](crate::resolve::unresolved_events::UnresolvedEvents)).

use trace_format::{
    Blocker, ChainId, ClassId, Event, JavaThreadId, LockOwner, LockSite, ThreadId, ThreadStart,
};

use crate::collections::hash::SeededMap;
use crate::collections::id_set::IdSet;
use crate::collections::shrink::shrink_map;
use crate::model::counter::{Counter, Counters};
use crate::model::entity::{ChainIndex, Entities, Lock, LockIndex, Thread, ThreadIndex};
use crate::model::entity_store::{EntityStore, InUse};
use crate::model::synchronizer::Synchronizer;
use crate::model::thread_life::{ThreadLife, ThreadLives};
use crate::resolve::code::{CodeMetadata, Ended};
use crate::resolve::seen_owner::SeenOwner;
use crate::resolve::unresolved_events::Missing;

/// Replaces the identifiers of one trace by entities.
///
/// An entity is made when something refers to it for the first time; what the
/// trace lacks becomes an entity that says so, and counts as unresolved.
#[derive(Debug)]
pub(crate) struct Resolver {
    code: CodeMetadata,
    threads: SeededMap<ThreadId, ThreadIndex>,
    /// The thread resolved last: events come by the buffer.
    last_thread: Option<(ThreadId, ThreadIndex)>,
    java_threads: SeededMap<JavaThreadId, JavaThread>,
    /// Last names of renamed threads by `Thread.getId()`.
    renamed: SeededMap<JavaThreadId, Box<str>>,
    /// How many threads of the trace have number and name of this one.
    namesakes: SeededMap<ThreadIndex, u32>,
    /// How many threads there were before the trace.
    threads_before: u32,
    /// The threads of the trace that have ended.
    ended: IdSet<ThreadId>,
    lives: ThreadLives,
    /// Those of them that were forgotten, by both of their numbers.
    forgotten: IdSet<ThreadId>,
    forgotten_java: IdSet<JavaThreadId>,
    blockers: RecentBlockers,
    /// Locks of which it comes later where they were allocated, and what that waits for.
    late_sites: SeededMap<Blocker, Missing>,
    counters: Counters,
}

/// A thread that others name.
#[derive(Clone, Copy, Debug)]
struct JavaThread {
    index: ThreadIndex,
    /// It has said itself who it is.
    is_described: bool,
}

/// Some of the blockers resolved: each in one of two places that its hash says, so that two that
/// would have one place do not take it from each other by turns.
#[derive(Debug)]
struct RecentBlockers(Box<[Option<(Blocker, LockIndex)>]>);

impl Default for RecentBlockers {
    fn default() -> Self {
        Self(vec![None; Self::LEN].into())
    }
}

impl RecentBlockers {
    const LEN: usize = 1024;

    fn places(blocker: Blocker) -> [usize; 2] {
        let hash = blocker.identity_hash as usize;
        [hash % Self::LEN, hash / Self::LEN % Self::LEN]
    }

    #[inline]
    fn find(&self, wanted: Blocker) -> Option<LockIndex> {
        let places = Self::places(wanted).into_iter();
        let mut found = places.filter_map(|place| self.0[place]);
        found
            .find(|&(known, _)| known == wanted)
            .map(|(_, lock)| lock)
    }

    fn insert(&mut self, blocker: Blocker, lock: LockIndex) {
        let [first, second] = Self::places(blocker);
        let place = match self.0[first] {
            Some(_) => second,
            None => first,
        };
        self.0[place] = Some((blocker, lock));
    }
}

impl Resolver {
    /// Creates one for a trace that follows those whose `entities` are known.
    pub(crate) fn new(entities: &Entities) -> Self {
        Self {
            code: CodeMetadata::default(),
            threads: SeededMap::default(),
            last_thread: None,
            java_threads: SeededMap::default(),
            renamed: SeededMap::default(),
            namesakes: SeededMap::default(),
            threads_before: entities.thread_count() as u32,
            ended: IdSet::default(),
            lives: ThreadLives::default(),
            forgotten: IdSet::default(),
            forgotten_java: IdSet::default(),
            blockers: RecentBlockers::default(),
            late_sites: SeededMap::default(),
            counters: Counters::default(),
        }
    }

    /// Adds how much could not be resolved.
    pub(crate) fn count_unresolved(&self, counters: &mut Counters) {
        counters.merge(&self.counters);
        counters.merge(self.code.counters());
    }

    /// Takes what `event`, written by `thread`, describes. Returns what that is, if events may
    /// have waited for it.
    pub(crate) fn describe(
        &mut self,
        thread: ThreadId,
        event: &Event<'_>,
        entities: &mut EntityStore,
    ) -> Option<Missing> {
        self.code.collect(event);
        Some(match event {
            Event::Class(class) => Missing::Class(class.class),
            Event::Method(method) => Missing::Method(method.method),
            Event::Chain(chain) => Missing::Chain(chain.chain),
            Event::ThreadStart(start) => {
                self.start_thread(thread, start, entities);
                if let Some(&index) = self.threads.get(&thread) {
                    self.lives.begin(index, start.time_ns);
                }
                Missing::Thread(thread)
            }
            Event::ThreadRename(rename) => {
                self.rename(rename.java_id, rename.name, entities);
                return None;
            }
            Event::ThreadEnd(end) => {
                self.ended.insert(thread);
                if let Some(&index) = self.threads.get(&thread) {
                    self.lives.end(index, end.time_ns);
                }
                return None;
            }
            _ => return None,
        })
    }

    /// What `event` ends.
    pub(crate) fn ended_by(&mut self, event: &Event<'_>) -> Option<Ended> {
        self.code.ended_by(event)
    }

    /// Forgets what has ended: no event that is still to be resolved refers to it.
    pub(crate) fn retire(&mut self, ended: Ended) {
        if let Ended::Classes(_) = ended {
            self.blockers = RecentBlockers::default();
        }
        self.code.retire(ended);
    }

    /// Adds the threads that may still write events.
    pub(crate) fn add_in_use(&self, in_use: &mut InUse) {
        let described = self.threads.iter();
        let goes_on = described.filter(|&(&thread, _)| !self.ended.contains(thread));
        in_use.threads.extend(goes_on.map(|(_, &index)| index));
        let named = self.java_threads.values().filter(|it| !it.is_described);
        in_use.threads.extend(named.map(|it| it.index));
    }

    /// Forgets the threads that `entities` lack, and where locks are.
    pub(crate) fn forget(&mut self, entities: &Entities) {
        self.blockers = RecentBlockers::default();
        self.last_thread = None;
        let is_kept = |thread| entities.has_thread(thread);
        self.threads.retain(|&thread, &mut index| {
            is_kept(index) || {
                self.forgotten.insert(thread);
                false
            }
        });
        self.java_threads.retain(|&thread, it| {
            is_kept(it.index) || {
                self.forgotten_java.insert(thread);
                false
            }
        });
        self.renamed
            .retain(|&thread, _| !self.forgotten_java.contains(thread));
        self.namesakes.retain(|&thread, _| is_kept(thread));
        self.lives.retain(is_kept);
        shrink_map(&mut self.threads);
        shrink_map(&mut self.java_threads);
    }

    /// The thread has ended and was forgotten.
    pub(crate) fn has_forgotten(&self, thread: ThreadId) -> bool {
        self.forgotten.contains(thread)
    }

    /// The index of a thread that has said who it is.
    fn described(&self, thread: ThreadId) -> Result<ThreadIndex, Missing> {
        match self.threads.get(&thread) {
            Some(&index) => Ok(index),
            None if self.has_forgotten(thread) => Ok(ThreadIndex::FORGOTTEN),
            None => Err(Missing::Thread(thread)),
        }
    }

    /// What is missing will not come, or too late.
    pub(crate) fn give_up(&mut self, missing: Missing, entities: &mut EntityStore) {
        match missing {
            Missing::Thread(thread) => {
                if !self.threads.contains_key(&thread) {
                    self.counters.add(Counter::ThreadsNotDescribed, 1);
                    let name = format!("<thread #{thread} not described>");
                    let index = self.add_thread(JavaThreadId::NONE, &name, entities);
                    self.threads.insert(thread, index);
                }
            }
            Missing::JavaThread(java_id) => self.add_nameless(java_id, entities),
            _ => self.code.give_up(missing, entities),
        }
    }

    /// Returns a lock, unless something has to be described first: for it, or for the earlier event
    /// that reports where it was allocated.
    pub(crate) fn lock(
        &mut self,
        class: ClassId,
        mirrored_class: ClassId,
        identity_hash: u32,
        entities: &mut EntityStore,
    ) -> Result<LockIndex, Missing> {
        self.check_late_site(Blocker {
            class,
            identity_hash,
        })?;
        self.lock_without_site(class, mirrored_class, identity_hash, entities)
    }

    #[inline]
    fn check_late_site(&self, lock: Blocker) -> Result<(), Missing> {
        if self.late_sites.is_empty() {
            return Ok(());
        }
        self.late_sites
            .get(&lock)
            .map_or(Ok(()), |&missing| Err(missing))
    }

    /// Where a lock was allocated. What refers to the lock waits as long as that does.
    pub(crate) fn lock_site(
        &mut self,
        site: &LockSite,
        entities: &mut EntityStore,
    ) -> Result<(LockIndex, ChainIndex), Missing> {
        let object = Blocker {
            class: site.class,
            identity_hash: site.identity_hash,
        };
        let chain = self.chain(site.chain, entities);
        let found = chain.and_then(|chain| {
            let lock =
                self.lock_without_site(site.class, ClassId::NONE, site.identity_hash, entities)?;
            Ok((lock, chain))
        });
        match found {
            Ok(_) => self.late_sites.remove(&object),
            Err(missing) => self.late_sites.insert(object, missing),
        };
        found
    }

    fn lock_without_site(
        &mut self,
        class: ClassId,
        mirrored_class: ClassId,
        identity_hash: u32,
        entities: &mut EntityStore,
    ) -> Result<LockIndex, Missing> {
        let mirrored = Some(mirrored_class).filter(|mirrored| !mirrored.is_none());
        for class in [Some(class), mirrored].into_iter().flatten() {
            if let Some(missing) = self.code.missing_of_class(class) {
                return Err(missing);
            }
        }
        let class = self.code.class(class, entities);
        let mirrored_class = mirrored.map(|mirrored| self.code.class(mirrored, entities));
        Ok(entities.add_lock(Lock::Object {
            class,
            mirrored_class,
            identity_hash,
        }))
    }

    /// The owner that a thread saw then.
    #[inline]
    pub(crate) fn owner(&self, owner: LockOwner) -> Result<SeenOwner, Missing> {
        Ok(match owner {
            LockOwner::NotKnown => SeenOwner::NOBODY,
            LockOwner::Thread(thread) => SeenOwner::thread(self.described(thread)?),
            LockOwner::OnStack(address) => SeenOwner::on_stack(address),
        })
    }

    /// The thread of each number that has been resolved.
    pub(crate) fn threads(&self) -> impl Iterator<Item = (ThreadId, ThreadIndex)> {
        self.threads.iter().map(|(&thread, &index)| (thread, index))
    }

    /// Returns when a thread ended, in nanoseconds since the trace's start; `None` if it has not.
    pub(crate) fn ended_ns(&self, thread: ThreadIndex) -> Option<u64> {
        self.lives.ended_ns(thread)
    }

    /// Returns when threads lived.
    pub(crate) fn lives(&self) -> Vec<ThreadLife> {
        self.lives.all()
    }

    /// What a parked thread waits for.
    pub(crate) fn blocker(
        &mut self,
        blocker: Blocker,
        entities: &mut EntityStore,
    ) -> Result<LockIndex, Missing> {
        self.check_late_site(blocker)?;
        if let Some(known) = self.blockers.find(blocker) {
            return Ok(known);
        }
        let lock = if blocker.class.is_none() {
            entities.add_lock(Lock::NoBlocker)
        } else {
            let hash = blocker.identity_hash;
            self.lock(blocker.class, ClassId::NONE, hash, entities)?
        };
        self.blockers.insert(blocker, lock);
        Ok(lock)
    }

    /// What a blocker of the class means to those who park on it.
    pub(crate) fn synchronizer(
        &mut self,
        class: ClassId,
        entities: &mut EntityStore,
    ) -> Result<Synchronizer, Missing> {
        self.code.synchronizer(class, entities)
    }

    /// The thread with this `Thread.getId()`; `None` for 0.
    pub(crate) fn java_thread(
        &mut self,
        java_id: JavaThreadId,
    ) -> Result<Option<ThreadIndex>, Missing> {
        if java_id.is_none() {
            return Ok(None);
        }
        match self.java_threads.get(&java_id) {
            Some(known) => Ok(Some(known.index)),
            None if self.forgotten_java.contains(java_id) => Ok(Some(ThreadIndex::FORGOTTEN)),
            None => Err(Missing::JavaThread(java_id)),
        }
    }

    /// The thread will not say who it is.
    fn add_nameless(&mut self, java_id: JavaThreadId, entities: &mut EntityStore) {
        if !self.java_threads.contains_key(&java_id) {
            let nameless = JavaThread {
                index: self.add_thread(java_id, "<thread not described>", entities),
                is_described: false,
            };
            self.java_threads.insert(java_id, nameless);
        }
    }

    #[inline]
    pub(crate) fn thread(&mut self, thread: ThreadId) -> Result<ThreadIndex, Missing> {
        match self.last_thread {
            Some((last, index)) if last == thread => Ok(index),
            _ => {
                let index = self.described(thread)?;
                self.last_thread = Some((thread, index));
                Ok(index)
            }
        }
    }

    /// What `event` says may be another name of a thread that is known already.
    pub(crate) fn may_rename(&self, thread: ThreadId, event: &Event<'_>) -> bool {
        match event {
            Event::ThreadStart(start) => {
                let named = self.java_threads.get(&start.java_id);
                self.threads.contains_key(&thread) || named.is_some_and(|it| !it.is_described)
            }
            Event::ThreadRename(rename) => self.java_threads.contains_key(&rename.java_id),
            _ => false,
        }
    }

    /// The thread says who it is; once more, if descriptions were lost.
    fn start_thread(
        &mut self,
        thread: ThreadId,
        start: &ThreadStart<'_>,
        entities: &mut EntityStore,
    ) {
        let java_id = start.java_id;
        if let Some(&index) = self.threads.get(&thread) {
            if entities.thread(index).java_id == java_id && !self.renamed.contains_key(&java_id) {
                entities.rename_thread(index, start.name, self.threads_before);
            }
            return;
        }
        let index = match self.java_threads.get_mut(&java_id) {
            Some(named) if !named.is_described => {
                named.is_described = true;
                let index = named.index;
                if !self.renamed.contains_key(&java_id) {
                    entities.rename_thread(index, start.name, self.threads_before);
                }
                index
            }
            _ => self.add_thread(java_id, start.name, entities),
        };
        if !java_id.is_none() {
            let described = JavaThread {
                index,
                is_described: true,
            };
            self.java_threads.entry(java_id).or_insert(described);
        }
        self.threads.insert(thread, index);
    }

    /// Somebody gave the thread another name.
    fn rename(&mut self, java_id: JavaThreadId, name: &str, entities: &mut EntityStore) {
        if java_id.is_none() {
            return;
        }
        self.renamed.insert(java_id, name.into());
        if let Some(known) = self.java_threads.get(&java_id) {
            entities.rename_thread(known.index, name, self.threads_before);
        }
    }

    fn add_thread(
        &mut self,
        java_id: JavaThreadId,
        name: &str,
        entities: &mut EntityStore,
    ) -> ThreadIndex {
        let renamed = self.renamed.get(&java_id);
        let mut described = Thread {
            java_id,
            name: renamed.map_or(name, |renamed| renamed).into(),
            ordinal: 0,
        };
        let first = entities.add_thread(described.clone());
        let namesakes = self.namesakes.entry(first).or_default();
        described.ordinal = *namesakes;
        *namesakes += 1;
        entities.add_thread(described)
    }

    #[inline]
    pub(crate) fn chain(
        &mut self,
        chain: ChainId,
        entities: &mut EntityStore,
    ) -> Result<ChainIndex, Missing> {
        self.code.chain(chain, entities)
    }
}

#[cfg(test)]
mod tests {
    use trace_format::ThreadRename;

    use super::*;

    fn start(java_id: u64, name: &str) -> Event<'_> {
        Event::ThreadStart(ThreadStart {
            time_ns: 0,
            java_id: JavaThreadId(java_id),
            name,
            stack: trace_format::StackRange::default(),
        })
    }

    fn rename(java_id: u64, name: &str) -> Event<'_> {
        Event::ThreadRename(ThreadRename {
            java_id: JavaThreadId(java_id),
            name,
        })
    }

    /// What the threads 1, 2... are called at last.
    fn thread_names(events: &[(u32, Event<'_>)], threads: u32) -> Vec<String> {
        let mut entities = EntityStore::default();
        let mut resolver = Resolver::new(&entities);
        for (thread, event) in events {
            resolver.describe(ThreadId(*thread), event, &mut entities);
        }
        let resolved = (1..=threads).map(|thread| {
            let index = resolver.thread(ThreadId(thread)).expect("described");
            let thread = entities.thread(index);
            format!("{} {} {}", thread.java_id, thread.name, thread.ordinal)
        });
        resolved.collect()
    }

    #[test]
    fn last_name_of_a_thread_counts_no_matter_who_sets_it() {
        let events = [(2, rename(7, "b")), (1, start(7, "a")), (1, rename(7, "c"))];
        assert_eq!(thread_names(&events, 1), ["7 c 0"]);
        let events = [(2, rename(7, "b")), (1, start(7, "a"))];
        assert_eq!(thread_names(&events, 1), ["7 b 0"]);
    }

    #[test]
    fn threads_that_share_number_and_name_are_distinguished() {
        let events = [(1, start(0, "Unknown")), (2, start(0, "Unknown"))];
        assert_eq!(thread_names(&events, 2), ["0 Unknown 0", "0 Unknown 1"]);
    }

    #[test]
    fn names_do_not_pass_between_threads_without_number() {
        let events = [(1, start(0, "VM")), (1, rename(0, "x"))];
        assert_eq!(thread_names(&events, 1), ["0 VM 0"]);
    }

    #[test]
    fn a_thread_that_others_name_first_gets_its_name_later() {
        let mut entities = EntityStore::default();
        let mut resolver = Resolver::new(&entities);
        assert!(resolver.java_thread(JavaThreadId(7)).is_err());
        resolver.give_up(Missing::JavaThread(JavaThreadId(7)), &mut entities);
        let named = resolver.java_thread(JavaThreadId(7)).expect("given up");
        assert_eq!(
            resolver.thread(ThreadId(1)),
            Err(Missing::Thread(ThreadId(1)))
        );
        resolver.describe(ThreadId(1), &start(7, "a"), &mut entities);
        assert_eq!(resolver.thread(ThreadId(1)).ok(), named);
        let name = named.map(|thread| &*entities.thread(thread).name);
        assert_eq!(name, Some("a"));
    }

    #[test]
    fn a_new_thread_renames_no_other() {
        let mut entities = EntityStore::default();
        let mut resolver = Resolver::new(&entities);
        resolver.describe(ThreadId(1), &start(7, "a"), &mut entities);
        resolver.give_up(Missing::JavaThread(JavaThreadId(8)), &mut entities);
        for (thread, event, expected) in [
            (2, start(9, "b"), false),
            (2, rename(9, "b"), false),
            (1, start(7, "b"), true),
            (2, start(8, "b"), true),
            (2, rename(7, "b"), true),
            (2, rename(8, "b"), true),
        ] {
            let may_rename = resolver.may_rename(ThreadId(thread), &event);
            assert_eq!(may_rename, expected, "{thread}: {event:?}");
        }
    }

    #[test]
    fn a_thread_of_another_trace_is_the_same_once_it_is_called_so() {
        let mut entities = EntityStore::default();
        let threads: Vec<_> = ["a", "b"]
            .map(|first_name| {
                let mut resolver = Resolver::new(&entities);
                resolver.describe(ThreadId(1), &start(7, first_name), &mut entities);
                resolver.describe(ThreadId(2), &rename(7, "c"), &mut entities);
                resolver.thread(ThreadId(1)).expect("described")
            })
            .into();
        assert_ne!(threads[0], threads[1]);
        assert_eq!(entities.canonical_thread(threads[1]), threads[0]);
    }

    #[test]
    fn what_is_missing_counts_once() {
        let mut entities = EntityStore::default();
        let mut resolver = Resolver::new(&entities);
        for missing in [Missing::Thread(ThreadId(5)), Missing::Chain(ChainId(6))] {
            for _ in 0..3 {
                resolver.give_up(missing, &mut entities);
            }
        }
        assert!(resolver.thread(ThreadId(5)).is_ok());
        assert!(resolver.chain(ChainId(6), &mut entities).is_ok());
        let mut counters = Counters::default();
        resolver.count_unresolved(&mut counters);
        assert_eq!(counters.value(Counter::ThreadsNotDescribed), 1);
        assert_eq!(counters.value(Counter::ChainsNotDescribed), 1);
    }
}
