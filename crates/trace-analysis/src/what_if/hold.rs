//! Holds of a lock, one after the other.

use crate::what_if::hold_code::HoldCodeIndex;

/// A hold of a lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    /// The number of the thread.
    pub(super) thread: usize,
    /// The number of the lock.
    pub(super) lock: usize,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) code: HoldCodeIndex,
    /// The thread only reads, as others may at the same time.
    pub(super) is_shared: bool,
    /// The thread waited for it.
    pub(super) follows_wait: bool,
}

/// Who had a lock one after the other, after waiting for it or not.
pub(super) struct Queue<'h> {
    /// By begin.
    holds: &'h [Hold],
    /// Before each hold: the last one that its thread had waited for.
    last_waited: Vec<Option<usize>>,
    /// Before each hold: how long the lock was held by threads that had not waited.
    barging_ns: Vec<u64>,
}

impl<'h> Queue<'h> {
    pub(super) fn new(holds: &'h [Hold]) -> Self {
        let (mut last_waited, mut barging_ns) = (vec![None], vec![0]);
        let (mut last, mut sum_ns) = (None, 0);
        for (at, hold) in holds.iter().enumerate() {
            match hold.follows_wait {
                true => last = Some(at),
                false => sum_ns += hold.end_ns - hold.start_ns,
            }
            last_waited.push(last);
            barging_ns.push(sum_ns);
        }
        Self {
            holds,
            last_waited,
            barging_ns,
        }
    }

    /// How long the lock was free at the end of a wait, but for barging holds, since a thread released
    /// it that had waited for it, or that had it when the wait began. `None` if there was none.
    pub(super) fn free_ns(&self, start_ns: u64, end_ns: u64) -> Option<u64> {
        let before = |time_ns: u64| self.holds.partition_point(|hold| hold.start_ns < time_ns);
        let end = before(end_ns);
        let had_it = before(start_ns.saturating_add(1)).checked_sub(1);
        let woke = self.last_waited[end].max(had_it)?;
        let since_ns = self.holds[woke].end_ns.max(start_ns);
        let taken_ns = self.barging_ns[end].saturating_sub(self.barging_ns[woke + 1]);
        Some(end_ns.saturating_sub(since_ns).saturating_sub(taken_ns))
    }
}
