//! The values by which contentions are distinguished.

use crate::aggregate::overloads::Overloads;
use crate::aggregate::pattern::Pattern;
use crate::model::entity::{
    ChainIndex, ClassIndex, Entities, Lock, LockIndex, MethodIndex, ThreadIndex,
};
use crate::model::label::simple_name;
use crate::model::placeholder::{
    CUT_SHORT, CYCLE, FREE, FROZEN, NO_CALLER, NOT_SAMPLED, OTHER, SITE_NOT_SEEN,
};
use crate::model::wait::{Mechanism, OwnerActivity, UnknownOwner, WaitEnd, WaitKind};

/// What a contention is under an aspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A mechanism.
    Mechanism(Mechanism),
    /// What threads wait for.
    Kind(WaitKind),
    /// A class of locks.
    Class(ClassIndex),
    /// The `java.lang.Class` object of a class.
    ClassObject(ClassIndex),
    /// The initialization of a class.
    ClassInitialization(ClassIndex),
    /// A lock object; under [`LockClass`](crate::Aspect::LockClass) one without a description.
    Lock(LockIndex),
    /// Where locks were allocated.
    Site {
        /// The method that did.
        method: MethodIndex,
        /// Source line, -1 where not known.
        line: i32,
    },
    /// Where the lock was allocated is not known.
    SiteNotSeen,
    /// A thread.
    Thread(ThreadIndex),
    /// A thread where one asks for a method: it holds a lock that no method acquires.
    OwnerThread(ThreadIndex),
    /// A method.
    Method(MethodIndex),
    /// A method that called `Object.wait`, and is about to come back from it.
    MethodInWait(MethodIndex),
    /// No frame is of the program itself.
    NoCaller,
    /// The frame is among those that the tracer cut off.
    CutShort,
    /// A call chain; under an aspect of methods one without frames.
    Chain(ChainIndex),
    /// All values that were not distinguished for lack of memory.
    Other,
    /// Nobody held the lock.
    Free,
    /// The process did not run.
    Frozen,
    /// Nobody is known to have held the lock.
    UnknownOwner(UnknownOwner),
    /// The threads of a chain of owners waited for each other.
    Cycle,
    /// How many waits a chain of owners consists of.
    Depth(u32),
    /// What the owner did.
    Activity(OwnerActivity),
    /// Where the owner stood is not known.
    NotSampled,
    /// How waits ended.
    WaitEnd(WaitEnd),
}

impl Value {
    /// What a lock is under [`LockClass`](crate::Aspect::LockClass).
    pub fn of_lock_class(lock: LockIndex, entities: &Entities) -> Self {
        let Lock::Object {
            class,
            mirrored_class,
            ..
        } = entities.lock(lock)
        else {
            return Value::Lock(lock);
        };
        match mirrored_class {
            None => Value::Class(class),
            Some(mirrored) if entities.initialized_class(lock).is_some() => {
                Value::ClassInitialization(mirrored)
            }
            Some(mirrored) => Value::ClassObject(mirrored),
        }
    }

    /// Returns text for people that depends on nothing else: a method is called by class and name.
    pub fn name(self, entities: &Entities) -> String {
        match self {
            Value::Method(method) => entities.method_label(method),
            Value::MethodInWait(method) => method_in_wait(&entities.method_label(method)),
            Value::OwnerThread(thread) => owner_thread(&entities.thread(thread).name),
            Value::Mechanism(Mechanism::Monitor) => "intrinsic locks".to_owned(),
            Value::Mechanism(Mechanism::Park) => "java.util.concurrent".to_owned(),
            Value::Kind(kind) => kind.name().to_owned(),
            Value::Class(class) => entities.class_name(class).to_owned(),
            Value::ClassObject(class) => entities.class_object_label(class),
            Value::ClassInitialization(class) => entities.initialization_label(class),
            Value::Lock(lock) => entities.lock_name(lock),
            Value::Site { method, line } => entities.position_label(method, line),
            Value::SiteNotSeen => SITE_NOT_SEEN.to_owned(),
            Value::Thread(thread) => entities.thread(thread).name.to_string(),
            Value::NoCaller => NO_CALLER.to_owned(),
            Value::CutShort => CUT_SHORT.to_owned(),
            Value::Chain(chain) => entities.chain_label(chain, 0),
            Value::Other => OTHER.to_owned(),
            Value::Free => FREE.to_owned(),
            Value::Frozen => FROZEN.to_owned(),
            Value::UnknownOwner(reason) => format!("<owner unknown: {}>", reason.label()),
            Value::Cycle => CYCLE.to_owned(),
            Value::Depth(depth) => depth.to_string(),
            Value::Activity(activity) => activity.label().to_owned(),
            Value::NotSampled => NOT_SAMPLED.to_owned(),
            Value::WaitEnd(end) => end.label().to_owned(),
        }
    }

