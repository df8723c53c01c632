//! The events of parked threads: how the locks of `java.util.concurrent` wait
//! (paper, section 3.3).
//!
//! A park event's sequence number belongs to a *domain*. All events of one
//! blocker are of one domain, so they have an order. Several blockers may share
//! a domain, and a thread that parks on several blockers has events in several.
//! Domains are numbered like locks, from 1 to [`PARK_DOMAINS`]; no lock has such
//! a number.

use super::payload::payload;
use super::value::{Blocker, Hold, ParkEndReason, ParkTimeout};
use crate::id::{ChainId, JavaThreadId, LockId, Permit};

/// How many domains there are.
pub const PARK_DOMAINS: u64 = 256;

payload! {
    /// The writer parks.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ParkBegin {
        /// The domain of the blocker; without one, that of the writer.
        pub domain: LockId,
        /// Sequence number in the domain.
        pub sequence: u64,
        /// When.
        pub time_ns: u64,
        /// What the writer waits for.
        pub blocker: Blocker,
        /// The thread that owned the blocker after the number was taken, as the
        /// blocker's `getExclusiveOwnerThread()` says; none also for blockers that
        /// know no owner.
        pub owner: JavaThreadId,
        /// The writer still stands in the queue where it stood when its previous
        /// park ended: it has not got what it wants in between. `false` also where
        /// that cannot be known.
        pub continued: bool,
        /// Where the writer stands.
        pub chain: ChainId,
        /// For how long at most.
        pub timeout: ParkTimeout,
    }
}

payload! {
    /// The writer parks no longer.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ParkEnd {
        /// The domain of the begin.
        pub domain: LockId,
        /// Sequence number in the domain.
        pub sequence: u64,
        /// When.
        pub time_ns: u64,
        /// Why.
        pub reason: ParkEndReason,
        /// The permit consumed: that of the [`Unpark`] with the same number and the
        /// writer as target.
        pub permit: Permit,
        /// That [`Unpark`] is numbered in the writer's own domain and not in the
        /// blocker's: whoever wrote it did not see what the writer waited for.
        pub unpark_elsewhere: bool,
        /// The thread that owned the blocker after the number was taken, as in
        /// [`ParkBegin::owner`].
        pub owner: JavaThreadId,
        /// How much of the time the JVM spent in safepoints.
        pub safepoint_ns: u64,
    }
}

payload! {
    /// The writer unparks another thread, or interrupts it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Unpark {
        /// The domain of the blocker; without one, that of the target.
        pub domain: LockId,
        /// Sequence number in the domain, taken before the target could notice.
        pub sequence: u64,
        /// When.
        pub time_ns: u64,
        /// The thread unparked.
        pub target: JavaThreadId,
        /// The permit given; none if the target had one already.
        pub permit: Permit,
        /// What the target waited for when the writer looked; often nothing yet,
        /// and never anything in an interrupt.
        pub blocker: Blocker,
        /// The thread that owned the blocker after the number was taken, as in
        /// [`ParkBegin::owner`]. Another thread can have acquired what the writer
        /// released.
        pub owner: JavaThreadId,
        /// It is an interrupt, which unparks too.
        pub interrupt: bool,
        /// The blocker is a semaphore, and the writer has never acquired a permit of
        /// it: what it releases is a signal.
        pub never_acquired: bool,
        /// Where the writer stands.
        pub chain: ChainId,
    }
}

payload! {
    /// The writer is about to release a synchronizer that it owns alone, while threads
    /// are parked on it. Only of synchronizers that tell their owner
    /// (`AbstractOwnableSynchronizer`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ExclusiveRelease {
        /// The domain of the synchronizer.
        pub domain: LockId,
        /// Sequence number in the domain, taken before the release.
        pub sequence: u64,
        /// When.
        pub time_ns: u64,
        /// The synchronizer.
        pub blocker: Blocker,
        /// For how long the writer had owned it.
        pub hold: Hold,
        /// The code that owned it.
        pub chain: ChainId,
    }
}
