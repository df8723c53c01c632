//! The threads that wait for one lock.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::collections::shrink::shrink_queue;
use crate::collections::small_map::SmallMap;
use crate::model::entity::ThreadIndex;

/// Waiting threads, in the order in which they began to wait. No operation but the iteration
/// depends on their number.
#[derive(Debug)]
pub(crate) struct Waiters<W> {
    /// Ordered by ticket; `None` for threads that were removed. The first entry is never `None`.
    queue: VecDeque<(Ticket, Option<W>)>,
    len: usize,
    next: Ticket,
    tickets: SmallMap<ThreadIndex, Ticket>,
    starts: Starts,
}

/// Times at which threads began to wait, including some that do not wait any more.
#[derive(Debug, Default)]
struct Starts {
    /// Entries not earlier than their predecessor: nearly all, except for clock skew.
    in_order: VecDeque<(u64, Ticket)>,
    /// The other entries, the earliest first.
    others: BinaryHeap<Reverse<(u64, Ticket)>>,
}

impl Starts {
    fn len(&self) -> usize {
        self.in_order.len() + self.others.len()
    }

    fn push(&mut self, start_ns: u64, ticket: Ticket) {
        let last = self.in_order.back();
        if last.is_some_and(|&(last_ns, _)| start_ns < last_ns) {
            self.others.push(Reverse((start_ns, ticket)));
        } else {
            self.in_order.push_back((start_ns, ticket));
        }
    }

    fn retain(&mut self, is_wanted: impl Fn(Ticket) -> bool) {
        self.in_order.retain(|&(_, ticket)| is_wanted(ticket));
        self.others
            .retain(|&Reverse((_, ticket))| is_wanted(ticket));
        shrink_queue(&mut self.in_order);
    }

    /// Returns the earliest wanted entry. Forgets others that it meets.
    fn earliest_ns(&mut self, is_wanted: impl Fn(Ticket) -> bool) -> Option<u64> {
        while let Some(&(_, ticket)) = self.in_order.front()
            && !is_wanted(ticket)
        {
            self.in_order.pop_front();
        }
        while let Some(&Reverse((_, ticket))) = self.others.peek()
            && !is_wanted(ticket)
        {
            self.others.pop();
        }
        let in_order = self.in_order.front().map(|&(start_ns, _)| start_ns);
        let other = self.others.peek().map(|&Reverse((start_ns, _))| start_ns);
        in_order.into_iter().chain(other).min()
    }
}

/// Number of stale entries that is always tolerated.
const FEW: usize = 16;

/// ID of a waiting thread: the later it began to wait, the greater.
pub(crate) type Ticket = u64;

impl<W> Default for Waiters<W> {
    fn default() -> Self {
        Self {
            queue: VecDeque::new(),
            len: 0,
            next: 0,
            tickets: SmallMap::default(),
            starts: Starts::default(),
        }
    }
}

impl<W> Waiters<W> {
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a thread that begins to wait at `start_ns`. It must not be [found](Self::find).
    pub(crate) fn push(&mut self, thread: ThreadIndex, start_ns: u64, waiter: W) -> Ticket {
        let ticket = self.next;
        self.next += 1;
        if self.queue.len() >= self.len * 2 + FEW {
            self.queue.retain(|(_, waiter)| waiter.is_some());
        }
        if self.starts.len() >= self.len * 2 + FEW {
            let Self { queue, starts, .. } = self;
            starts.retain(|ticket| is_in(queue, ticket));
        }
        self.queue.push_back((ticket, Some(waiter)));
        self.len += 1;
        self.tickets.insert(thread, ticket);
        self.starts.push(start_ns, ticket);
        ticket
    }

    /// Returns the ticket of a thread, unless its wait is [over](Self::end).
    pub(crate) fn find(&self, thread: ThreadIndex) -> Option<Ticket> {
        self.tickets.get(thread).copied()
    }

    pub(crate) fn get(&self, ticket: Ticket) -> Option<&W> {
        let index = index_of(&self.queue, ticket)?;
        self.queue.get(index)?.1.as_ref()
    }

    pub(crate) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut W> {
        let index = index_of(&self.queue, ticket)?;
        self.queue.get_mut(index)?.1.as_mut()
    }

    /// Ends the thread's wait, which is kept until it is removed.
    pub(crate) fn end(&mut self, thread: ThreadIndex) {
        self.tickets.remove(thread);
    }

    /// [Ends](Self::end) and [removes](Self::remove) the thread's wait.
    #[inline]
    pub(crate) fn take(&mut self, thread: ThreadIndex) -> Option<W> {
        let ticket = self.tickets.remove(thread)?;
        self.remove(ticket)
    }

    /// Removes a thread; its wait is over.
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<W> {
        let index = index_of(&self.queue, ticket)?;
        let waiter = self.queue.get_mut(index)?.1.take()?;
        self.len -= 1;
        while let Some((_, None)) = self.queue.front() {
            self.queue.pop_front();
        }
        if shrink_queue(&mut self.queue) {
            let Self { queue, starts, .. } = self;
            starts.retain(|ticket| is_in(queue, ticket));
        }
        Some(waiter)
    }

