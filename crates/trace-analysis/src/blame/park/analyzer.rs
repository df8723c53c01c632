//! The analyzer of one lock of `java.util.concurrent` (paper, section 3.3, figure 5, and section
//! 4.1): replays the events of the threads that park on it, in order, and finds out who made whom
//! wait. [`Ownership`] determines who is to blame.
//!
//! # Extent of a wait
//!
//! A woken thread that does not get the lock parks again and keeps its place in the queue. All of
//! that is one wait. So a wait is known to have ended only when the thread does something else with
//! the lock, or some time later. The call chain of the last owner is known when the owner releases
//! the lock.

use std::collections::VecDeque;

use trace_format::{Hold, ParkTimeout};

use crate::blame::facts::trace_end::TraceEnd;
use crate::blame::park::code::Code;
use crate::blame::park::ownership::{OpenWaits, Ownership};
use crate::blame::park::ticket_heap::TicketHeap;
use crate::blame::park::waker::{self, WaitForWaker};
use crate::blame::timeline::context::Context;
use crate::blame::timeline::hold_spans::HoldSpans;
use crate::blame::timeline::interval::{Access, Start};
use crate::blame::timeline::waiters::{Ticket, Waiters};
use crate::collections::shrink::shrink_queue;
use crate::model::counter::Counter;
use crate::model::entity::{ChainIndex, Entities, LockIndex, ThreadIndex};
use crate::model::synchronizer::Synchronizer;
use crate::model::wait::{
    HolderFacts, Mechanism, OpenWait, Owner, Turnover, WaitEnd, WaitId, WaitKind,
};
use crate::order::park::event::{Begin, End, Release, Unpark};
use crate::order::park::permits::Waker;

/// A thread that waits for the lock, or did until recently.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    id: WaitId,
    thread: ThreadIndex,
    chain: ChainIndex,
    after_wait: bool,
    access: Access,
    start: Start,
    /// Releases of the lock before the wait.
    releases_before: u64,
    /// Timeout of the park, as first given.
    timeout: ParkTimeout,
    /// Time of the last park.
    parked_ns: u64,
    /// How the last park ended; open until one has.
    end: WaitEnd,
    safepoint_ns: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Parked,
    /// It may park again, or have the lock.
    Awake {
        since_ns: u64,
        /// Position in the ownership.
        position: u64,
    },
    /// It has acquired the lock, or has given up.
    Ended {
        at_ns: u64,
        /// Position in the ownership.
        position: u64,
    },
}

impl Waiter {
    fn is_over(&self) -> bool {
        matches!(self.state, State::Ended { .. })
    }
}

/// Number of events lost in a domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    pub(super) all: u64,
    /// Losses of unknown threads.
    pub(super) of_nobody: u64,
}

impl Losses {
    pub(super) fn add_listed(&mut self, numbers: u64) {
        self.all = self.all.saturating_add(numbers);
    }

    pub(super) fn add_gap(&mut self, numbers: u64) {
        self.all = self.all.saturating_add(numbers);
        self.of_nobody = self.of_nobody.saturating_add(numbers);
    }
}

/// The state of one lock.
#[derive(Debug)]
pub(super) struct LockAnalyzer {
    lock: LockIndex,
    synchronizer: Synchronizer,
    ownership: Ownership,
    queue: Queue,
    /// Losses already accounted for.
    losses: Losses,
    /// Waits about to be passed on; kept to reuse the memory.
    over: Vec<(u64, Ticket)>,
    /// Time of the lock's last event, in steps of its group.
    pub(super) last_step: u64,
    /// A thread that never acquired it released it.
    is_signalled: bool,
    /// A thread that acquired it released it.
    is_released: bool,
    turnover: Turnover,
}

