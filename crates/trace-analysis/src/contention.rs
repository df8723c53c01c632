//! What the analysis finds: waits, split into contentions.

use crate::entity::{ChainIndex, LockIndex, ThreadIndex};

/// The mechanism that made a thread wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// A Java object's intrinsic lock.
    Monitor,
    /// A synchronizer of `java.util.concurrent`.
    Park,
}

impl Group {
    /// Name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Group::Monitor => "monitor",
            Group::Park => "park",
        }
    }
}

/// How a thread came to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitKind {
    /// It entered a synchronized block or method.
    Enter,
    /// It re-acquired the lock after `Object.wait`. Often not critical: of
    /// several notified threads, only the first finds work (paper, section 3.2).
    ReenterAfterWait,
}

impl WaitKind {
    /// Name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            WaitKind::Enter => "enter",
            WaitKind::ReenterAfterWait => "reenter-after-wait",
        }
    }
}

/// The whole time from a contended enter to the contended entered.
///
/// The durations of its contentions add up to its duration, to the nanosecond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Number of the wait, unique within one analysis; counts from 0.
    pub id: u64,
    /// The mechanism.
    pub group: Group,
    /// How the thread came to wait.
    pub kind: WaitKind,
    /// The lock waited for.
    pub lock: LockIndex,
    /// The thread that waited.
    pub thread: ThreadIndex,
    /// Where it waited.
    pub chain: ChainIndex,
    /// Begin, in nanoseconds since the trace's start.
    pub start_ns: u64,
    /// Duration in nanoseconds; 0 if the clock went backwards.
    pub duration_ns: u64,
    /// How much of the duration the JVM spent in safepoints.
    pub safepoint_ns: u64,
    /// Who made the thread wait, in order and without gaps; at least one.
    pub contentions: Vec<Contention>,
}

impl Wait {
    /// A wait to be filled in.
    pub(crate) fn blank() -> Self {
        Self {
            id: 0,
            group: Group::Monitor,
            kind: WaitKind::Enter,
            lock: LockIndex(0),
            thread: ThreadIndex(0),
            chain: ChainIndex::NOT_RECORDED,
            start_ns: 0,
            duration_ns: 0,
            safepoint_ns: 0,
            contentions: Vec::new(),
        }
    }
}

/// The part of a wait that one owner is to blame for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contention {
    /// Begin, in nanoseconds since the trace's start.
    pub start_ns: u64,
    /// Duration in nanoseconds.
    pub duration_ns: u64,
    /// Who held the lock.
    pub owner: Owner,
}

/// Who held a lock for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// A thread.
    Thread {
        /// The thread.
        thread: ThreadIndex,
        /// The code that held the lock.
        chain: ChainIndex,
    },
    /// The events do not tell.
    Unknown(UnknownOwner),
}

/// Why the owner of a lock is not known for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnknownOwner {
    /// The lock was released, and the next owner was about to acquire it.
    HandOff,
    /// Whoever held the lock released it without seeing a thread queued, and so
    /// wrote no event.
    NoExit,
    /// Events of this time are lost.
    Lost,
    /// The wait had too many owners to keep them all in memory.
    Collapsed,
}

impl UnknownOwner {
    /// All reasons.
    pub const ALL: [UnknownOwner; 4] = [
        UnknownOwner::HandOff,
        UnknownOwner::NoExit,
        UnknownOwner::Lost,
        UnknownOwner::Collapsed,
    ];

    /// Name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            UnknownOwner::HandOff => "handoff",
            UnknownOwner::NoExit => "no-exit",
            UnknownOwner::Lost => "lost",
            UnknownOwner::Collapsed => "collapsed",
        }
    }
}
