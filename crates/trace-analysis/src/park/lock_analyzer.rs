//! The analyzer of one lock of `java.util.concurrent` (paper, section 3.3, figure
//! 5, and section 4.1): replays the events of those who park on it, in order, and
//! finds out who made whom wait.
//!
//! # Who is to blame
//!
//! An unpark by X says that X held the lock until then. Where the lock says who
//! owns it, every event shows the owner at its time. So the time between two
//! events that tell about the owner, the boundaries, is blamed
//!
//! * on X, if X may have held the lock at both ends: at the begin because the
//!   event showed it as the owner, or because it was woken there and got the
//!   lock; at the end because the event shows it as the owner or is its release;
//! * on nobody ([`UnknownOwner::HandOff`]) from a release to the next thread seen
//!   to have the lock: several owners may have come and gone without an event,
//!   because the thread that was woken is no longer parked;
//! * on nobody ([`UnknownOwner::NoExit`]) where both ends contradict each other.
//!
//! Where the lock does not say who owns it, what counts is the release alone, as
//! in the paper: who releases it next has held it since the boundary before. The
//! time until a thread that was woken parks again is on nobody: meanwhile others may
//! acquire and release the lock without an event.
//!
//! Of readers that share a lock, only the last one to release it writes an event.
//! It has held the lock at least since a writer was first in the queue, as later
//! readers have to queue up behind. What these readers wait for is not the other
//! readers, but the writer.
//!
//! # What is one wait
//!
//! A thread that is woken and does not get the lock parks again, still in its
//! place in the queue. That is one wait. So a wait is known to have ended only
//! when the thread does something else with the lock, or a while later.

use trace_format::ParkEndReason;

use super::event::{Begin, End, Unpark};
use super::permits::Waker;
use super::{Code, Sink, Synchronizer};
use crate::contention::{Group, Owner, UnknownOwner, Wait, WaitKind};
use crate::counter::{Counter, Counters};
use crate::entity::{ChainIndex, LockIndex, ThreadIndex};
use crate::timeline::{self, Start, Timeline};

#[derive(Clone, Copy, Debug)]
struct Interval {
    end_ns: u64,
    /// Who kept out threads that want the lock for themselves.
    owner: Owner,
    /// Who kept out threads that would share it.
    owner_for_readers: Owner,
    is_gap: bool,
    /// The lock was not released at the end.
    goes_on: bool,
}

impl Interval {
    fn unknown(end_ns: u64, reason: UnknownOwner, is_gap: bool) -> Self {
        let owner = Owner::Unknown(reason);
        Self {
            end_ns,
            owner,
            owner_for_readers: owner,
            is_gap,
            goes_on: false,
        }
    }
}

impl timeline::Interval for Interval {
    fn end_ns(&self) -> u64 {
        self.end_ns
    }

    fn is_gap(&self) -> bool {
        self.is_gap
    }

    fn goes_on(&self) -> bool {
        self.goes_on
    }

    fn collapsed(end_ns: u64) -> Self {
        Self::unknown(end_ns, UnknownOwner::Collapsed, true)
    }
}

/// What the last boundary says about the owner from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tenure {
    /// Nothing.
    Unseen,
    /// Somebody has the lock.
    Held {
        /// Who, if the lock says it.
        by: Option<ThreadIndex>,
        /// This thread was woken there, and may have got the lock instead.
        woken: Option<ThreadIndex>,
    },
    /// A thread released the lock.
    Released {
        /// This thread had it just after.
        to: Option<ThreadIndex>,
    },
    /// Events are lost.
    Lost,
}

/// What a boundary says about the owner until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    /// The thread releases the lock.
    Release {
        thread: ThreadIndex,
        chain: ChainIndex,
        /// The lock was shared.
        shared: bool,
    },
    /// The lock says that the thread owns it.
    Owner(ThreadIndex),
    /// Nothing.
    None,
}

