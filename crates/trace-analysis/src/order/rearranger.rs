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
//! * known to be lost ([`LostNumbers`](trace_format::Event::LostNumbers) stands
//!   in for the event, and for others whose numbers follow), or
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

use std::collections::{BTreeMap, VecDeque};

use trace_format::LockId;

use crate::collections::cached_map::CachedMap;
use crate::collections::shrink::shrink_queue;
use crate::model::counter::{Counter, Counters};

/// An event that has a number in an order.
pub(crate) trait Ordered: Copy {
    /// Any event, to fill memory with.
    const ANY: Self;

    /// How many numbers in a row it stands for, from its own on.
    fn numbers(&self) -> u64;

    /// No number comes after this event's.
    fn is_last(&self) -> bool;
}

/// What happened next in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<E> {
    Event {
        number: u64,
        event: E,
    },
    /// This many events in a row will never be known, nor who wrote them.
    Gap {
        /// The number of the first one.
        number: u64,
        numbers: u64,
    },
}

impl<E> Step<E> {
    /// The same, without the event itself.
    #[inline]
    pub(crate) fn as_ref(&self) -> Step<&E> {
        match *self {
            Self::Event { number, ref event } => Step::Event { number, event },
            Self::Gap { number, numbers } => Step::Gap { number, numbers },
        }
    }
}

impl<E: Copy> Step<&E> {
    /// The same, with the event itself.
    #[inline]
    pub(crate) fn copied(self) -> Step<E> {
        match self {
            Self::Event {
                number,
                event: &event,
            } => Step::Event { number, event },
            Self::Gap { number, numbers } => Step::Gap { number, numbers },
        }
    }
}

/// What becomes of an event.
enum Arrival<'a, E> {
    /// It waits for others, in its place.
    Early(&'a mut E),
    /// It is released.
    Due,
    /// Its number has been given up, or come before.
    Late,
}

/// One queue per lock, or per domain of park events.
#[derive(Debug)]
pub(crate) struct Rearranger<E> {
    queues: CachedMap<LockId, Queue<E>>,
    /// The first number of each queue.
    first: u64,
    held: Held<E>,
    max_pending: usize,
}

/// What is held back in all queues.
#[derive(Debug)]
struct Held<E> {
    /// How many events.
    events: usize,
    /// How many queues have a window for events that wait for others.
    windows: usize,
    /// How many blocks those have.
    blocks: usize,
    /// More blocks are not made: then events are sorted.
    max_blocks: usize,
    /// Blocks to be used again. The last one is the one that a processor's cache still has.
    spare: Vec<Box<Block<E>>>,
}

/// The events of `BLOCK` consecutive numbers, the first of which is a multiple of `BLOCK`.
#[derive(Debug)]
struct Block<E>([Line<E>; BLOCK]);

const BLOCK: usize = 32;

/// An event, placed so that it is in as few lines of a processor's cache as possible; `None` if it
/// has not arrived.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Line<E>(Option<E>);

/// The events of one order.
#[derive(Debug)]
struct Queue<E> {
    /// The number to release next.
    next: u64,
    /// The events that wait for others: most queues have none.
    pending: Option<Box<Window<E>>>,
}

/// The events of one order that wait for others.
///
/// The numbers have no gaps, so an event's number says where it belongs: there is
/// nothing to compare, and what is released next is next in memory. Only where few events would
/// stand far apart, or memory is short, they are sorted.
#[derive(Debug)]
struct Window<E> {
    /// The blocks from the next number's on; `None` where no event has arrived.
    near: VecDeque<Option<Box<Block<E>>>>,
    /// Other events by number.
    far: BTreeMap<u64, E>,
    /// How many events are pending.
    len: usize,
}

/// As many events take the memory of one [`Window`].
const WINDOW_EVENTS: usize = 8;

/// The most windows that stay although no event is pending in them: fewer than are left when
/// some are [closed](Rearranger::close_windows).
const SPARE_WINDOWS: usize = MIN_WINDOWS / 4;

/// The most blocks that are kept for reuse.
const SPARE_BLOCKS: usize = 512;

/// The lower bound of the limits of windows and blocks, however few events may be pending.
const MIN_WINDOWS: usize = 1024;

