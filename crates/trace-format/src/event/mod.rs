//! The vocabulary of a trace: every event that the tracer can write and the
//! analysis can read, in decoded form.

mod code;
mod lock;
mod loss;
mod park;
mod thread;

pub use code::{
    ChainDescription, ChainRetired, ClassDescription, Frame, LoaderUnload, MethodDescription,
    MethodRetired,
};
pub use lock::{
    ChainRef, ContendedEnter, ContendedEntered, ContendedExit, ForwardResolved, LockDescription,
    LockRetired,
};
pub use loss::{LostEvents, LostNumber};
pub use park::{Blocker, PARK_DOMAINS, ParkBegin, ParkEnd, ParkEndReason, ParkTimeout, Unpark};
pub use thread::{ThreadEnd, ThreadRename, ThreadStart};

use crate::id::LockId;

/// One decoded event. Text borrows from the decoded chunk.
///
/// Times are nanoseconds of the JVM's monotonic clock since the trace's start.
/// The writer of an event is the thread of the buffer that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A lock is seen contended for the first time since its inflation.
    LockDescription(LockDescription),
    /// The writer failed to acquire the lock and is about to block.
    ContendedEnter(ContendedEnter),
    /// The writer acquired the lock it was blocked on.
    ContendedEntered(ContendedEntered),
    /// The writer released the lock while another thread contended for it.
    ContendedExit(ContendedExit),
    /// The monitor was deflated.
    LockRetired(LockRetired),
    /// The writer parks.
    ParkBegin(ParkBegin),
    /// The writer parks no longer.
    ParkEnd(ParkEnd),
    /// The writer unparks another thread.
    Unpark(Unpark),
    /// Names the call chain behind a forward reference.
    ForwardResolved(ForwardResolved),
    /// The writer thread started, attached, or was first seen.
    ThreadStart(ThreadStart<'a>),
    /// A thread was renamed.
    ThreadRename(ThreadRename<'a>),
    /// The writer thread ended or detached.
    ThreadEnd(ThreadEnd),
    /// Describes a class.
    Class(ClassDescription<'a>),
    /// Describes a method.
    Method(MethodDescription<'a>),
    /// Describes a call chain.
    Chain(ChainDescription),
    /// All classes of a loader were unloaded.
    LoaderUnload(LoaderUnload),
    /// The code of a frame of a call chain is gone.
    ChainRetired(ChainRetired),
    /// A method was unloaded, or replaced and run to its end.
    MethodRetired(MethodRetired),
    /// The event with a sequence number was lost.
    LostNumber(LostNumber),
    /// Events were lost whose sequence numbers are not listed.
    LostEvents(LostEvents),
}

impl Event<'_> {
    /// Returns whether the event describes an entity that other events refer
    /// to, or ends it. The tracer can write a description again after a loss,
    /// and a reader that only wants to know names needs no other events.
    pub fn is_metadata(&self) -> bool {
        matches!(
            self,
            Self::ThreadStart(_)
                | Self::ThreadRename(_)
                | Self::Class(_)
                | Self::Method(_)
                | Self::Chain(_)
                | Self::LoaderUnload(_)
                | Self::ChainRetired(_)
                | Self::MethodRetired(_)
        )
    }

    /// Returns the lock, or the domain of parks, and the sequence number that
    /// this event stands for.
    pub fn lock_and_sequence(&self) -> Option<(LockId, u64)> {
        match self {
            Self::LockDescription(description) => Some((description.lock, 0)),
            Self::ContendedEnter(enter) => Some((enter.lock, enter.sequence)),
            Self::ContendedEntered(entered) => Some((entered.lock, entered.sequence)),
            Self::ContendedExit(exit) => Some((exit.lock, exit.sequence)),
            Self::LockRetired(retired) => Some((retired.lock, retired.sequence)),
            Self::LostNumber(lost) => Some((lost.lock, lost.sequence)),
            Self::ParkBegin(park) => Some((park.domain, park.sequence)),
            Self::ParkEnd(park) => Some((park.domain, park.sequence)),
            Self::Unpark(unpark) => Some((unpark.domain, unpark.sequence)),
            _ => None,
        }
    }

    /// Returns when the event happened, in nanoseconds since the trace's start,
    /// if it says so.
    pub fn time_ns(&self) -> Option<u64> {
        match self {
            Self::ContendedEnter(enter) => Some(enter.time_ns),
            Self::ContendedEntered(entered) => Some(entered.time_ns),
            Self::ContendedExit(exit) => Some(exit.time_ns),
            Self::ParkBegin(park) => Some(park.time_ns),
            Self::ParkEnd(park) => Some(park.time_ns),
            Self::Unpark(unpark) => Some(unpark.time_ns),
            Self::ThreadStart(start) => Some(start.time_ns),
            Self::ThreadEnd(end) => Some(end.time_ns),
            Self::LoaderUnload(unload) => Some(unload.time_ns),
            _ => None,
        }
    }
}
