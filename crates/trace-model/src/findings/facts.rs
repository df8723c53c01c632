//! The facts by which patterns are recognized.

use crate::sum::Sum;
use trace_report::human;

/// Facts about one owner's code and the locks that it held.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// The class of the locks.
    pub(crate) lock_class: String,
    /// The same, or what a lock is and which class uses it: `the lock of demo.Store (ReentrantLock$FairSync)`.
    pub(crate) lock: String,
    /// The owner's method, for people; empty if no thread is known as the owner.
    pub(crate) owner: String,
    /// Whether it is about the time in which nobody held the locks.
    pub(crate) is_free: bool,
    /// Whether threads waited for another thread, not for a lock.
    pub(crate) is_conditional: bool,
    /// Of waits for another thread: how many threads kept what others waited for at once, at least.
    pub(crate) kept_at_once: u32,
    /// Whether the code that waited longest calls `LockSupport.park` itself.
    pub(crate) parks_directly: bool,
    /// Whether the locks guard the initialization of a class.
    pub(crate) is_initialization: bool,
    /// The time waited because of the owner, in nanoseconds.
    pub(crate) duration_ns: Sum,
    pub(crate) waits: u64,
    pub(crate) contentions: u64,
    /// Its share of all waiting, 0 to 1.
    pub(crate) share: f64,
    /// The time waited for these locks with any owner, in nanoseconds.
    pub(crate) lock_ns: Sum,
    /// The part of it in which the locks were free.
    pub(crate) free_ns: Sum,
    /// The part of it with unknown owners, and the part of that with readers.
    pub(crate) unknown_ns: Sum,
    pub(crate) readers_ns: Sum,
    pub(crate) hand_off_ns: Sum,
    /// The time waited by threads that returned from `Object.wait`.
    pub(crate) after_wait_ns: Sum,
    /// The number of lock objects, and the time waited for the one with the most.
    pub(crate) locks: u64,
    pub(crate) largest_lock_ns: Sum,
    /// Of the method that waited longest: the number of locks that it waited for, of its waits, and of those
    /// for the lock with the most.
    pub(crate) site_locks: u64,
    pub(crate) site_waits: u64,
    pub(crate) site_largest_waits: u64,
    /// Whether threads nearly always waited for one of these locks at a time.
    pub(crate) one_at_a_time: bool,
    /// The number of times without a gap in which any thread waited, but for short ones, and their duration.
    pub(crate) periods: u64,
    pub(crate) periods_ns: u64,
    /// The duration of the traces.
    pub(crate) run_ns: u64,
    /// The number of methods that waited, and of those that waited for the locks themselves.
    pub(crate) waiter_sites: u64,
    pub(crate) direct_sites: u64,
    /// The number of threads that waited and also woke others.
    pub(crate) waking_waiters: u64,
    pub(crate) threads: u64,
    /// The locks let the first thread in the queue go first.
    pub(crate) is_fair: bool,
    /// Writers that wait because the owner reads, and readers that queue behind them.
    pub(crate) readers: Option<ReaderQueue>,
    /// What the owner waited for while it held the lock, if that is no lock itself.
    pub(crate) condition: Option<Condition>,
    /// The method of a concurrent map in which threads waited, as `computeIfAbsent`.
    pub(crate) map_method: Option<String>,
}

/// Threads behind a reader of a read-write lock.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReaderQueue {
    /// The method that waits to write.
    pub(crate) writer: String,
    /// The method that waits to read behind it, with the number of its threads; none if no readers wait.
    pub(crate) reader: Option<(String, u64)>,
}

/// Something that the owner of a lock waited for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condition {
    /// The method in which it waited.
    pub(crate) waits_in: String,
    /// The class of what it waited for.
    pub(crate) waits_for: String,
}

impl Facts {
    /// Returns the mean duration of a part of a wait, in nanoseconds.
    pub(crate) fn mean_part_ns(&self) -> u64 {
        self.duration_ns.ns() / self.contentions.max(1)
    }

    /// Returns the share of a part in the time waited for these locks, 0 to 1.
    pub(crate) fn of_locks(&self, part_ns: Sum) -> f64 {
        share(part_ns, self.lock_ns)
    }

    /// Returns the share of a part in the finding's own time, 0 to 1.
    pub(crate) fn of_own(&self, part_ns: Sum) -> f64 {
        share(part_ns, self.duration_ns)
    }

    /// Returns the time waited and its share of all waiting, as text.
    pub(crate) fn time(&self) -> String {
        let duration = human::duration(self.duration_ns.ns());
        format!("{duration} ({})", human::percent(self.share))
    }
}

fn share(part_ns: Sum, whole_ns: Sum) -> f64 {
    if whole_ns == Sum::default() {
        0.0
    } else {
        part_ns.of(whole_ns)
    }
}