/// Numbers for each pending event that [`Window::near`] may span: as many as there are
/// threads on the lock if the first buffer of one thread comes before those of the
/// others.
const MAX_SPREAD: usize = 16;

fn block_of(number: u64) -> u64 {
    number / BLOCK as u64
}

/// Where an event stands in its block.
fn place_of(number: u64) -> usize {
    (number % BLOCK as u64) as usize
}

impl<E: Ordered> Held<E> {
    /// Creates an empty one, with memory for at most `max_events` events in their places.
    fn new(max_events: usize) -> Self {
        Self {
            events: 0,
            windows: 0,
            blocks: 0,
            max_blocks: (max_events / BLOCK).max(MIN_WINDOWS),
            spare: Vec::new(),
        }
    }

    /// The block, made if it is not there. `None` if there are too many.
    #[inline]
    fn block<'b>(&mut self, place: &'b mut Option<Box<Block<E>>>) -> Option<&'b mut Block<E>> {
        if place.is_none() {
            *place = self.new_block();
        }
        place.as_deref_mut()
    }

    fn new_block(&mut self) -> Option<Box<Block<E>>> {
        if self.blocks >= self.max_blocks {
            return None;
        }
        self.blocks += 1;
        match self.spare.pop() {
            Some(mut block) => {
                block.0.fill(Line(None));
                Some(block)
            }
            None => Some(Box::new(Block([Line(None); BLOCK]))),
        }
    }

    /// Takes a block that is not needed any more.
    fn take_back(&mut self, block: Option<Box<Block<E>>>) {
        if let Some(block) = block {
            self.blocks -= 1;
            if self.spare.len() < SPARE_BLOCKS {
                self.spare.push(block);
            }
        }
    }
}

impl<E> Default for Window<E> {
    fn default() -> Self {
        Self {
            near: VecDeque::new(),
            far: BTreeMap::new(),
            len: 0,
        }
    }
}

impl<E: Ordered> Window<E> {
    /// Of how many blocks [`near`](Self::near) may be.
    fn max_blocks(&self) -> usize {
        self.len * MAX_SPREAD / BLOCK + 2
    }

    /// Returns a place for the event of this number, where any one stands until then. `None` if
    /// there is one of this number.
    fn insert(&mut self, next: u64, sequence: u64, held: &mut Held<E>) -> Option<&mut E> {
        let index = block_of(sequence) - block_of(next);
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        if index >= self.near.len() && index < self.max_blocks() {
            self.near.resize_with(index + 1, || None);
        }
        if !self.far.is_empty() && self.far.contains_key(&sequence) {
            return None;
        }
        let block = self.near.get_mut(index);
        let place = match block.and_then(|block| held.block(block)) {
            Some(block) => {
                let Line(place) = &mut block.0[place_of(sequence)];
                if place.is_some() {
                    return None;
                }
                place.insert(E::ANY)
            }
            None => self.far.entry(sequence).or_insert(E::ANY),
        };
        self.len += 1;
        held.events += 1;
        Some(place)
    }

    /// The event that has the number `next`, if it has arrived and is not far.
    #[inline]
    fn first_near(&self, next: u64) -> Option<&E> {
        let block = self.near.front()?.as_ref()?;
        block.0[place_of(next)].0.as_ref()
    }

    /// Takes out the event that has the number `next`, if it has arrived.
    fn take_next(&mut self, next: u64, held: &mut Held<E>) -> Option<E> {
        let event = match self.first_near(next) {
            Some(&event) => event,
            None if self.far.is_empty() => return None,
            None => self.far.remove(&next)?,
        };
        self.advance(next, 1, held);
        self.forget(1, held);
        Some(event)
    }

    /// Counts `events` as no longer pending.
    fn forget(&mut self, events: usize, held: &mut Held<E>) {
        self.len -= events;
        held.events -= events;
    }

    /// Passes over a run of numbers whose events are not here, or not wanted any more.
    #[inline]
    fn advance(&mut self, next: u64, numbers: u64, held: &mut Held<E>) {
        for _ in block_of(next)..block_of(next + numbers) {
            match self.near.pop_front() {
                Some(block) => held.take_back(block),
                None => break,
            }
        }
    }