/// A thread that waits for the lock, or did until a short time ago.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    thread: ThreadIndex,
    chain: ChainIndex,
    kind: WaitKind,
    /// It gives up when it is interrupted.
    interruptible: bool,
    /// It would share the lock with others.
    reader: bool,
    start: Start,
    safepoint_ns: u64,
    state: State,
}

impl Waiter {
    /// It left the queue when it was interrupted.
    fn gave_up(&self) -> bool {
        let was_interrupted = matches!(
            self.state,
            State::Awake {
                interrupted: true,
                ..
            }
        );
        self.interruptible && was_interrupted
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Parked,
    /// It may park again, or have the lock.
    Awake {
        since_ns: u64,
        interrupted: bool,
        /// Position in the timeline.
        position: u64,
    },
}

/// How many events of a domain are lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    pub(super) all: u64,
    /// Those of which it is not known who wrote them.
    pub(super) of_nobody: u64,
}

impl Losses {
    pub(super) fn add_listed(&mut self) {
        self.all = self.all.saturating_add(1);
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
    /// The lock says who owns it.
    knows_owner: bool,
    tenure: Tenure,
    /// The owner whose release is still to come, and the first interval that is
    /// blamed on it.
    unreleased: Option<(ThreadIndex, u64)>,
    /// In the order in which they began to wait.
    waiters: Vec<Waiter>,
    /// Empty while no thread waits.
    timeline: Timeline<Interval>,
    /// Losses that the analyzer has taken into account.
    losses: Losses,
}

/// After so many boundaries, a thread that was woken has the lock, or has given
/// up.
const SHORT_WHILE: u64 = 256;

impl LockAnalyzer {
    pub(super) fn new(lock: LockIndex, synchronizer: Synchronizer, losses: Losses) -> Self {
        Self {
            lock,
            synchronizer,
            knows_owner: synchronizer.knows_owner(),
            tenure: Tenure::Unseen,
            unreleased: None,
            waiters: Vec::new(),
            timeline: Timeline::default(),
            losses,
        }
    }

    /// It has been seen that the lock can have an owner.
    pub(super) fn knows_owner(&self) -> bool {
        self.knows_owner
    }

    /// A thread waits, or may wait on.
    pub(super) fn is_in_use(&self) -> bool {
        self.waiters
            .iter()
            .any(|waiter| waiter.state == State::Parked)
    }

    /// What is lost since the lock's last event.
    pub(super) fn lost(&mut self, losses: Losses, counters: &mut Counters) {
        if losses == self.losses {
            return;
        }
        let of_nobody = losses.of_nobody > self.losses.of_nobody;
        if of_nobody {
            let new = losses.of_nobody - self.losses.of_nobody;
            self.timeline.lose(new);
        }
        self.losses = losses;
        // Without a duration: it only tells who began to wait before the loss.
        self.push(
            Interval::unknown(0, UnknownOwner::Lost, of_nobody),
            counters,
        );
        self.tenure = Tenure::Lost;
        self.unreleased = None;
    }

    /// The thread parks.
    pub(super) fn begin(&mut self, begin: &Begin, code: Code, sink: &mut Sink<'_>) {
        let waiter = self.position(begin.thread);
        let waiter = match waiter {
            Some(index) if begin.continued && !self.waiters[index].gave_up() => Some(index),
            Some(index) => {
                self.finish_wait(index, sink);
                None
            }
            None => None,
        };
        self.show_owner(begin, code, sink.counters);
        if let Some(index) = waiter {
            self.waiters[index].state = State::Parked;
            return;
        }
        let kind = if code.after_await {
            WaitKind::ReenterAfterWait
        } else {
            WaitKind::Enter
        };
        self.waiters.push(Waiter {
            thread: begin.thread,
            chain: begin.chain,
            kind,
            interruptible: code.interruptible,
            reader: code.shares && self.synchronizer != Synchronizer::Semaphore,
            start: self.timeline.start_wait(begin.time_ns),
            safepoint_ns: 0,
            state: State::Parked,
        });
    }

