//! The metadata resolver (paper, section 4.1): from the identifiers in a trace
//! to entities.
//!
//! Events can come before the metadata that they refer to, because the two can
//! be in buffers of different threads. So the metadata of a trace is collected
//! first, in a pass over the chunks that are marked to contain some, and the
//! pass over the events finds everything resolved.

use std::mem;

use trace_format::{
    Blocker, Capabilities, ChainId, ChainRef, ClassId, Event, ForwardResolved, JavaThreadId,
    LockOwner, PARK_DOMAINS, ThreadId, ThreadRename, ThreadStart, file::VERSION,
};

use crate::code_metadata::CodeMetadata;
use crate::counter::{Counter, Counters};
use crate::entity::{ChainIndex, Entities, Lock, LockIndex, Thread, ThreadIndex};
use crate::forward_refs::{ForwardRefs, ForwardSource};
use crate::hash::SeededMap;
use crate::stacks::Stacks;
use crate::synchronizer::Synchronizer;

/// The metadata of one trace, in the trace's own identifiers.
#[derive(Debug)]
pub struct Metadata {
    /// The locks with numbers up to this are domains of park events.
    pub(crate) park_domains: u64,
    /// What the producer of the trace guarantees.
    pub(crate) capabilities: Capabilities,
    code: CodeMetadata,
    threads: SeededMap<ThreadId, ThreadRecord>,
    /// Last names of renamed threads by `Thread.getId()`.
    renamed: SeededMap<JavaThreadId, Box<str>>,
    forward_refs: ForwardRefs,
    stacks: Stacks,
}

#[derive(Debug)]
struct ThreadRecord {
    java_id: JavaThreadId,
    name: Box<str>,
}

impl Default for Metadata {
    fn default() -> Self {
        Self::of_version(VERSION)
    }
}

impl Metadata {
    /// Creates metadata that know nothing yet, of a trace in this version of the
    /// format.
    pub fn of_version(version: u16) -> Self {
        Self {
            park_domains: if version < 2 { 0 } else { PARK_DOMAINS },
            capabilities: Capabilities::default(),
            code: CodeMetadata::default(),
            threads: SeededMap::default(),
            renamed: SeededMap::default(),
            forward_refs: ForwardRefs::default(),
            stacks: Stacks::default(),
        }
    }

    /// Notes what the producer of the trace guarantees.
    pub fn with_capabilities(self, capabilities: Capabilities) -> Self {
        Self {
            capabilities,
            ..self
        }
    }

    /// Takes what `event`, written by `thread`, describes. Events that describe
    /// nothing are ignored.
    pub fn collect(&mut self, thread: ThreadId, event: &Event<'_>) {
        match *event {
            Event::ThreadStart(ThreadStart {
                time_ns,
                java_id,
                name,
                stack,
            }) => {
                self.stacks.add(thread, time_ns, stack);
                self.threads.insert(
                    thread,
                    ThreadRecord {
                        java_id,
                        name: name.into(),
                    },
                );
            }
            Event::ThreadRename(ThreadRename { java_id, name }) => {
                self.renamed.insert(java_id, name.into());
            }
            Event::ForwardResolved(ForwardResolved { forward_ref, chain }) => {
                self.forward_refs.insert(forward_ref, chain);
            }
            _ => self.code.collect(event),
        }
    }

    /// Makes little of what `event` ends: an analysis that gets this metadata
    /// needs it only until it meets the event again. `entities` are those of
    /// that analysis.
    pub(crate) fn settle(&mut self, event: &Event<'_>, entities: &mut Entities) {
        self.code.settle(event, entities);
    }
}

/// Replaces the identifiers of one trace by entities.
///
/// An entity is looked up in the trace's metadata when something refers to it
/// for the first time; what the metadata lacks becomes an entity that says so,
/// and counts as unresolved.
#[derive(Debug)]
pub(crate) struct Resolver {
    metadata: Metadata,
    forward_refs: ForwardSource,
    threads: SeededMap<ThreadId, ThreadIndex>,
    /// The thread resolved last: events come by the buffer.
    last_thread: Option<(ThreadId, ThreadIndex)>,
    java_threads: SeededMap<JavaThreadId, JavaThread>,
    /// How many threads of the trace have number and name of this one.
    namesakes: SeededMap<ThreadIndex, u32>,
    blockers: RecentBlockers,
    counters: Counters,
}

/// A thread that others name.
#[derive(Clone, Copy, Debug)]
enum JavaThread {
    /// It wrote something, or will.
    Writer(ThreadId),
    Resolved(ThreadIndex),
}

/// Some of the blockers resolved: one for each remainder of their hashes.
#[derive(Debug)]
struct RecentBlockers(Box<[Option<(Blocker, LockIndex)>]>);

impl Default for RecentBlockers {
    fn default() -> Self {
        Self(vec![None; Self::LEN].into())
    }
}

impl RecentBlockers {
    const LEN: usize = 1024;

