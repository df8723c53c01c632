//! Which code is affected by a change, by what it is called as the code of owners.

use std::cell::RefCell;

use crate::aggregate::method_table::MethodTable;
use crate::aggregate::value::Value;
use crate::collections::hash::SeededMap;
use crate::model::entity::{ChainIndex, Entities, LockIndex};

/// The code of owners that is wanted; remembers what it was asked.
pub struct OwnerCode<F> {
    is_wanted: F,
    asked: RefCell<Asked>,
}

#[derive(Default)]
struct Asked {
    methods: MethodTable,
    known: SeededMap<Value, bool>,
}

impl<F: Fn(Value) -> bool> OwnerCode<F> {
    /// Code is wanted if what it is under [`Aspect::OwnerMethod`](crate::Aspect::OwnerMethod) is.
    pub fn new(is_wanted: F) -> Self {
        Self {
            is_wanted,
            asked: RefCell::default(),
        }
    }

    /// Whether the code is wanted in which an owner of `lock` stands in `chain`.
    pub fn has(&self, chain: ChainIndex, lock: LockIndex, entities: &Entities) -> bool {
        let mut asked = self.asked.borrow_mut();
        let value = asked.methods.value(chain, lock, entities);
        let known = asked.known.entry(value);
        *known.or_insert_with(|| (self.is_wanted)(value))
    }
}
