//! A cache of names.

use std::collections::HashMap;
use std::rc::Rc;

use foldhash::fast::RandomState;
use trace_analysis::{Entities, Value};

/// A cache of the names of values.
#[derive(Debug, Default)]
pub(super) struct Names(HashMap<Value, Rc<str>, RandomState>);

impl Names {
    /// The most names. Then all are forgotten.
    const MAX: usize = 1 << 16;

    /// Returns the key of `value`, which is the same in every run.
    pub(super) fn key(&mut self, value: Value, entities: &Entities) -> Rc<str> {
        if let Some(name) = self.0.get(&value) {
            return Rc::clone(name);
        }
        if self.0.len() == Self::MAX {
            self.0.clear();
        }
        let name: Rc<str> = value.key(entities).into();
        self.0.insert(value, Rc::clone(&name));
        name
    }
}