    /// The events that are near, with their numbers.
    fn near(&self, next: u64) -> impl Iterator<Item = (u64, E)> {
        let blocks = (block_of(next)..).zip(&self.near);
        let blocks = blocks.filter_map(|(block, places)| Some((block, places.as_ref()?)));
        let places = blocks.flat_map(|(block, places)| {
            let places = places.0.iter().enumerate();
            places.map(move |(index, place)| (block * BLOCK as u64 + index as u64, place))
        });
        let events = places.filter_map(|(number, place)| Some((number, place.0?)));
        // Those before have been released.
        events.skip_while(move |&(number, _)| number < next)
    }

    /// Drops the events with `numbers` numbers from `next` on. Returns how many there were.
    fn drop_next(&mut self, next: u64, numbers: u64, held: &mut Held<E>) -> u64 {
        let end = next + numbers;
        let near = self.near(next).take_while(|&(number, _)| number < end);
        let mut dropped = near.count();
        while let Some(far) = self.far.first_entry()
            && *far.key() < end
        {
            far.remove();
            dropped += 1;
        }
        self.advance(next, numbers, held);
        self.forget(dropped, held);
        dropped as u64
    }

    /// The first number whose event has arrived.
    fn first(&self, next: u64) -> Option<u64> {
        let near = self.near(next).map(|(number, _)| number).next();
        let far = self.far.keys().next().copied();
        near.into_iter().chain(far).min()
    }

    /// Gives back memory that so few events do not justify: not before half of those are
    /// gone that justified it, or the work would be done again and again.
    fn shrink(&mut self, next: u64, held: &mut Held<E>) {
        if self.near.len() > self.max_blocks() * 2 {
            let mut far = std::mem::take(&mut self.far);
            far.extend(self.near(next));
            self.far = far;
            for block in self.near.drain(..) {
                held.take_back(block);
            }
        }
        shrink_queue(&mut self.near);
    }

    /// Drops all events.
    fn drain(self, held: &mut Held<E>) {
        held.windows -= 1;
        held.events -= self.len;
        for block in self.near {
            held.take_back(block);
        }
    }
}

impl<E: Ordered> Queue<E> {
    fn new(next: u64) -> Self {
        Self {
            next,
            pending: None,
        }
    }

    /// How many events are pending.
    fn len(&self) -> usize {
        self.pending.as_ref().map_or(0, |pending| pending.len)
    }

    /// Returns a place for an event that has a number beyond the next one. `None` if there is one
    /// of this number.
    fn insert(&mut self, sequence: u64, held: &mut Held<E>) -> Option<&mut E> {
        let pending = self.pending.get_or_insert_with(|| {
            held.windows += 1;
            Box::default()
        });
        pending.insert(self.next, sequence, held)
    }

    /// Takes out the event that has the next number, if it has arrived.
    fn take_next(&mut self, held: &mut Held<E>) -> Option<E> {
        let event = self.pending.as_mut()?.take_next(self.next, held)?;
        self.next += 1;
        Some(event)
    }

    /// Passes those events to `release` that have the next numbers, stand in one block, and each for
    /// one number. `true` if one was the last of all.
    #[inline]
    fn release_run(&mut self, held: &mut Held<E>, mut release: impl FnMut(u64, &E)) -> bool {
        let Some(pending) = &mut self.pending else {
            return false;
        };
        let Some(Some(block)) = pending.near.front() else {
            return false;
        };
        let (first, mut next, mut is_last) = (self.next, self.next, false);
        for Line(place) in &block.0[place_of(first)..] {
            match place {
                Some(event) if event.numbers() == 1 && !is_last => {
                    release(next, event);
                    is_last = event.is_last();
                    next += 1;
                }
                _ => break,
            }
        }
        let count = next - first;
        pending.advance(first, count, held);
        pending.forget(count as usize, held);
        self.next = next;
        is_last
    }

    /// Drops the events in a run of numbers for which the event before them stands, and
    /// passes over it. Returns how many there were: the trace is damaged.
    #[inline(never)]
    fn drop_next(&mut self, numbers: u64, held: &mut Held<E>) -> u64 {
        let pending = self.pending.as_mut();
        let dropped = pending.map_or(0, |pending| pending.drop_next(self.next, numbers, held));
        self.next += numbers;
        dropped
    }