/// The threads that wait, or did until recently.
#[derive(Debug, Default)]
struct Queue {
    waiters: Waiters<Waiter>,
    /// The parked threads, by access.
    parked: [TicketHeap<Ticket>; 2],
    /// The threads that are awake, by position, and some that were.
    awake: VecDeque<(u64, Ticket)>,
    awake_len: usize,
    /// The threads whose wait has ended, by position.
    ended: TicketHeap<(u64, Ticket)>,
}

impl Queue {
    fn push(&mut self, waiter: Waiter) {
        let Waiter {
            thread,
            access,
            state,
            ..
        } = waiter;
        let ticket = self.waiters.push(thread, waiter.start.time_ns, waiter);
        self.note((ticket, thread), access, state);
    }

    /// Changes a waiter in place: it is too large to be copied before and after each change.
    fn set(&mut self, ticket: Ticket, change: impl FnOnce(&mut Waiter)) {
        let Some(waiter) = self.waiters.get_mut(ticket) else {
            return;
        };
        let before = waiter.state;
        change(waiter);
        let (thread, access, after) = (waiter.thread, waiter.access, waiter.state);
        self.forget(access, before);
        self.note((ticket, thread), access, after);
    }

    fn remove(&mut self, ticket: Ticket) -> Option<Waiter> {
        let waiter = self.waiters.remove(ticket)?;
        self.forget(waiter.access, waiter.state);
        if !waiter.is_over() {
            self.waiters.end(waiter.thread);
        }
        Some(waiter)
    }

    /// Notes a new state of a thread that waits for this access.
    fn note(&mut self, (ticket, thread): (Ticket, ThreadIndex), access: Access, state: State) {
        let waiters = &mut self.waiters;
        match state {
            State::Parked => {
                self.parked[access as usize].insert(ticket, |other| is_parked(waiters, other));
            }
            State::Awake { position, .. } => {
                if self.awake.len() >= self.awake_len * 2 + FEW {
                    let awake = self.awake.make_contiguous();
                    // Only threads of one position can be out of order.
                    awake.sort_unstable();
                    let mut last = None;
                    self.awake.retain(|&entry| {
                        let is_new = last.replace(entry) != Some(entry);
                        is_new && is_awake(waiters, entry)
                    });
                    shrink_queue(&mut self.awake);
                }
                self.awake.push_back((position, ticket));
                self.awake_len += 1;
            }
            State::Ended { position, .. } => {
                waiters.end(thread);
                self.ended
                    .insert((position, ticket), |other| is_ended(waiters, other));
            }
        }
    }

    /// Forgets this state of a thread.
    fn forget(&mut self, access: Access, state: State) {
        match state {
            State::Parked => self.parked[access as usize].remove(),
            State::Awake { .. } => self.awake_len -= 1,
            State::Ended { .. } => self.ended.remove(),
        }
    }

    /// Returns the first parked thread that wants this access.
    fn first_parked(&mut self, access: Access) -> Option<Ticket> {
        let waiters = &self.waiters;
        self.parked[access as usize].first(|ticket| is_parked(waiters, ticket))
    }

    /// Returns the threads that are awake.
    fn all_awake(&self) -> Vec<Ticket> {
        let awake = self.awake.iter().copied();
        let awake = awake.filter(|&entry| is_awake(&self.waiters, entry));
        awake.map(|(_, ticket)| ticket).collect()
    }

    /// Returns the parked thread that began to wait first. A thread that is awake may have given up and
    /// left the queue, which writes no event.
    fn first_queued(&mut self) -> Option<&Waiter> {
        let first_parked =
            [Access::Exclusive, Access::Shared].map(|access| self.first_parked(access));
        let first = first_parked.into_iter().flatten().min();
        first.and_then(|ticket| self.waiters.get(ticket))
    }

    /// Returns whether threads may have been awake since before one position, or have ended their
    /// wait before another.
    #[inline]
    fn may_have_not_parked(&self, awake_before: u64, ended_before: u64) -> bool {
        let awake = self.awake.front();
        awake.is_some_and(|&(at, _)| at < awake_before)
            || self.ended.peek().is_some_and(|(at, _)| at < ended_before)
    }

