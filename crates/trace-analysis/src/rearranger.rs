//! The event rearranger (paper, sections 3.2 "Event ordering" and 4.1): from the
//! order of buffers in the trace to the order in which things happened to each
//! lock.
//!
//! # When an event is released
//!
//! Every event of a lock carries a sequence number; the numbers of a lock are
//! 0, 1, 2... without gaps, in the order of the events. Those of a domain of park
//! events begin with 1, and there the domain is what the lock is here. Event *s* of a lock is
//! released once every number below *s* is
//!
//! * released,
//! * known to be lost ([`LostNumber`](trace_format::Event::LostNumber) stands
//!   in for the event), or
//! * given up.
//!
//! A missing number is given up only at the end of the trace, or when more
//! events are pending than fit the bound: then the locks with the most pending
//! events skip their gaps until a quarter of the bound is free. Lost numbers
//! reach the analyzer as events that say so, and given-up ones as [`Step::Gap`],
//! so that it knows what it does not know. An event that comes after its number
//! was given up is counted and dropped.
//!
//! Nothing is remembered of a lock once its last event is released.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use rustc_hash::FxHashMap;
use trace_format::LockId;

use crate::counter::{Counter, Counters};

/// An event that has a number in an order.
pub(crate) trait Ordered: Copy {
    /// No number comes after this event's.
    fn is_last(&self) -> bool;
}

/// What happened next in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<E> {
    Event(E),
    /// This many events in a row will never be known, nor who wrote them.
    Gap {
        numbers: u64,
    },
}

/// One queue per lock, or per domain of park events.
#[derive(Debug)]
pub(crate) struct Rearranger<E> {
    queues: FxHashMap<LockId, Queue<E>>,
    /// The first number of each queue.
    first: u64,
    /// Events in all queues.
    pending: usize,
    max_pending: usize,
}

#[derive(Debug)]
struct Queue<E> {
    /// The number to release next.
    next: u64,
    /// What has arrived beyond `next`, the smallest sequence number on top.
    pending: BinaryHeap<Reverse<Pending<E>>>,
}

#[derive(Debug)]
struct Pending<E> {
    sequence: u64,
    event: E,
}

impl<E> Ord for Pending<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sequence.cmp(&other.sequence)
    }
}

impl<E> PartialOrd for Pending<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Pending<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<E> Eq for Pending<E> {}

/// Capacity that a queue keeps while nothing is pending. A longer one is used to
/// a quarter at least: the bound is on the events of all locks, and many locks
/// can have had many events pending at some time.
const SMALL: usize = 64;

impl<E: Ordered> Rearranger<E> {
    /// A rearranger that holds back up to `max_pending` events. The first number
    /// of each queue is `first`.
    pub(crate) fn new(first: u64, max_pending: usize) -> Self {
        Self {
            queues: FxHashMap::default(),
            first,
            pending: 0,
            max_pending,
        }
    }

    /// Takes number `sequence` of `lock` and releases what is due.
    pub(crate) fn arrive(
        &mut self,
        lock: LockId,
        sequence: u64,
        event: E,
        counters: &mut Counters,
        mut release: impl FnMut(LockId, Step<E>, &mut Counters),
    ) {
        let first = self.first;
        let queue = self.queues.entry(lock).or_insert_with(|| Queue {
            next: first,
            pending: BinaryHeap::new(),
        });
        // No tracer gets as far as the last number, which would have no next.
        if sequence < queue.next || sequence == u64::MAX {
            counters.add(Counter::LateEvents, 1);
        } else if sequence > queue.next {
            queue.pending.push(Reverse(Pending { sequence, event }));
            self.pending += 1;
            if self.pending > self.max_pending {
                self.make_room(counters, release);
            }
        } else {
            queue.next = sequence + 1;
            let retired = event.is_last();
            release(lock, Step::Event(event), counters);
            self.release_due(lock, retired, counters, &mut release);
        }
    }

    /// Gives up all numbers that are still missing.
    pub(crate) fn finish(
        mut self,
        counters: &mut Counters,
        mut release: impl FnMut(LockId, Step<E>, &mut Counters),
    ) {
        let mut locks: Vec<_> = self.queues.keys().copied().collect();
        locks.sort_unstable();
        for lock in locks {
            while self.skip_gap(lock, counters, &mut release) {}
        }
    }

    /// Releases the events of `lock` that have no number missing before them.
    fn release_due(
        &mut self,
        lock: LockId,
        mut retired: bool,
        counters: &mut Counters,
        release: &mut impl FnMut(LockId, Step<E>, &mut Counters),
    ) {
        let Some(queue) = self.queues.get_mut(&lock) else {
            return;
        };
        while !retired
            && let Some(first) = queue.pending.peek_mut()
            && first.0.sequence <= queue.next
        {
            let Reverse(Pending { sequence, event }) = PeekMut::pop(first);
            self.pending -= 1;
            if sequence < queue.next {
                counters.add(Counter::LateEvents, 1);
                continue;
            }
            queue.next += 1;
            retired = event.is_last();
            release(lock, Step::Event(event), counters);
        }
        if queue.pending.len() < queue.pending.capacity() / 4 {
            queue
                .pending
                .shrink_to((queue.pending.len() * 2).max(SMALL));
        }
        if retired {
            // Nothing comes after the last number; what claims to is damage.
            counters.add(Counter::LateEvents, queue.pending.len() as u64);
            self.pending -= queue.pending.len();
            self.queues.remove(&lock);
        }
    }

