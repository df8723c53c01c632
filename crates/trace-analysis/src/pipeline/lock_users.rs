//! Finds out which classes use the locks whose own class does not say what they are for: those of
//! `java.util.concurrent`, and plain objects.

use trace_format::LockId;

use crate::aggregate::method_table::MethodTable;
use crate::aggregate::value::Value;
use crate::collections::cached_map::CachedMap;
use crate::model::entity::{ChainIndex, LockIndex};
use crate::model::entity_store::EntityStore;
use crate::order::lock_event::LockEvent;

/// How many pairs of a lock and a chain are remembered.
const RECENT: usize = 256;

/// Notes the users of locks, in the order of the trace.
#[derive(Debug)]
pub(crate) struct LockUserFinder {
    /// Intrinsic locks that are called after their users.
    monitors: CachedMap<LockId, LockIndex>,
    /// Pairs that were noted, by a remainder.
    recent: [Option<(LockIndex, ChainIndex)>; RECENT],
    methods: MethodTable,
}

impl Default for LockUserFinder {
    fn default() -> Self {
        Self {
            monitors: CachedMap::default(),
            recent: [None; RECENT],
            methods: MethodTable::default(),
        }
    }
}

impl LockUserFinder {
    /// Takes the next event of an intrinsic lock.
    #[inline]
    pub(crate) fn event(&mut self, id: LockId, event: &LockEvent, entities: &mut EntityStore) {
        match *event {
            LockEvent::Description { lock } if has_user(lock, entities) => {
                self.monitors.insert(id, lock);
            }
            LockEvent::Enter { chain, .. } => {
                if let Some(&lock) = self.monitors.get(id) {
                    self.wait(lock, chain, entities);
                }
            }
            LockEvent::Retired => {
                self.monitors.remove(id);
            }
            _ => {}
        }
    }

    /// Takes a wait for a lock.
    #[inline]
    pub(crate) fn wait(&mut self, lock: LockIndex, chain: ChainIndex, entities: &mut EntityStore) {
        let pair = Some((lock, chain));
        let remainder = (lock.0 ^ chain.0.rotate_left(4)) as usize % RECENT;
        if self.recent[remainder] != pair {
            self.recent[remainder] = pair;
            self.note(lock, chain, entities);
        }
    }

    #[inline(never)]
    fn note(&mut self, lock: LockIndex, chain: ChainIndex, entities: &mut EntityStore) {
        if !has_user(lock, entities) {
            return;
        }
        let user = entities.constructing_class(lock).or_else(|| {
            match self.methods.value(chain, lock, entities) {
                Value::Method(method) | Value::MethodInWait(method) => {
                    entities.method(method).class
                }
                _ => None,
            }
        });
        entities.add_lock_user(lock, user);
    }
}

fn has_user(lock: LockIndex, entities: &EntityStore) -> bool {
    let class = entities.lock_class(lock);
    class.is_some_and(|class| entities.has_user(class))
}