    /// Passes over a run of numbers whose events are not here.
    #[inline]
    fn advance(&mut self, numbers: u64, held: &mut Held<E>) {
        if let Some(pending) = &mut self.pending {
            pending.advance(self.next, numbers, held);
        }
        self.next += numbers;
    }

    /// Passes over the numbers that an event stands for, the first of which has just been passed
    /// over. Returns that.
    #[inline]
    fn pass_over(&mut self, numbers: u64, held: &mut Held<E>, counters: &mut Counters) -> u64 {
        let number = self.next - 1;
        if numbers > 1 {
            let dropped = self.drop_next(numbers - 1, held);
            counters.add(Counter::LateEvents, dropped);
        }
        number
    }

    /// The first number whose event has arrived.
    fn first(&self) -> Option<u64> {
        self.pending.as_ref()?.first(self.next)
    }

    /// Gives back memory that so few events do not justify. Many queues can have had
    /// many events pending at some time.
    fn shrink(&mut self, held: &mut Held<E>) {
        let has_spare = held.windows > SPARE_WINDOWS;
        // Where few queues have one it will be needed again soon.
        if let Some(empty) = self.pending.take_if(|window| window.len == 0 && has_spare) {
            empty.drain(held);
        } else if let Some(pending) = &mut self.pending {
            pending.shrink(self.next, held);
        }
    }

    /// Drops all events.
    fn drain(self, held: &mut Held<E>) {
        if let Some(pending) = self.pending {
            pending.drain(held);
        }
    }
}

impl<E: Ordered> Rearranger<E> {
    /// A rearranger that holds back up to `max_pending` events. The first number
    /// of each queue is `first`.
    pub(crate) fn new(first: u64, max_pending: usize) -> Self {
        Self {
            queues: CachedMap::default(),
            first,
            held: Held::new(max_pending),
            max_pending,
        }
    }

    /// How many events are held back.
    pub(crate) fn pending(&self) -> usize {
        self.held.events
    }

    /// One more event that cannot be released at once, and the oldest gaps are skipped.
    pub(crate) fn is_full(&self) -> bool {
        self.held.events >= self.max_pending || self.held.windows >= self.max_windows()
    }

    /// In how many queues events may be pending: a window takes as much memory as several
    /// events.
    fn max_windows(&self) -> usize {
        (self.max_pending / WINDOW_EVENTS).max(MIN_WINDOWS)
    }

    /// Takes number `sequence` of `lock` and releases what is due.
    ///
    /// Most events have to wait. Such an event is built in the place where it waits, not moved
    /// there: so this function is inlined, but the rest is not.
    #[inline(always)]
    pub(crate) fn arrive(
        &mut self,
        lock: LockId,
        sequence: u64,
        event: E,
        counters: &mut Counters,
        release: impl FnMut(LockId, Step<&E>, &mut Counters),
    ) {
        match self.arrival(lock, sequence, event.numbers()) {
            Arrival::Early(place) => {
                *place = event;
                if self.is_over_full() {
                    self.enforce_limits(counters, release);
                }
            }
            Arrival::Due => {
                let due = event;
                self.release(lock, &due, counters, release);
            }
            Arrival::Late => counters.add(Counter::LateEvents, 1),
        }
    }

