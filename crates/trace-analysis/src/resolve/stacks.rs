//! Which thread an address on a stack belongs to.

use std::collections::{BTreeMap, BTreeSet};

use trace_format::StackRange;

use crate::collections::hash::SeededMap;
use crate::model::entity::ThreadIndex;

/// A thread started then, with this stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartedStack {
    pub(crate) thread: ThreadIndex,
    /// In nanoseconds since the trace's start.
    pub(crate) start_ns: u64,
    pub(crate) stack: StackRange,
}

/// The stacks of a trace's threads. Memory of a stack is used again when its thread has
/// ended, mostly as a whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stacks {
    of_threads: SeededMap<ThreadIndex, (u64, StackRange)>,
    /// By range, lowest address first: the threads that had it, and since when, in
    /// the order of their starts.
    ranges: BTreeMap<(u64, u64), BTreeSet<(u64, ThreadIndex)>>,
    largest: u64,
}

/// The most ranges below an address that are searched. Stacks of threads that live at the
/// same time do not overlap, so more of them mean a damaged trace.
const MAX_RANGES: usize = 64;

impl Stacks {
    /// Only the first description of a thread counts.
    pub(crate) fn add(&mut self, started: StartedStack) {
        let StartedStack {
            thread,
            start_ns,
            stack,
        } = started;
        if stack.size == 0 || self.of_threads.contains_key(&thread) {
            return;
        }
        self.of_threads.insert(thread, (start_ns, stack));
        self.largest = self.largest.max(stack.size);
        let threads = self.ranges.entry((stack.lowest, stack.size)).or_default();
        threads.insert((start_ns, thread));
    }

    /// Forgets the stacks of all other threads.
    pub(crate) fn retain(&mut self, is_wanted: impl Fn(ThreadIndex) -> bool) {
        self.of_threads.retain(|&thread, _| is_wanted(thread));
        self.ranges.retain(|_, threads| {
            threads.retain(|&(_, thread)| is_wanted(thread));
            !threads.is_empty()
        });
    }

    /// The thread that had `address` on its stack then: the last one to start on such
    /// a stack.
    pub(crate) fn thread_at(&self, address: u64, time_ns: u64) -> Option<ThreadIndex> {
        let may_contain = address.saturating_sub(self.largest)..=address;
        let below = self
            .ranges
            .range((*may_contain.start(), 0)..=(*may_contain.end(), u64::MAX));
        let with_address = below
            .rev()
            .take(MAX_RANGES)
            .filter(|&(&(lowest, size), _)| StackRange { lowest, size }.contains(address));
        let latest = with_address.filter_map(|(_, threads)| {
            let mut started = threads.range(..=(time_ns, ThreadIndex(u32::MAX)));
            started.next_back().copied()
        });
        latest.max().map(|(_, thread)| thread)
    }

    /// The thread had `address` on its stack then, as far as is known of it alone.
    pub(crate) fn is_on(&self, thread: ThreadIndex, address: u64, time_ns: u64) -> bool {
        let stack = self.of_threads.get(&thread);
        stack.is_some_and(|&(start_ns, stack)| start_ns <= time_ns && stack.contains(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds the stack of a thread that starts then.
    fn add(stacks: &mut Stacks, thread: u32, start_ns: u64, (lowest, size): (u64, u64)) {
        stacks.add(StartedStack {
            thread: ThreadIndex(thread),
            start_ns,
            stack: StackRange { lowest, size },
        });
    }

    fn at(stacks: &Stacks, address: u64, time_ns: u64) -> Option<u32> {
        stacks.thread_at(address, time_ns).map(|thread| thread.0)
    }

    #[test]
    fn an_address_belongs_to_the_last_thread_that_started_there() {
        let mut stacks = Stacks::default();
        add(&mut stacks, 2, 200, (1000, 100));
        add(&mut stacks, 1, 100, (1000, 100));
        add(&mut stacks, 3, 100, (1100, 100));
        // Described again, after a loss.
        add(&mut stacks, 1, 300, (1000, 100));
        for (address, time_ns, expected) in [
            (999, 500, None),
            (1000, 99, None),
            (1000, 100, Some(1)),
            (1099, 199, Some(1)),
            (1099, 200, Some(2)),
            (1100, 500, Some(3)),
            (1200, 500, None),
        ] {
            let found = at(&stacks, address, time_ns);
            assert_eq!(found, expected, "{address} at {time_ns}");
        }
    }

    #[test]
    fn stacks_may_overlap_at_different_times() {
        let mut stacks = Stacks::default();
        add(&mut stacks, 1, 100, (1000, 1000));
        add(&mut stacks, 2, 200, (1500, 100));
        assert_eq!(at(&stacks, 1550, 150), Some(1));
        assert_eq!(at(&stacks, 1550, 250), Some(2));
        assert_eq!(at(&stacks, 1800, 250), Some(1));
    }

    #[test]
    fn unknown_stacks_have_no_address() {
        let mut stacks = Stacks::default();
        add(&mut stacks, 1, 0, (0, 0));
        assert_eq!(at(&stacks, 0, 10), None);
    }

    #[test]
    fn stacks_at_the_end_of_memory_do_no_harm() {
        let mut stacks = Stacks::default();
        add(&mut stacks, 1, 0, (u64::MAX - 10, u64::MAX));
        add(&mut stacks, 2, 0, (0, u64::MAX));
        assert_eq!(at(&stacks, u64::MAX, 10), Some(1));
        assert_eq!(at(&stacks, 5, 10), Some(2));
    }
}
