//! The facts by which patterns are recognized.

use crate::sum::Sum;
use trace_report::human;

/// Facts about one owner's code and the locks that it held.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// The class of the locks, for people.
    pub(crate) lock_class: String,
    /// The owner's method, for people; empty if no thread is known as the owner.
    pub(crate) owner: String,
    /// Whether threads waited for another thread, not for a lock.
    pub(crate) is_conditional: bool,
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
    /// The time waited for locks of the class with any owner, in nanoseconds.
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
    /// The number of methods that waited.
    pub(crate) waiter_sites: u64,
    /// The number of threads that waited and also woke others.
    pub(crate) waking_waiters: u64,
    pub(crate) threads: u64,
}

impl Facts {
    /// Returns the mean duration of a part of a wait, in nanoseconds.
    pub(crate) fn mean_part_ns(&self) -> u64 {
        self.duration_ns.ns() / self.contentions.max(1)
    }

    /// Returns the share of a part in the time waited for these locks, 0 to 1.
    pub(crate) fn of_locks(&self, part_ns: Sum) -> f64 {
        if self.lock_ns == Sum::default() {
            0.0
        } else {
            part_ns.of(self.lock_ns)
        }
    }

    /// Returns the share of a part in the finding's own time, 0 to 1.
    pub(crate) fn of_own(&self, part_ns: Sum) -> f64 {
        if self.duration_ns == Sum::default() {
            0.0
        } else {
            part_ns.of(self.duration_ns)
        }
    }

    /// Returns the time waited and its share of all waiting, as text.
    pub(crate) fn time(&self) -> String {
        let duration = human::duration(self.duration_ns.ns());
        format!("{duration} ({})", human::percent(self.share))
    }
}
