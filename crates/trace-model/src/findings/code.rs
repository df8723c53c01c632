//! Places in the code of owners and of threads that wait.

use trace_analysis::{ChainIndex, ClassIndex, Entities, Frame, MethodTable, Overloads, Value};

use super::finding::Code;

/// Names code for people and finds its place in call chains.
pub(crate) struct CodeNames<'a> {
    pub(crate) entities: &'a Entities,
    methods: &'a MethodTable,
    overloads: Overloads<'a>,
}

/// What a thread does with a read-write lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockMode {
    Read,
    Write,
}

const CONCURRENT: &str = "java.util.concurrent.";
const LOCK_SUPPORT: &str = "java.util.concurrent.locks.LockSupport";
const STAMPED_LOCK: &str = "java.util.concurrent.locks.StampedLock";

impl<'a> CodeNames<'a> {
    pub(crate) fn new(entities: &'a Entities, methods: &'a MethodTable) -> Self {
        Self {
            entities,
            methods,
            overloads: Overloads::new(entities),
        }
    }

    pub(crate) fn label(&self, value: Value) -> String {
        value.label(self.entities, &self.overloads)
    }

    pub(crate) fn key(&self, value: Value) -> String {
        value.key(self.entities)
    }

    /// Returns the class of locks by what they are under the aspect of their class.
    pub(crate) fn lock_class(&self, value: Value) -> Option<ClassIndex> {
        match value {
            Value::Class(class) => Some(class),
            Value::Lock(lock) => self.entities.lock_class(lock),
            _ => None,
        }
    }

    /// Returns a method with its place in a call chain, which is about a lock of a class.
    pub(crate) fn code(
        &self,
        method: Value,
        chain: Option<ChainIndex>,
        class: Option<ClassIndex>,
    ) -> Code {
        let outer = chain.map_or(&[][..], |chain| {
            self.entities.frames_from_code(chain, class)
        });
        let is_program = |frame: &&Frame| self.methods.is_program(frame.method, self.entities);
        let own = outer.first();
        let caller = own
            .filter(|own| !is_program(own))
            .and_then(|_| outer.iter().find(is_program));
        let text = |frame: Option<&Frame>| {
            frame.map_or(String::new(), |frame| self.entities.frame_label(frame))
        };
        Code {
            key: self.key(method),
            label: self.label(method),
            frame: text(own),
            called_from: text(caller),
        }
    }

    /// Returns the method in which a thread waited.
    pub(crate) fn waiting_method(&self, chain: ChainIndex, class: Option<ClassIndex>) -> String {
        let frames = self.entities.frames_from_code(chain, class);
        let method = frames.first().map(|frame| Value::Method(frame.method));
        self.label(method.unwrap_or(Value::Chain(chain)))
    }

    /// Returns the method of the program that called the code in a chain: the first of another class.
    pub(crate) fn caller_of_code(
        &self,
        chain: ChainIndex,
        class: Option<ClassIndex>,
    ) -> Option<String> {
        let frames = self.entities.frames_from_code(chain, class);
        let own_class = self.class_of(frames.first()?);
        let mut callers = frames
            .iter()
            .filter(|frame| self.class_of(frame) != own_class);
        let caller = callers.find(|frame| self.methods.is_program(frame.method, self.entities))?;
        Some(self.label(Value::Method(caller.method)))
    }

    /// Returns where a thread was: the innermost method of the program itself, and what it called.
    pub(crate) fn place(&self, chain: ChainIndex) -> String {
        let frames = self.entities.chain(chain).frames();
        let is_program = |frame: &Frame| self.methods.is_program(frame.method, self.entities);
        let label = |frame: &Frame| self.label(Value::Method(frame.method));
        match frames.iter().position(is_program) {
            Some(0) => label(&frames[0]),
            Some(program) => format!(
                "{} ← {}",
                label(&frames[program - 1]),
                label(&frames[program])
            ),
            None => frames
                .first()
                .map_or_else(|| self.label(Value::Chain(chain)), label),
        }
    }

    /// Returns whether the method that waited calls `park` itself: there are no frames of
    /// `java.util.concurrent` in between.
    pub(crate) fn parks_directly(&self, chain: ChainIndex, class: Option<ClassIndex>) -> bool {
        if self.entities.is_in_object_wait(chain) {
            return false;
        }
        let inner = self.frames_before_code(chain, class);
        let is_own = |frame: &Frame| {
            let class = self.class_of(frame);
            class == LOCK_SUPPORT || !class.starts_with(CONCURRENT)
        };
        !inner.is_empty() && inner.iter().all(is_own)
    }

    /// Returns whether the code acquires or releases a lock to read or to write, by the frames of the lock
    /// (`ReentrantReadWriteLock.ReadLock`, `StampedLock.readLock`).
    pub(crate) fn lock_mode(
        &self,
        chain: ChainIndex,
        class: Option<ClassIndex>,
    ) -> Option<LockMode> {
        let inner = self.frames_before_code(chain, class);
        inner.iter().find_map(|frame| {
            let class = self.class_of(frame);
            let method = self.entities.method(frame.method).name.to_ascii_lowercase();
            let is = |kind: &str| match class {
                STAMPED_LOCK => method.contains(kind),
                _ => class.rsplit('$').next().is_some_and(|name| {
                    let name = name.to_ascii_lowercase();
                    name.starts_with(kind) && name.contains("lock")
                }),
            };
            match (is("read"), is("write")) {
                (true, _) => Some(LockMode::Read),
                (false, true) => Some(LockMode::Write),
                (false, false) => None,
            }
        })
    }

    /// Returns the method of `ConcurrentHashMap` in which a thread waited until another one had computed a value.
    pub(crate) fn map_method(&self, chain: ChainIndex) -> Option<String> {
        let innermost = self.entities.chain(chain).frames().first()?;
        let name = &*self.entities.method(innermost.method).name;
        let computes = name.starts_with("compute") || name == "merge";
        let is_map = self.class_of(innermost) == "java.util.concurrent.ConcurrentHashMap";
        (is_map && computes).then(|| name.to_owned())
    }

    fn class_of(&self, frame: &Frame) -> &str {
        let class = self.entities.method(frame.method).class;
        class.map_or("", |class| self.entities.class_name(class))
    }

    fn frames_before_code(&self, chain: ChainIndex, class: Option<ClassIndex>) -> &'a [Frame] {
        let position = self.entities.code(chain, class).unwrap_or(0);
        &self.entities.chain(chain).frames()[..position]
    }
}