    /// Adds the threads awake since before one position and those whose wait ended before another,
    /// in the order in which they began to wait. The caller removes them.
    fn take_not_parked(
        &mut self,
        awake_before: u64,
        ended_before: u64,
        found: &mut Vec<(u64, Ticket)>,
    ) {
        let waiters = &self.waiters;
        while let Some(&entry) = self.awake.front()
            && entry.0 < awake_before
        {
            self.awake.pop_front();
            if is_awake(waiters, entry) {
                found.push(entry);
            }
        }
        if !self.ended.is_empty() {
            let is_ended = |entry| is_ended(waiters, entry);
            self.ended.take_before((ended_before, 0), is_ended, found);
        }
        if found.len() > 1 {
            found.sort_unstable_by_key(|&(_, ticket)| ticket);
            found.dedup_by_key(|&mut (_, ticket)| ticket);
        }
    }
}

fn is_parked(waiters: &Waiters<Waiter>, ticket: Ticket) -> bool {
    let waiter = waiters.get(ticket);
    waiter.is_some_and(|waiter| waiter.state == State::Parked)
}

fn is_awake(waiters: &Waiters<Waiter>, (at, ticket): (u64, Ticket)) -> bool {
    let waiter = waiters.get(ticket);
    waiter.is_some_and(
        |waiter| matches!(waiter.state, State::Awake { position, .. } if position == at),
    )
}

fn is_ended(waiters: &Waiters<Waiter>, (at, ticket): (u64, Ticket)) -> bool {
    let waiter = waiters.get(ticket);
    waiter.is_some_and(
        |waiter| matches!(waiter.state, State::Ended { position, .. } if position == at),
    )
}

/// Number of stale entries of awake threads that is always tolerated.
const FEW: usize = 16;

/// Number of boundaries after which a woken thread has acquired the lock, or has given up.
const SHORT_WHILE: u64 = 256;

/// The same where each release is a boundary: a woken thread has to get a processor first.
const SHORT_WHILE_OF_RELEASES: u64 = 1 << 16;

impl LockAnalyzer {
    pub(super) fn new(lock: LockIndex, synchronizer: Synchronizer, losses: Losses) -> Self {
        Self {
            lock,
            synchronizer,
            ownership: Ownership::new(synchronizer),
            queue: Queue::default(),
            losses,
            over: Vec::new(),
            last_step: 0,
            is_signalled: false,
            is_released: false,
            turnover: Turnover::default(),
        }
    }

    /// Returns whether all releases so far came from threads that never acquired the lock.
    pub(super) fn is_signalled_only(&self) -> bool {
        self.is_signalled && !self.is_released
    }

    /// Notes a release by a thread that never acquired the lock.
    pub(super) fn signal(&mut self, time_ns: u64) {
        self.is_signalled = true;
        self.note_release(time_ns);
    }

    /// Notes that the lock was passed on.
    fn note_release(&mut self, time_ns: u64) {
        let queue = &mut self.queue;
        let first = || queue.first_queued().map(|waiter| waiter.start.time_ns);
        self.turnover.release(time_ns, first);
    }

    /// Removes a thread that turned out to wait for a waker, not for an owner, in its last park.
    /// Returns that wait, including earlier parks.
    pub(super) fn leave(
        &mut self,
        thread: ThreadIndex,
        park: WaitForWaker,
        spans: &mut HoldSpans,
    ) -> WaitForWaker {
        let waiter = self.queue.waiters.find(thread);
        let Some(waiter) = waiter.and_then(|ticket| self.queue.remove(ticket)) else {
            return park;
        };
        self.forget_unseen(spans);
        park.since(
            waiter.id.number,
            waiter.start.time_ns,
            waiter.timeout,
            waiter.safepoint_ns,
        )
    }

    /// Returns whether the lock is known to have an owner.
    pub(super) fn knows_owner(&self) -> bool {
        self.ownership.is_known_by_lock()
    }

