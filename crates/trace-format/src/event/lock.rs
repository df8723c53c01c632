//! The events of contended monitors.

use super::field::payload;
use crate::id::{ChainId, ClassId, ForwardRef, LockId, ThreadId};

/// How an exit event names the call chain of the code that held the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChainRef {
    /// The chain itself; none where it could not be recorded.
    Chain(ChainId),
    /// The chain that a later [`ForwardResolved`] names: the lock was released
    /// by `Object.wait`, not by the method that acquired it.
    Forward(ForwardRef),
}

payload! {
    /// A lock is seen contended for the first time since its inflation. Counts as
    /// sequence number 0 of the lock.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct LockDescription {
        /// The lock described.
        pub lock: LockId,
        /// Class of the object locked.
        pub class: ClassId,
        /// Where the object is a `java.lang.Class` (a static synchronized method, a
        /// class literal): the class that it stands for. Where it is the `int[]` that
        /// the JVM locks to initialize a class: that class. Else none.
        pub mirrored_class: ClassId,
        /// Identity hash code of the object locked.
        pub identity_hash: u32,
        /// Address of the `ObjectMonitor`, for comparison with other tools.
        pub monitor_address: u64,
    }
}

/// Who owned a lock at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LockOwner {
    /// Nobody, or it could not be told.
    #[default]
    NotKnown,
    /// This thread.
    Thread(ThreadId),
    /// The thread whose [stack](crate::ThreadStart::stack) has this address: it
    /// locked the object on its stack, before anybody contended for it.
    OnStack(u64),
}

payload! {
    /// The writer failed to acquire the lock and is about to block.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct ContendedEnter {
        /// The lock wanted.
        pub lock: LockId,
        /// Per-lock sequence number.
        pub sequence: u64,
        /// When the wait began.
        pub time_ns: u64,
        /// Where the writer stands.
        pub chain: ChainId,
        /// The lock is being re-acquired after `Object.wait`.
        pub after_wait: bool,
        /// The thread that owned the lock at some moment after the number was taken.
        /// If it releases the lock later, that has an event, unless it had decided
        /// before the number was taken that nobody needs one. Not known before
        /// version 4.
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
        /// When the wait ended.
        pub time_ns: u64,
        /// How much of the wait the JVM spent in safepoints.
        pub safepoint_ns: u64,
    }
}

/// For how long a thread had held a lock when it released it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Hold {
    /// It could not be told.
    #[default]
    NotKnown,
    /// Since before anybody contended for the lock: before the oldest of the waits that
    /// are open at the release.
    BeforeContention,
    /// Since the acquisition so long ago.
    For {
        /// Time from the acquisition to the release, at most [`Hold::MAX_NS`].
        duration_ns: u64,
    },
}

impl Hold {
    /// The longest hold that can be told, in nanoseconds.
    pub const MAX_NS: u64 = u64::MAX - 2;
}

payload! {
    /// The writer released the lock while another thread contended for it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct ContendedExit {
        /// The lock released.
        pub lock: LockId,
        /// Per-lock sequence number, taken before the release.
        pub sequence: u64,
        /// When the lock was released.
        pub time_ns: u64,
        /// For how long the writer had held the lock. Not known before version 4.
        pub hold: Hold,
        /// The code that held the lock.
        pub chain: ChainRef,
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
    /// Names the call chain behind a forward reference.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct ForwardResolved {
        /// The reference.
        pub forward_ref: ForwardRef,
        /// The chain of the code that held the lock.
        pub chain: ChainId,
    }
}
