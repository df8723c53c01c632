//! Groups of locks, which threads can share among them.

use trace_format::LockId;

/// Locks are in as many groups, each of which has its own bounds. So what is given up for want
/// of memory is the same however many threads share the groups among them.
pub(crate) const LOCK_GROUPS: usize = 8;

/// The group of a lock, or of a domain of parks.
#[inline]
pub(crate) fn lock_group(lock: LockId) -> usize {
    (lock.0 % LOCK_GROUPS as u64) as usize
}

/// Which worker has which group, and how much each has had to do.
#[derive(Debug)]
pub(crate) struct GroupShares {
    /// Once a group has had an event.
    workers: [Option<usize>; LOCK_GROUPS],
    /// How many events each worker has had.
    events: Vec<u64>,
}

impl GroupShares {
    /// Creates the shares of `workers` workers, at least one.
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            workers: [None; LOCK_GROUPS],
            events: vec![0; workers],
        }
    }

    /// Who takes the next event of a lock, or of a domain of parks: the same worker for all of
    /// them. A new group goes to the one who has had the least to do: a trace is often about two
    /// or three locks, which should not meet.
    #[inline]
    pub(crate) fn worker(&mut self, lock: LockId) -> usize {
        let Self { workers, events } = self;
        let worker = *workers[lock_group(lock)].get_or_insert_with(|| least_busy(events));
        events[worker] += 1;
        worker
    }
}

#[cold]
fn least_busy(events: &[u64]) -> usize {
    let events = events.iter().enumerate();
    let least = events.min_by_key(|&(_, events)| events);
    least.map_or(0, |(worker, _)| worker)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_used_at_once_have_different_workers_and_keep_them() {
        let mut shares = GroupShares::new(2);
        let [first, second, third] = [264, 266, 268].map(LockId);
        assert_eq!([first, first].map(|lock| shares.worker(lock)), [0, 0]);
        assert_eq!(shares.worker(second), 1);
        // The second one has had less.
        assert_eq!(shares.worker(third), 1);
        for _ in 0..10 {
            assert_eq!(shares.worker(first), 0);
            assert_eq!(shares.worker(third), 1);
        }
    }

    #[test]
    fn all_locks_of_a_group_have_one_worker() {
        let mut shares = GroupShares::new(LOCK_GROUPS);
        for lock in 0..10 * LOCK_GROUPS as u64 {
            assert_eq!(shares.worker(LockId(lock)), lock as usize % LOCK_GROUPS);
        }
    }
}
