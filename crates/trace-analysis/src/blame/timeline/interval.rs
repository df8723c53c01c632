//! The intervals that a wait for a lock consists of.

use std::ops::Range;

use crate::model::entity::ThreadIndex;
use crate::model::packed_owner::PackedOwner;
use crate::model::wait::UnknownOwner;

/// Time between two boundaries of a lock, events that tell about its owner. It
/// begins where the interval before it ends; the first has no start.
pub(crate) trait Interval {
    /// A thread does not wait for itself: its own intervals count as others'.
    const HAS_OWN: bool;

    /// Nanoseconds since the trace's start.
    fn end_ns(&self) -> u64;

    /// Events are missing here, and it is not known whose.
    fn is_gap(&self) -> bool;

    /// Who had the lock, from the view of threads that waited before and want this access.
    fn owner(&self, access: Access) -> PackedOwner;

    /// The interval ends because something was seen, not because the lock was
    /// released: the same owner goes on.
    fn goes_on(&self) -> bool {
        false
    }

    /// The owner did not wait itself meanwhile; else that is not known.
    fn is_direct(&self) -> bool {
        false
    }

    /// What stands for several intervals that nobody remembers, the last of which
    /// ended at `end_ns`. It may have been a gap.
    fn collapsed(end_ns: u64) -> Self;
}

/// What a thread that waits for a lock wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// To have it alone.
    Exclusive,
    /// To share it with others that do.
    Shared,
}

/// A wait to be divided.
pub(crate) struct View<F> {
    pub(crate) start: Start,
    pub(crate) end_ns: u64,
    pub(crate) access: Access,
    /// A thread whose own intervals are other than [`Interval::owner`] says, if they
    /// [can be](Interval::HAS_OWN).
    pub(crate) own: Option<ThreadIndex>,
    /// Who is to blame in the interval at a position: as [`Interval::owner`] says, but in the
    /// first one, and in those of `own`.
    pub(crate) owner_of: F,
    /// Who is to blame after the last boundary.
    pub(crate) rest: PackedOwner,
    /// No owner waited itself while the wait lasted; else that is not known.
    pub(crate) is_direct: bool,
}

/// Where a wait begins in a timeline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) time_ns: u64,
    /// Of the interval in which the wait begins.
    pub(crate) position: u64,
    /// How many events were lost before the wait, by nobody knows whom.
    pub(super) numbers_lost: u64,
}

/// Who is to blame while it is not known whose the wait is.
pub(super) const LOST: PackedOwner = PackedOwner::unknown(UnknownOwner::Lost);

impl Start {
    /// The same wait, considered from then on.
    pub(crate) fn at(self, time_ns: u64) -> Self {
        Self { time_ns, ..self }
    }
}

impl<F> View<F> {
    /// Who is to blame in an interval, where nobody may be in those `lost`.
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
