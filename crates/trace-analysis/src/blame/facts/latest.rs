//! The most recent facts about each thread, by their time.

use std::cell::Cell;
use std::collections::{VecDeque, vec_deque};

use crate::collections::galloping::{count_near, insert_from_back};
use crate::collections::hash::SeededMap;
use crate::model::entity::ThreadIndex;

/// A fact about a thread, with its time.
pub(crate) trait Fact {
    fn thread(&self) -> ThreadIndex;
    fn time_ns(&self) -> u64;
}

/// The most recent facts about all threads.
#[derive(Debug)]
pub(crate) struct LatestFacts<T> {
    threads: SeededMap<ThreadIndex, OfThread<T>>,
    /// The thread of each fact, in order of arrival.
    order: VecDeque<ThreadIndex>,
    max: usize,
}

/// The facts of one thread.
#[derive(Debug)]
pub(crate) struct OfThread<T> {
    /// Ordered by time.
    facts: VecDeque<T>,
    /// An index near the last one looked up.
    near: Cell<usize>,
}

impl<T> Default for OfThread<T> {
    fn default() -> Self {
        Self {
            facts: VecDeque::new(),
            near: Cell::new(0),
        }
    }
}

impl<T: Fact> LatestFacts<T> {
    /// Keeps at most `max` facts.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            threads: SeededMap::default(),
            order: VecDeque::new(),
            max,
        }
    }

    /// Adds a fact. The further back in time it lies, the more this costs. Returns the fact
    /// forgotten in exchange, if any.
    pub(crate) fn add(&mut self, fact: T) -> Option<T> {
        let (thread, time_ns) = (fact.thread(), fact.time_ns());
        let facts = &mut self.threads.entry(thread).or_default().facts;
        insert_from_back(facts, fact, |earlier| earlier.time_ns() <= time_ns);
        self.order.push_back(thread);
        let is_too_many = self.order.len() > self.max;
        is_too_many.then(|| self.forget()).flatten()
    }

    fn forget(&mut self) -> Option<T> {
        let thread = self.order.pop_front()?;
        let OfThread { facts, near } = self.threads.get_mut(&thread)?;
        let forgotten = facts.pop_front();
        near.set(near.get().saturating_sub(1));
        if facts.is_empty() {
            self.threads.remove(&thread);
        }
        forgotten
    }

    /// Returns all remaining facts, in no particular order.
    pub(crate) fn into_facts(self) -> impl Iterator<Item = T> {
        self.threads
            .into_values()
            .flat_map(|of_thread| of_thread.facts)
    }

    /// Returns the facts of a thread, if there are any.
    pub(crate) fn of(&self, thread: ThreadIndex) -> Option<&OfThread<T>> {
        self.threads.get(&thread)
    }
}

impl<T: Fact> OfThread<T> {
    /// Returns the facts from `time_ns` on, ordered by time. The closer `time_ns` is to the time of
    /// the last call, the less this costs.
    pub(crate) fn from(&self, time_ns: u64) -> vec_deque::Iter<'_, T> {
        let Self { facts, near } = self;
        let first = count_near(facts, near.get(), |fact| fact.time_ns() < time_ns);
        near.set(first);
        facts.range(first..)
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
        let mut facts = LatestFacts::new(2);
        for fact in [(1, 10), (2, 20), (1, 40), (1, 30)] {
            facts.add(fact);
        }
        assert_eq!(facts.threads.len(), 1);
        let one = facts.of(ThreadIndex(1)).expect("some");
        assert!(one.from(0).eq(&[(1, 30), (1, 40)]));
        assert!(one.from(31).eq(&[(1, 40)]));
        assert!(one.from(30).eq(&[(1, 30), (1, 40)]));
        assert!(facts.of(ThreadIndex(2)).is_none());
    }
}
