//! The aspects by which contentions are distinguished (paper, section 4.2).

use std::fmt;
use std::str::FromStr;

use crate::aggregate::method_table::MethodTable;
use crate::aggregate::value::Value;
use crate::model::entity::{ChainIndex, Entities, LockIndex, ThreadIndex};
use crate::model::wait::{Blame, Owner, RootEnd, RootPart, Wait};

/// A property by which contentions are distinguished.
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
    /// Where the lock object was allocated: the position of the innermost frame of the call chain
    /// that is neither the JDK's nor a library's.
    LockSite,
    /// The call chain that allocated the lock object.
    LockSiteChain,
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
    /// How the wait ended.
    WaitEnd,
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
    /// The thread at the end of the chain of owners: while the owner waits for another lock,
    /// the owner of that, and so on.
    RootOwnerThread,
    /// The method in which the root owner held the last lock of the chain; of a root owner that
    /// waits for what nobody holds, the one that waits.
    RootOwnerMethod,
    /// Class of what the last wait of the chain is for.
    RootLockClass,
    /// How many waits the chain consists of: 1 if the owner itself does not wait.
    Depth,
    /// What the owner did: whether it waited for another lock, or for something else.
    OwnerActivity,
    /// The method that the owner executed, as far as it was sampled: the innermost of all, in a part
    /// of the time as large as the share of the samples in it.
    OwnerSample,
    /// The call chain of which that is the innermost method.
    OwnerSampleChain,
}

impl Aspect {
    /// All aspects.
    pub const ALL: [Aspect; 22] = [
        Aspect::Mechanism,
        Aspect::Kind,
        Aspect::LockClass,
        Aspect::Lock,
        Aspect::LockSite,
        Aspect::LockSiteChain,
        Aspect::Thread,
        Aspect::Method,
        Aspect::Caller,
        Aspect::Chain,
        Aspect::WaitEnd,
        Aspect::OwnerThread,
        Aspect::OwnerMethod,
        Aspect::OwnerCaller,
        Aspect::OwnerChain,
        Aspect::RootOwnerThread,
        Aspect::RootOwnerMethod,
        Aspect::RootLockClass,
        Aspect::Depth,
        Aspect::OwnerActivity,
        Aspect::OwnerSample,
        Aspect::OwnerSampleChain,
    ];

    /// Those that depend on nothing but who waited where and who is to blame: all but those of
    /// root owners and of what owners did, how a wait ended, and where locks were allocated.
    pub const DIRECT: [Aspect; 12] = {
        let mut direct = [Aspect::Mechanism; 12];
        let (mut count, mut at) = (0, 0);
        while at < Self::ALL.len() {
            let aspect = Self::ALL[at];
            if !aspect.is_of_root()
                && !matches!(
                    aspect,
                    Aspect::WaitEnd | Aspect::LockSite | Aspect::LockSiteChain
                )
            {
                direct[count] = aspect;
                count += 1;
            }
            at += 1;
        }
        assert!(count == direct.len(), "all places are filled");
        direct
    };