    fn place(&mut self, blocker: Blocker) -> &mut Option<(Blocker, LockIndex)> {
        &mut self.0[blocker.identity_hash as usize % Self::LEN]
    }

    fn find(&mut self, wanted: Blocker) -> Option<LockIndex> {
        let found = self.place(wanted).filter(|&(known, _)| known == wanted);
        found.map(|(_, lock)| lock)
    }
}

impl Resolver {
    pub(crate) fn new(mut metadata: Metadata) -> Self {
        metadata.code.rewind();
        // In a damaged trace several threads have one number: it stands for the first.
        let mut writers: SeededMap<JavaThreadId, ThreadId> = SeededMap::default();
        for (&thread, record) in &metadata.threads {
            let writer = writers.entry(record.java_id).or_insert(thread);
            *writer = thread.min(*writer);
        }
        let writers = writers.into_iter();
        let java_threads = writers.map(|(java_id, thread)| (java_id, JavaThread::Writer(thread)));
        Self {
            java_threads: java_threads.collect(),
            forward_refs: ForwardSource::Collected(mem::take(&mut metadata.forward_refs)),
            metadata,
            threads: SeededMap::default(),
            last_thread: None,
            namesakes: SeededMap::default(),
            blockers: RecentBlockers::default(),
            counters: Counters::default(),
        }
    }

    /// Where the chains behind forward references are found.
    pub(crate) fn forward_refs(&mut self) -> &mut ForwardSource {
        &mut self.forward_refs
    }

    /// Adds how much could not be resolved.
    pub(crate) fn count_unresolved(&self, counters: &mut Counters) {
        counters.merge(&self.counters);
        counters.merge(self.metadata.code.counters());
        counters.add(Counter::ForwardRefsForgotten, self.forward_refs.forgotten());
    }

    /// Forgets what `event` ends. No event read later refers to that.
    pub(crate) fn follow(&mut self, event: &Event<'_>) {
        if let Event::LoaderUnload(_) = event {
            self.blockers = RecentBlockers::default();
        }
        self.metadata.code.follow(event);
    }

    pub(crate) fn lock(
        &mut self,
        class: ClassId,
        mirrored_class: ClassId,
        identity_hash: u32,
        entities: &mut Entities,
    ) -> LockIndex {
        let class = self.metadata.code.class(class, entities);
        let mirrored =
            (!mirrored_class.is_none()).then(|| self.metadata.code.class(mirrored_class, entities));
        entities.add_lock(Lock::Object {
            class,
            mirrored_class: mirrored,
            identity_hash,
        })
    }

    /// The owner that a thread saw then.
    #[inline]
    pub(crate) fn owner(
        &mut self,
        owner: LockOwner,
        time_ns: u64,
        entities: &mut Entities,
    ) -> Option<ThreadIndex> {
        let thread = match owner {
            LockOwner::NotKnown => return None,
            LockOwner::Thread(thread) => thread,
            LockOwner::OnStack(address) => self.metadata.stacks.thread_at(address, time_ns)?,
        };
        Some(self.thread(thread, entities))
    }

    /// The thread of each number that has been resolved.
    pub(crate) fn threads(&self) -> impl Iterator<Item = (ThreadId, ThreadIndex)> {
        self.threads.iter().map(|(&thread, &index)| (thread, index))
    }

    /// What a parked thread waits for.
    pub(crate) fn blocker(&mut self, blocker: Blocker, entities: &mut Entities) -> LockIndex {
        if let Some(known) = self.blockers.find(blocker) {
            return known;
        }
        let lock = if blocker.class.is_none() {
            entities.add_lock(Lock::NoBlocker)
        } else {
            self.lock(
                blocker.class,
                ClassId::NONE,
                blocker.identity_hash,
                entities,
            )
        };
        *self.blockers.place(blocker) = Some((blocker, lock));
        lock
    }

    /// What a blocker of the class means to those who park on it.
    pub(crate) fn synchronizer(&mut self, class: ClassId, entities: &mut Entities) -> Synchronizer {
        self.metadata.code.synchronizer(class, entities)
    }

    /// The thread with this `Thread.getId()`; `None` for 0.
    pub(crate) fn java_thread(
        &mut self,
        java_id: JavaThreadId,
        entities: &mut Entities,
    ) -> Option<ThreadIndex> {
        if java_id.is_none() {
            return None;
        }
        let index = match self.java_threads.get(&java_id) {
            Some(&JavaThread::Resolved(index)) => return Some(index),
            Some(&JavaThread::Writer(thread)) => self.thread(thread, entities),
            None => {
                let renamed = self.metadata.renamed.get(&java_id).cloned();
                let name = renamed.unwrap_or_else(|| "<thread not described>".into());
                entities.add_thread(Thread {
                    java_id,
                    name,
                    ordinal: 0,
                })
            }
        };
        self.java_threads
            .insert(java_id, JavaThread::Resolved(index));
        Some(index)
    }

