//! The aspects by which contentions are told apart (paper, section 4.2).

use std::fmt;
use std::str::FromStr;

use crate::contention::{Mechanism, Owner, UnknownOwner, Wait, WaitKind};
use crate::entity::{ChainIndex, ClassIndex, Entities, Lock, LockIndex, MethodIndex, ThreadIndex};
use crate::method_table::MethodTable;
use crate::overloads::Overloads;
use crate::placeholder::{FREE, NO_CALLER};

/// A property by which contentions are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aspect {
    /// Intrinsic locks or `java.util.concurrent`.
    Mechanism,
    /// What the thread waited for: a lock, another thread, work, or time.
    Kind,
    /// Class of the lock object.
    LockClass,
    /// The lock object.
    Lock,
    /// The thread that waited.
    Thread,
    /// The method that waited: the innermost of the call chain that is not the
    /// synchronizer's own.
    Method,
    /// The method of the program itself that waited: the innermost of the call chain
    /// that is neither the JDK's nor a library's.
    Caller,
    /// The call chain that waited.
    Chain,
    /// The thread that held the lock.
    OwnerThread,
    /// The method that held the lock: the innermost of the call chain that is not
    /// the synchronizer's own.
    OwnerMethod,
    /// The method of the program itself that held the lock: the innermost of the call
    /// chain that is neither the JDK's nor a library's.
    OwnerCaller,
    /// The call chain that held the lock.
    OwnerChain,
}

impl Aspect {
    /// All aspects.
    pub const ALL: [Aspect; 12] = [
        Aspect::Mechanism,
        Aspect::Kind,
        Aspect::LockClass,
        Aspect::Lock,
        Aspect::Thread,
        Aspect::Method,
        Aspect::Caller,
        Aspect::Chain,
        Aspect::OwnerThread,
        Aspect::OwnerMethod,
        Aspect::OwnerCaller,
        Aspect::OwnerChain,
    ];

    /// Returns the name on the command line and in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Aspect::Mechanism => "mechanism",
            Aspect::Kind => "kind",
            Aspect::LockClass => "lock-class",
            Aspect::Lock => "lock",
            Aspect::Thread => "thread",
            Aspect::Method => "method",
            Aspect::Caller => "caller",
            Aspect::Chain => "chain",
            Aspect::OwnerThread => "owner-thread",
            Aspect::OwnerMethod => "owner-method",
            Aspect::OwnerCaller => "owner-caller",
            Aspect::OwnerChain => "owner-chain",
        }
    }

    /// Depends on who is to blame. Under the others, all contentions of a wait are the
    /// same.
    pub(crate) fn is_of_owner(self) -> bool {
        matches!(
            self,
            Aspect::OwnerThread | Aspect::OwnerMethod | Aspect::OwnerCaller | Aspect::OwnerChain
        )
    }

    /// What a part of `wait` is under this aspect, for which `owner` is to blame.
    /// `methods` remembers what it has found.
    #[inline]
    pub(crate) fn value(
        self,
        wait: &Wait,
        owner: Owner,
        entities: &Entities,
        methods: &mut MethodTable,
    ) -> Value {
        match self {
            Aspect::Mechanism => Value::Mechanism(wait.mechanism),
            Aspect::Kind => Value::Kind(wait.kind),
            Aspect::LockClass => Value::of_lock_class(wait.lock, entities),
            Aspect::Lock => Value::Lock(wait.lock),
            Aspect::Thread => Value::Thread(wait.thread),
            Aspect::Method => methods.value(wait.chain, wait.lock, entities),
            Aspect::Caller => methods.caller(wait.chain, entities),
            Aspect::Chain => methods.chain(wait.chain, wait.lock, entities),
            Aspect::OwnerThread
            | Aspect::OwnerMethod
            | Aspect::OwnerCaller
            | Aspect::OwnerChain => match owner {
                Owner::Free => Value::Free,
                Owner::Unknown(reason) => Value::UnknownOwner(reason),
                Owner::Thread { thread, chain } => {
                    self.owner_value(wait, thread, chain, entities, methods)
                }
            },
        }
    }

    fn owner_value(
        self,
        wait: &Wait,
        thread: ThreadIndex,
        chain: ChainIndex,
        entities: &Entities,
        methods: &mut MethodTable,
    ) -> Value {
        match self {
            Aspect::OwnerThread => Value::Thread(thread),
            Aspect::OwnerCaller => methods.caller(chain, entities),
            Aspect::OwnerChain => methods.chain(chain, wait.lock, entities),
            // Who initializes a class stands wherever it happened to be used first.
            _ if entities.initialized_class(wait.lock).is_some() => Value::OwnerThread(thread),
            _ => methods.value(chain, wait.lock, entities),
        }
    }
}

impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is not that of an aspect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown aspect \"{0}\", expected one of {names}", names = Aspect::ALL.map(Aspect::name).join(", "))]
pub struct UnknownAspect(String);

impl FromStr for Aspect {
    type Err = UnknownAspect;

    fn from_str(name: &str) -> Result<Self, UnknownAspect> {
        let aspect = Aspect::ALL.into_iter().find(|aspect| aspect.name() == name);
        aspect.ok_or_else(|| UnknownAspect(name.to_owned()))
    }
}

/// What a contention is under an aspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A mechanism.
    Mechanism(Mechanism),
    /// What threads wait for.
    Kind(WaitKind),
    /// A class.
    Class(ClassIndex),
    /// The `java.lang.Class` object of a class.
    ClassObject(ClassIndex),
    /// The initialization of a class.
    ClassInitialization(ClassIndex),
    /// A lock object; under [`Aspect::LockClass`] one without a description.
    Lock(LockIndex),
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
    /// A call chain; under an aspect of methods one without frames.
    Chain(ChainIndex),
    /// Nobody held the lock.
    Free,
    /// Nobody is known to have held the lock.
    UnknownOwner(UnknownOwner),
}

impl Value {
    fn of_lock_class(lock: LockIndex, entities: &Entities) -> Self {
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

    /// Text for people.
    pub(crate) fn label(self, entities: &Entities, overloads: &Overloads<'_>) -> String {
        match self {
            Value::Mechanism(Mechanism::Monitor) => "intrinsic locks".to_owned(),
            Value::Mechanism(Mechanism::Park) => "java.util.concurrent".to_owned(),
            Value::Kind(kind) => kind.name().to_owned(),
            Value::Class(class) => entities.class_name(class).to_owned(),
            Value::ClassObject(class) => entities.class_object_label(class),
            Value::ClassInitialization(class) => entities.initialization_label(class),
            Value::Lock(lock) => entities.lock_label(lock),
            Value::Thread(thread) => entities.thread(thread).name.to_string(),
            Value::OwnerThread(thread) => format!("thread {}", entities.thread(thread).name),
            Value::Method(method) => overloads.label(method),
            Value::MethodInWait(method) => format!("Object.wait ← {}", overloads.label(method)),
            Value::NoCaller => NO_CALLER.to_owned(),
            Value::Chain(chain) => entities.chain_label(chain, 0),
            Value::Free => FREE.to_owned(),
            Value::UnknownOwner(reason) => format!("<owner unknown: {}>", reason.label()),
        }
    }

    /// Text for people that tells apart what shares a label; `None` if there is none.
    pub(crate) fn long_label(
        self,
        entities: &Entities,
        overloads: &Overloads<'_>,
    ) -> Option<String> {
        Some(match self {
            Value::Thread(thread) => entities.thread_long_label(thread),
            Value::OwnerThread(thread) => format!("thread {}", entities.thread_long_label(thread)),
            Value::Method(method) => overloads.long_label(method),
            Value::MethodInWait(method) => {
                format!("Object.wait ← {}", overloads.long_label(method))
            }
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
            Value::Thread(thread) | Value::OwnerThread(thread) => entities.thread_key(thread),
            Value::Method(method) => entities.method_key(method),
            Value::MethodInWait(method) => {
                format!("java.lang.Object.wait ← {}", entities.method_key(method))
            }
            Value::NoCaller => NO_CALLER.to_owned(),
            Value::Chain(chain) => entities.chain_key(chain),
            Value::Free => "<free>".to_owned(),
            Value::UnknownOwner(reason) => format!("<{}>", reason.name()),
        }
    }
}