    /// Returns what becomes of an event that stands for `numbers` numbers.
    fn arrival(&mut self, lock: LockId, sequence: u64, numbers: u64) -> Arrival<'_, E> {
        let first = self.first;
        let queue = self.queues.get_or_insert_with(lock, || Queue::new(first));
        // No tracer gets as far as the last number, which would have no next.
        if sequence < queue.next || sequence.checked_add(numbers).is_none() {
            return Arrival::Late;
        }
        if sequence == queue.next {
            return Arrival::Due;
        }
        let place = queue.insert(sequence, &mut self.held);
        place.map_or(Arrival::Late, Arrival::Early)
    }

    /// Releases an event that has the next number of an existing queue, and those that follow it.
    #[inline(never)]
    fn release(
        &mut self,
        lock: LockId,
        event: &E,
        counters: &mut Counters,
        mut release: impl FnMut(LockId, Step<&E>, &mut Counters),
    ) {
        let Some(queue) = self.queues.get_mut(lock) else {
            return;
        };
        queue.advance(1, &mut self.held);
        let number = queue.pass_over(event.numbers(), &mut self.held, counters);
        release(lock, Step::Event { number, event }, counters);
        if event.is_last() || release_due(lock, queue, &mut self.held, counters, &mut release) {
            self.retire(lock, counters);
        }
    }

    /// More is held back than may be.
    fn is_over_full(&self) -> bool {
        self.held.events > self.max_pending || self.held.windows > self.max_windows()
    }

    /// Holds back less, as the limits demand.
    #[cold]
    fn enforce_limits(
        &mut self,
        counters: &mut Counters,
        release: impl FnMut(LockId, Step<&E>, &mut Counters),
    ) {
        if self.held.events > self.max_pending {
            self.release_early(counters, release);
        } else {
            self.close_windows(counters, release);
        }
    }

    /// Gives up all numbers that are still missing.
    pub(crate) fn finish(
        &mut self,
        counters: &mut Counters,
        mut release: impl FnMut(LockId, Step<&E>, &mut Counters),
    ) {
        let mut locks: Vec<_> = self.queues.iter().map(|(lock, _)| lock).collect();
        locks.sort_unstable();
        for lock in locks {
            while self.skip_gap(lock, counters, &mut release) {}
        }
    }

    /// Nothing comes after the last number; what claims to is damage.
    fn retire(&mut self, lock: LockId, counters: &mut Counters) {
        if let Some(queue) = self.queues.remove(lock) {
            counters.add(Counter::LateEvents, queue.len() as u64);
            queue.drain(&mut self.held);
        }
    }

    /// Gives up the numbers that the first pending event of `lock` waits for.
    /// `false` if no event is pending.
    fn skip_gap(
        &mut self,
        lock: LockId,
        counters: &mut Counters,
        release: &mut impl FnMut(LockId, Step<&E>, &mut Counters),
    ) -> bool {
        let Some(queue) = self.queues.get_mut(lock) else {
            return false;
        };
        let Some(sequence) = queue.first() else {
            return false;
        };
        counters.add(Counter::GapsSkipped, 1);
        let number = queue.next;
        let numbers = sequence - number;
        counters.add(Counter::NumbersSkipped, numbers);
        queue.advance(numbers, &mut self.held);
        release(lock, Step::Gap { number, numbers }, counters);
        if release_due(lock, queue, &mut self.held, counters, release) {
            self.retire(lock, counters);
        }
        true
    }

    /// Frees a quarter of the bound. A lock gives up half of its pending events
    /// at most in each round, so that one round suffices nearly always, and the
    /// cost of sorting the locks is paid by the events that arrive until the
    /// next time.
    fn release_early(
        &mut self,
        counters: &mut Counters,
        mut release: impl FnMut(LockId, Step<&E>, &mut Counters),
    ) {
        let enough = self.max_pending / 4 * 3;
        while self.held.events > enough {
            let mut fullest: Vec<_> = self
                .queues
                .iter()
                .map(|(lock, queue)| (queue.len(), lock))
                .filter(|&(len, _)| len > 0)
                .collect();
            fullest.sort_unstable();
            for (len, lock) in fullest.into_iter().rev() {
                while self.held.events > enough && self.pending_of(lock) > len / 2 {
                    counters.add(Counter::GapsSkippedEarly, 1);
                    self.skip_gap(lock, counters, &mut release);
                }
            }
        }
    }

    /// Frees half of the windows: those with the fewest events.
    fn close_windows(
        &mut self,
        counters: &mut Counters,
        mut release: impl FnMut(LockId, Step<&E>, &mut Counters),
    ) {
        let excess = self.held.windows - self.max_windows() / 2;
        let queues = self.queues.iter();
        let pending = queues.map(|(lock, queue)| (queue.len(), lock));
        let mut pending: Vec<_> = pending.filter(|&(len, _)| len > 0).collect();
        if excess < pending.len() {
            pending.select_nth_unstable(excess);
            pending.truncate(excess);
        }
        pending.sort_unstable();
        for (_, lock) in pending {
            while self.skip_gap(lock, counters, &mut release) {
                counters.add(Counter::GapsSkippedEarly, 1);
            }
        }
    }

    fn pending_of(&self, lock: LockId) -> usize {
        self.queues.get(lock).map_or(0, Queue::len)
    }
}

