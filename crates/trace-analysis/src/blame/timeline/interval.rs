//! The intervals that a wait for a lock consists of.

use std::ops::Range;

use crate::model::entity::ThreadIndex;
use crate::model::packed_owner::PackedOwner;
use crate::model::wait::UnknownOwner;

/// Time between two boundaries of a lock, events that show something about its owner. It begins
/// where the previous interval ends; the first has no start.
pub(crate) trait Interval {
    /// A thread does not wait for itself: its own intervals count as others'.
    const HAS_OWN: bool;

    /// Nanoseconds since the trace's start.
    fn end_ns(&self) -> u64;

    /// Events of unknown threads are missing here.
    fn is_gap(&self) -> bool;

    /// Returns the owner, as seen by threads that waited before and want this access.
    fn owner(&self, access: Access) -> PackedOwner;

    /// Returns whether the interval ends because something was seen, not because the lock was
    /// released: the same owner goes on.
    fn goes_on(&self) -> bool {
        false
    }

    /// Returns whether the owner is known not to have waited itself meanwhile.
    fn is_direct(&self) -> bool {
        false
    }

    /// Returns a placeholder for several intervals that are not kept any more, the last of which
    /// ended at `end_ns`. It may have been a gap.
    fn collapsed(end_ns: u64) -> Self;
}

/// The access that a waiting thread wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Exclusive access.
    Exclusive,
    /// Access shared with others.
    Shared,
}

/// A wait to be divided.
pub(crate) struct View<F> {
    pub(crate) start: Start,
    pub(crate) end_ns: u64,
    pub(crate) access: Access,
    /// The thread whose own intervals have another owner than [`Interval::owner`] returns, if there
    /// [can be](Interval::HAS_OWN) such intervals.
    pub(crate) own: Option<ThreadIndex>,
    /// Returns who is to blame in the interval at a position: [`Interval::owner`], except in the
    /// first interval and in those of `own`.
    pub(crate) owner_of: F,
    /// The owner to blame after the last boundary.
    pub(crate) rest: PackedOwner,
    /// No owner waited itself during the wait; `false` if that is not known.
    pub(crate) is_direct: bool,
}

/// The begin of a wait in a timeline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) time_ns: u64,
    /// Position of the interval in which the wait begins.
    pub(crate) position: u64,
    /// Number of events lost before the wait by unknown threads.
    pub(super) numbers_lost: u64,
}

/// The owner to blame while it is not known whose wait it is.
pub(super) const LOST: PackedOwner = PackedOwner::unknown(UnknownOwner::Lost);

impl Start {
    /// Returns the same wait as seen from `time_ns` on.
    pub(crate) fn at(self, time_ns: u64) -> Self {
        Self { time_ns, ..self }
    }
}

impl<F> View<F> {
    /// Returns who is to blame in an interval; nobody in those `lost`.
    #[inline]
    pub(super) fn owner<I>(&self, lost: &Range<u64>, position: u64, interval: &I) -> PackedOwner
    where
        F: Fn(u64, &I) -> PackedOwner,
    {
        if lost.contains(&position) {
            LOST
        } else {
            (self.owner_of)(position, interval)
        }
    }
}
