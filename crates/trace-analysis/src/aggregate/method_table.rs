//! The methods that call chains stand for.

use crate::aggregate::value::Value;
use crate::model::entity::{ChainIndex, ClassIndex, Entities, Frame, LockIndex, MethodIndex};
use crate::model::library;

/// Remembers where the program stands in a call chain ([`Entities::code`]), which
/// can be many frames away. That depends on the chain and on the class of the lock,
/// and nearly every chain is about locks of one class.
#[derive(Clone, Debug, Default)]
pub struct MethodTable {
    /// What was found last, by chain.
    known: Vec<Option<Known>>,
    /// The caller of the JDK and the libraries, by chain.
    callers: Vec<Option<Value>>,
    /// Where chains allocate objects.
    sites: Vec<Option<Value>>,
    /// Packages and classes that are libraries.
    libraries: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    lock_class: Option<ClassIndex>,
    value: Value,
    /// The innermost position found so far, whatever the class.
    position: usize,
}

impl MethodTable {
    /// An empty table. Beside the JDK, what begins with one of `libraries` is no caller.
    pub fn new(libraries: Vec<String>) -> Self {
        Self {
            libraries,
            ..Self::default()
        }
    }

    /// The method, unless it was cut off, or the chain itself if it has no frames.
    #[inline]
    pub fn value(&mut self, chain: ChainIndex, lock: LockIndex, entities: &Entities) -> Value {
        let lock_class = entities.lock_class(lock);
        let index = chain.0 as usize;
        match self.known.get(index) {
            Some(Some(known)) if known.lock_class == lock_class => return known.value,
            Some(_) => {}
            None => self.known.resize(index + 1, None),
        }
        let position = entities.code(chain, lock_class);
        let frames = entities.chain(chain).frames();
        let frame = position.and_then(|position| frames.get(position));
        let value = match frame {
            Some(frame) if position != Some(0) && entities.is_in_object_wait(chain) => {
                Value::MethodInWait(frame.method)
            }
            Some(frame) => Value::Method(frame.method),
            None if frames.is_empty() => Value::Chain(chain),
            None => Value::CutShort,
        };
        let known = &mut self.known[index];
        let position = position.unwrap_or(0);
        *known = Some(Known {
            lock_class,
            value,
            position: known.map_or(position, |known| known.position.min(position)),
        });
        value
    }

    /// The chain, of which [`position`](Self::position) is known from now on.
    #[inline]
    pub(crate) fn chain(
        &mut self,
        chain: ChainIndex,
        lock: LockIndex,
        entities: &Entities,
    ) -> Value {
        self.value(chain, lock, entities);
        Value::Chain(chain)
    }

    /// What is no caller.
    pub fn libraries(&self) -> &[String] {
        &self.libraries
    }

    /// Takes over what another table has found.
    pub fn merge(&mut self, other: &Self) {
        if self.known.len() < other.known.len() {
            self.known.resize(other.known.len(), None);
        }
        for (known, &found) in self.known.iter_mut().zip(&other.known) {
            *known = match (*known, found) {
                (Some(known), Some(found)) => Some(Known {
                    position: known.position.min(found.position),
                    ..known
                }),
                (known, found) => known.or(found),
            };
        }
    }

    /// Which frame of `chain` the program stands in: of several that were found, as for locks
    /// of several classes, the innermost one; the innermost one of all if nobody asked.
    pub fn position(&self, chain: ChainIndex) -> usize {
        let known = self.known.get(chain.0 as usize).copied().flatten();
        known.map_or(0, |known| known.position)
    }

    /// The method is of the program itself: neither of the JDK nor of a library.
    pub fn is_program(&self, method: MethodIndex, entities: &Entities) -> bool {
        let class = entities.method(method).class;
        class.is_none_or(|class| {
            !entities.is_jdk(class) && !self.is_library(entities.class_name(class))
        })
    }

    fn is_library(&self, class: &str) -> bool {
        let mut libraries = self.libraries.iter();
        libraries.any(|library| library::has_prefix(class, library))
    }

    /// The innermost method that is of the program itself, unless it was cut off; the chain if it has no frames.
    #[inline]
    pub(crate) fn caller(&mut self, chain: ChainIndex, entities: &Entities) -> Value {
        let index = chain.0 as usize;
        if index >= self.callers.len() {
            self.callers.resize(index + 1, None);
        }
        if let Some(known) = self.callers[index] {
            return known;
        }
        let frames = entities.chain(chain).frames();
        let program = frames
            .iter()
            .find(|frame| self.is_program(frame.method, entities));
        let value = match program {
            Some(frame) => Value::Method(frame.method),
            None if frames.is_empty() => Value::Chain(chain),
            None if entities.chain(chain).is_truncated() => Value::CutShort,
            None => Value::NoCaller,
        };
        self.callers[index] = Some(value);
        value
    }

    /// Returns where a lock was allocated: the innermost position in the program itself, or else
    /// the innermost of all; the chain if it has no frames.
    pub fn site(&mut self, lock: LockIndex, entities: &Entities) -> Value {
        let Some(chain) = entities.lock_site(lock) else {
            return Value::SiteNotSeen;
        };
        let index = chain.0 as usize;
        if index >= self.sites.len() {
            self.sites.resize(index + 1, None);
        }
        if let Some(known) = self.sites[index] {
            return known;
        }
        let mut frames = entities.chain(chain).frames().iter();
        let innermost = frames.clone().next();
        let program = frames.find(|frame| self.is_program(frame.method, entities));
        let value = match program.or(innermost) {
            Some(&Frame { method, line, .. }) => Value::Site { method, line },
            None => Value::Chain(chain),
        };
        self.sites[index] = Some(value);
        value
    }
}
