//! The tables of waiters and of owners.
//!
//! A wait refers to one waiter, and each of its shares to one owner. There are far fewer of either than
//! combinations of both.

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};
use trace_analysis::{
    ChainIndex, ClassIndex, Entities, LockIndex, Mechanism, MethodTable, Owner, ThreadIndex, Value,
    Wait, WaitKind,
};

use crate::dimension::{Dimension, Label, LabelIndex, OWNER_ASPECTS, WAITER_ASPECTS};
use crate::hash::SeededMap;
use crate::known_names::KnownNames;
use crate::limits::Limits;

/// The labels of a waiter, by [`WAITER_ASPECTS`], and the trace.
pub(crate) type WaiterLabels = [LabelIndex; WAITER_ASPECTS.len() + 1];
/// The labels of an owner, by [`OWNER_ASPECTS`].
pub(crate) type OwnerLabels = [LabelIndex; OWNER_ASPECTS.len()];

/// A thread that waits for a lock at a place in its code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiter {
    pub(crate) labels: WaiterLabels,
    pub(crate) mechanism: Mechanism,
    pub(crate) kind: WaitKind,
    pub(crate) trace: u16,
}

/// The position of a waiter in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct WaiterIndex(pub(crate) u32);

/// The position of an owner in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct OwnerIndex(pub(crate) u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct WaiterKey {
    trace: u16,
    mechanism: Mechanism,
    kind: WaitKind,
    lock: LockIndex,
    thread: ThreadIndex,
    chain: ChainIndex,
}

/// An owner's code depends on the lock, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct OwnerKey {
    lock_class: Option<ClassIndex>,
    is_initialization: bool,
    owner: Owner,
}

/// The position of [`Label::Folded`].
const FOLDED: u32 = 0;

/// The waiters and owners of a model.
#[derive(Debug)]
pub(crate) struct Tables {
    labels: IndexSet<Label, foldhash::fast::RandomState>,
    waiters: Vec<Waiter>,
    owners: Vec<OwnerLabels>,
    waiter_by_key: SeededMap<WaiterKey, WaiterIndex>,
    owner_by_key: SeededMap<OwnerKey, OwnerIndex>,
    waiter_by_code: SeededMap<WaiterLabels, WaiterIndex>,
    owner_by_code: SeededMap<OwnerLabels, OwnerIndex>,
    methods: MethodTable,
    known_names: KnownNames,
    max_waiters: usize,
    max_owners: usize,
}

impl Tables {
    pub(crate) fn new(limits: &Limits, libraries: Vec<String>) -> Self {
        Self {
            labels: [Label::Folded].into_iter().collect(),
            waiters: Vec::new(),
            owners: Vec::new(),
            waiter_by_key: SeededMap::default(),
            owner_by_key: SeededMap::default(),
            waiter_by_code: SeededMap::default(),
            owner_by_code: SeededMap::default(),
            methods: MethodTable::new(libraries),
            known_names: KnownNames::default(),
            max_waiters: limits.waiters,
            max_owners: limits.owners,
        }
    }

    /// Creates tables from [stored](crate::StoredModel), consistent ones. Only code can be added.
    pub(crate) fn from_stored(
        limits: &Limits,
        labels: Vec<Label>,
        known_names: KnownNames,
        waiters: Vec<Waiter>,
        owners: Vec<OwnerLabels>,
    ) -> Self {
        let mut tables = Self {
            labels: labels.into_iter().collect(),
            known_names,
            waiters,
            owners,
            ..Self::new(limits, Vec::new())
        };
        for (index, waiter) in (0..).zip(&tables.waiters) {
            if tables.code_of_waiter(*waiter).labels == waiter.labels {
                tables
                    .waiter_by_code
                    .insert(waiter.labels, WaiterIndex(index));
            }
        }
        for (index, owner) in (0..).zip(&tables.owners) {
            if tables.code_of_owner(*owner) == *owner {
                tables.owner_by_code.insert(*owner, OwnerIndex(index));
            }
        }
        tables
    }

    /// Returns the waiter of `wait`, which is from this trace.
    pub(crate) fn waiter(&mut self, wait: &Wait, trace: u16, entities: &Entities) -> WaiterIndex {
        let key = WaiterKey {
            trace,
            mechanism: wait.mechanism,
            kind: wait.kind,
            lock: wait.lock,
            thread: wait.thread,
            chain: wait.chain,
        };
        if let Some(&known) = self.waiter_by_key.get(&key) {
            return known;
        }
        let mut labels = [LabelIndex(0); WAITER_ASPECTS.len() + 1];
        for (label, aspect) in labels.iter_mut().zip(WAITER_ASPECTS) {
            let value = aspect.value(wait, Owner::Free, entities, &mut self.methods);
            *label = self.add_label(Label::Value(value));
        }
        labels[WAITER_ASPECTS.len()] = self.add_label(Label::Trace(trace));
        let waiter = Waiter {
            labels,
            mechanism: wait.mechanism,
            kind: wait.kind,
            trace,
        };
        if self.waiters.len() >= self.max_waiters {
            return self.waiter_code(waiter);
        }
        let index = WaiterIndex(self.waiters.len() as u32);
        self.waiters.push(waiter);
        self.waiter_by_key.insert(key, index);
        index
    }