    /// Gives up the numbers that the first pending event of `lock` waits for.
    /// `false` if no event is pending.
    fn skip_gap(
        &mut self,
        lock: LockId,
        counters: &mut Counters,
        release: &mut impl FnMut(LockId, Step<E>, &mut Counters),
    ) -> bool {
        let Some(queue) = self.queues.get_mut(&lock) else {
            return false;
        };
        let Some(&Reverse(Pending { sequence, .. })) = queue.pending.peek() else {
            return false;
        };
        counters.add(Counter::GapsSkipped, 1);
        let numbers = sequence - queue.next;
        counters.add(Counter::NumbersSkipped, numbers);
        queue.next = sequence;
        release(lock, Step::Gap { numbers }, counters);
        self.release_due(lock, false, counters, release);
        true
    }

    /// Frees a quarter of the bound. A lock gives up half of its pending events
    /// at most in each round, so that one round suffices nearly always, and the
    /// cost of sorting the locks is paid by the events that arrive until the
    /// next time.
    fn make_room(
        &mut self,
        counters: &mut Counters,
        mut release: impl FnMut(LockId, Step<E>, &mut Counters),
    ) {
        let enough = self.max_pending / 4 * 3;
        while self.pending > enough {
            let mut fullest: Vec<_> = self
                .queues
                .iter()
                .map(|(&lock, queue)| (queue.pending.len(), lock))
                .filter(|&(len, _)| len > 0)
                .collect();
            fullest.sort_unstable();
            for (len, lock) in fullest.into_iter().rev() {
                while self.pending > enough && self.pending_of(lock) > len / 2 {
                    counters.add(Counter::GapsSkippedEarly, 1);
                    self.skip_gap(lock, counters, &mut release);
                }
            }
        }
    }

    fn pending_of(&self, lock: LockId) -> usize {
        self.queues
            .get(&lock)
            .map_or(0, |queue| queue.pending.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `numbers` of lock 1 and returns what is released in the order of
    /// release: numbers, `gap`, or, at the end of the trace, `end`.
    fn arrive(numbers: &[u64], max_pending: usize) -> (String, Counters) {
        let mut counters = Counters::default();
        let mut released = Vec::new();
        let mut rearranger = Rearranger::new(0, max_pending);
        for &number in numbers {
            rearranger.arrive(
                1,
                number,
                Event::Number(number),
                &mut counters,
                |_, step, _| {
                    released.push(describe(step));
                },
            );
        }
        released.push("end".to_owned());
        rearranger.finish(&mut counters, |_, step, _| released.push(describe(step)));
        (released.join(" "), counters)
    }

    #[derive(Clone, Copy, Debug)]
    enum Event {
        Number(u64),
        Last,
    }

    impl Ordered for Event {
        fn is_last(&self) -> bool {
            matches!(self, Self::Last)
        }
    }

    fn describe(step: Step<Event>) -> String {
        match step {
            Step::Event(Event::Number(number)) => number.to_string(),
            Step::Event(Event::Last) => "last".to_owned(),
            Step::Gap { .. } => "gap".to_owned(),
        }
    }

    #[test]
    fn releases_in_order() {
        assert_eq!(arrive(&[0, 1, 2], 10).0, "0 1 2 end");
        assert_eq!(arrive(&[2, 0, 3, 1], 10).0, "0 1 2 3 end");
    }

    #[test]
    fn gives_up_missing_numbers_at_the_end() {
        let (released, counters) = arrive(&[0, 5, 2, 6], 10);
        assert_eq!(released, "0 end gap 2 gap 5 6");
        assert_eq!(counters.value(Counter::GapsSkipped), 2);
        assert_eq!(counters.value(Counter::NumbersSkipped), 3);
        assert_eq!(counters.value(Counter::GapsSkippedEarly), 0);
    }

    #[test]
    fn gives_up_missing_numbers_for_want_of_memory() {
        // The fifth pending event makes room: a quarter of the bound.
        let (released, counters) = arrive(&[2, 4, 6, 8, 10, 1], 4);
        assert_eq!(released, "gap 2 gap 4 end gap 6 gap 8 gap 10");
        assert_eq!(counters.value(Counter::GapsSkippedEarly), 2);
        assert_eq!(counters.value(Counter::LateEvents), 1);
    }

    #[test]
    fn drops_numbers_that_come_twice() {
        let (released, counters) = arrive(&[0, 0, 2, 2, 1], 10);
        assert_eq!(released, "0 1 2 end");
        assert_eq!(counters.value(Counter::LateEvents), 2);
    }

    #[test]
    fn makes_room_in_the_fullest_lock_first() {
        let mut counters = Counters::default();
        let mut released = Vec::new();
        let mut rearranger = Rearranger::new(0, 4);
        for (lock, number) in [(1, 9), (2, 3), (2, 5), (2, 7), (2, 8)] {
            rearranger.arrive(
                lock,
                number,
                Event::Number(number),
                &mut counters,
                |lock, step, _| {
                    released.push(format!("{lock}:{}", describe(step)));
                },
            );
        }
        assert_eq!(released, ["2:gap", "2:3", "2:gap", "2:5"]);
    }

    #[test]
    fn remembers_nothing_of_a_retired_lock() {
        let mut counters = Counters::default();
        let mut rearranger = Rearranger::new(0, 10);
        let mut released = 0;
        for (number, event) in [
            (3, Event::Number(3)),
            (0, Event::Number(0)),
            (1, Event::Last),
        ] {
            rearranger.arrive(1, number, event, &mut counters, |_, _, _| released += 1);
        }
        assert_eq!(released, 2);
        assert!(rearranger.queues.is_empty());
        assert_eq!(rearranger.pending, 0);
        assert_eq!(counters.value(Counter::LateEvents), 1);
    }

    #[test]
    fn hostile_numbers_do_no_harm() {
        let (released, _) = arrive(&[u64::MAX, u64::MAX - 1, u64::MAX, 0], 10);
        assert_eq!(released, format!("0 end gap {}", u64::MAX - 1));
    }
}