    /// What a begin shows about the owner: the thread did not get the lock.
    fn show_owner(&mut self, begin: &Begin, code: Code, counters: &mut Counters) {
        if let Some(owner) = begin.owner {
            self.knows_owner = true;
            let held = Tenure::Held {
                by: Some(owner),
                woken: None,
            };
            if self.tenure != held {
                self.boundary(begin.time_ns, Evidence::Owner(owner), held, counters);
            }
            return;
        }
        let held = Tenure::Held {
            by: None,
            woken: None,
        };
        // A lock that has no owner right now is free, or readers have it.
        let is_free = self.knows_owner && self.synchronizer != Synchronizer::ReadWriteLock;
        match self.tenure {
            Tenure::Unseen => self.tenure = held,
            // Until it parks again, others could release the lock without an event.
            Tenure::Held {
                by: None,
                woken: Some(woken),
            } if woken == begin.thread && !self.knows_owner => {
                self.boundary(begin.time_ns, Evidence::None, held, counters);
            }
            Tenure::Held {
                by,
                woken: Some(woken),
            } if woken == begin.thread => self.tenure = Tenure::Held { by, woken: None },
            Tenure::Lost => self.boundary(begin.time_ns, Evidence::None, held, counters),
            // A reader may only queue up behind a writer that was woken.
            Tenure::Released { .. } if !is_free && !code.shares => {
                self.boundary(begin.time_ns, Evidence::None, held, counters);
            }
            _ => {}
        }
    }

    /// The thread parks no longer. `unseen_waker` unparked it, if that has not been
    /// [`unpark`](Self::unpark)ed: it did not see what the thread waited for.
    pub(super) fn end(&mut self, end: &End, unseen_waker: Option<Waker>, counters: &mut Counters) {
        let Some(index) = self.position(end.thread) else {
            return;
        };
        if let Some(waker) = unseen_waker {
            let release = Evidence::Release {
                thread: waker.thread,
                chain: waker.chain,
                shared: false,
            };
            let released = Tenure::Released { to: None };
            self.boundary(waker.time_ns, release, released, counters);
        }
        let held = Tenure::Held {
            by: end.owner,
            woken: Some(end.thread),
        };
        let had_owner = matches!(self.tenure, Tenure::Held { by: Some(_), .. });
        if let Some(owner) = end.owner {
            self.knows_owner = true;
            self.boundary(end.time_ns, Evidence::Owner(owner), held, counters);
        } else if end.is_unparked() && !had_owner {
            self.boundary(end.time_ns, Evidence::None, held, counters);
        }
        let position = self.timeline.end();
        let waiter = &mut self.waiters[index];
        waiter.safepoint_ns = waiter.safepoint_ns.saturating_add(end.safepoint_ns);
        waiter.state = State::Awake {
            since_ns: end.time_ns,
            interrupted: end.reason == ParkEndReason::Interrupted,
            position,
        };
    }

    /// The thread unparks another one that is parked here.
    pub(super) fn unpark(&mut self, unpark: &Unpark, code: Code, sink: &mut Sink<'_>) {
        let waiter = self.position(unpark.thread);
        if let Some(index) = waiter.filter(|_| !code.no_release) {
            // It got the lock.
            self.finish_wait(index, sink);
        }
        if code.passes_on {
            return;
        }
        if unpark.owner.is_some() {
            self.knows_owner = true;
        }
        if code.no_release || unpark.owner == Some(unpark.thread) {
            if let Some(owner) = unpark.owner {
                let held = Tenure::Held {
                    by: Some(owner),
                    woken: None,
                };
                self.boundary(unpark.time_ns, Evidence::Owner(owner), held, sink.counters);
            }
            return;
        }
        let release = Evidence::Release {
            thread: unpark.thread,
            chain: unpark.chain,
            shared: code.releases_shared && self.synchronizer != Synchronizer::Semaphore,
        };
        let released = Tenure::Released { to: unpark.owner };
        self.boundary(unpark.time_ns, release, released, sink.counters);
        self.finish_old_waits(sink);
    }

