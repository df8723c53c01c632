//! What happened in a simulated program whose threads park: the truth.

use std::fmt;

use trace_format::{ChainId, Event, LockId, ParkEndReason, ThreadId};

use crate::history::Written;

/// What happened, and what the threads wrote about it.
#[derive(Debug, Default)]
pub(crate) struct ParkHistory {
    /// The events of each thread in the order of writing. There is no thread 0.
    pub(crate) events: Vec<Vec<Written>>,
    /// The meaning of the events, in any order.
    pub(crate) meanings: Vec<Meaning>,
    /// Each time that a thread had an exclusive lock.
    pub(crate) holds: Vec<Hold>,
    /// Each call of `LockSupport.park`.
    pub(crate) parks: Vec<Park>,
}

/// What threads park on, as scripts call its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `ReentrantLock`. A fair one makes threads queue up that could barge in. One that
    /// `reports` writes an event at each release while threads wait.
    ReentrantLock { fair: bool, reports: bool },
    /// An exclusive lock that does not say who owns it.
    Mutex,
    /// `Semaphore` with this many permits.
    Semaphore { permits: u32 },
    /// `CountDownLatch` that opens after this many counts.
    Latch { count: u32 },
    /// An object that says nothing, used with `LockSupport` alone.
    Thing,
    /// No object.
    Nothing,
}

impl Kind {
    /// The name of the class in scripts.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::ReentrantLock { .. } => "ReentrantLock",
            Self::Mutex => "Custom",
            Self::Semaphore { .. } => "Semaphore",
            Self::Latch { .. } => "Latch",
            Self::Thing => "Other",
            Self::Nothing => "-",
        }
    }

    /// One thread at most has it.
    pub(crate) fn is_exclusive(self) -> bool {
        matches!(self, Self::ReentrantLock { .. } | Self::Mutex)
    }

    /// Who parks on it contends with others for it.
    pub(crate) fn is_lock(self) -> bool {
        self.is_exclusive() || matches!(self, Self::Semaphore { .. })
    }

    /// `LockSupport` alone decides who parks on it.
    pub(crate) fn is_bare(self) -> bool {
        matches!(self, Self::Thing | Self::Nothing)
    }
}

/// A blocker: its kind and its identity hash code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) kind: Kind,
    pub(crate) hash: u32,
}

/// What an event says, if one knows what happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meaning {
    pub(crate) domain: LockId,
    pub(crate) sequence: u64,
    pub(crate) time_ns: u64,
    /// Who wrote it.
    pub(crate) thread: ThreadId,
    /// The blocker that it names, or that its thread is parked on.
    pub(crate) object: Object,
    pub(crate) what: What,
    /// The hold that the owner shown belongs to, and when it was looked at.
    pub(crate) shows: Option<(usize, u64)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    Begin,
    End {
        park: usize,
    },
    /// The thread reports that it will release the lock: the end of that hold.
    Release {
        hold: usize,
    },
    Unpark {
        /// One letter.
        method: u8,
        role: Role,
        target: ThreadId,
    },
}

/// Why a thread unparks another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It released the lock: that hold, if the lock is exclusive.
    Release(Option<usize>),
    /// It was woken up itself and passes that on.
    PassOn,
    /// It gives up waiting.
    Cancel,
    /// Nothing but to wake the thread up.
    Wake,
    /// To interrupt it.
    Interrupt,
}

/// A thread had an exclusive lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    pub(crate) thread: ThreadId,
    pub(crate) object: Object,
    pub(crate) start_ns: u64,
    /// When the lock was free again.
    pub(crate) end_ns: Option<u64>,
    /// The park after which the thread acquired it.
    pub(crate) park: Option<usize>,
    /// The method that released it, if it unparked another thread: one letter.
    pub(crate) released_by: Option<u8>,
    /// When the thread noted that it has the lock: there was interest.
    pub(crate) noted_ns: Option<u64>,
    /// When the thread reported that it releases the lock, and in which method.
    pub(crate) reported: Option<(u64, u8)>,
}

/// A thread parked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Park {
    pub(crate) thread: ThreadId,
    pub(crate) object: Object,
    /// Of all the parks of one call of `lock`, the first.
    pub(crate) first: usize,
    pub(crate) method: u8,
    pub(crate) timed: bool,
    /// Index of the event that began it.
    pub(crate) begin: usize,
    /// The call gave up after it.
    pub(crate) gave_up: bool,
    /// Nothing if the thread was still parked when all was over.
    pub(crate) end: Option<ParkEnded>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ParkEnded {
    /// Index of the end.
    pub(crate) meaning: usize,
    pub(crate) reason: ParkEndReason,
    /// Index of the unpark that gave the permit.
    pub(crate) unpark: Option<usize>,
    pub(crate) safepoint_ns: u64,
}

/// The events in the order of their numbers, by domain.
impl fmt::Display for ParkHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        for (thread, events) in self.events.iter().enumerate() {
            for written in events {
                let (domain, number) = written.event.lock_and_sequence().unwrap_or_default();
                let line = match written.event {
                    Event::ParkBegin(park) => format!(
                        "{} T{thread} park {} on {} owner T{}{}",
                        park.time_ns,
                        letter(park.chain),
                        park.blocker.identity_hash,
                        park.owner,
                        if park.continued { " again" } else { "" },
                    ),
                    Event::ParkEnd(park) => format!(
                        "{} T{thread} {:?} permit {} owner T{}{}",
                        park.time_ns,
                        park.reason,
                        park.permit,
                        park.owner,
                        if park.unpark_elsewhere {
                            " elsewhere"
                        } else {
                            ""
                        },
                    ),
                    Event::Unpark(unpark) => format!(
                        "{} T{thread} unpark T{} {} on {} permit {} owner T{}{}",
                        unpark.time_ns,
                        unpark.target,
                        letter(unpark.chain),
                        unpark.blocker.identity_hash,
                        unpark.permit,
                        unpark.owner,
                        if unpark.interrupt { " interrupt" } else { "" },
                    ),
                    Event::ExclusiveRelease(release) => format!(
                        "{} T{thread} release {} of {} {:?}",
                        release.time_ns,
                        letter(release.chain),
                        release.blocker.identity_hash,
                        release.hold,
                    ),
                    _ => continue,
                };
                lines.push((domain, number, line));
            }
        }
        lines.sort();
        for (domain, number, line) in lines {
            writeln!(f, "  {domain}:{number} {line}")?;
        }
        Ok(())
    }
}

/// The method of a chain of scripts, and its role's number.
fn letter(chain: ChainId) -> String {
    let role = (chain.0 / 200).checked_sub(1);
    let method = char::from((chain.0 % 200) as u8);
    role.map_or(method.to_string(), |role| format!("{role}/{method}"))
}
