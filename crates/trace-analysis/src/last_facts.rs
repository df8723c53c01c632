//! What was told of all threads last, by their time.

use std::collections::VecDeque;

use crate::entity::ThreadIndex;
use crate::hash::SeededMap;
use crate::search::count_from_back;

/// Something that a trace tells of a thread at some time.
pub(crate) trait Fact {
    fn thread(&self) -> ThreadIndex;
    fn time_ns(&self) -> u64;
}

/// The last facts of all threads.
#[derive(Debug)]
pub(crate) struct LastFacts<T> {
    /// Those of each thread, in the order of time.
    threads: SeededMap<ThreadIndex, VecDeque<T>>,
    /// Whose fact came first, next, and so on.
    order: VecDeque<ThreadIndex>,
    none: VecDeque<T>,
    max: usize,
}

impl<T: Fact> LastFacts<T> {
    /// Keeps so many.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            threads: SeededMap::default(),
            order: VecDeque::new(),
            none: VecDeque::new(),
            max,
        }
    }

    /// Adds one. Costs the more the further back in time it is.
    pub(crate) fn add(&mut self, fact: T) {
        let (thread, time_ns) = (fact.thread(), fact.time_ns());
        let facts = self.threads.entry(thread).or_default();
        let place = count_from_back(facts, |earlier| earlier.time_ns() <= time_ns);
        facts.insert(place, fact);
        self.order.push_back(thread);
        if self.order.len() > self.max {
            self.forget();
        }
    }

    fn forget(&mut self) {
        let Some(thread) = self.order.pop_front() else {
            return;
        };
        if let Some(facts) = self.threads.get_mut(&thread) {
            facts.pop_front();
            if facts.is_empty() {
                self.threads.remove(&thread);
            }
        }
    }

    /// Those of a thread, in the order of time.
    pub(crate) fn of(&self, thread: ThreadIndex) -> &VecDeque<T> {
        self.threads.get(&thread).unwrap_or(&self.none)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Fact for (u32, u64) {
        fn thread(&self) -> ThreadIndex {
            ThreadIndex(self.0)
        }

        fn time_ns(&self) -> u64 {
            self.1
        }
    }

    #[test]
    fn those_that_came_first_are_forgotten() {
        let mut facts = LastFacts::new(2);
        for fact in [(1, 10), (2, 20), (1, 40), (1, 30)] {
            facts.add(fact);
        }
        assert_eq!(facts.threads.len(), 1);
        assert!(facts.of(ThreadIndex(1)).iter().eq(&[(1, 30), (1, 40)]));
        assert!(facts.of(ThreadIndex(2)).is_empty());
    }
}