    /// Returns whether a thread waits.
    pub(super) fn is_in_use(&self) -> bool {
        !self.queue.parked.iter().all(TicketHeap::is_empty)
    }

    /// Returns the size of the remembered state: waits of woken threads, and intervals with an
    /// owner.
    pub(super) fn remembered(&self) -> usize {
        self.queue.awake_len + self.queue.ended.len() + self.ownership.remembered()
    }

    /// Releases memory that is not needed any more.
    pub(super) fn shrink(&mut self) {
        shrink_queue(&mut self.queue.awake);
        self.over = Vec::new();
        self.ownership.shrink();
    }

    /// Returns the waits of the parked threads, without the holder.
    pub(super) fn open(&self) -> impl Iterator<Item = OpenWait> {
        let waiters = self.queue.waiters.iter().map(|(_, waiter)| waiter);
        let parked = waiters.filter(|waiter| waiter.state == State::Parked);
        parked.map(|waiter| OpenWait {
            id: waiter.id,
            mechanism: Mechanism::Park,
            lock: self.lock,
            resource: (self.synchronizer).resource(waiter.access == Access::Shared),
            thread: waiter.thread,
            chain: waiter.chain,
            start_ns: waiter.start.time_ns,
            duration_ns: 0,
            kind: if self.is_signalled_only() {
                WaitKind::Conditional
            } else {
                WaitKind::Contention
            },
            timeout: waiter.timeout,
            holder: None,
            holder_facts: HolderFacts::default(),
            turnover: self.turnover,
            releases: self.turnover.releases - waiter.releases_before,
        })
    }

    /// Returns the thread that holds the lock after the events so far, and where it acquired the
    /// lock, as far as events show. Takes time proportional to the number of waiting threads.
    pub(super) fn holder(&self) -> Option<(ThreadIndex, ChainIndex)> {
        let thread = self.ownership.holder()?;
        let chain = self.acquired_by(thread);
        Some((thread, chain.unwrap_or(ChainIndex::NOT_RELEASED)))
    }

    /// Returns whether no event was lost since the lock's last event.
    pub(super) fn is_up_to(&self, losses: Losses) -> bool {
        self.losses == losses
    }

    /// Accounts for losses since the lock's last event.
    #[inline]
    pub(super) fn lost(&mut self, losses: Losses, context: &mut Context<'_>) {
        if !self.is_up_to(losses) {
            self.lose(losses, context);
        }
    }

    #[cold]
    fn lose(&mut self, losses: Losses, context: &mut Context<'_>) {
        // A damaged trace may have the lock in several domains.
        let of_nobody = losses.of_nobody.saturating_sub(self.losses.of_nobody);
        self.losses = losses;
        let open_waits = self.open_waits();
        self.ownership.lose(of_nobody, open_waits, context.counters);
        // A thread that is awake may have waited again meanwhile.
        for ticket in self.queue.all_awake() {
            self.end_wait(ticket, context);
        }
    }

    /// Handles the begin of a park.
    pub(super) fn begin(
        &mut self,
        id: WaitId,
        begin: &Begin,
        code: Code,
        context: &mut Context<'_>,
    ) {
        let before = self.queue.waiters.find(begin.thread);
        let before = before.filter(|&ticket| {
            if !begin.continued {
                self.end_wait(ticket, context);
            }
            begin.continued
        });
        let open_waits = self.open_waits();
        self.ownership
            .begin(begin, code, open_waits, context.counters);
        self.are_awake([Some(begin.thread), begin.owner.get()], context.entities);
        if let Some(ticket) = before {
            self.queue.set(ticket, |waiter| {
                waiter.state = State::Parked;
                waiter.parked_ns = begin.time_ns;
            });
        } else {
            let shares = code.shares && self.synchronizer != Synchronizer::Semaphore;
            self.queue.push(Waiter {
                id,
                thread: begin.thread,
                chain: begin.chain,
                after_wait: code.after_await,
                access: if shares {
                    Access::Shared
                } else {
                    Access::Exclusive
                },
                start: self.ownership.start_wait(begin.time_ns),
                releases_before: self.turnover.releases,
                timeout: begin.timeout,
                parked_ns: begin.time_ns,
                end: WaitEnd::Open,
                safepoint_ns: 0,
                state: State::Parked,
            });
        }
        self.pass_on_ended(context);
    }