    /// Returns the name on the command line and in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Aspect::Mechanism => "mechanism",
            Aspect::Kind => "kind",
            Aspect::LockClass => "lock-class",
            Aspect::Lock => "lock",
            Aspect::LockSite => "lock-site",
            Aspect::LockSiteChain => "lock-site-chain",
            Aspect::Thread => "thread",
            Aspect::Method => "method",
            Aspect::Caller => "caller",
            Aspect::Chain => "chain",
            Aspect::WaitEnd => "wait-end",
            Aspect::OwnerThread => "owner-thread",
            Aspect::OwnerMethod => "owner-method",
            Aspect::OwnerCaller => "owner-caller",
            Aspect::OwnerChain => "owner-chain",
            Aspect::RootOwnerThread => "root-owner-thread",
            Aspect::RootOwnerMethod => "root-owner-method",
            Aspect::RootLockClass => "root-lock-class",
            Aspect::Depth => "depth",
            Aspect::OwnerActivity => "owner-activity",
            Aspect::OwnerSample => "owner-sample",
            Aspect::OwnerSampleChain => "owner-sample-chain",
        }
    }

    /// Depends on who is to blame. Under the others, all contentions of a wait are the
    /// same.
    pub const fn is_of_owner(self) -> bool {
        matches!(
            self,
            Aspect::OwnerThread | Aspect::OwnerMethod | Aspect::OwnerCaller | Aspect::OwnerChain
        ) || self.is_of_root()
    }

    /// Depends on what the owner did, as waiting for another lock: an analysis has to find
    /// [root owners](crate::Detail::roots) for it, and more if it [is of
    /// samples](Self::is_of_sample).
    pub const fn is_of_root(self) -> bool {
        matches!(
            self,
            Aspect::RootOwnerThread
                | Aspect::RootOwnerMethod
                | Aspect::RootLockClass
                | Aspect::Depth
                | Aspect::OwnerActivity
        ) || self.is_of_sample()
    }

    /// Depends on where the owner was sampled: an analysis has to find
    /// [samples](crate::Detail::samples) for it.
    pub const fn is_of_sample(self) -> bool {
        matches!(self, Aspect::OwnerSample | Aspect::OwnerSampleChain)
    }

    /// What a part of `wait` is under this aspect, for which `owner` is to blame, as if the
    /// owner did not wait itself. `methods` remembers what it has found.
    #[inline]
    pub fn value(
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
            Aspect::LockSite => methods.site(wait.lock, entities),
            Aspect::LockSiteChain => match entities.lock_site(wait.lock) {
                Some(chain) => Value::Chain(chain),
                None => Value::SiteNotSeen,
            },
            Aspect::Thread => Value::Thread(wait.thread),
            Aspect::Method => methods.value(wait.chain, wait.lock, entities),
            Aspect::Caller => methods.caller(wait.chain, entities),
            Aspect::Chain => methods.chain(wait.chain, wait.lock, entities),
            Aspect::WaitEnd => Value::WaitEnd(wait.end),
            Aspect::OwnerThread
            | Aspect::OwnerMethod
            | Aspect::OwnerCaller
            | Aspect::OwnerChain => match owner {
                Owner::Free => Value::Free,
                Owner::Frozen => Value::Frozen,
                Owner::Unknown(reason) => Value::UnknownOwner(reason),
                Owner::Thread { thread, chain } => {
                    self.owner_value(wait.lock, thread, chain, entities, methods)
                }
            },
            Aspect::RootOwnerThread
            | Aspect::RootOwnerMethod
            | Aspect::RootLockClass
            | Aspect::Depth
            | Aspect::OwnerActivity
            | Aspect::OwnerSample
            | Aspect::OwnerSampleChain => {
                let whole = Blame {
                    owner,
                    duration_ns: wait.duration_ns,
                    contentions: 1,
                };
                let part = RootPart::direct(wait, &whole);
                self.root_value(&part, entities, methods)
            }
        }
    }

    /// What a part of a wait is under this aspect, which is one of roots.
    pub fn root_value(
        self,
        part: &RootPart,
        entities: &Entities,
        methods: &mut MethodTable,
    ) -> Value {
        if self.is_of_sample() {
            return self.sample_value(part, entities);
        }
        let root = part.root;
        if self == Aspect::OwnerActivity
            && let Some(activity) = part.owner_activity()
        {
            return Value::Activity(activity);
        }
        match (self, root.end) {
            (_, RootEnd::Cycle) => Value::Cycle,
            (Aspect::RootLockClass, _) => Value::of_lock_class(root.lock, entities),
            (Aspect::Depth, _) => Value::Depth(root.depth),
            (_, RootEnd::Owner(Owner::Free)) => Value::Free,
            (_, RootEnd::Owner(Owner::Frozen)) => Value::Frozen,
            (_, RootEnd::Owner(Owner::Unknown(reason))) => Value::UnknownOwner(reason),
            (_, RootEnd::Owner(Owner::Thread { thread, chain })) => {
                self.owner_value(root.lock, thread, chain, entities, methods)
            }
        }
    }

    fn sample_value(self, part: &RootPart, entities: &Entities) -> Value {
        match (part.owner, part.sample) {
            (Owner::Free, _) => Value::Free,
            (Owner::Frozen, _) => Value::Frozen,
            (Owner::Unknown(reason), _) => Value::UnknownOwner(reason),
            (Owner::Thread { .. }, None) => Value::NotSampled,
            (Owner::Thread { .. }, Some(chain)) => {
                let innermost = entities.chain(chain).frames().first();
                match innermost.filter(|_| self == Aspect::OwnerSample) {
                    Some(frame) => Value::Method(frame.method),
                    None => Value::Chain(chain),
                }
            }
        }
    }

    fn owner_value(
        self,
        lock: LockIndex,
        thread: ThreadIndex,
        chain: ChainIndex,
        entities: &Entities,
        methods: &mut MethodTable,
    ) -> Value {
        match self {
            Aspect::OwnerThread | Aspect::RootOwnerThread => Value::Thread(thread),
            Aspect::OwnerCaller => methods.caller(chain, entities),
            Aspect::OwnerChain => methods.chain(chain, lock, entities),
            // Who initializes a class stands wherever it happened to be used first.
            _ if entities.initialized_class(lock).is_some() => Value::OwnerThread(thread),
            _ => methods.value(chain, lock, entities),
        }
    }
}

impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No aspect has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown aspect \"{0}\", expected one of {names}", names = names())]
pub struct UnknownAspect(String);

/// The names of all aspects. To `join` them takes the optimizer minutes: it knows how long each is, and looks
/// for what follows from that.
fn names() -> String {
    let mut names = String::new();
    for aspect in Aspect::ALL {
        if !names.is_empty() {
            names.push_str(", ");
        }
        names.push_str(aspect.name());
    }
    names
}

impl FromStr for Aspect {
    type Err = UnknownAspect;

    fn from_str(name: &str) -> Result<Self, UnknownAspect> {
        let aspect = Aspect::ALL.into_iter().find(|aspect| aspect.name() == name);
        aspect.ok_or_else(|| UnknownAspect(name.to_owned()))
    }
}
