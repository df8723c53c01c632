//! Classes, methods and call chains of one trace, from their descriptions to
//! their end.
//!
//! # When an identifier is forgotten
//!
//! References are resolved when an event is read, not when the rearranger
//! releases it, and what is released refers to entities only. So the end of an
//! identifier counts where it stands in the file: nothing after it refers to the
//! identifier, and what was read before is resolved, released or not; if some of that still
//! waits for a description, the end waits, too. One bit is kept of each, to find out whether
//! the tracer keeps its promise.
//!
//! Descriptions of equal content under different identifiers are kept once while nothing
//! refers to them.

use std::hash::Hash;
use std::sync::Arc;

use trace_format::{ChainId, ClassDescription, ClassId, Event, LoaderId, MethodId};

use crate::collections::hash::{SeededMap, SeededSet};
use crate::collections::id_set::IdSet;
use crate::model::counter::{Counter, Counters};
use crate::model::entity::{Chain, ChainIndex, ClassIndex, Frame, Method, MethodIndex};
use crate::model::entity_store::EntityStore;
use crate::model::library;
use crate::model::synchronizer::Synchronizer;
use crate::resolve::unresolved_events::Missing;

/// The classes, methods and call chains of one trace.
#[derive(Debug, Default)]
pub(crate) struct CodeMetadata {
    classes: Identifiers<ClassId, ClassRecord, ClassIndex>,
    methods: Identifiers<MethodId, MethodRecord, MethodIndex>,
    chains: Identifiers<ChainId, ChainRecord, ChainIndex>,
    super_classes: SeededMap<ClassId, ClassId>,
    synchronizers: SeededMap<ClassId, Synchronizer>,
    /// The one looked up last.
    last_synchronizer: Option<(ClassId, Synchronizer)>,
    /// Some of the chains resolved.
    recent_chains: RecentChains,
    /// The classes of those loaders that exist. Their addresses can be used again.
    loaders: SeededMap<LoaderId, SeededSet<ClassId>>,
    counters: Counters,
}

/// Call chains: one for each remainder of their numbers.
#[derive(Debug)]
struct RecentChains(Box<[Option<(ChainId, ChainIndex)>]>);

impl Default for RecentChains {
    fn default() -> Self {
        Self(vec![None; Self::LEN].into())
    }
}

impl RecentChains {
    const LEN: usize = 256;

    #[inline]
    fn place(&mut self, chain: ChainId) -> &mut Option<(ChainId, ChainIndex)> {
        &mut self.0[u64::from(chain) as usize % Self::LEN]
    }
}

/// What is not referred to any more.
#[derive(Debug)]
pub(crate) enum Ended {
    Chain(ChainId),
    Method(MethodId),
    Classes(Vec<ClassId>),
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
    /// Adds a description. An identifier's description is always the same.
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