    /// Handles the end of a park. `unseen_waker` unparked the thread, if [`unpark`](Self::unpark)
    /// has not seen that.
    pub(super) fn end(
        &mut self,
        end: &End,
        unseen_waker: Option<Waker>,
        context: &mut Context<'_>,
    ) {
        let Some(ticket) = self.queue.waiters.find(end.thread) else {
            return;
        };
        let Some(waiter) = self.queue.waiters.get(ticket) else {
            return;
        };
        let (start, access) = (waiter.start, waiter.access);
        let open_waits = self.open_waits();
        // Where all releases are reported, the unpark belongs to one of those and comes after it.
        let reports_all =
            self.synchronizer == Synchronizer::ReentrantLock && self.ownership.reports_releases();
        let unseen_waker = unseen_waker.filter(|_| !reports_all);
        if self.ownership.may_be_two_waits(start) {
            // It may be the end of a park on another lock.
            self.ownership
                .doubt(end.time_ns, open_waits, context.counters);
        } else {
            let reader = access == Access::Shared;
            self.ownership
                .end(end, reader, unseen_waker, open_waits, context.counters);
        }
        self.are_awake([Some(end.thread), end.owner.get()], context.entities);
        let position = self.ownership.position();
        self.queue.set(ticket, |waiter| {
            waiter.safepoint_ns = waiter.safepoint_ns.saturating_add(end.safepoint_ns);
            waiter.end = end.reason.into();
            waiter.state = State::Awake {
                since_ns: end.time_ns,
                position,
            };
        });
        self.pass_on_ended(context);
    }

    /// Handles an unpark of a thread that is parked here.
    pub(super) fn unpark(&mut self, unpark: &Unpark, code: Code, context: &mut Context<'_>) {
        let waiter = self.queue.waiters.find(unpark.thread);
        if let Some(ticket) = waiter.filter(|_| !code.no_release) {
            // It got the lock.
            self.end_wait(ticket, context);
        }
        if code.is_release() {
            self.is_released = true;
            self.note_release(unpark.time_ns);
        }
        let open_waits = self.open_waits();
        let writer = context.entities.thread(unpark.thread).java_id;
        self.ownership
            .unpark(unpark, writer, code, open_waits, context.counters);
        self.are_awake([unpark.owner.get()], context.entities);
        self.pass_on_ended(context);
    }

    /// Handles a release by a thread that held the lock exclusively.
    pub(super) fn release(&mut self, release: &Release, context: &mut Context<'_>) {
        let waiter = self.queue.waiters.find(release.thread);
        if let Some(ticket) = waiter {
            // It got the lock.
            self.end_wait(ticket, context);
        }
        self.note_release(release.time_ns);
        if let Hold::For { duration_ns } = release.hold {
            self.turnover.hold(duration_ns);
        }
        if waiter.is_none()
            && let Hold::For { duration_ns } = release.hold
        {
            let acquired_ns = release.time_ns.saturating_sub(duration_ns);
            let earliest_ns = self.queue.waiters.earliest_ns(|waiter| !waiter.is_over());
            let barges_in = earliest_ns.is_some_and(|earliest_ns| earliest_ns <= acquired_ns);
            context
                .counters
                .add(Counter::BargingHolds, u64::from(barges_in));
        }
        let (open_waits, has_waited) = (self.open_waits(), waiter.is_some());
        let first_queued = match release.hold {
            Hold::BeforeContention => {
                let first = self.queue.first_queued();
                first.map(|waiter| waiter.start.position)
            }
            _ => None,
        };
        self.ownership.release(
            release,
            has_waited,
            first_queued,
            open_waits,
            context.counters,
        );
        self.pass_on_ended(context);
    }

