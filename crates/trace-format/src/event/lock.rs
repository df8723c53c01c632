//! Events of contended monitors.

use super::payload::payload;
use super::value::{ChainRef, Hold, LockOwner};
use crate::id::{ChainId, ClassId, ForwardRef, LockId};

payload! {
    /// A lock is seen contended for the first time since its inflation. Counts as
    /// sequence number 0 of the lock.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct LockDescription {
        /// The lock described.
        pub lock: LockId,
        /// Class of the object locked.
        pub class: ClassId,
        /// Where the object is a `java.lang.Class` (a static synchronized method, a class literal):
        /// the class that it stands for. Where it is the `int[]` that the JVM locks to initialize a
        /// class: that class. Else none.
        pub mirrored_class: ClassId,
        /// Identity hash code of the object locked.
        pub identity_hash: u32,
        /// Address of the `ObjectMonitor`, for comparison with other tools.
        pub monitor_address: u64,
    }
}

payload! {
    /// The allocation site of an object that is a contended lock.
    ///
    /// Precedes the [description](LockDescription) of the lock, or the first begin of a park that
    /// names it, in the order of its numbers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct LockSite {
        /// Class of the object.
        pub class: ClassId,
        /// Identity hash code of the object.
        pub identity_hash: u32,
        /// The call chain that allocated it. Constructors are not in it, except those that allocate
        /// an object of another class.
        pub chain: ChainId,
    }
}

payload! {
    /// The writer failed to acquire the lock and is about to block.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct ContendedEnter {
        /// The lock wanted.
        pub lock: LockId,
        /// Per-lock sequence number.
        pub sequence: u64,
        /// Begin of the wait.
        pub time_ns: u64,
        /// The writer's position.
        pub chain: ChainId,
        /// The lock is being re-acquired after `Object.wait`.
        pub after_wait: bool,
        /// The thread that owned the lock at some moment after the number was taken. If it releases
        /// the lock later, that has an event, unless it had decided before the number was taken
        /// that nobody needs one. Not known before version 4.
        pub owner: LockOwner,
    }
}

payload! {
    /// The writer acquired the lock it was blocked on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct ContendedEntered {
        /// The lock acquired.
        pub lock: LockId,
        /// Per-lock sequence number.
        pub sequence: u64,
        /// End of the wait.
        pub time_ns: u64,
        /// The part of the wait that the JVM spent in safepoints.
        pub safepoint_ns: u64,
    }
}

payload! {
    /// The writer released the lock while another thread contended for it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct ContendedExit {
        /// The lock released.
        pub lock: LockId,
        /// Per-lock sequence number, taken before the release.
        pub sequence: u64,
        /// Time of the release.
        pub time_ns: u64,
        /// Duration of the writer's hold. Not known before version 4.
        pub hold: Hold,
        /// The code that held the lock.
        pub chain: ChainRef,
    }
}

impl ContendedExit {
    /// Returns whether `next`, an exit of the same thread, comes directly after this one in the
    /// order of the lock. So nobody else wrote an event of the lock in between, and all waits have
    /// seen all or nothing of that hold.
    pub fn is_followed_by(&self, next: &Self) -> bool {
        self.lock == next.lock
            && self.sequence.checked_add(self.hold.holds().into()) == Some(next.sequence)
    }

    /// Returns one event for this exit and for the one that [follows](Self::is_followed_by),
    /// if both are holds of the same lock by the same code within a [short time](Hold::MAX_SPAN_NS).
    /// This one must have followed another one.
    pub fn and(&self, next: &Self) -> Option<Self> {
        let same_code = self.chain == next.chain
            && matches!(self.chain, ChainRef::Chain(chain) if chain != ChainId::NONE);
        if !same_code || !self.is_followed_by(next) {
            return None;
        }
        let (held_ns, span_ns) = self.hold.held_and_span_ns()?;
        let Hold::For { duration_ns } = next.hold else {
            return None;
        };
        let elapsed_ns = next.time_ns.checked_sub(self.time_ns)?;
        let span_ns = span_ns.checked_add(elapsed_ns)?;
        if span_ns > Hold::MAX_SPAN_NS {
            return None;
        }
        Some(Self {
            time_ns: next.time_ns,
            hold: Hold::Several {
                holds: self.hold.holds().checked_add(1)?,
                held_ns: held_ns.checked_add(duration_ns)?,
                span_ns,
            },
            ..*self
        })
    }
}

payload! {
    /// The monitor was deflated: the lock's last sequence number; its identifier is
    /// never used again.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct LockRetired {
        /// The lock that ended.
        pub lock: LockId,
        /// Per-lock sequence number of this event.
        pub sequence: u64,
    }
}

payload! {
    /// Resolves a forward reference to a call chain.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct ForwardResolved {
        /// The reference.
        pub forward_ref: ForwardRef,
        /// The chain of the code that held the lock.
        pub chain: ChainId,
    }
}
