//! Events of parked threads, by which the locks of `java.util.concurrent` wait (paper, section
//! 3.3), and of threads in `Object.wait`.
//!
//! A thread in `Object.wait` has a begin and an end as if it parked on the object, and
//! `Object.notify` and `Object.notifyAll` are unparks. Their numbers but those of ends are taken
//! while the writer owns the object's monitor, so the order of waits and notifications is exact.
//!
//! A park event's sequence number belongs to a *domain*. All events of one blocker are of one
//! domain, so they have an order. Several blockers may share a domain, and a thread that parks on
//! several blockers has events in several. Domains are numbered like locks, from 1 to
//! [`PARK_DOMAINS`]; no lock has such a number.

use super::payload::payload;
use super::value::{Blocker, Hold, ParkEndReason, ParkTimeout};
use crate::id::{ChainId, JavaThreadId, LockId, Permit};

/// Number of domains.
pub const PARK_DOMAINS: u64 = 256;

payload! {
    /// The writer parks.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ParkBegin {
        /// The domain of the blocker; without a blocker, the writer's domain.
        pub domain: LockId,
        /// Sequence number in the domain.
        pub sequence: u64,
        /// Begin of the park.
        pub time_ns: u64,
        /// The object that the writer waits for.
        pub blocker: Blocker,
        /// The thread that owned the blocker after the number was taken, according to the blocker's
        /// `getExclusiveOwnerThread()`; none also for blockers that know no owner.
        pub owner: JavaThreadId,
        /// The writer is still in the queue where it was when its previous park ended: it has not
        /// acquired anything in between. `false` also where that is unknown.
        pub continued: bool,
        /// The writer's position.
        pub chain: ChainId,
        /// The limit of the park.
        pub timeout: ParkTimeout,
        /// The writer waits in `Object.wait`, for a notification of the blocker.
        pub monitor: bool,
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
        /// End of the park.
        pub time_ns: u64,
        /// The reason.
        pub reason: ParkEndReason,
        /// The permit consumed, which the [`Unpark`] with the same number and the writer as target
        /// gave. In `Object.wait`, the [permit of the notification](Permit::of_notification) that
        /// ended it.
        pub permit: Permit,
        /// The number of that [`Unpark`] is of the writer's own domain, not the blocker's: its
        /// writer did not see what this one waited for.
        pub unpark_elsewhere: bool,
        /// The thread that owned the blocker after the number was taken, as in
        /// [`ParkBegin::owner`].
        pub owner: JavaThreadId,
        /// The part of the park that the JVM spent in safepoints.
        pub safepoint_ns: u64,
        /// The begin was of `Object.wait`. The time is when the writer woke up, before it acquired
        /// the monitor again.
        pub monitor: bool,
    }
}

payload! {
    /// The writer unparks another thread, interrupts it, or notifies threads in `Object.wait`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Unpark {
        /// The domain of the blocker; without a blocker, the target's domain.
        pub domain: LockId,
        /// Sequence number in the domain, taken before the target could notice.
        pub sequence: u64,
        /// Time of the unpark.
        pub time_ns: u64,
        /// The thread unparked; none where `Object.notifyAll` notifies all that wait.
        pub target: JavaThreadId,
        /// The permit given; none if the target had one already, and in a notification, whose
        /// number [is the permit](Permit::of_notification).
        pub permit: Permit,
        /// The object that the target waited for when the writer looked; often nothing yet, and
        /// always nothing in an interrupt.
        pub blocker: Blocker,
        /// The thread that owned the blocker after the number was taken, as in
        /// [`ParkBegin::owner`]. Another thread can have acquired what the writer
        /// released.
        pub owner: JavaThreadId,
        /// The event is an interrupt, which also unparks.
        pub interrupt: bool,
        /// The blocker is a semaphore, and the writer has never acquired a permit of
        /// it: what it releases is a signal.
        pub never_acquired: bool,
        /// Of a notification: the number of threads that waited in `Object.wait` for the blocker,
        /// at least 1. 0: the event is no notification.
        pub waiters: u32,
        /// The writer's position.
        pub chain: ChainId,
    }
}

payload! {
    /// The writer is about to release a synchronizer that it owns exclusively, while threads are
    /// parked on it. Only for synchronizers that know their owner (`AbstractOwnableSynchronizer`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ExclusiveRelease {
        /// The domain of the synchronizer.
        pub domain: LockId,
        /// Sequence number in the domain, taken before the release.
        pub sequence: u64,
        /// Time of the event.
        pub time_ns: u64,
        /// The synchronizer.
        pub blocker: Blocker,
        /// Duration of the writer's ownership.
        pub hold: Hold,
        /// The code that owned it.
        pub chain: ChainId,
    }
}
