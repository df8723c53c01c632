//! What a pattern is recognized by.

use crate::sum::Sum;
use trace_report::human;

/// Facts about one owner's code and the locks that it held.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// The class of the locks, for people.
    pub(crate) lock_class: String,
    /// The owner's method, for people; empty if no thread is known to have held them.
    pub(crate) owner: String,
    /// Threads waited for another thread, not for a lock.
    pub(crate) is_conditional: bool,
    /// The code that waited longest calls `LockSupport.park` itself.
    pub(crate) parks_directly: bool,
    /// The locks guard the initialization of a class.
    pub(crate) is_initialization: bool,
    /// Time waited because of the owner, in nanoseconds.
    pub(crate) duration_ns: Sum,
    pub(crate) waits: u64,
    pub(crate) contentions: u64,
    /// Of all waiting, 0 to 1.
    pub(crate) share: f64,
    /// Time waited for locks of the class, whoever had them, in nanoseconds.
    pub(crate) lock_ns: Sum,
    /// Nobody had them.
    pub(crate) free_ns: Sum,
    /// It is not known who had them: of these, readers had them.
    pub(crate) unknown_ns: Sum,
    pub(crate) readers_ns: Sum,
    pub(crate) hand_off_ns: Sum,
    /// Threads came back from `Object.wait`.
    pub(crate) after_wait_ns: Sum,
    /// Lock objects, and the time waited for that with the most.
    pub(crate) locks: u64,
    pub(crate) largest_lock_ns: Sum,
    /// Methods that waited.
    pub(crate) waiter_sites: u64,
    /// Of the threads that waited, so many woke others, too.
    pub(crate) waking_waiters: u64,
    pub(crate) threads: u64,
}

impl Facts {
    /// How long one hold kept a wait waiting, on average, in nanoseconds.
    pub(crate) fn mean_part_ns(&self) -> u64 {
        self.duration_ns.ns() / self.contentions.max(1)
    }

    /// The share of the time waited for these locks, 0 to 1.
    pub(crate) fn of_locks(&self, part_ns: Sum) -> f64 {
        if self.lock_ns == Sum::default() {
            0.0
        } else {
            part_ns.of(self.lock_ns)
        }
    }

    /// The share of the finding's own time, 0 to 1.
    pub(crate) fn of_own(&self, part_ns: Sum) -> f64 {
        if self.duration_ns == Sum::default() {
            0.0
        } else {
            part_ns.of(self.duration_ns)
        }
    }

    /// How long threads waited, and how much of all waiting that is.
    pub(crate) fn time(&self) -> String {
        let duration = human::duration(self.duration_ns.ns());
        format!("{duration} ({})", human::percent(self.share))
    }
}
