//! The methods that call chains stand for.

use crate::aspect::Value;
use crate::entity::{ChainIndex, ClassIndex, Entities, LockIndex};

/// Remembers where the program stands in a call chain ([`Entities::code`]), which
/// can be many frames away. That depends on the chain and on the class of the lock,
/// and nearly every chain is about locks of one class.
#[derive(Debug, Default)]
pub(crate) struct MethodTable {
    /// What was found last, by chain.
    known: Vec<Option<Known>>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    lock_class: Option<ClassIndex>,
    value: Value,
}

impl MethodTable {
    /// The method, or the chain itself if it has no frames.
    #[inline]
    pub(crate) fn value(
        &mut self,
        chain: ChainIndex,
        lock: LockIndex,
        entities: &Entities,
    ) -> Value {
        let lock_class = entities.lock_class(lock);
        let index = chain.0 as usize;
        match self.known.get(index) {
            Some(Some(known)) if known.lock_class == lock_class => return known.value,
            Some(_) => {}
            None => self.known.resize(index + 1, None),
        }
        let value = match entities.code(chain, lock) {
            Some(frame) => Value::Method(frame.method),
            None => Value::Chain(chain),
        };
        self.known[index] = Some(Known { lock_class, value });
        value
    }
}