    /// Returns the owner of a part of `wait`.
    pub(crate) fn owner(&mut self, wait: &Wait, owner: Owner, entities: &Entities) -> OwnerIndex {
        let is_known = owner.thread().is_some();
        let key = OwnerKey {
            lock_class: entities.lock_class(wait.lock).filter(|_| is_known),
            is_initialization: is_known && entities.initialized_class(wait.lock).is_some(),
            owner,
        };
        if let Some(&known) = self.owner_by_key.get(&key) {
            return known;
        }
        let mut labels = [LabelIndex(0); OWNER_ASPECTS.len()];
        for (label, aspect) in labels.iter_mut().zip(OWNER_ASPECTS) {
            let value = aspect.value(wait, owner, entities, &mut self.methods);
            *label = self.add_label(Label::Value(value));
        }
        if self.owners.len() >= self.max_owners {
            return self.owner_code(labels);
        }
        let index = OwnerIndex(self.owners.len() as u32);
        self.owners.push(labels);
        self.owner_by_key.insert(key, index);
        index
    }

    /// Returns the waiter with the same code, without thread and lock.
    pub(crate) fn without_thread(&mut self, waiter: WaiterIndex) -> WaiterIndex {
        self.waiter_code(self.waiters[waiter.0 as usize])
    }

    /// Removes the thread and the lock from a waiter.
    fn code_of_waiter(&self, mut waiter: Waiter) -> Waiter {
        let folded = self.folded_label();
        for (label, aspect) in waiter.labels.iter_mut().zip(WAITER_ASPECTS) {
            use trace_analysis::Aspect::{Lock, Thread};
            if matches!(aspect, Lock | Thread) {
                *label = folded;
            }
        }
        waiter
    }

    fn waiter_code(&mut self, waiter: Waiter) -> WaiterIndex {
        let waiter = self.code_of_waiter(waiter);
        let next = WaiterIndex(self.waiters.len() as u32);
        let index = *self.waiter_by_code.entry(waiter.labels).or_insert(next);
        if index == next {
            self.waiters.push(waiter);
        }
        index
    }

    /// Returns the owner with the same code, without a thread.
    pub(crate) fn owner_without_thread(&mut self, owner: OwnerIndex) -> OwnerIndex {
        self.owner_code(self.owners[owner.0 as usize])
    }

    /// Removes the thread from an owner.
    fn code_of_owner(&self, mut labels: OwnerLabels) -> OwnerLabels {
        let thread = Dimension::Aspect(trace_analysis::Aspect::OwnerThread).column();
        // What is not a thread, as a free lock, is the same everywhere.
        if self.is_thread(self.label(labels[thread])) {
            labels[thread] = self.folded_label();
        }
        labels
    }

    fn owner_code(&mut self, labels: OwnerLabels) -> OwnerIndex {
        let labels = self.code_of_owner(labels);
        let next = OwnerIndex(self.owners.len() as u32);
        let index = *self.owner_by_code.entry(labels).or_insert(next);
        if index == next {
            self.owners.push(labels);
        }
        index
    }

    /// Returns the owner that stands for all folded ones.
    pub(crate) fn folded_owner(&mut self) -> OwnerIndex {
        let folded = self.folded_label();
        self.owner_code([folded; OWNER_ASPECTS.len()])
    }

    /// Returns the label that stands for all folded ones.
    pub(crate) fn folded_label(&self) -> LabelIndex {
        LabelIndex(FOLDED)
    }

    fn add_label(&mut self, label: Label) -> LabelIndex {
        LabelIndex(self.labels.insert_full(label).0 as u32)
    }

    pub(crate) fn label(&self, index: LabelIndex) -> Label {
        self.labels[index.0 as usize]
    }

    /// Returns a text that identifies the same thing in every analysis.
    pub(crate) fn key(&self, label: Label, entities: &Entities) -> String {
        match label {
            Label::Value(value) => value.key(entities),
            Label::Known(position) => self.known_names.label(position).key.clone(),
            Label::Trace(position) => position.to_string(),
            Label::Folded => "<folded>".to_owned(),
        }
    }

    /// Returns whether the label is a thread's.
    pub(crate) fn is_thread(&self, label: Label) -> bool {
        match label {
            Label::Value(value) => matches!(value, Value::Thread(_)),
            Label::Known(position) => self.known_names.label(position).is_thread,
            Label::Trace(_) | Label::Folded => false,
        }
    }

    /// Returns the names of labels that come from an index.
    pub(crate) fn known_names(&self) -> &KnownNames {
        &self.known_names
    }

    /// Returns all labels, in the order in which they came.
    pub(crate) fn labels(&self) -> impl ExactSizeIterator<Item = Label> {
        self.labels.iter().copied()
    }

    pub(crate) fn waiters(&self) -> &[Waiter] {
        &self.waiters
    }

    pub(crate) fn owners(&self) -> &[OwnerLabels] {
        &self.owners
    }

    /// Returns the label of a waiter in a dimension that is not of owners.
    #[inline]
    pub(crate) fn of_waiter(&self, waiter: WaiterIndex, dimension: Dimension) -> LabelIndex {
        self.waiters[waiter.0 as usize].labels[dimension.column()]
    }

    /// Returns the label of an owner in a dimension of owners.
    #[inline]
    pub(crate) fn of_owner(&self, owner: OwnerIndex, dimension: Dimension) -> LabelIndex {
        self.owners[owner.0 as usize][dimension.column()]
    }

    pub(crate) fn methods(&self) -> &MethodTable {
        &self.methods
    }
}
