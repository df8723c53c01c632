//! The analyzer of one lock of `java.util.concurrent` (paper, section 3.3, figure
//! 5, and section 4.1): replays the events of those who park on it, in order, and
//! finds out who made whom wait. [`Ownership`] says who is to blame.
//!
//! # What is one wait
//!
//! A thread that is woken and does not get the lock parks again, still in its
//! place in the queue. That is one wait. So a wait is known to have ended only
//! when the thread does something else with the lock, or a while later. And the
//! call chain of the last owner is known when that releases the lock.

use trace_format::Hold;

use super::event::{Begin, End, Release, Unpark};
use super::ownership::{OpenWaits, Ownership};
use super::permits::Waker;
use super::{Code, Sink, Synchronizer};
use crate::contention::{Mechanism, Owner, UnknownOwner, Wait, WaitKind};
use crate::counter::{Counter, Counters};
use crate::entity::{ChainIndex, Entities, LockIndex, ThreadIndex};
use crate::last_events::TraceEnd;
use crate::timeline::Start;

/// A thread that waits for the lock, or did until a short time ago.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    thread: ThreadIndex,
    chain: ChainIndex,
    after_wait: bool,
    /// It would share the lock with others.
    reader: bool,
    start: Start,
    /// When it parked last.
    parked_ns: u64,
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
    /// It has the lock, or has given up.
    Ended {
        at_ns: u64,
        /// Position in the ownership.
        position: u64,
    },
}

impl Waiter {
    fn is_parked_writer(&self) -> bool {
        self.state == State::Parked && !self.reader
    }
}

/// How many events of a domain are lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    pub(super) all: u64,
    /// Those of which it is not known who wrote them.
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
    /// In the order in which they began to wait.
    waiters: Vec<Waiter>,
    /// Losses that have been taken into account.
    losses: Losses,
}

/// After this many boundaries, a thread that was woken has the lock, or has given
/// up.
const SHORT_WHILE: u64 = 256;

/// The same where each release is a boundary: a thread that was woken has to get a
/// processor first.
const SHORT_WHILE_OF_RELEASES: u64 = 1 << 16;

impl LockAnalyzer {
    pub(super) fn new(lock: LockIndex, synchronizer: Synchronizer, losses: Losses) -> Self {
        Self {
            lock,
            synchronizer,
            ownership: Ownership::new(synchronizer),
            waiters: Vec::new(),
            losses,
        }
    }

    /// It has been seen that the lock can have an owner.
    pub(super) fn knows_owner(&self) -> bool {
        self.ownership.is_known_by_lock()
    }

    /// A thread waits.
    pub(super) fn is_in_use(&self) -> bool {
        self.waiters
            .iter()
            .any(|waiter| waiter.state == State::Parked)
    }

    /// What is lost since the lock's last event.
    pub(super) fn lost(&mut self, losses: Losses, counters: &mut Counters) {
        if losses != self.losses {
            let of_nobody = losses.of_nobody - self.losses.of_nobody;
            self.losses = losses;
            self.ownership.lose(of_nobody, self.open_waits(), counters);
            // Whoever is awake may have waited again meanwhile.
            for index in 0..self.waiters.len() {
                if let State::Awake { .. } = self.waiters[index].state {
                    self.end_wait(index, counters);
                }
            }
        }
    }

    /// The thread parks.
    pub(super) fn begin(&mut self, begin: &Begin, code: Code, sink: &mut Sink<'_>) {
        let before = self.position(begin.thread);
        let before = before.filter(|&index| {
            if !begin.continued {
                self.end_wait(index, sink.counters);
            }
            begin.continued
        });
        let open_waits = self.open_waits();
        self.ownership.begin(begin, code, open_waits, sink.counters);
        self.are_awake([Some(begin.thread), begin.owner], sink.entities);
        if let Some(index) = before {
            self.waiters[index].state = State::Parked;
            self.waiters[index].parked_ns = begin.time_ns;
        } else {
            self.waiters.push(Waiter {
                thread: begin.thread,
                chain: begin.chain,
                after_wait: code.after_await,
                reader: code.shares && self.synchronizer != Synchronizer::Semaphore,
                start: self.ownership.start_wait(begin.time_ns),
                parked_ns: begin.time_ns,
                safepoint_ns: 0,
                state: State::Parked,
            });
        }
        self.pass_on_ended(sink);
    }

