//! The threads that still waited for a lock when the trace ended, and the deadlocks
//! among them.

use std::collections::VecDeque;

use crate::collections::hash::{SeededMap, SeededSet};
use crate::model::entity::{ChainIndex, LockIndex, ThreadIndex};
use crate::model::lock_group::lock_group;
use crate::model::wait::{Mechanism, OpenWait, Wait, WaitId, WaitKind};

/// A thread that still waited for a lock when the trace ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockedThread {
    /// What its wait is known by.
    pub wait: WaitId,
    /// The thread.
    pub thread: ThreadIndex,
    /// The mechanism that made it wait.
    pub mechanism: Mechanism,
    /// The lock that it waited for.
    pub lock: LockIndex,
    /// Where it waited.
    pub chain: ChainIndex,
    /// Since when, in nanoseconds since the trace's start.
    pub start_ns: u64,
    /// How long, in nanoseconds, until the trace ended.
    pub duration_ns: u64,
    /// The thread that had the lock, and where it acquired it;
    /// [`ChainIndex::NOT_RELEASED`] if it did not have to wait for it. `None` if the
    /// events do not show it.
    pub holder: Option<(ThreadIndex, ChainIndex)>,
}

/// Threads that blocked each other for good: each waited for a lock that the next one
/// had, and the last one for a lock that the first one had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The threads, at least two, that which began to wait first before the others.
    pub threads: Vec<BlockedThread>,
    /// Those who wait for a lock that one of them has, or for one that one of these has, and so
    /// on: the nearest ones first.
    pub behind: Vec<BlockedThread>,
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

/// The threads of one trace that still waited for a lock when it ended.
#[derive(Clone, Debug, Default)]
pub struct StillBlocked {
    /// In the order in which they came. A thread waits for one lock at a time.
    threads: Vec<BlockedThread>,
}

impl StillBlocked {
    /// Of these waits, those for locks, until a moment after all of them have begun.
    pub(crate) fn at<'w>(until_ns: u64, open: impl Iterator<Item = &'w OpenWait>) -> Self {
        let for_locks = open.filter(|wait| wait.kind == WaitKind::Contention);
        let threads = for_locks.map(|wait| BlockedThread {
            wait: wait.id,
            thread: wait.thread,
            mechanism: wait.mechanism,
            lock: wait.lock,
            chain: wait.chain,
            start_ns: wait.start_ns,
            duration_ns: until_ns.saturating_sub(wait.start_ns),
            holder: wait.holder,
        });
        Self {
            threads: threads.collect(),
        }
    }

    /// Takes `wait` into account, if it is for a lock and had not ended.
    pub fn add(&mut self, wait: &Wait) {
        if wait.ended() || wait.kind != WaitKind::Contention {
            return;
        }
        self.threads.push(BlockedThread {
            wait: wait.id,
            thread: wait.thread,
            mechanism: wait.mechanism,
            lock: wait.lock,
            chain: wait.chain,
            start_ns: wait.whole_start_ns,
            duration_ns: wait.whole_duration_ns,
            holder: wait.holder,
        });
    }

    /// Adds what was found of other locks of the same trace: monitors come first, in the order
    /// in which the threads began to wait for them, and then the parks by lock. Those of one lock,
    /// which are in order, are all on one side; a damaged trace may have it in several groups.
    pub(crate) fn merge(&mut self, other: Self) {
        self.threads.extend(other.threads);
        self.threads.sort_by_key(|blocked| {
            let is_monitor = blocked.mechanism == Mechanism::Monitor;
            let began = (blocked.start_ns, blocked.thread, blocked.lock, blocked.wait);
            let parked = (blocked.lock, lock_group(blocked.wait.lock));
            let (began, parked) = match is_monitor {
                true => (Some(began), None),
                false => (None, Some(parked)),
            };
            (!is_monitor, began, parked)
        });
    }

    /// The threads.
    pub fn threads(&self) -> &[BlockedThread] {
        &self.threads
    }

    /// The cycles among them, that which began first before the others.
    pub fn deadlocks(&self) -> Vec<Deadlock> {
        let by_thread: SeededMap<ThreadIndex, &BlockedThread> = self
            .threads
            .iter()
            .map(|blocked| (blocked.thread, blocked))
            .collect();
        let next = |blocked: &BlockedThread| {
            let (holder, _) = blocked.holder?;
            by_thread.get(&holder).copied()
        };
        // Every thread waits for one other at most, so a walk along them meets a cycle
        // or an end. What an earlier walk has met is no part of a new cycle.
        let mut met_by: SeededMap<ThreadIndex, usize> = SeededMap::default();
        let mut deadlocks = Vec::new();
        for (walk, start) in self.threads.iter().enumerate() {
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
        self.find_behind(&mut deadlocks);
        deadlocks
    }

    /// Finds the threads that wait behind the cycles.
    fn find_behind(&self, deadlocks: &mut [Deadlock]) {
        if deadlocks.is_empty() {
            return;
        }
        let mut by_holder: SeededMap<ThreadIndex, Vec<&BlockedThread>> = SeededMap::default();
        for blocked in &self.threads {
            if let Some((holder, _)) = blocked.holder {
                by_holder.entry(holder).or_default().push(blocked);
            }
        }
        // They come in another order where several threads analyze.
        for blocked in by_holder.values_mut() {
            blocked.sort_unstable_by_key(|one| (one.start_ns, one.wait));
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
}

/// The cycle that `start` is a part of.
fn cycle<'a>(
    start: &'a BlockedThread,
    next: impl Fn(&BlockedThread) -> Option<&'a BlockedThread>,
) -> Deadlock {
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
    use crate::model::wait::WaitEnd;

    /// Thread 1 waits since 10 for lock 2, which thread 2 has, and so on; thread 0 is
    /// nobody.
    fn still_blocked(waits: &[(u32, u64, u32, u32)]) -> StillBlocked {
        let mut still_blocked = StillBlocked::default();
        for &(thread, start_ns, lock, holder) in waits {
            let mut wait = Wait::blank();
            wait.end = WaitEnd::Open;
            wait.thread = ThreadIndex(thread);
            wait.lock = LockIndex(lock);
            wait.whole_start_ns = start_ns;
            wait.whole_duration_ns = 100 - start_ns;
            let holder = (ThreadIndex(holder), ChainIndex::NOT_RELEASED);
            wait.holder = Some(holder).filter(|&(thread, _)| thread != ThreadIndex(0));
            still_blocked.add(&wait);
        }
        still_blocked
    }

    fn cycles(waits: &[(u32, u64, u32, u32)]) -> Vec<Vec<u32>> {
        let deadlocks = still_blocked(waits).deadlocks();
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
        let deadlocks = still_blocked(&waits).deadlocks();
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
        let deadlocks = still_blocked(&waits).deadlocks();
        let behind = deadlocks[0].behind.iter();
        let behind: Vec<u32> = behind.map(|blocked| blocked.thread.0).collect();
        // Thread 8 waits for 9, which waits for the cycle.
        assert_eq!(behind, [9, 7, 8]);
    }

    /// A damaged trace may have a thread wait twice.
    #[test]
    fn a_thread_that_waits_for_itself_is_listed_once() {
        let waits = [(1, 10, 2, 2), (2, 20, 1, 1), (3, 30, 1, 1), (3, 31, 4, 3)];
        let deadlocks = still_blocked(&waits).deadlocks();
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