    /// The thread went on without an end.
    pub(super) fn abandon(&mut self, thread: ThreadIndex) {
        if let Some(index) = self.position(thread) {
            self.waiters.remove(index);
            self.forget_unseen();
        }
    }

    /// No more events: waits that may have gone on have ended. Returns the
    /// durations of those that have not, up to the last boundary.
    pub(super) fn finish(&mut self, sink: &mut Sink<'_>) -> Vec<u64> {
        while let Some(index) = self.waiters.iter().position(|w| w.state != State::Parked) {
            self.finish_wait(index, sink);
        }
        let open = self.waiters.iter().map(|waiter| {
            let seen = self.timeline.seen_from(waiter.start.position);
            let last_ns = seen.map(|(_, interval)| interval.end_ns).max();
            last_ns.unwrap_or(0).saturating_sub(waiter.start.time_ns)
        });
        open.collect()
    }

    /// Ends an interval, and begins the next one.
    fn boundary(
        &mut self,
        time_ns: u64,
        evidence: Evidence,
        next: Tenure,
        counters: &mut Counters,
    ) {
        let owner = self.owner_until(evidence);
        self.follow_tenure(owner, evidence);
        let owner_for_readers = match evidence {
            Evidence::Release { shared: true, .. } => self.first_writer(),
            // Reader after reader is being woken.
            Evidence::None if owner == Owner::Unknown(UnknownOwner::Readers) => {
                Owner::Unknown(UnknownOwner::HandOff)
            }
            _ => owner,
        };
        let interval = Interval {
            end_ns: time_ns,
            owner,
            owner_for_readers,
            is_gap: false,
            goes_on: !matches!(evidence, Evidence::Release { .. }),
        };
        self.push(interval, counters);
        self.tenure = next;
    }

    /// Who had the lock from the last boundary until one that shows `evidence`.
    fn owner_until(&self, evidence: Evidence) -> Owner {
        let (thread, chain) = match evidence {
            Evidence::Release { thread, chain, .. } => (Some(thread), chain),
            Evidence::Owner(thread) => (Some(thread), ChainIndex::NOT_RECORDED),
            Evidence::None => (None, ChainIndex::NOT_RECORDED),
        };
        let released_shared = matches!(evidence, Evidence::Release { shared: true, .. });
        let is_release = matches!(evidence, Evidence::Release { .. });
        let shareable = self.synchronizer == Synchronizer::ReadWriteLock;
        let held = match (self.tenure, thread) {
            (Tenure::Lost, _) => return Owner::Unknown(UnknownOwner::Lost),
            (Tenure::Held { by, woken }, Some(thread)) => {
                by == Some(thread)
                    || woken == Some(thread)
                    // Nobody owned the lock, so readers had it.
                    || by.is_none() && released_shared
                    || is_release && !self.knows_owner
                    // A thread queued up, so the next to release the lock writes an
                    // event. This is it.
                    || is_release && by.is_none() && woken.is_none() && !shareable
            }
            (Tenure::Released { to }, Some(thread)) => to == Some(thread),
            _ => false,
        };
        match thread {
            Some(thread) if held => Owner::Thread { thread, chain },
            _ => Owner::Unknown(self.why_unknown()),
        }
    }

    /// Why the owner since the last boundary is not known.
    fn why_unknown(&self) -> UnknownOwner {
        let shareable = self.synchronizer == Synchronizer::ReadWriteLock;
        match self.tenure {
            Tenure::Lost => UnknownOwner::Lost,
            Tenure::Released { .. } => UnknownOwner::HandOff,
            Tenure::Held { by: None, .. } if shareable => UnknownOwner::Readers,
            // A thread was woken, and another one was quicker.
            Tenure::Held {
                by: None,
                woken: Some(_),
            } => UnknownOwner::HandOff,
            Tenure::Held { by: None, .. } if self.knows_owner => UnknownOwner::HandOff,
            Tenure::Held { .. } | Tenure::Unseen => UnknownOwner::NoExit,
        }
    }

