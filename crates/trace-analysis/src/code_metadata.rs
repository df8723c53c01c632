//! Classes, methods and call chains of one trace, from their descriptions to
//! their end.
//!
//! # When an identifier is forgotten
//!
//! References are resolved when an event is read, not when the rearranger
//! releases it, and what is released refers to entities only. So the end of an
//! identifier counts where it stands in the file: nothing behind it refers to the
//! identifier, and what was read before is resolved, released or not.
//!
//! Descriptions of equal content under different identifiers are kept once while they are
//! collected.
//!
//! The first pass over a trace comes to that place too early: the second pass is
//! still to meet the references before it. It keeps what was described, but as an
//! entity, which equal descriptions share: of a class that thousands of loaders
//! define, one copy is left and a few bytes for each identifier. The second pass
//! forgets those, too, and keeps one bit, to find out whether the tracer keeps
//! its promise.

use std::hash::Hash;
use std::sync::Arc;

use trace_format::{ChainId, ClassDescription, ClassId, Event, LoaderId, MethodId};

use crate::counter::{Counter, Counters};
use crate::entity::{Chain, ChainIndex, ClassIndex, Entities, Frame, Method, MethodIndex};
use crate::hash::{SeededMap, SeededSet};
use crate::id_set::IdSet;
use crate::library;
use crate::synchronizer::Synchronizer;

/// The classes, methods and call chains of one trace.
#[derive(Debug, Default)]
pub(crate) struct CodeMetadata {
    classes: Identifiers<ClassId, ClassRecord, ClassIndex>,
    methods: Identifiers<MethodId, MethodRecord, MethodIndex>,
    chains: Identifiers<ChainId, ChainRecord, ChainIndex>,
    super_classes: SeededMap<ClassId, ClassId>,
    synchronizers: SeededMap<ClassId, Synchronizer>,
    /// The classes of those loaders that exist at the place in the file that a
    /// pass has come to. Their addresses can be used again.
    loaders: SeededMap<LoaderId, SeededSet<ClassId>>,
    /// The chains that the first pass has tried to settle.
    tried: IdSet<ChainId>,
    counters: Counters,
}