    /// Returns whether one of the patterns matches the value's name or key; the name of a lock, or of a class of
    /// locks, that is called after its user also without its package, as it then stands in reports.
    pub fn is_called(self, patterns: &[Pattern], entities: &Entities) -> bool {
        let name = self.name(entities);
        let class = match self {
            Value::Lock(lock) => entities.lock_class(lock),
            Value::Class(class) => Some(class),
            _ => None,
        };
        let is_simple = class.is_some_and(|class| entities.has_user(class));
        let simple = is_simple.then(|| simple_name(&name).to_owned());
        let names = [Some(name), Some(self.key(entities)), simple];
        let mut names = names.iter().flatten();
        names.any(|name| patterns.iter().any(|pattern| pattern.matches(name)))
    }

    /// Text for people; of a call chain, of its innermost frame.
    pub fn label(self, entities: &Entities, overloads: &Overloads<'_>) -> String {
        match self {
            Value::Method(method) => overloads.label(method),
            Value::MethodInWait(method) => method_in_wait(&overloads.label(method)),
            Value::Lock(lock) => entities.lock_label(lock),
            Value::Class(class) => entities.lock_class_label(class),
            _ => self.name(entities),
        }
    }

    /// Returns a text for people that distinguishes values with the same label, if there is one.
    pub fn long_label(self, entities: &Entities, overloads: &Overloads<'_>) -> Option<String> {
        Some(match self {
            Value::Thread(thread) => entities.thread_long_label(thread),
            Value::OwnerThread(thread) => owner_thread(&entities.thread_long_label(thread)),
            Value::Method(method) => overloads.long_label(method),
            Value::MethodInWait(method) => method_in_wait(&overloads.long_label(method)),
            _ => return None,
        })
    }

    /// Returns text that stands for the same thing in every analysis, and
    /// for another thing never.
    pub fn key(self, entities: &Entities) -> String {
        match self {
            Value::Mechanism(mechanism) => mechanism.name().to_owned(),
            Value::Kind(kind) => kind.name().to_owned(),
            Value::Class(class) => entities.class_name(class).to_owned(),
            Value::ClassObject(class) => entities.class_object_label(class),
            Value::ClassInitialization(class) => entities.initialization_label(class),
            Value::Lock(lock) => entities.lock_id(lock),
            Value::Site { method, line } => format!("{}:{line}", entities.method_key(method)),
            Value::SiteNotSeen => "<allocation-not-seen>".to_owned(),
            Value::Thread(thread) | Value::OwnerThread(thread) => entities.thread_key(thread),
            Value::Method(method) => entities.method_key(method),
            Value::MethodInWait(method) => {
                format!("java.lang.Object.wait ← {}", entities.method_key(method))
            }
            Value::NoCaller => NO_CALLER.to_owned(),
            Value::CutShort => CUT_SHORT.to_owned(),
            Value::Chain(chain) => entities.chain_key(chain),
            Value::Other => OTHER.to_owned(),
            Value::Free => "<free>".to_owned(),
            Value::Frozen => "<frozen>".to_owned(),
            Value::UnknownOwner(reason) => format!("<{}>", reason.name()),
            Value::Cycle => "<cycle>".to_owned(),
            Value::Depth(depth) => depth.to_string(),
            Value::Activity(activity) => activity.name().to_owned(),
            Value::NotSampled => "<not-sampled>".to_owned(),
            Value::WaitEnd(end) => end.name().to_owned(),
        }
    }
}

fn method_in_wait(method: &str) -> String {
    format!("Object.wait ← {method}")
}

fn owner_thread(thread: &str) -> String {
    format!("thread {thread}")
}