    /// There is nothing more to wait for.
    fn is_decided(&self, id: Id) -> bool {
        self.is_known(id) || self.retired.contains(id)
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

impl CodeMetadata {
    /// Takes what `event` describes. That must not refer to what has ended, either.
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
                self.count_retired(self.classes.retired.contains(class));
                self.defined(class, loader);
                self.classes.describe(class, || ClassRecord {
                    name: name.into(),
                    source_file: source_file.into(),
                    is_jdk: library::is_jdk(name, Some(loader_class).filter(|_| !loader.is_none())),
                });
            }
            Event::Method(method) => {
                self.count_retired(self.methods.retired.contains(method.method));
                self.methods.describe(method.method, || MethodRecord {
                    class: method.class,
                    name: method.name.into(),
                    signature: method.signature.into(),
                });
            }
            Event::Chain(chain) => {
                self.count_retired(self.chains.retired.contains(chain.chain));
                self.chains.describe(chain.chain, || ChainRecord {
                    frames: chain.frames.as_slice().into(),
                    truncated: chain.truncated,
                });
            }
            _ => {}
        }
    }

    /// What `event` ends. Classes are no longer those of their loader from then on, whose
    /// address can be used again.
    pub(crate) fn ended_by(&mut self, event: &Event<'_>) -> Option<Ended> {
        Some(match event {
            Event::ChainRetired(retired) => Ended::Chain(retired.chain),
            Event::MethodRetired(retired) => Ended::Method(retired.method),
            Event::LoaderUnload(unload) => {
                let classes = self.loaders.remove(&unload.loader).unwrap_or_default();
                Ended::Classes(classes.into_iter().collect())
            }
            _ => return None,
        })
    }

    /// Forgets what has ended.
    pub(crate) fn retire(&mut self, ended: Ended) {
        match ended {
            Ended::Chain(chain) => {
                self.chains.retire(chain);
                *self.recent_chains.place(chain) = None;
            }
            Ended::Method(method) => self.methods.retire(method),
            Ended::Classes(classes) => {
                self.last_synchronizer = None;
                for class in classes {
                    self.classes.retire(class);
                    self.super_classes.remove(&class);
                    self.synchronizers.remove(&class);
                }
            }
        }
    }

    /// What has to be described before the class can be named.
    pub(crate) fn missing_of_class(&self, class: ClassId) -> Option<Missing> {
        (!self.classes.is_decided(class)).then_some(Missing::Class(class))
    }

    /// What has to be described before the chain can be named.
    fn missing_of_chain(&self, chain: ChainId) -> Option<Missing> {
        let Some(record) = self.chains.described.get(&chain) else {
            return (!self.chains.is_decided(chain)).then_some(Missing::Chain(chain));
        };
        let missing_of_method = |method| match self.methods.described.get(&method) {
            Some(record) => self.missing_of_class(record.class),
            None => (!self.methods.is_decided(method)).then_some(Missing::Method(method)),
        };
        let mut frames = record.frames.iter();
        frames.find_map(|frame| missing_of_method(frame.method))
    }

    /// The chain, unless something has to be described first.
    #[inline]
    pub(crate) fn chain(
        &mut self,
        chain: ChainId,
        entities: &mut EntityStore,
    ) -> Result<ChainIndex, Missing> {
        let recent = self.recent_chains.place(chain);
        if let &mut Some((known, index)) = recent
            && known == chain
        {
            return Ok(index);
        }
        if let Some(&index) = self.chains.resolved.get(&chain) {
            *recent = Some((chain, index));
            return Ok(index);
        }
        match self.missing_of_chain(chain) {
            Some(missing) if !chain.is_none() => Err(missing),
            _ => Ok(self.described_chain(chain, entities)),
        }
    }

    /// What is missing will not come any more.
    pub(crate) fn give_up(&mut self, missing: Missing, entities: &mut EntityStore) {
        match missing {
            Missing::Class(class) => _ = self.class(class, entities),
            Missing::Method(method) => _ = self.method(method, entities),
            Missing::Chain(chain) => _ = self.described_chain(chain, entities),
            Missing::Thread(_) | Missing::JavaThread(_) => {}
        }
    }

    /// How much could not be resolved.
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The chain as it is described now.
    fn described_chain(&mut self, chain: ChainId, entities: &mut EntityStore) -> ChainIndex {
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

    fn method(&mut self, method: MethodId, entities: &mut EntityStore) -> MethodIndex {
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

    pub(crate) fn class(&mut self, class: ClassId, entities: &mut EntityStore) -> ClassIndex {
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
    /// first of its superclasses that is known. Fails if one has to be described first.
    pub(crate) fn synchronizer(
        &mut self,
        class: ClassId,
        entities: &mut EntityStore,
    ) -> Result<Synchronizer, Missing> {
        if let Some((last, synchronizer)) = self.last_synchronizer
            && last == class
        {
            return Ok(synchronizer);
        }
        if let Some(&synchronizer) = self.synchronizers.get(&class) {
            self.last_synchronizer = Some((class, synchronizer));
            return Ok(synchronizer);
        }
        let mut next = class;
        let mut found = None;
        // A damaged trace can have a circle of superclasses.
        for _ in 0..self.super_classes.len() + 1 {
            if next.is_none() || found.is_some() {
                break;
            }
            if let Some(missing) = self.missing_of_class(next) {
                return Err(missing);
            }
            let index = self.class(next, entities);
            found = Synchronizer::of_class(entities.class_name(index));
            next = self.super_classes.get(&next).copied().unwrap_or_default();
        }
        let synchronizer = found.unwrap_or(Synchronizer::Other);
        if !self.classes.retired.contains(class) {
            self.synchronizers.insert(class, synchronizer);
        }
        Ok(synchronizer)
    }

    fn count_retired(&mut self, refers_to_retired: bool) {
        self.counters
            .add(Counter::RetiredReferences, refers_to_retired.into());
    }

    /// Notes that the loader defined the class. The JVM's own loader lives as long as the JVM.
    fn defined(&mut self, class: ClassId, loader: LoaderId) {
        if !loader.is_none() {
            self.loaders.entry(loader).or_default().insert(class);
        }
    }
}