/// The identifiers of one kind.
#[derive(Debug)]
struct Identifiers<Id, Record, Index> {
    /// Described, and not referred to yet.
    described: SeededMap<Id, Arc<Record>>,
    /// The descriptions, each of them once.
    records: SeededSet<Arc<Record>>,
    resolved: SeededMap<Id, Index>,
    /// Ended: in neither of the others.
    retired: IdSet<Id>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ClassRecord {
    name: Box<str>,
    source_file: Box<str>,
    is_jdk: bool,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct MethodRecord {
    class: ClassId,
    name: Box<str>,
    signature: Box<str>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ChainRecord {
    frames: Box<[trace_format::Frame]>,
    truncated: bool,
}

impl<Id, Record, Index> Default for Identifiers<Id, Record, Index> {
    fn default() -> Self {
        Self {
            described: SeededMap::default(),
            records: SeededSet::default(),
            resolved: SeededMap::default(),
            retired: IdSet::default(),
        }
    }
}

impl<Id: Copy + Eq + Hash + Into<u64>, Record: Eq + Hash, Index> Identifiers<Id, Record, Index> {
    /// Takes a description. That of one identifier is always the same.
    fn describe(&mut self, id: Id, record: impl FnOnce() -> Record) {
        if self.is_known(id) {
            return;
        }
        let record = Arc::new(record());
        let known = self.records.get(&record).cloned();
        let record = known.unwrap_or_else(|| {
            self.records.insert(Arc::clone(&record));
            record
        });
        self.described.insert(id, record);
    }

    /// Takes out the description of `id`, which is resolved or has ended.
    fn take_description(&mut self, id: Id) -> Option<Arc<Record>> {
        /// Those of the set and of the caller.
        const LAST: usize = 2;
        let record = self.described.remove(&id)?;
        if Arc::strong_count(&record) == LAST {
            self.records.remove(&record);
        }
        Some(record)
    }

    fn is_known(&self, id: Id) -> bool {
        self.resolved.contains_key(&id) || self.described.contains_key(&id)
    }

    fn retire(&mut self, id: Id) {
        self.take_description(id);
        self.resolved.remove(&id);
        self.retired.insert(id);
    }

    /// Counts a reference to an identifier that is not known.
    fn count_unknown(&self, id: Id, not_described: Counter, counters: &mut Counters) {
        let counter = if self.retired.contains(id) {
            Counter::RetiredReferences
        } else {
            not_described
        };
        counters.add(counter, 1);
    }

    /// Remembers what `id` stands for, unless it has ended.
    fn resolve(&mut self, id: Id, index: Index) {
        if !self.retired.contains(id) {
            self.resolved.insert(id, index);
        }
    }
}

/// The first pass.
impl CodeMetadata {
    /// Takes what `event` describes.
    pub(crate) fn collect(&mut self, event: &Event<'_>) {
        match event {
            &Event::Class(ClassDescription {
                class,
                super_class,
                loader,
                name,
                source_file,
                loader_class,
            }) => {
                if !super_class.is_none() {
                    self.super_classes.insert(class, super_class);
                }
                self.defined(class, loader);
                self.classes.describe(class, || ClassRecord {
                    name: name.into(),
                    source_file: source_file.into(),
                    is_jdk: library::is_jdk(name, Some(loader_class).filter(|_| !loader.is_none())),
                });
            }
            Event::Method(method) => self.methods.describe(method.method, || MethodRecord {
                class: method.class,
                name: method.name.into(),
                signature: method.signature.into(),
            }),
            Event::Chain(chain) => self.chains.describe(chain.chain, || ChainRecord {
                frames: chain.frames.as_slice().into(),
                truncated: chain.truncated,
            }),
            _ => {}
        }
    }

    /// Turns the descriptions that `event` ends into entities.
    pub(crate) fn settle(&mut self, event: &Event<'_>, entities: &mut Entities) {
        match event {
            Event::ChainRetired(retired) => self.settle_chain(retired.chain, entities),
            Event::LoaderUnload(unload) => {
                let classes = self.loaders.remove(&unload.loader).unwrap_or_default();
                let mut classes: Vec<_> = classes.into_iter().collect();
                classes.sort_unstable();
                for class in classes {
                    self.class(class, entities);
                }
            }
            _ => {}
        }
    }

    fn settle_chain(&mut self, chain: ChainId, entities: &mut Entities) {
        // Once, however often a damaged trace ends it.
        if self.tried.insert(chain) && self.is_whole(chain) {
            self.chain(chain, entities);
        }
    }

    /// The chain is described, and everything that it refers to. What is missing
    /// may have been lost, and come once more.
    fn is_whole(&self, chain: ChainId) -> bool {
        let is_whole = |method| match self.methods.described.get(&method) {
            Some(record) => self.classes.is_known(record.class),
            None => self.methods.resolved.contains_key(&method),
        };
        let chain = self.chains.described.get(&chain);
        chain.is_some_and(|chain| chain.frames.iter().all(|frame| is_whole(frame.method)))
    }
}

/// The second pass.
impl CodeMetadata {
    /// Goes back to the start of the file.
    pub(crate) fn rewind(&mut self) {
        self.loaders.clear();
        self.tried = IdSet::default();
    }

    /// Forgets what `event` ends. The events that [`collect`](Self::collect) takes
    /// must not refer to what has ended, either.
    pub(crate) fn follow(&mut self, event: &Event<'_>) {
        let refers_to_retired = match event {
            Event::Class(class) => {
                self.defined(class.class, class.loader);
                self.classes.retired.contains(class.class)
            }
            Event::Method(method) => self.methods.retired.contains(method.method),
            Event::Chain(chain) => self.chains.retired.contains(chain.chain),
            Event::ForwardResolved(resolved) => self.chains.retired.contains(resolved.chain),
            Event::ChainRetired(retired) => {
                self.chains.retire(retired.chain);
                false
            }
            Event::MethodRetired(retired) => {
                self.methods.retire(retired.method);
                false
            }
            Event::LoaderUnload(unload) => {
                for class in self.loaders.remove(&unload.loader).unwrap_or_default() {
                    self.classes.retire(class);
                    self.super_classes.remove(&class);
                    self.synchronizers.remove(&class);
                }
                false
            }
            _ => false,
        };
        self.counters
            .add(Counter::RetiredReferences, refers_to_retired.into());
    }

    /// How much could not be resolved.
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) fn chain(&mut self, chain: ChainId, entities: &mut Entities) -> ChainIndex {
        if chain.is_none() {
            return ChainIndex::NOT_RECORDED;
        }
        if let Some(&index) = self.chains.resolved.get(&chain) {
            return index;
        }
        let entity = match self.chains.take_description(chain) {
            Some(record) if record.frames.is_empty() => Chain::NotRecorded,
            Some(record) => {
                let frames = record.frames.iter().map(|&frame| Frame {
                    method: self.method(frame.method, entities),
                    bci: frame.bci,
                    line: frame.line,
                });
                let mut frames: Vec<_> = frames.collect();
                if frames.len() > 1 && entities.is_tracer(frames[0].method) {
                    frames.remove(0);
                }
                Chain::Known {
                    frames: frames.into(),
                    truncated: record.truncated,
                }
            }
            None => {
                let counter = Counter::ChainsNotDescribed;
                self.chains
                    .count_unknown(chain, counter, &mut self.counters);
                Chain::NotDescribed(chain)
            }
        };
        let index = entities.add_chain(entity);
        self.chains.resolve(chain, index);
        index
    }

    fn method(&mut self, method: MethodId, entities: &mut Entities) -> MethodIndex {
        if let Some(&index) = self.methods.resolved.get(&method) {
            return index;
        }
        let entity = match self.methods.take_description(method) {
            Some(record) => Method {
                class: Some(self.class(record.class, entities)),
                name: record.name.clone(),
                signature: record.signature.clone(),
            },
            None => {
                let counter = Counter::MethodsNotDescribed;
                self.methods
                    .count_unknown(method, counter, &mut self.counters);
                let name = format!("<method #{method} not described>").into();
                Method {
                    class: None,
                    name,
                    signature: Box::default(),
                }
            }
        };
        let index = entities.add_method(entity);
        self.methods.resolve(method, index);
        index
    }

    pub(crate) fn class(&mut self, class: ClassId, entities: &mut Entities) -> ClassIndex {
        if let Some(&index) = self.classes.resolved.get(&class) {
            return index;
        }
        let index = match self.classes.take_description(class) {
            Some(record) => {
                let name = record.name.clone();
                entities.add_class(name, &record.source_file, record.is_jdk)
            }
            None => {
                let counter = Counter::ClassesNotDescribed;
                self.classes
                    .count_unknown(class, counter, &mut self.counters);
                entities.add_class(format!("<class #{class} not described>").into(), "", false)
            }
        };
        self.classes.resolve(class, index);
        index
    }

    /// What a blocker of the class means to those who park on it: decided by the
    /// first of its superclasses that is known.
    pub(crate) fn synchronizer(&mut self, class: ClassId, entities: &mut Entities) -> Synchronizer {
        if let Some(&synchronizer) = self.synchronizers.get(&class) {
            return synchronizer;
        }
        let mut next = class;
        let mut found = None;
        // A damaged trace can have a circle of superclasses.
        for _ in 0..self.super_classes.len() + 1 {
            if next.is_none() || found.is_some() {
                break;
            }
            let index = self.class(next, entities);
            found = Synchronizer::of_class(entities.class_name(index));
            next = self.super_classes.get(&next).copied().unwrap_or_default();
        }
        let synchronizer = found.unwrap_or(Synchronizer::Other);
        if !self.classes.retired.contains(class) {
            self.synchronizers.insert(class, synchronizer);
        }
        synchronizer
    }

    /// The loader defined the class. That of the JVM itself lives as long as it.
    fn defined(&mut self, class: ClassId, loader: LoaderId) {
        if !loader.is_none() {
            self.loaders.entry(loader).or_default().insert(class);
        }
    }
}
