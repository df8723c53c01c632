//! The values in events.

use crate::id::{ChainId, ClassId, ForwardRef, MethodId, ThreadId};

/// The call chain of the code that held the lock, as an exit event names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChainRef {
    /// The chain itself; none where it could not be recorded.
    Chain(ChainId),
    /// The chain that a later [`ForwardResolved`](super::ForwardResolved) names: the lock was released
    /// by `Object.wait`, not by the method that acquired it.
    Forward(ForwardRef),
}

/// The owner of a lock at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LockOwner {
    /// Nobody, or unknown.
    #[default]
    NotKnown,
    /// This thread.
    Thread(ThreadId),
    /// The thread whose [stack](crate::ThreadStart::stack) has this address: it
    /// locked the object on its stack, before anybody contended for it.
    OnStack(u64),
}

/// The duration of a hold at its release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Hold {
    /// Unknown.
    #[default]
    NotKnown,
    /// Since before anybody contended for the lock: before the oldest of the waits that are open at
    /// the release.
    BeforeContention,
    /// Since an acquisition at a known time.
    For {
        /// Time from the acquisition to the release, at most [`Hold::MAX_NS`].
        duration_ns: u64,
    },
    /// The writer acquired and released the lock several times, from the same code and
    /// with no event of another thread since the first acquisition. The exit is the last
    /// one; it stands for all of them, and for their numbers.
    Several {
        /// Number of holds, at least two.
        holds: u16,
        /// The sum of their durations in nanoseconds, at most [`Hold::MAX_SUM_NS`].
        held_ns: u64,
        /// Time from the first acquisition to the last release in nanoseconds.
        span_ns: u64,
    },
}

impl Hold {
    /// The longest duration that can be encoded, in nanoseconds.
    pub const MAX_NS: u64 = u64::MAX - 3;

    /// The largest sum of several holds in nanoseconds, more than nineteen hours.
    pub const MAX_SUM_NS: u64 = (1 << 46) - 1;

    /// The longest time from the first acquisition to the last release for which a tracer writes
    /// several holds as one event, in nanoseconds: no hold is farther from its place. Some traces
    /// have longer ones.
    pub const MAX_SPAN_NS: u64 = 10_000;

    /// Returns the number of holds.
    pub fn holds(self) -> u16 {
        match self {
            Self::Several { holds, .. } => holds,
            _ => 1,
        }
    }

    /// Returns the sum of their durations and the time from the first acquisition to the last
    /// release, in nanoseconds; `None` if the begin of the hold is unknown.
    pub fn held_and_span_ns(self) -> Option<(u64, u64)> {
        match self {
            Self::NotKnown | Self::BeforeContention => None,
            Self::For { duration_ns } => Some((duration_ns, duration_ns)),
            Self::Several {
                held_ns, span_ns, ..
            } => Some((held_ns, span_ns)),
        }
    }
}

/// One frame of a call chain, inlined methods included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Frame {
    /// The method executed.
    pub method: MethodId,
    /// Byte code index, -1 for native methods.
    pub bci: i32,
    /// Source line, -1 where the class carries no line numbers.
    pub line: i32,
}

/// The object that a parked thread waits for, as
/// `LockSupport.getBlocker(Thread)` returns it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Blocker {
    /// Its class; [`ClassId::NONE`] if there is no object.
    pub class: ClassId,
    /// Its identity hash code.
    pub identity_hash: u32,
}

impl Blocker {
    /// No object.
    pub const NONE: Self = Self {
        class: ClassId::NONE,
        identity_hash: 0,
    };
}

/// The limit of a park.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ParkTimeout {
    /// No limit.
    #[default]
    None,
    /// For a time, in nanoseconds.
    After(u64),
    /// Until a time of the wall clock, in milliseconds since 1970.
    At(u64),
}

/// The reason for the end of a park.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ParkEndReason {
    /// Another thread unparked it.
    Unparked = 0,
    /// It had the permit already, and did not block.
    PermitAvailable = 1,
    /// It was interrupted, perhaps before it parked.
    Interrupted = 2,
    /// Its limit was reached.
    TimedOut = 3,
    /// None of these: `LockSupport.park` may return for no reason.
    #[default]
    Spurious = 4,
}

impl ParkEndReason {
    /// Returns the reason with the given number.
    pub fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Unparked,
            1 => Self::PermitAvailable,
            2 => Self::Interrupted,
            3 => Self::TimedOut,
            4 => Self::Spurious,
            _ => return None,
        })
    }
}

/// The memory of a thread's stack. No two threads have the same memory at the same
/// time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StackRange {
    /// The lowest address.
    pub lowest: u64,
    /// Size in bytes; 0 if the stack is unknown.
    pub size: u64,
}

impl StackRange {
    /// Returns whether the address is on the stack.
    pub fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.lowest) < self.size
    }
}
