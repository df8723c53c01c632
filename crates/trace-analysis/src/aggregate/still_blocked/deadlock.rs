//! Cycles of threads that wait for each other's locks.

use std::collections::VecDeque;

use crate::collections::hash::{SeededMap, SeededSet};
use crate::model::entity::{ChainIndex, LockIndex, ThreadIndex};
use crate::model::wait::OpenWait;

/// Threads that blocked each other for good: each waited for a lock that the next one
/// had, and the last one for a lock that the first one had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The threads, at least two, that which began to wait first before the others.
    pub threads: Vec<OpenWait>,
    /// Those who wait for a lock that one of them has, or for one that one of these has, and so
    /// on: the nearest ones first.
    pub behind: Vec<OpenWait>,
}

impl Deadlock {
    /// Returns its duration until the end of the trace, in nanoseconds.
    pub fn duration_ns(&self) -> u64 {
        let durations = self.threads.iter().map(|blocked| blocked.duration_ns);
        durations.min().unwrap_or(0)
    }

    /// The lock that the thread at this place of the cycle had, and where it acquired
    /// that.
    pub fn held_by(&self, place: usize) -> Option<(LockIndex, ChainIndex)> {
        let before = place.checked_sub(1).unwrap_or(self.threads.len() - 1);
        let blocked = self.threads.get(before)?;
        blocked.holder.map(|(_, chain)| (blocked.lock, chain))
    }
}

/// Returns the cycles among threads that wait for locks, that which began first before the others.
pub(super) fn find(threads: &[OpenWait]) -> Vec<Deadlock> {
    let by_thread: SeededMap<ThreadIndex, &OpenWait> = threads
        .iter()
        .map(|blocked| (blocked.thread, blocked))
        .collect();
    let next = |blocked: &OpenWait| {
        let (holder, _) = blocked.holder?;
        by_thread.get(&holder).copied()
    };
    // Every thread waits for one other at most, so a walk along them meets a cycle
    // or an end. What an earlier walk has met is no part of a new cycle.
    let mut met_by: SeededMap<ThreadIndex, usize> = SeededMap::default();
    let mut deadlocks = Vec::new();
    for (walk, start) in threads.iter().enumerate() {
        let mut at = Some(start);
        while let Some(blocked) = at
            && !met_by.contains_key(&blocked.thread)
        {
            met_by.insert(blocked.thread, walk);
            at = next(blocked);
        }
        if let Some(blocked) = at
            && met_by[&blocked.thread] == walk
        {
            deadlocks.push(cycle(blocked, next));
        }
    }
    deadlocks.sort_by_key(|deadlock| deadlock.threads[0].start_ns);
    find_behind(threads, &mut deadlocks);
    deadlocks
}

/// Finds the threads that wait behind the cycles.
fn find_behind(threads: &[OpenWait], deadlocks: &mut [Deadlock]) {
    if deadlocks.is_empty() {
        return;
    }
    let mut by_holder: SeededMap<ThreadIndex, Vec<&OpenWait>> = SeededMap::default();
    for blocked in threads {
        if let Some((holder, _)) = blocked.holder {
            by_holder.entry(holder).or_default().push(blocked);
        }
    }
    // They come in another order where several threads analyze.
    for blocked in by_holder.values_mut() {
        blocked.sort_unstable_by_key(|one| (one.start_ns, one.id));
    }
    let in_cycles = deadlocks.iter().flat_map(|deadlock| &deadlock.threads);
    let mut met: SeededSet<ThreadIndex> = in_cycles.map(|blocked| blocked.thread).collect();
    for deadlock in deadlocks {
        let mut holders: VecDeque<ThreadIndex> =
            deadlock.threads.iter().map(|one| one.thread).collect();
        while let Some(holder) = holders.pop_front() {
            for &blocked in by_holder.get(&holder).into_iter().flatten() {
                if met.insert(blocked.thread) {
                    deadlock.behind.push(*blocked);
                    holders.push_back(blocked.thread);
                }
            }
        }
    }
}