    /// The release tells the call chain of an owner that was only seen before.
    fn follow_tenure(&mut self, owner: Owner, evidence: Evidence) {
        let Owner::Thread { thread, .. } = owner else {
            self.unreleased = None;
            return;
        };
        let first = match self.unreleased {
            Some((unreleased, first)) if unreleased == thread => first,
            _ => self.timeline.end(),
        };
        if matches!(evidence, Evidence::Release { .. }) {
            for interval in self.timeline.seen_from_mut(first) {
                interval.owner = owner;
                interval.owner_for_readers = owner;
            }
            self.unreleased = None;
        } else {
            self.unreleased = Some((thread, first));
        }
    }

    /// The writer that readers have to queue up behind.
    fn first_writer(&self) -> Owner {
        let mut parked = self.waiters.iter().filter(|w| w.state == State::Parked);
        match parked.find(|waiter| !waiter.reader) {
            Some(&Waiter { thread, chain, .. }) => Owner::Thread { thread, chain },
            None => Owner::Unknown(UnknownOwner::Readers),
        }
    }

    fn push(&mut self, interval: Interval, counters: &mut Counters) {
        if !self.waiters.is_empty() {
            counters.add(Counter::IntervalsCollapsed, self.timeline.push(interval));
        }
    }

    /// Ends the waits of threads that have been awake for long.
    fn finish_old_waits(&mut self, sink: &mut Sink<'_>) {
        if !self.timeline.end().is_multiple_of(SHORT_WHILE / 4) {
            return;
        }
        let end = self.timeline.end();
        let is_old = |waiter: &Waiter| match waiter.state {
            State::Parked => false,
            State::Awake { position, .. } => end - position > SHORT_WHILE,
        };
        while let Some(index) = self.waiters.iter().position(is_old) {
            self.finish_wait(index, sink);
        }
    }

    /// The wait of a thread that is awake has ended when it woke up last. A thread
    /// that is still parked cannot do anything, so its end is lost.
    fn finish_wait(&mut self, index: usize, sink: &mut Sink<'_>) {
        let waiter = self.waiters[index];
        if let State::Awake { since_ns, .. } = waiter.state {
            self.describe_wait(&waiter, since_ns, sink.wait);
            sink.pass_on();
        } else {
            sink.counters.add(Counter::WaitsWithoutEntered, 1);
        }
        self.waiters.remove(index);
        self.forget_unseen();
    }

    fn describe_wait(&self, waiter: &Waiter, end_ns: u64, wait: &mut Wait) {
        let start_ns = waiter.start.time_ns;
        let end_ns = end_ns.max(start_ns);
        wait.group = Group::Park;
        wait.kind = waiter.kind;
        wait.lock = self.lock;
        wait.thread = waiter.thread;
        wait.chain = waiter.chain;
        wait.start_ns = start_ns;
        wait.duration_ns = end_ns - start_ns;
        wait.safepoint_ns = waiter.safepoint_ns;
        let owner_of = |_, interval: &Interval| {
            let owner = if waiter.reader {
                interval.owner_for_readers
            } else {
                interval.owner
            };
            match owner {
                // What it did itself in between did not keep it waiting.
                Owner::Thread { thread, .. } if thread == waiter.thread => {
                    Owner::Unknown(UnknownOwner::HandOff)
                }
                owner => owner,
            }
        };
        let rest = Owner::Unknown(self.why_unknown());
        self.timeline
            .split(waiter.start, end_ns, owner_of, rest, &mut wait.contentions);
    }

    fn position(&self, thread: ThreadIndex) -> Option<usize> {
        self.waiters
            .iter()
            .position(|waiter| waiter.thread == thread)
    }

    /// Forgets what no waiting thread has seen.
    fn forget_unseen(&mut self) {
        let oldest = self.waiters.first().map(|waiter| waiter.start.position);
        self.timeline
            .forget_before(oldest.unwrap_or(self.timeline.end()));
    }
}