    #[inline]
    pub(crate) fn thread(&mut self, thread: ThreadId, entities: &mut Entities) -> ThreadIndex {
        match self.last_thread {
            Some((last, index)) if last == thread => index,
            _ => {
                let known = self.threads.get(&thread).copied();
                let index = known.unwrap_or_else(|| self.add_thread(thread, entities));
                self.last_thread = Some((thread, index));
                index
            }
        }
    }

    fn add_thread(&mut self, thread: ThreadId, entities: &mut Entities) -> ThreadIndex {
        let (java_id, name) = match self.metadata.threads.remove(&thread) {
            Some(ThreadRecord { java_id, name }) => {
                let renamed = self
                    .metadata
                    .renamed
                    .get(&java_id)
                    .filter(|_| !java_id.is_none());
                (java_id, renamed.cloned().unwrap_or(name))
            }
            None => {
                self.counters.add(Counter::ThreadsNotDescribed, 1);
                (
                    JavaThreadId::NONE,
                    format!("<thread #{thread} not described>").into(),
                )
            }
        };
        let mut described = Thread {
            java_id,
            name,
            ordinal: 0,
        };
        let first = entities.add_thread(described.clone());
        let namesakes = self.namesakes.entry(first).or_default();
        described.ordinal = *namesakes;
        *namesakes += 1;
        let index = entities.add_thread(described);
        self.threads.insert(thread, index);
        index
    }

    pub(crate) fn chain_ref(&mut self, chain: ChainRef, entities: &mut Entities) -> ChainIndex {
        match chain {
            ChainRef::Chain(chain) => self.chain(chain, entities),
            ChainRef::Forward(forward_ref) => match self.forward_refs.chain(forward_ref) {
                Some(chain) => self.chain(chain, entities),
                None => {
                    self.counters.add(Counter::ForwardRefsUnresolved, 1);
                    ChainIndex::UNRESOLVED
                }
            },
        }
    }

    #[inline]
    pub(crate) fn chain(&mut self, chain: ChainId, entities: &mut Entities) -> ChainIndex {
        self.metadata.code.chain(chain, entities)
    }
}

#[cfg(test)]
mod tests {
    use trace_format::ForwardRef;

    use super::*;

    fn start(java_id: u64, name: &str) -> Event<'_> {
        Event::ThreadStart(ThreadStart {
            time_ns: 0,
            java_id: JavaThreadId(java_id),
            name,
            stack: trace_format::StackRange::default(),
        })
    }

    /// Names of the threads 1, 2... as resolved.
    fn thread_names(events: &[(u32, Event<'_>)], threads: u32) -> Vec<String> {
        let mut metadata = Metadata::default();
        for (thread, event) in events {
            metadata.collect(ThreadId(*thread), event);
        }
        let mut resolver = Resolver::new(metadata);
        let mut entities = Entities::new();
        let resolved = (1..=threads).map(|thread| {
            let index = resolver.thread(ThreadId(thread), &mut entities);
            let thread = entities.thread(index);
            format!("{} {} {}", thread.java_id, thread.name, thread.ordinal)
        });
        resolved.collect()
    }

    #[test]
    fn last_name_of_a_thread_counts_whoever_gives_it() {
        let rename = |name| {
            Event::ThreadRename(ThreadRename {
                java_id: JavaThreadId(7),
                name,
            })
        };
        let events = [(2, rename("b")), (1, start(7, "a")), (1, rename("c"))];
        assert_eq!(thread_names(&events, 1), ["7 c 0"]);
    }

    #[test]
    fn threads_that_share_number_and_name_are_told_apart() {
        let events = [(1, start(0, "Unknown")), (2, start(0, "Unknown"))];
        assert_eq!(thread_names(&events, 2), ["0 Unknown 0", "0 Unknown 1"]);
    }

    #[test]
    fn names_do_not_pass_between_threads_without_number() {
        let rename = Event::ThreadRename(ThreadRename {
            java_id: JavaThreadId::NONE,
            name: "x",
        });
        assert_eq!(
            thread_names(&[(1, start(0, "VM")), (1, rename)], 1),
            ["0 VM 0"]
        );
    }

    #[test]
    fn what_is_missing_counts_once() {
        let mut resolver = Resolver::new(Metadata::default());
        let mut entities = Entities::new();
        for _ in 0..3 {
            resolver.thread(ThreadId(5), &mut entities);
            resolver.chain(ChainId(6), &mut entities);
            resolver.chain_ref(ChainRef::Forward(ForwardRef(7)), &mut entities);
        }
        let mut counters = Counters::default();
        resolver.count_unresolved(&mut counters);
        assert_eq!(counters.value(Counter::ThreadsNotDescribed), 1);
        assert_eq!(counters.value(Counter::ChainsNotDescribed), 1);
        assert_eq!(
            counters.value(Counter::ForwardRefsUnresolved),
            3,
            "one for each exit"
        );
    }
}