    /// Notes that an event shows these threads to be awake.
    fn are_awake<const N: usize>(
        &mut self,
        threads: [Option<ThreadIndex>; N],
        entities: &Entities,
    ) {
        if !self.ownership.wakes_some() {
            return;
        }
        for thread in threads.into_iter().flatten() {
            self.ownership.is_awake(entities.thread(thread).java_id);
        }
    }

    /// Removes a thread that went on without an end event.
    pub(super) fn abandon(&mut self, thread: ThreadIndex, spans: &mut HoldSpans) {
        if let Some(ticket) = self.queue.waiters.find(thread) {
            self.queue.remove(ticket);
            self.forget_unseen(spans);
        }
    }

    /// Passes on waits that may have gone on, but have ended by now. Forgets intervals that no
    /// other thread has seen.
    pub(super) fn pass_on_all_ended(&mut self, context: &mut Context<'_>) {
        let mut over = Vec::new();
        self.queue.take_not_parked(u64::MAX, u64::MAX, &mut over);
        for (_, ticket) in over {
            self.pass_on(ticket, context);
        }
        self.forget_unseen(context.spans);
    }

    /// Ends the trace: passes on all waits, including those that have not ended.
    pub(super) fn finish(&mut self, end: &TraceEnd, context: &mut Context<'_>) {
        let holder = self.holder();
        if let Some((thread, chain)) = holder {
            self.ownership
                .never_released(Owner::Thread { thread, chain });
        }
        let open: Vec<_> = self.open().collect();
        self.pass_on_all_ended(context);
        for mut wait in open {
            wait.hold_by(holder);
            self.pass_on_open(&wait, end, context);
        }
        let end = self.ownership.position();
        self.ownership.forget_before(end, context.spans);
    }

    /// Returns where the thread acquired the lock, if it had to wait for it.
    fn acquired_by(&self, thread: ThreadIndex) -> Option<ChainIndex> {
        let mut waits = self.queue.waiters.iter().rev().map(|(_, waiter)| waiter);
        let acquired = |waiter: &&Waiter| waiter.thread == thread && waiter.state != State::Parked;
        waits.find(acquired).map(|waiter| waiter.chain)
    }

    /// Passes on a wait that has not ended.
    fn pass_on_open(&mut self, open: &OpenWait, end: &TraceEnd, context: &mut Context<'_>) {
        let ticket = self.queue.waiters.find(open.thread);
        let Some(&waiter) = ticket.and_then(|ticket| self.queue.waiters.get(ticket)) else {
            return;
        };
        let counters = &mut *context.counters;
        if end.went_on(waiter.thread, waiter.parked_ns) {
            return counters.add(Counter::WaitsWithoutEntered, 1);
        }
        counters.add(Counter::OpenWaits, 1);
        if self.ownership.loses_since(waiter.start) {
            let known_ns = self.ownership.known_until_ns(waiter.start);
            let known_ns = known_ns.saturating_sub(waiter.start.time_ns);
            return counters.add(Counter::OpenWaitsNs, known_ns);
        }
        if open.kind == WaitKind::Contention {
            let rest = match open.holder {
                Some((thread, chain)) => Owner::Thread { thread, chain },
                None => Owner::Unknown(self.ownership.why_holder_unknown()),
            };
            self.describe_until(&waiter, end.time_ns, rest, context);
        } else {
            waker::describe_open(open, waiter.safepoint_ns, end.time_ns, context);
        }
        context.pass_on_open(open);
    }