    /// The thread parks no longer. `unseen_waker` unparked it, if that has not been
    /// [`unpark`](Self::unpark)ed.
    pub(super) fn end(&mut self, end: &End, unseen_waker: Option<Waker>, sink: &mut Sink<'_>) {
        let Some(index) = self.position(end.thread) else {
            return;
        };
        let (open_waits, reader) = (self.open_waits(), self.waiters[index].reader);
        if self.ownership.may_be_two_waits(self.waiters[index].start) {
            // It may be the end of another park, on another lock.
            self.ownership.doubt(end.time_ns, open_waits, sink.counters);
        } else {
            self.ownership
                .end(end, reader, unseen_waker, open_waits, sink.counters);
        }
        self.are_awake([Some(end.thread), end.owner], sink.entities);
        let waiter = &mut self.waiters[index];
        waiter.safepoint_ns = waiter.safepoint_ns.saturating_add(end.safepoint_ns);
        waiter.state = State::Awake {
            since_ns: end.time_ns,
            position: self.ownership.position(),
        };
        self.pass_on_ended(sink);
    }

    /// The thread unparks another one that is parked here.
    pub(super) fn unpark(&mut self, unpark: &Unpark, code: Code, sink: &mut Sink<'_>) {
        let waiter = self.position(unpark.thread);
        if let Some(index) = waiter.filter(|_| !code.no_release) {
            // It got the lock.
            self.end_wait(index, sink.counters);
        }
        let open_waits = self.open_waits();
        let writer = sink.entities.thread(unpark.thread).java_id;
        self.ownership
            .unpark(unpark, writer, code, open_waits, sink.counters);
        self.are_awake([unpark.owner], sink.entities);
        self.pass_on_ended(sink);
    }

    /// The thread releases the lock, which it had alone.
    pub(super) fn release(&mut self, release: &Release, sink: &mut Sink<'_>) {
        let waiter = self.position(release.thread);
        if let Some(index) = waiter {
            // It got the lock.
            self.end_wait(index, sink.counters);
        }
        if waiter.is_none()
            && let Hold::For { duration_ns } = release.hold
        {
            let acquired_ns = release.time_ns.saturating_sub(duration_ns);
            let waits = |waiter: &Waiter| {
                let is_over = matches!(waiter.state, State::Ended { .. });
                !is_over && waiter.start.time_ns <= acquired_ns
            };
            let barges_in = self.waiters.iter().any(waits);
            sink.counters
                .add(Counter::BargingHolds, u64::from(barges_in));
        }
        let open_waits = self.open_waits();
        self.ownership
            .release(release, waiter.is_some(), open_waits, sink.counters);
        self.pass_on_ended(sink);
    }

    /// An event shows that these threads do something.
    fn are_awake<const N: usize>(
        &mut self,
        threads: [Option<ThreadIndex>; N],
        entities: &Entities,
    ) {
        for thread in threads.into_iter().flatten() {
            self.ownership.is_awake(entities.thread(thread).java_id);
        }
    }

    /// The thread went on without an end.
    pub(super) fn abandon(&mut self, thread: ThreadIndex) {
        if let Some(index) = self.position(thread) {
            self.waiters.remove(index);
            self.forget_unseen();
        }
    }

    /// Waits that may have gone on have ended.
    pub(super) fn pass_on_all_ended(&mut self, sink: &mut Sink<'_>) {
        let is_over = |waiter: &mut Waiter| waiter.state != State::Parked;
        let ended: Vec<_> = self.waiters.extract_if(.., is_over).collect();
        for waiter in ended {
            self.pass_on(&waiter, sink);
        }
    }

    /// No more events: passes on all waits, also those that have not ended.
    pub(super) fn finish(&mut self, end: &TraceEnd, sink: &mut Sink<'_>) {
        let holder = self.ownership.holder().map(|thread| Owner::Thread {
            thread,
            chain: self.acquired_by(thread).unwrap_or(ChainIndex::NOT_RELEASED),
        });
        if let Some(holder) = holder {
            self.ownership.never_released(holder);
        }
        self.pass_on_all_ended(sink);
        let rest = holder.unwrap_or_else(|| Owner::Unknown(self.ownership.why_holder_unknown()));
        for waiter in &self.waiters {
            self.pass_on_open(waiter, end, rest, sink);
        }
    }

    /// Where the thread acquired the lock, if it had to wait for it.
    fn acquired_by(&self, thread: ThreadIndex) -> Option<ChainIndex> {
        let mut waits = self.waiters.iter().rev();
        let acquired = |waiter: &&Waiter| waiter.thread == thread && waiter.state != State::Parked;
        waits.find(acquired).map(|waiter| waiter.chain)
    }

    /// Passes on a wait that has not ended, with `rest` as the owner since the last
    /// boundary.
    fn pass_on_open(&self, waiter: &Waiter, end: &TraceEnd, rest: Owner, sink: &mut Sink<'_>) {
        let counters = &mut *sink.counters;
        if end.went_on(waiter.thread, waiter.parked_ns) {
            return counters.add(Counter::WaitsWithoutEntered, 1);
        }
        counters.add(Counter::OpenWaits, 1);
        if self.ownership.loses_since(waiter.start) {
            let known_ns = self.ownership.known_until_ns(waiter.start);
            let known_ns = known_ns.saturating_sub(waiter.start.time_ns);
            return counters.add(Counter::OpenWaitsNs, known_ns);
        }
        let rest = match rest {
            Owner::Thread { thread, .. } if thread == waiter.thread => {
                Owner::Unknown(UnknownOwner::TraceEnded)
            }
            rest => rest,
        };
        self.describe_until(waiter, end.time_ns, rest, sink.wait);
        sink.wait.ended = false;
        sink.wait.holder = rest.thread();
        counters.add(Counter::OpenWaitsNs, sink.wait.duration_ns);
        sink.pass_on();
    }

