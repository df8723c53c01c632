//! The event rearranger (paper, sections 3.2 "Event ordering" and 4.1): from the
//! order of buffers in the trace to the order in which things happened to each
//! lock.
//!
//! # When an event is released
//!
//! Every event of a lock carries a sequence number; the numbers of a lock are
//! 0, 1, 2... without gaps, in the order of the events. Event *s* of a lock is
//! released once every number below *s* is
//!
//! * released,
//! * known to be lost ([`LostNumber`](trace_format::Event::LostNumber) stands
//!   in for the event), or
//! * given up.
//!
//! A missing number is given up only at the end of the trace, or when more
//! events are pending than fit the bound: then the locks with the most pending
//! events skip their gaps until a quarter of the bound is free. Lost and
//! given-up numbers reach the analyzer as [`Step::Gap`], so that it knows what
//! it does not know. An event that comes after its number was given up is
//! counted and dropped.
//!
//! Nothing is remembered of a lock once its retirement is released.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use trace_format::LockId;

use crate::counter::{Counter, Counters};
use crate::entity::{ChainIndex, LockIndex, ThreadIndex};

/// An event of a lock, its references resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockEvent {
    Description {
        lock: LockIndex,
    },
    Enter {
        thread: ThreadIndex,
        time_ns: u64,
        chain: ChainIndex,
        after_wait: bool,
    },
    Entered {
        thread: ThreadIndex,
        time_ns: u64,
        safepoint_ns: u64,
    },
    Exit {
        thread: ThreadIndex,
        time_ns: u64,
        chain: ChainIndex,
    },
    Retired,
}

/// What happened next to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Event(LockEvent),
    /// One or more events that will never be known.
    Gap,
}

/// One queue per lock.
#[derive(Debug)]
pub(crate) struct Rearranger {
    queues: FxHashMap<LockId, Queue>,
    /// Events in all queues.
    pending: usize,
    max_pending: usize,
}

#[derive(Debug, Default)]
struct Queue {
    /// The number to release next.
    next: u64,
    /// What has arrived beyond `next`, by sequence number; never contains `next`.
    pending: BTreeMap<u64, Step>,
}

impl Rearranger {
    /// A rearranger that holds back up to `max_pending` events.
    pub(crate) fn new(max_pending: usize) -> Self {
        Self {
            queues: FxHashMap::default(),
            pending: 0,
            max_pending,
        }
    }

    /// Takes number `sequence` of `lock` and releases what is due.
    pub(crate) fn arrive(
        &mut self,
        lock: LockId,
        sequence: u64,
        step: Step,
        counters: &mut Counters,
        mut release: impl FnMut(LockId, Step, &mut Counters),
    ) {
        let queue = self.queues.entry(lock).or_default();
        if sequence < queue.next || queue.pending.contains_key(&sequence) {
            counters.add(Counter::LateEvents, 1);
        } else if sequence > queue.next {
            queue.pending.insert(sequence, step);
            self.pending += 1;
            if self.pending > self.max_pending {
                self.make_room(counters, release);
            }
        } else {
            queue.next = sequence.saturating_add(1);
            release(lock, step, counters);
            let retired = step == Step::Event(LockEvent::Retired);
            self.release_due(lock, retired, counters, &mut release);
        }
    }

    /// Gives up all numbers that are still missing.
    pub(crate) fn finish(
        mut self,
        counters: &mut Counters,
        mut release: impl FnMut(LockId, Step, &mut Counters),
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
        release: &mut impl FnMut(LockId, Step, &mut Counters),
    ) {
        let Some(queue) = self.queues.get_mut(&lock) else {
            return;
        };
        while !retired
            && let Some(first) = queue.pending.first_entry()
            && *first.key() == queue.next
        {
            let step = first.remove();
            self.pending -= 1;
            queue.next = queue.next.saturating_add(1);
            release(lock, step, counters);
            retired = step == Step::Event(LockEvent::Retired);
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
        release: &mut impl FnMut(LockId, Step, &mut Counters),
    ) -> bool {
        let Some(queue) = self.queues.get_mut(&lock) else {
            return false;
        };
        let Some((&sequence, _)) = queue.pending.first_key_value() else {
            return false;
        };
        counters.add(Counter::GapsSkipped, 1);
        counters.add(Counter::NumbersSkipped, sequence - queue.next);
        queue.next = sequence;
        release(lock, Step::Gap, counters);
        self.release_due(lock, false, counters, release);
        true
    }

    /// Frees a quarter of the bound. Each lock visited gives up a quarter of
    /// its pending events, so that two rounds at most suffice, and the cost of
    /// sorting the locks is paid by the events that arrive until the next time.
    fn make_room(
        &mut self,
        counters: &mut Counters,
        mut release: impl FnMut(LockId, Step, &mut Counters),
    ) {
        let enough = self.max_pending / 4 * 3;
        while self.pending > enough {
            let mut fullest: Vec<_> = self
                .queues
                .iter()
                .filter(|(_, queue)| !queue.pending.is_empty())
                .map(|(&lock, queue)| (queue.pending.len(), lock))
                .collect();
            fullest.sort_unstable();
            for (len, lock) in fullest.into_iter().rev() {
                while self.pending_of(lock) > len / 4 * 3 {
                    counters.add(Counter::GapsSkippedEarly, 1);
                    self.skip_gap(lock, counters, &mut release);
                }
                if self.pending <= enough {
                    break;
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