/// Releases the events of `queue` that have no number missing before them. `true` if
/// that was the last of the lock.
fn release_due<E: Ordered>(
    lock: LockId,
    queue: &mut Queue<E>,
    held: &mut Held<E>,
    counters: &mut Counters,
    release: &mut impl FnMut(LockId, Step<&E>, &mut Counters),
) -> bool {
    loop {
        let is_over = queue.release_run(held, |number, event| {
            release(lock, Step::Event { number, event }, counters);
        });
        if is_over {
            return true;
        }
        let Some(event) = queue.take_next(held) else {
            break;
        };
        let number = queue.pass_over(event.numbers(), held, counters);
        let event = &event;
        release(lock, Step::Event { number, event }, counters);
        if event.is_last() {
            return true;
        }
    }
    queue.shrink(held);
    false
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
                LockId(1),
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
        Lost { numbers: u64 },
        Last,
    }

    impl Ordered for Event {
        const ANY: Self = Self::Last;

        fn numbers(&self) -> u64 {
            match *self {
                Self::Lost { numbers } => numbers,
                _ => 1,
            }
        }

        fn is_last(&self) -> bool {
            matches!(self, Self::Last)
        }
    }

    /// Keeps the event that has this number.
    fn keep(queue: &mut Queue<Event>, number: u64, held: &mut Held<Event>) -> bool {
        let place = queue.insert(number, held);
        place.map(|place| *place = Event::Number(number)).is_some()
    }

    fn describe(step: Step<&Event>) -> String {
        match step {
            Step::Event {
                event: Event::Number(number),
                ..
            } => number.to_string(),
            Step::Event {
                event: Event::Lost { numbers },
                ..
            } => format!("lost({numbers})"),
            Step::Event {
                event: Event::Last, ..
            } => "last".to_owned(),
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
    fn releases_in_order_however_far_apart() {
        // From far to near and back, and all of it again after the far part.
        let numbers: Vec<u64> = (0..40_000).step_by(1000).chain(0..40_000).collect();
        let (released, counters) = arrive(&numbers[1..], 50_000);
        let expected = (0..40_000).map(|number| number.to_string());
        let expected: Vec<_> = expected.chain(["end".to_owned()]).collect();
        assert_eq!(released, expected.join(" "));
        assert_eq!(counters.value(Counter::LateEvents), 39);
    }

    #[test]
    fn few_events_far_apart_need_little() {
        let mut queue = Queue::new(0);
        let mut held = Held::new(200_000);
        for number in (1..10_000).chain([120_000]) {
            assert!(keep(&mut queue, number, &mut held));
        }
        let span = |queue: &Queue<Event>| queue.pending.as_ref().map(|window| window.near.len());
        assert!(span(&queue) > Some(100_000 / BLOCK));
        queue.advance(1, &mut held);
        while queue.take_next(&mut held).is_some() {}
        queue.shrink(&mut held);
        let capacity = queue.pending.as_ref().map(|window| window.near.capacity());
        assert!(capacity <= Some(64), "{capacity:?}");
        assert_eq!(held.blocks, 0);
        assert_eq!((queue.len(), queue.first()), (1, Some(120_000)));
    }

    #[test]
    fn a_window_is_not_rebuilt_for_each_event() {
        let mut queue = Queue::new(0);
        let mut held = Held::new(200_000);
        let len = 10_000;
        // As far apart as the window may span.
        for number in (1..=len).chain([len * MAX_SPREAD as u64]) {
            assert!(keep(&mut queue, number, &mut held));
        }
        queue.advance(1, &mut held);
        let span = |queue: &Queue<Event>| queue.pending.as_ref().map(|window| window.near.len());
        let mut rebuilt = 0;
        while let Some(before) = span(&queue)
            && queue.take_next(&mut held).is_some()
        {
            queue.shrink(&mut held);
            rebuilt += u32::from(span(&queue) < Some(before - 1));
            // One more comes, as far away as it may be.
            let number = queue.next + queue.len() as u64 * MAX_SPREAD as u64;
            assert!(keep(&mut queue, number, &mut held));
            queue.drop_next(1, &mut held);
        }
        assert!(rebuilt < 20, "rebuilt {rebuilt} times");
    }

    #[test]
    fn many_locks_have_few_events_pending() {
        let mut counters = Counters::default();
        let mut rearranger = Rearranger::new(0, 10);
        let mut released = 0;
        for lock in 0..=MIN_WINDOWS as u64 / 2 {
            for number in [1, 3] {
                let (lock, event) = (LockId(lock), Event::Number(number));
                rearranger.arrive(lock, number, event, &mut counters, |_, _, _| released += 1);
            }
        }
        assert!(rearranger.pending() <= 10);
        let mut rearranger = Rearranger::new(0, MIN_WINDOWS * WINDOW_EVENTS);
        for lock in 0..=MIN_WINDOWS as u64 {
            let (lock, event) = (LockId(lock), Event::Number(1));
            rearranger.arrive(lock, 1, event, &mut counters, |_, _, _| ());
        }
        assert_eq!(rearranger.held.windows, MIN_WINDOWS / 2);
        assert_eq!(rearranger.pending(), MIN_WINDOWS / 2);
        rearranger.finish(&mut counters, |_, _, _| released += 1);
        assert!(released > 0);
    }

    #[test]
    fn gives_up_gaps_of_the_fullest_lock_first() {
        let mut counters = Counters::default();
        let mut released = Vec::new();
        let mut rearranger = Rearranger::new(0, 4);
        for (lock, number) in [(1, 9), (2, 3), (2, 5), (2, 7), (2, 8)] {
            rearranger.arrive(
                LockId(lock),
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
            rearranger.arrive(LockId(1), number, event, &mut counters, |_, _, _| {
                released += 1
            });
        }
        assert_eq!(released, 2);
        assert!(rearranger.queues.len() == 0);
        assert_eq!(rearranger.pending(), 0);
        assert_eq!(counters.value(Counter::LateEvents), 1);
    }

    /// As [`arrive`], of events with any numbers.
    fn arrive_events(events: &[(u64, Event)]) -> (String, Counters) {
        let mut counters = Counters::default();
        let mut released = Vec::new();
        let mut rearranger = Rearranger::new(0, 1000);
        for &(number, event) in events {
            rearranger.arrive(LockId(1), number, event, &mut counters, |_, step, _| {
                released.push(describe(step));
            });
        }
        assert_eq!(rearranger.pending(), rearranger.pending_of(LockId(1)));
        rearranger.finish(&mut counters, |_, step, _| released.push(describe(step)));
        (released.join(" "), counters)
    }

    #[test]
    fn lost_numbers_in_a_row_are_one_step() {
        let lost = Event::Lost { numbers: 3 };
        let events = [
            (5, Event::Number(5)),
            (1, Event::Number(1)),
            (2, lost),
            (0, Event::Number(0)),
        ];
        let (released, counters) = arrive_events(&events);
        assert_eq!(released, "0 1 lost(3) 5");
        assert_eq!(counters, Counters::default());
    }

    #[test]
    fn lost_numbers_that_came_all_the_same_are_dropped() {
        let lost = |numbers| Event::Lost { numbers };
        let number = |number| (number, Event::Number(number));
        for far in [70, 5000] {
            let events = [
                (1, lost(far)),
                number(2),
                number(far),
                number(far + 1),
                number(0),
            ];
            let (released, counters) = arrive_events(&events);
            assert_eq!(released, format!("0 lost({far}) {}", far + 1));
            assert_eq!(counters.value(Counter::LateEvents), 2);
        }
        let (released, _) = arrive_events(&[number(9), (0, lost(u64::MAX)), (1, lost(u64::MAX))]);
        assert_eq!(released, format!("lost({})", u64::MAX));
    }

    #[test]
    fn the_last_numbers_are_as_all_others() {
        let (numbers, last) = (u64::MAX - 40, u64::MAX - 2);
        let events = [(0, Event::Lost { numbers }), (last, Event::Number(last))];
        let (released, _) = arrive_events(&events);
        assert_eq!(released, format!("lost({numbers}) gap {last}"));
    }

    #[test]
    fn hostile_numbers_do_no_harm() {
        let (released, _) = arrive(&[u64::MAX, u64::MAX - 1, u64::MAX, 0], 10);
        assert_eq!(released, format!("0 end gap {}", u64::MAX - 1));
    }
}
