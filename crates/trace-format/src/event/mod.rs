//! The vocabulary of a trace: every event that the tracer can write and the analysis can read, in
//! decoded form.

mod code;
mod field;
mod lock;
mod loss;
mod park;
mod payload;
mod thread;
mod value;

pub use code::{
    ChainDescription, ChainRetired, ClassDescription, LoaderUnload, MethodDescription,
    MethodRetired,
};
pub use field::FieldValue;
pub use lock::{
    ContendedEnter, ContendedEntered, ContendedExit, ForwardResolved, LockDescription, LockRetired,
    LockSite,
};
pub use loss::{LostEvents, LostNumbers};
pub use park::{ExclusiveRelease, PARK_DOMAINS, ParkBegin, ParkEnd, Unpark};
pub use thread::{OwnerSample, ThreadEnd, ThreadRename, ThreadStart};
pub use value::{
    Blocker, ChainRef, Frame, Hold, LockOwner, ParkEndReason, ParkTimeout, StackRange,
};

use crate::id::LockId;

/// A type of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventType {
    /// Name of the type.
    pub name: &'static str,
    /// Events of the type [are metadata](Event::is_metadata).
    pub metadata: bool,
}

impl EventType {
    /// Returns the type of `event`.
    pub fn of(event: &Event<'_>) -> &'static Self {
        &EVENT_TYPES[event.type_index()]
    }
}

/// Declares the types of events: each with its name, its payload, and whether it is metadata.
macro_rules! events {
    ($($(#[$meta:meta])* $event:ident($payload:ident $(<$life:lifetime>)?), metadata: $metadata:literal;)+) => {
        /// One decoded event. Text borrows from the decoded chunk.
        ///
        /// Times are nanoseconds of the JVM's monotonic clock since the trace's
        /// start. The writer of an event is the thread of the buffer that holds it.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Event<'a> {
            $($(#[$meta])* $event($payload $(<$life>)?),)+
        }

        /// All types of events.
        pub const EVENT_TYPES: [EventType; [$($metadata),+].len()] = [
            $(EventType { name: stringify!($event), metadata: $metadata }),+
        ];

        impl Event<'_> {
            /// Returns the position of the event's type in [`EVENT_TYPES`].
            #[inline]
            pub fn type_index(&self) -> usize {
                enum Index { $($event),+ }
                match self {
                    $(Self::$event(_) => Index::$event as usize,)+
                }
            }

            /// Returns whether the event describes an entity that other events
            /// refer to, or ends it. The tracer can write a description again
            /// after a loss, and a reader that only wants to know names needs no
            /// other events.
            #[inline]
            pub fn is_metadata(&self) -> bool {
                match self {
                    $(Self::$event(_) => $metadata,)+
                }
            }

            /// Returns the names and values of the event's fields.
            pub fn fields(&self) -> Vec<(&'static str, FieldValue<'_>)> {
                match self {
                    $(Self::$event(payload) => payload.fields(),)+
                }
            }
        }
    };
}

events! {
    /// A lock is seen contended for the first time since its inflation.
    LockDescription(LockDescription), metadata: false;
    /// The writer failed to acquire the lock and is about to block.
    ContendedEnter(ContendedEnter), metadata: false;
    /// The writer acquired the lock it was blocked on.
    ContendedEntered(ContendedEntered), metadata: false;
    /// The writer released the lock while another thread contended for it.
    ContendedExit(ContendedExit), metadata: false;
    /// The monitor was deflated.
    LockRetired(LockRetired), metadata: false;
    /// Resolves a forward reference to a call chain.
    ForwardResolved(ForwardResolved), metadata: false;
    /// The writer thread ended or detached.
    ThreadEnd(ThreadEnd), metadata: false;
    /// The events with some sequence numbers were lost.
    LostNumbers(LostNumbers), metadata: false;
    /// Events were lost whose sequence numbers are not listed.
    LostEvents(LostEvents), metadata: false;
    /// The writer parks.
    ParkBegin(ParkBegin), metadata: false;
    /// The writer parks no longer.
    ParkEnd(ParkEnd), metadata: false;
    /// The writer unparks another thread.
    Unpark(Unpark), metadata: false;
    /// The writer is about to release a synchronizer that it owns exclusively.
    ExclusiveRelease(ExclusiveRelease), metadata: false;
    /// The allocation site of a lock.
    LockSite(LockSite), metadata: false;
    /// The stack of another thread, which owned a lock that others waited for.
    OwnerSample(OwnerSample), metadata: false;
    /// The writer thread started, attached, or was first seen.
    ThreadStart(ThreadStart<'a>), metadata: true;
    /// A thread was renamed.
    ThreadRename(ThreadRename<'a>), metadata: true;
    /// Describes a class.
    Class(ClassDescription<'a>), metadata: true;
    /// Describes a method.
    Method(MethodDescription<'a>), metadata: true;
    /// Describes a call chain.
    Chain(ChainDescription), metadata: true;
    /// All classes of a loader were unloaded.
    LoaderUnload(LoaderUnload), metadata: true;
    /// The code of a frame of a call chain is gone.
    ChainRetired(ChainRetired), metadata: true;
    /// A method was unloaded, or replaced and run to its end.
    MethodRetired(MethodRetired), metadata: true;
}

impl Event<'_> {
    /// Returns the lock, or the domain of parks, and the sequence number that
    /// this event stands for; of [several](LostNumbers), the first one.
    pub fn lock_and_sequence(&self) -> Option<(LockId, u64)> {
        match self {
            Self::LockDescription(description) => Some((description.lock, 0)),
            Self::ContendedEnter(enter) => Some((enter.lock, enter.sequence)),
            Self::ContendedEntered(entered) => Some((entered.lock, entered.sequence)),
            Self::ContendedExit(exit) => Some((exit.lock, exit.sequence)),
            Self::LockRetired(retired) => Some((retired.lock, retired.sequence)),
            Self::LostNumbers(lost) => Some((lost.lock, lost.first)),
            Self::ParkBegin(park) => Some((park.domain, park.sequence)),
            Self::ParkEnd(park) => Some((park.domain, park.sequence)),
            Self::Unpark(unpark) => Some((unpark.domain, unpark.sequence)),
            Self::ExclusiveRelease(release) => Some((release.domain, release.sequence)),
            _ => None,
        }
    }

    /// Returns the number of consecutive sequence numbers of the event, its own included.
    pub fn numbers(&self) -> u64 {
        match self {
            Self::LostNumbers(lost) => lost.count,
            Self::ContendedExit(exit) => exit.hold.holds().into(),
            _ => 1,
        }
    }

    /// Returns the time of the event, in nanoseconds since the trace's start, if it has one.
    pub fn time_ns(&self) -> Option<u64> {
        match self {
            Self::ContendedEnter(enter) => Some(enter.time_ns),
            Self::ContendedEntered(entered) => Some(entered.time_ns),
            Self::ContendedExit(exit) => Some(exit.time_ns),
            Self::ParkBegin(park) => Some(park.time_ns),
            Self::ParkEnd(park) => Some(park.time_ns),
            Self::Unpark(unpark) => Some(unpark.time_ns),
            Self::ExclusiveRelease(release) => Some(release.time_ns),
            Self::OwnerSample(sample) => Some(sample.time_ns),
            Self::ThreadStart(start) => Some(start.time_ns),
            Self::ThreadEnd(end) => Some(end.time_ns),
            Self::LoaderUnload(unload) => Some(unload.time_ns),
            _ => None,
        }
    }
}
