//! Rows of a comparison.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use trace_analysis::{Aspect, Entities, Overloads, Value};

use crate::resampling::Change;

/// The amount of contention on one side.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// Waits.
    pub waits: u64,
    /// Blocked time of all runs, in nanoseconds.
    pub duration_ns: u64,
    /// Blocked time per second or unit of work, in nanoseconds.
    pub rate_ns: f64,
}

/// The change of a row.
#[derive(Clone, Debug)]
pub struct ComparedRow {
    /// Its value under each aspect.
    pub values: Vec<NamedValue>,
    /// The amount before.
    pub before: Amount,
    /// The amount after.
    pub after: Amount,
    /// The difference.
    pub change: Change,
}

/// A value of an aspect.
#[derive(Clone, Debug)]
pub struct NamedValue {
    /// The aspect.
    pub aspect: Aspect,
    /// Text that stands for the same entity in every analysis.
    pub key: String,
    /// Text for people.
    pub label: String,
}

/// The names of values, which are looked up once.
pub(crate) struct Names<'e> {
    entities: &'e Entities,
    overloads: Overloads<'e>,
    keys: HashMap<Value, String, RandomState>,
    /// The keys that share a label, by label.
    same_label: HashMap<String, Vec<String>, RandomState>,
}

impl<'e> Names<'e> {
    pub(crate) fn new(entities: &'e Entities) -> Self {
        Self {
            entities,
            overloads: Overloads::new(entities),
            keys: HashMap::default(),
            same_label: HashMap::default(),
        }
    }

    /// Returns the keys that stand for the same entities in each of the traces.
    pub(crate) fn keys(&mut self, path: &[Value]) -> Vec<String> {
        path.iter().map(|&value| self.key(value)).collect()
    }

    fn key(&mut self, value: Value) -> String {
        if let Some(known) = self.keys.get(&value) {
            return known.clone();
        }
        let key = value.key(self.entities);
        let label = value.label(self.entities, &self.overloads);
        let same = self.same_label.entry(label).or_default();
        if !same.contains(&key) {
            same.push(key.clone());
        }
        self.keys.insert(value, key.clone());
        key
    }

    /// Returns the name for people.
    pub(crate) fn name(&mut self, aspect: Aspect, value: Value) -> NamedValue {
        let key = self.key(value);
        let label = value.label(self.entities, &self.overloads);
        let is_shared = self
            .same_label
            .get(&label)
            .is_some_and(|keys| keys.len() > 1);
        let long = is_shared.then(|| value.long_label(self.entities, &self.overloads));
        NamedValue {
            aspect,
            key,
            label: long.flatten().unwrap_or(label),
        }
    }
}