    /// The wait ended when the thread woke up last. A thread that is still parked
    /// cannot do anything, so its end is lost.
    fn end_wait(&mut self, index: usize, counters: &mut Counters) {
        match self.waiters[index].state {
            State::Awake {
                since_ns, position, ..
            } => {
                self.waiters[index].state = State::Ended {
                    at_ns: since_ns,
                    position,
                }
            }
            State::Parked => {
                counters.add(Counter::WaitsWithoutEntered, 1);
                self.waiters.remove(index);
                self.forget_unseen();
            }
            State::Ended { .. } => {}
        }
    }

    /// Passes on the waits that have ended, once their owners are known as well as
    /// they will be. Threads that have been awake for long do not wait any more.
    fn pass_on_ended(&mut self, sink: &mut Sink<'_>) {
        let now = self.ownership.position();
        let awake_while = if self.ownership.is_told() {
            SHORT_WHILE_OF_RELEASES
        } else {
            SHORT_WHILE
        };
        let is_ripe = |waiter: &Waiter, ownership: &Ownership| match waiter.state {
            State::Parked => false,
            State::Awake { position, .. } => now - position > awake_while,
            State::Ended { position, .. } => {
                ownership.is_settled(position) || now - position > SHORT_WHILE
            }
        };
        while let Some(index) = self
            .waiters
            .iter()
            .position(|waiter| is_ripe(waiter, &self.ownership))
        {
            let waiter = self.waiters.remove(index);
            self.pass_on(&waiter, sink);
            self.forget_unseen();
        }
    }

    fn pass_on(&self, waiter: &Waiter, sink: &mut Sink<'_>) {
        let (State::Awake { since_ns, .. }
        | State::Ended {
            at_ns: since_ns, ..
        }) = waiter.state
        else {
            return;
        };
        let rest = Owner::Unknown(self.ownership.why_unknown());
        self.describe_until(waiter, since_ns, rest, sink.wait);
        sink.wait.ended = true;
        sink.wait.holder = None;
        sink.pass_on();
    }

    /// Describes a wait until `end_ns`, with `rest` as the owner since the last boundary.
    fn describe_until(&self, waiter: &Waiter, end_ns: u64, rest: Owner, wait: &mut Wait) {
        let start_ns = waiter.start.time_ns;
        let end_ns = end_ns.max(start_ns);
        wait.mechanism = Mechanism::Park;
        wait.barging_holds = self.ownership.barging_holds(waiter.start, end_ns);
        wait.kind = WaitKind::Contention;
        wait.after_wait = waiter.after_wait;
        wait.lock = self.lock;
        wait.thread = waiter.thread;
        wait.chain = waiter.chain;
        wait.start_ns = start_ns;
        wait.duration_ns = end_ns - start_ns;
        wait.safepoint_ns = waiter.safepoint_ns;
        self.ownership.blame(
            waiter.start,
            end_ns,
            waiter.thread,
            waiter.reader,
            rest,
            &mut wait.contentions,
        );
    }

    fn open_waits(&self) -> OpenWaits {
        let first_writer = self.waiters.iter().find(|waiter| waiter.is_parked_writer());
        let mut waiters = self.waiters.iter();
        let first_queued = waiters.find(|waiter| self.may_be_queued(waiter));
        OpenWaits {
            some: !self.waiters.is_empty(),
            first_queued: first_queued.map_or(u64::MAX, |waiter| waiter.start.position),
            first_writer: first_writer.map(|waiter| (waiter.thread, waiter.chain)),
        }
    }

    /// It has not acquired the lock, as far as is known. One that was awake when a release
    /// was told either waits for the next one, which is told with its time, or has it.
    fn may_be_queued(&self, waiter: &Waiter) -> bool {
        match waiter.state {
            State::Parked => true,
            State::Awake { .. } => !self.ownership.has_told_since(waiter.start.position),
            State::Ended { .. } => false,
        }
    }

    /// The waiter that the thread is, unless its wait has ended.
    fn position(&self, thread: ThreadIndex) -> Option<usize> {
        self.waiters.iter().position(|waiter| {
            waiter.thread == thread && !matches!(waiter.state, State::Ended { .. })
        })
    }

    /// Forgets what no waiting thread has seen.
    fn forget_unseen(&mut self) {
        let oldest = self.waiters.first().map(|waiter| waiter.start.position);
        let end = self.ownership.position();
        self.ownership.forget_before(oldest.unwrap_or(end));
    }
}
