//! The vocabulary of a trace: every event that the tracer can write and the
//! analysis can read, in decoded form.
//!
//! Identifiers are never reused within one trace (they are serial numbers, not
//! addresses), so an event may be read before the metadata that it refers to
//! without ever meaning something else. The value 0 of an identifier stands
//! for "none" or "not known".

use crate::park::{ParkBegin, ParkEnd, Unpark};

/// Serial number of a thread's tracer, unique within one trace.
pub type ThreadId = u32;
/// One incarnation of a lock: the time from the first contention on an
/// inflated monitor to its deflation.
pub type LockId = u64;
/// Serial number of a class.
pub type ClassId = u32;
/// Serial number of a method.
pub type MethodId = u32;
/// Serial number of a call chain.
pub type ChainId = u32;
/// Identity of a class loader: the address of its `ClassLoaderData`, unique
/// between two [`Event::LoaderUnload`] of the same value in file order.
pub type LoaderId = u64;
/// A reference to a call chain that will be known only later (paper, section
/// 3.2, "Conditional waiting").
pub type ForwardRef = u64;

/// The identifier that stands for "none" or "not known".
pub const NONE: u32 = 0;

/// How an exit event names the call chain of the code that held the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChainRef {
    /// The chain itself; [`NONE`] where it could not be recorded.
    Chain(ChainId),
    /// The chain that a later [`Event::ForwardResolved`] names: the lock was
    /// released by `Object.wait`, not by the method that acquired it.
    Forward(ForwardRef),
}

/// One frame of a call chain, inlined methods included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Frame {
    /// The method executed.
    pub method: MethodId,
    /// Byte code index, -1 where there is none (native methods).
    pub bci: i32,
    /// Source line, -1 where the class carries no line numbers.
    pub line: i32,
}

