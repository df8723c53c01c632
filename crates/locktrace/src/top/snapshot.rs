//! What `locktrace top` shows at one moment, wherever that comes from.

use std::sync::Arc;
use std::time::Duration;

/// A call chain for people, innermost frame first, or one line that says why it is missing.
pub(crate) type Stack = Arc<[String]>;

/// A view of a JVM at one moment. It does not change any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct TopSnapshot {
    /// What is looked at: a file's path.
    pub(crate) name: String,
    pub(crate) pid: u64,
    pub(crate) phase: Phase,
    /// Everything until then is known, in nanoseconds since tracing began.
    pub(crate) until_ns: u64,
    /// The same by the clock, in nanoseconds since 1970.
    pub(crate) until_unix_ns: u64,
    /// What keeps threads waiting for good, or seems to, each in a line.
    pub(crate) hangs: Vec<String>,
    /// Threads that wait for a lock, those that have waited longest first; then those that wait for another
    /// thread to do something.
    pub(crate) blocked: Vec<Blocked>,
    /// How many more there are.
    pub(crate) blocked_omitted: usize,
    /// How many of all of them wait for no lock.
    pub(crate) wait_otherwise: usize,
    /// What was waited for, in the order of [`Window::ALL`].
    pub(crate) tables: [Table; Window::ALL.len()],
    /// Why what is shown may lack something, each in a line.
    pub(crate) incomplete: Vec<String>,
}

/// How far the trace has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// More has been written than has been read.
    CatchingUp {
        read_bytes: u64,
        /// 0 if it is not known.
        total_bytes: u64,
    },
    /// All that has been written so far.
    #[default]
    Live,
    /// There will be no more.
    Ended,
}

/// A thread that waits for a lock, or for another thread.
#[derive(Clone, Debug)]
pub(crate) struct Blocked {
    /// Distinguishes threads of one name.
    pub(crate) id: u64,
    pub(crate) thread: String,
    pub(crate) for_ns: u64,
    pub(crate) lock: String,
    pub(crate) stack: Stack,
    /// Who has the lock, who has the lock that this one waits for, and so on to a thread that
    /// waits for no lock. Empty if it is not known who has the lock.
    pub(crate) owners: Vec<Owner>,
    pub(crate) end: ChainEnd,
}

/// Where the chain of owners ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChainEnd {
    /// The last owner waits for no lock.
    Runs,
    /// It is not known who has the lock that the last one waits for.
    Unknown,
    /// The last one waits for another thread to do something.
    OtherThread,
    /// The last one waits for a thread that is in the chain already.
    Deadlock,
    /// The chain is too long to show.
    Cut,
}

/// A thread that has a lock which another one waits for.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    pub(crate) thread: String,
    pub(crate) standing: Standing,
}

/// What is known of where an owner stands.
#[derive(Clone, Debug)]
pub(crate) enum Standing {
    /// It waits for this lock, there.
    Blocked { lock: String, stack: Stack },
    /// It acquired the lock there, after it had waited for it.
    Acquired(Stack),
    /// It did not have to wait; its code is known when it releases the lock.
    NotKnown,
}

/// The time that a table is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Window {
    #[default]
    TenSeconds,
    Minute,
    Whole,
}

impl Window {
    pub(crate) const ALL: [Self; 3] = [Self::TenSeconds, Self::Minute, Self::Whole];

    /// How long it is; `None` if it is all there is.
    pub(crate) fn duration(self) -> Option<Duration> {
        match self {
            Self::TenSeconds => Some(Duration::from_secs(10)),
            Self::Minute => Some(Duration::from_secs(60)),
            Self::Whole => None,
        }
    }

    pub(crate) fn next(self) -> Self {
        match self {
            Self::TenSeconds => Self::Minute,
            Self::Minute => Self::Whole,
            Self::Whole => Self::TenSeconds,
        }
    }
}

/// What threads waited for in some time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// Begin and end, in nanoseconds since tracing began.
    pub(crate) from_ns: u64,
    pub(crate) until_ns: u64,
    pub(crate) total: WaitSums,
    /// The most blocked first.
    pub(crate) rows: Vec<Row>,
    /// What is in no row.
    pub(crate) rest: WaitSums,
}

impl Table {
    pub(crate) fn duration_ns(&self) -> u64 {
        self.until_ns - self.from_ns
    }
}

/// Sums over waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WaitSums {
    /// How long threads waited in the time looked at.
    pub(crate) blocked_ns: u64,
    /// How many waits ended in it.
    pub(crate) waits: u64,
    /// The longest that one of those was blocked so, also before.
    pub(crate) longest_ns: u64,
}

impl WaitSums {
    pub(crate) fn add(&mut self, other: Self) {
        self.blocked_ns = self.blocked_ns.saturating_add(other.blocked_ns);
        self.waits = self.waits.saturating_add(other.waits);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }
}

/// Waits for locks of one class that one method held.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) lock_class: String,
    pub(crate) owner: String,
    pub(crate) sums: WaitSums,
    /// The code that waited with the code that held the lock, the most blocked first.
    pub(crate) pairs: Vec<Pair>,
    /// How many more there are.
    pub(crate) pairs_omitted: usize,
}

/// Code that waited, and code that held the lock meanwhile.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    /// The method that waited.
    pub(crate) method: String,
    pub(crate) stack: Stack,
    /// `None` if nobody is known to have had the lock.
    pub(crate) owner_stack: Option<Stack>,
    pub(crate) blocked_ns: u64,
}