/// The cycle that `start` is a part of.
fn cycle<'a>(start: &'a OpenWait, next: impl Fn(&OpenWait) -> Option<&'a OpenWait>) -> Deadlock {
    let others = std::iter::successors(next(start), |&blocked| next(blocked));
    let others = others.take_while(|blocked| blocked.thread != start.thread);
    let mut threads: Vec<_> = std::iter::once(start).chain(others).copied().collect();
    let first = (0..threads.len()).min_by_key(|&at| threads[at].start_ns);
    threads.rotate_left(first.unwrap_or(0));
    Deadlock {
        threads,
        behind: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thread 1 waits since 10 for lock 2, which thread 2 has, and so on; thread 0 is
    /// nobody.
    fn deadlocks(waits: &[(u32, u64, u32, u32)]) -> Vec<Deadlock> {
        let waits = waits.iter().map(|&(thread, start_ns, lock, holder)| {
            let holder = (ThreadIndex(holder), ChainIndex::NOT_RELEASED);
            OpenWait {
                thread: ThreadIndex(thread),
                lock: LockIndex(lock),
                start_ns,
                duration_ns: 100 - start_ns,
                holder: Some(holder).filter(|&(thread, _)| thread != ThreadIndex(0)),
                ..OpenWait::blank()
            }
        });
        find(&waits.collect::<Vec<_>>())
    }

    fn cycles(waits: &[(u32, u64, u32, u32)]) -> Vec<Vec<u32>> {
        let deadlocks = deadlocks(waits);
        let threads = deadlocks.iter().map(|deadlock| {
            let threads = deadlock.threads.iter().map(|blocked| blocked.thread.0);
            threads.collect()
        });
        threads.collect()
    }

    #[test]
    fn two_threads_that_wait_for_each_other() {
        let waits = [(1, 20, 2, 2), (2, 10, 1, 1)];
        assert_eq!(cycles(&waits), [[2, 1]]);
        let deadlocks = deadlocks(&waits);
        assert_eq!(deadlocks[0].duration_ns(), 80);
        let held = |place| deadlocks[0].held_by(place).map(|(lock, _)| lock);
        assert_eq!(held(0), Some(LockIndex(2)));
        assert_eq!(held(1), Some(LockIndex(1)));
    }

    #[test]
    fn a_thread_that_waits_for_a_cycle_is_not_part_of_it() {
        let waits = [
            (9, 5, 1, 1),
            (1, 10, 2, 2),
            (8, 11, 3, 9),
            (2, 20, 3, 3),
            (3, 30, 1, 1),
            (7, 40, 1, 1),
        ];
        assert_eq!(cycles(&waits), [[1, 2, 3]]);
        let deadlocks = deadlocks(&waits);
        let behind = deadlocks[0].behind.iter();
        let behind: Vec<u32> = behind.map(|blocked| blocked.thread.0).collect();
        // Thread 8 waits for 9, which waits for the cycle.
        assert_eq!(behind, [9, 7, 8]);
    }

    /// A damaged trace may have a thread wait twice.
    #[test]
    fn a_thread_that_waits_for_itself_is_listed_once() {
        let waits = [(1, 10, 2, 2), (2, 20, 1, 1), (3, 30, 1, 1), (3, 31, 4, 3)];
        let deadlocks = deadlocks(&waits);
        assert_eq!(deadlocks.len(), 1);
        assert_eq!(deadlocks[0].behind.len(), 1);
    }

    #[test]
    fn there_may_be_several_cycles() {
        let waits = [(3, 30, 4, 4), (1, 10, 2, 2), (4, 40, 3, 3), (2, 20, 1, 1)];
        assert_eq!(cycles(&waits), [[1, 2], [3, 4]]);
    }

    #[test]
    fn an_owner_that_does_not_wait_is_no_deadlock() {
        assert_eq!(cycles(&[(1, 10, 2, 2), (3, 20, 1, 1)]), [[0; 0]; 0]);
        assert_eq!(cycles(&[(1, 10, 2, 2), (2, 20, 1, 0)]), [[0; 0]; 0]);
    }
}
