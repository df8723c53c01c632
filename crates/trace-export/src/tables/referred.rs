//! Tables of the entities that waits refer to.

use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use foldhash::fast::RandomState;
use indexmap::{IndexMap, IndexSet};
use trace_analysis::{ChainIndex, Entities, Lock, LockIndex, MethodIndex, ThreadIndex, Value};

use super::column::Cell;
use super::table::{Finished, Table};

/// The entities that waits refer to. Threads and locks are numbered as they are found; the names of
/// chains and methods are the same in every run.
#[derive(Debug, Default)]
pub(super) struct Referred {
    threads: IndexSet<ThreadIndex, RandomState>,
    /// With the class as a report names it.
    locks: IndexMap<LockIndex, Rc<str>, RandomState>,
    chains: IndexSet<ChainIndex, RandomState>,
    /// The placeholders of methods.
    methods: IndexMap<Value, MethodIndex, RandomState>,
}

impl Referred {
    /// Returns the number of a thread. Its name may still change.
    pub(super) fn thread(&mut self, thread: ThreadIndex) -> u64 {
        self.threads.insert_full(thread).0 as u64
    }

    /// Returns the number of a lock.
    pub(super) fn lock(&mut self, lock: LockIndex, class: &Rc<str>) -> u64 {
        let entry = self.locks.entry(lock);
        let number = entry.index() as u64;
        entry.or_insert_with(|| Rc::clone(class));
        number
    }

    /// Notes a chain.
    pub(super) fn chain(&mut self, chain: ChainIndex) -> ChainIndex {
        self.chains.insert(chain);
        chain
    }

    /// Notes a value that stands for a method.
    pub(super) fn method(&mut self, value: Value, method: MethodIndex) {
        self.methods.insert(value, method);
    }

    pub(super) fn write_threads(
        &self,
        mut table: Table,
        entities: &Entities,
    ) -> io::Result<Finished> {
        for (number, &index) in (0..).zip(&self.threads) {
            let thread = entities.thread(index);
            table.push([
                Cell::Number(number),
                Cell::Number(thread.java_id.0),
                Cell::Text(&thread.name),
            ])?;
        }
        table.finish()
    }

    pub(super) fn write_locks(
        &self,
        mut table: Table,
        entities: &Entities,
    ) -> io::Result<Finished> {
        for (number, (&index, class)) in (0..).zip(&self.locks) {
            let identity_hash = match entities.lock(index) {
                Lock::Object { identity_hash, .. } => Some(u64::from(identity_hash)),
                Lock::NotDescribed { .. } | Lock::NoBlocker | Lock::Forgotten => None,
            };
            table.push([
                Cell::Number(number),
                Cell::Text(class),
                Cell::from(identity_hash),
                Cell::Text(&entities.lock_name(index)),
            ])?;
        }
        table.finish()
    }

    /// Writes a row for each frame.
    pub(super) fn write_chains(
        &self,
        mut table: Table,
        entities: &Entities,
    ) -> io::Result<Finished> {
        for &index in &self.chains {
            let chain = entities.chain(index);
            let key = Value::Chain(index).key(entities);
            for (depth, frame) in (0..).zip(chain.frames()) {
                table.push([
                    Cell::Text(&key),
                    Cell::Number(depth),
                    Cell::Text(&Value::Method(frame.method).key(entities)),
                    Cell::from(u64::try_from(frame.line).ok()),
                    Cell::from(u64::try_from(frame.bci).ok()),
                    Cell::Flag(chain.is_truncated()),
                ])?;
            }
        }
        table.finish()
    }

    /// Writes the methods of all frames, and their placeholders in the tables of waits.
    pub(super) fn write_methods(
        &self,
        mut table: Table,
        entities: &Entities,
    ) -> io::Result<Finished> {
        let of_chain = |&chain: &ChainIndex| entities.chain(chain).frames();
        let frames = self.chains.iter().flat_map(of_chain);
        let in_chains = frames.map(|frame| (Value::Method(frame.method), frame.method));
        let in_waits = self.methods.iter().map(|(&value, &method)| (value, method));
        let keyed = in_chains.chain(in_waits);
        let methods: IndexMap<Value, MethodIndex, RandomState> = keyed.collect();
        let methods: BTreeMap<_, _> = methods
            .into_iter()
            .map(|(value, method)| (value.key(entities), method))
            .collect();
        for (key, index) in methods {
            let method = entities.method(index);
            let class = method.class.map(|class| entities.class_name(class));
            let file = method.class.map(|class| entities.source_file(class));
            table.push([
                Cell::Text(&key),
                Cell::from(class),
                Cell::Text(&method.name),
                Cell::Text(&method.signature),
                Cell::from(file.filter(|file| !file.is_empty())),
            ])?;
        }
        table.finish()
    }
}