    /// Returns the thread that began to wait first.
    pub(crate) fn first(&self) -> Option<&W> {
        self.queue.front()?.1.as_ref()
    }

    /// Returns all threads, with their tickets.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (Ticket, &W)> {
        let entries = self.queue.iter();
        entries.filter_map(|(ticket, waiter)| Some((*ticket, waiter.as_ref()?)))
    }

    /// Returns when the first thread began to wait for which `is_waiting` is true: by the clock,
    /// which may disagree with the order of events.
    pub(crate) fn earliest_ns(&mut self, is_waiting: impl Fn(&W) -> bool) -> Option<u64> {
        let Self { queue, starts, .. } = self;
        starts.earliest_ns(|ticket| {
            let entry = index_of(queue, ticket).and_then(|index| queue.get(index));
            entry.is_some_and(|(_, waiter)| waiter.as_ref().is_some_and(&is_waiting))
        })
    }
}

/// Returns the index of a ticket's entry.
#[inline(always)]
fn index_of<W>(queue: &VecDeque<(Ticket, Option<W>)>, ticket: Ticket) -> Option<usize> {
    // Right unless some were removed in between.
    let guess = ticket.checked_sub(queue.front()?.0)? as usize;
    match queue.get(guess) {
        Some((found, _)) if *found == ticket => Some(guess),
        _ => search(queue, ticket),
    }
}

#[inline(never)]
fn search<W>(queue: &VecDeque<(Ticket, Option<W>)>, ticket: Ticket) -> Option<usize> {
    let found = queue.binary_search_by_key(&ticket, |(found, _)| *found);
    found.ok()
}

fn is_in<W>(queue: &VecDeque<(Ticket, Option<W>)>, ticket: Ticket) -> bool {
    let entry = index_of(queue, ticket).and_then(|index| queue.get(index));
    entry.is_some_and(|(_, waiter)| waiter.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads 1 to 4, which begin to wait at these times.
    fn waiters(starts_ns: [u64; 4]) -> Waiters<u64> {
        let mut waiters = Waiters::default();
        for (thread, start_ns) in (1..).zip(starts_ns) {
            waiters.push(ThreadIndex(thread), start_ns, start_ns);
        }
        waiters
    }

    fn remove(waiters: &mut Waiters<u64>, thread: u32) -> Option<u64> {
        let ticket = waiters.find(ThreadIndex(thread))?;
        waiters.end(ThreadIndex(thread));
        waiters.remove(ticket)
    }

    #[test]
    fn waiters_stay_in_the_order_of_the_calls() {
        let mut waiters = waiters([10, 5, 30, 20]);
        assert_eq!(waiters.first(), Some(&10));
        assert_eq!(remove(&mut waiters, 3), Some(30));
        assert_eq!(remove(&mut waiters, 3), None);
        assert_eq!(remove(&mut waiters, 1), Some(10));
        assert_eq!(waiters.first(), Some(&5));
        let rest: Vec<_> = waiters.iter().map(|(_, &start_ns)| start_ns).collect();
        assert_eq!(rest, [5, 20]);
        assert_eq!(remove(&mut waiters, 2), Some(5));
        assert_eq!(remove(&mut waiters, 4), Some(20));
        assert!(waiters.is_empty());
        assert_eq!(waiters.first(), None);
    }

    #[test]
    fn earliest_is_by_the_clock() {
        let mut waiters = waiters([10, 5, 30, 20]);
        assert_eq!(waiters.earliest_ns(|_| true), Some(5));
        remove(&mut waiters, 2);
        assert_eq!(waiters.earliest_ns(|_| true), Some(10));
        assert_eq!(waiters.earliest_ns(|&start_ns| start_ns != 10), Some(20));
        waiters.push(ThreadIndex(5), 1, 1);
        assert_eq!(waiters.earliest_ns(|_| true), Some(1));
    }

    #[test]
    fn those_that_come_and_go_leave_nothing() {
        let mut waiters = waiters([10, 5, 30, 20]);
        for thread in 5..10_000 {
            waiters.push(ThreadIndex(thread), u64::from(thread), 0);
            assert_eq!(remove(&mut waiters, thread), Some(0));
        }
        assert!(waiters.queue.len() < 30, "{}", waiters.queue.len());
        assert!(waiters.starts.len() < 30, "{}", waiters.starts.len());
        assert_eq!(remove(&mut waiters, 3), Some(30));
        assert_eq!(waiters.earliest_ns(|_| true), Some(5));
        assert_eq!(waiters.iter().count(), 3);
    }

    #[test]
    fn a_thread_may_wait_again_before_it_is_forgotten() {
        let mut waiters = waiters([10, 5, 30, 20]);
        let first = waiters.find(ThreadIndex(1)).expect("it waits");
        waiters.end(ThreadIndex(1));
        assert_eq!(waiters.find(ThreadIndex(1)), None);
        let second = waiters.push(ThreadIndex(1), 40, 40);
        assert_eq!(waiters.find(ThreadIndex(1)), Some(second));
        assert_eq!(waiters.remove(first), Some(10));
        assert_eq!(waiters.find(ThreadIndex(1)), Some(second));
    }
}