    /// Ends the wait at the thread's last wake-up. A parked thread cannot do anything, so if it is
    /// parked, the end event is lost.
    fn end_wait(&mut self, ticket: Ticket, context: &mut Context<'_>) {
        match self.queue.waiters.get(ticket).map(|waiter| waiter.state) {
            Some(State::Awake {
                since_ns, position, ..
            }) => self.queue.set(ticket, |waiter| {
                waiter.state = State::Ended {
                    at_ns: since_ns,
                    position,
                };
            }),
            Some(State::Parked) => {
                context.counters.add(Counter::WaitsWithoutEntered, 1);
                self.queue.remove(ticket);
                self.forget_unseen(context.spans);
            }
            Some(State::Ended { .. }) | None => {}
        }
    }

    /// Passes on the waits that have ended, once nothing more can be learned about their owners.
    /// Threads that have been awake for long do not wait any more.
    #[inline]
    fn pass_on_ended(&mut self, context: &mut Context<'_>) {
        let now = self.ownership.position();
        let awake_while = if self.ownership.reports_releases() {
            SHORT_WHILE_OF_RELEASES
        } else {
            SHORT_WHILE
        };
        let awake_before = now.saturating_sub(awake_while);
        let ended_before = now.saturating_sub(SHORT_WHILE);
        let ended_before = ended_before.max(self.ownership.settled_ends());
        if (self.queue).may_have_not_parked(awake_before, ended_before) {
            self.pass_on_before(awake_before, ended_before, context);
        }
    }

    /// Passes on the waits of threads awake since before one position, and those that ended before
    /// another.
    #[inline(never)]
    fn pass_on_before(&mut self, awake_before: u64, ended_before: u64, context: &mut Context<'_>) {
        let mut over = std::mem::take(&mut self.over);
        self.queue
            .take_not_parked(awake_before, ended_before, &mut over);
        for (_, ticket) in over.drain(..) {
            self.pass_on(ticket, context);
            self.forget_unseen(context.spans);
        }
        self.over = over;
    }

    /// Passes on a wait of a thread that is not parked.
    fn pass_on(&mut self, ticket: Ticket, context: &mut Context<'_>) {
        let Some(waiter) = self.queue.remove(ticket) else {
            return;
        };
        let (State::Awake { since_ns, .. }
        | State::Ended {
            at_ns: since_ns, ..
        }) = waiter.state
        else {
            return;
        };
        let rest = Owner::Unknown(self.ownership.why_unknown());
        self.describe_until(&waiter, since_ns, rest, context);
        self.turnover.wait(context.wait.whole_duration_ns);
        context.wait.end = waiter.end;
        context.wait.holder = None;
        context.pass_on();
    }

    /// Describes a wait until `end_ns`, with `rest` as the owner since the last boundary.
    fn describe_until(
        &mut self,
        waiter: &Waiter,
        end_ns: u64,
        rest: Owner,
        context: &mut Context<'_>,
    ) {
        let wait = &mut *context.wait;
        wait.id = waiter.id;
        wait.mechanism = Mechanism::Park;
        wait.kind = WaitKind::Contention;
        wait.after_wait = waiter.after_wait;
        wait.lock = self.lock;
        wait.thread = waiter.thread;
        wait.chain = waiter.chain;
        wait.timeout = waiter.timeout;
        wait.safepoint_ns = waiter.safepoint_ns;
        let Some((start_ns, _)) = wait.set_time(waiter.start.time_ns, end_ns, context.range) else {
            return;
        };
        self.ownership.blame(
            waiter.start.at(start_ns),
            waiter.access,
            rest,
            context.detail,
            context.spans,
            wait,
        );
    }

    fn open_waits(&self) -> OpenWaits {
        OpenWaits {
            some: !self.queue.waiters.is_empty(),
            writer: !self.queue.parked[Access::Exclusive as usize].is_empty(),
        }
    }

    /// Forgets the intervals that no waiting thread has seen.
    fn forget_unseen(&mut self, spans: &mut HoldSpans) {
        let oldest = self.queue.waiters.first();
        let oldest = oldest.map(|waiter| waiter.start.position);
        let end = self.ownership.position();
        self.ownership.forget_before(oldest.unwrap_or(end), spans);
    }
}