/// One decoded event. Text and frames borrow from the decoded chunk.
///
/// Times are nanoseconds of the JVM's monotonic clock since the trace's start.
/// The writer of an event is the thread of the buffer that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A lock is seen contended for the first time since its inflation.
    /// Counts as sequence number 0 of the lock.
    LockDescription {
        /// The lock described.
        lock: LockId,
        /// Class of the object locked.
        class: ClassId,
        /// Where the object is a `java.lang.Class` (a static synchronized
        /// method, a class literal): the class that it stands for, else
        /// [`NONE`].
        mirrored_class: ClassId,
        /// Identity hash code of the object locked.
        identity_hash: u32,
        /// Address of the `ObjectMonitor`, for comparison with other tools.
        monitor_address: u64,
    },
    /// The writer failed to acquire the lock and is about to block.
    ContendedEnter {
        /// The lock wanted.
        lock: LockId,
        /// Per-lock sequence number.
        sequence: u64,
        /// When the wait began.
        time_ns: u64,
        /// Where the writer stands.
        chain: ChainId,
        /// The lock is being re-acquired after `Object.wait`.
        after_wait: bool,
    },
    /// The writer acquired the lock it was blocked on.
    ContendedEntered {
        /// The lock acquired.
        lock: LockId,
        /// Per-lock sequence number.
        sequence: u64,
        /// When the wait ended.
        time_ns: u64,
        /// How much of the wait the JVM spent in safepoints.
        safepoint_ns: u64,
    },
    /// The writer released the lock while other threads were queued on it.
    ContendedExit {
        /// The lock released.
        lock: LockId,
        /// Per-lock sequence number, taken before the release.
        sequence: u64,
        /// When the lock was released.
        time_ns: u64,
        /// The code that held the lock.
        chain: ChainRef,
    },
    /// The monitor was deflated: the lock's last sequence number; its
    /// identifier is never used again.
    LockRetired {
        /// The lock that ended.
        lock: LockId,
        /// Per-lock sequence number of this event.
        sequence: u64,
    },
    /// The writer parks.
    ParkBegin(ParkBegin),
    /// The writer parks no longer.
    ParkEnd(ParkEnd),
    /// The writer unparks another thread.
    Unpark(Unpark),
    /// Names the call chain behind a forward reference.
    ForwardResolved {
        /// The reference.
        forward_ref: ForwardRef,
        /// The chain of the code that held the lock.
        chain: ChainId,
    },
    /// The writer thread started, attached, or was first seen.
    ThreadStart {
        /// When.
        time_ns: u64,
        /// `Thread.getId()`; 0 for threads of the JVM itself.
        java_id: u64,
        /// The thread's name.
        name: &'a str,
    },
    /// A thread was renamed.
    ThreadRename {
        /// `Thread.getId()` of the renamed thread.
        java_id: u64,
        /// The new name.
        name: &'a str,
    },
    /// The writer thread ended or detached.
    ThreadEnd {
        /// When.
        time_ns: u64,
    },
    /// Describes a class.
    Class {
        /// The class described.
        class: ClassId,
        /// Its superclass; [`NONE`] if that is `java.lang.Object` or there is
        /// none.
        super_class: ClassId,
        /// Its class loader; 0 for the boot loader.
        loader: LoaderId,
        /// Binary name with dots, as `Class.getName()` prints it.
        name: &'a str,
        /// Source file, empty where the class names none.
        source_file: &'a str,
        /// Class name of the loader, empty for the boot loader.
        loader_class: &'a str,
    },
    /// Describes a method.
    Method {
        /// The method described.
        method: MethodId,
        /// The class that declares it.
        class: ClassId,
        /// Its name.
        name: &'a str,
        /// Its descriptor, as in the class file.
        signature: &'a str,
    },
    /// Describes a call chain, innermost frame first.
    Chain {
        /// The chain described.
        chain: ChainId,
        /// The frames, innermost first.
        frames: Vec<Frame>,
        /// Frames are missing at the outer end: the stack was deeper than the
        /// tracer's limit.
        truncated: bool,
    },
    /// All classes of a loader were unloaded.
    LoaderUnload {
        /// The loader.
        loader: LoaderId,
        /// When.
        time_ns: u64,
    },
    /// The compiled code or the class of a frame of a call chain is gone. No
    /// event after this one in file order refers to the chain. Written by no
    /// thread.
    ChainRetired {
        /// The chain that ended.
        chain: ChainId,
    },
    /// A method was unloaded, or replaced by redefinition of its class and run
    /// to its end. No event after this one in file order refers to it, nor to a
    /// chain that contains it. Written by no thread.
    MethodRetired {
        /// The method that ended.
        method: MethodId,
    },
    /// The writer took a sequence number, but its event was lost: the drainer
    /// could not keep up.
    LostNumber {
        /// The lock, or the domain of parks.
        lock: LockId,
        /// The number that will never come.
        sequence: u64,
    },
    /// Events were lost whose sequence numbers are not listed. Events that have
    /// no such number are not counted.
    LostEvents {
        /// How many.
        events: u64,
    },
}

impl Event<'_> {
    /// Describes an entity that other events refer to, or ends it. The tracer
    /// can write a description again after a loss, and a reader that only wants
    /// to know names needs no other events.
    pub fn is_metadata(&self) -> bool {
        matches!(
            self,
            Self::ThreadStart { .. }
                | Self::ThreadRename { .. }
                | Self::Class { .. }
                | Self::Method { .. }
                | Self::Chain { .. }
                | Self::LoaderUnload { .. }
                | Self::ChainRetired { .. }
                | Self::MethodRetired { .. }
        )
    }

    /// The lock, or the domain of parks, and the sequence number that this event
    /// stands for.
    pub fn lock_and_sequence(&self) -> Option<(LockId, u64)> {
        match *self {
            Self::LockDescription { lock, .. } => Some((lock, 0)),
            Self::ContendedEnter { lock, sequence, .. }
            | Self::ContendedEntered { lock, sequence, .. }
            | Self::ContendedExit { lock, sequence, .. }
            | Self::LockRetired { lock, sequence }
            | Self::LostNumber { lock, sequence } => Some((lock, sequence)),
            Self::ParkBegin(park) => Some((park.domain, park.sequence)),
            Self::ParkEnd(park) => Some((park.domain, park.sequence)),
            Self::Unpark(unpark) => Some((unpark.domain, unpark.sequence)),
            _ => None,
        }
    }
}
