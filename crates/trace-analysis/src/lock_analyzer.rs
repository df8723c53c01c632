//! The intrinsic lock analyzer (paper, section 4.1): replays the events of one
//! lock, in order, and finds out who made whom wait.
//!
//! # Who is to blame
//!
//! A wait lasts from a thread's contended enter to its contended entered. An
//! exit by X at *t* says that X held the lock until *t*; an entered of X at *t*
//! says that X holds it from *t* on. Most acquisitions write no event, because
//! they were not contended or because the thread was lucky. So a wait is split
//! at those boundaries, and each part is blamed
//!
//! * on X, if the part ends with an exit by X and nobody else was seen to
//!   acquire the lock since the part's begin. Between the exit of another
//!   thread and that of X, X must have barged in;
//! * on nobody ([`UnknownOwner::HandOff`]) from an exit to the next entered;
//! * on nobody ([`UnknownOwner::NoExit`]) where the lock changed hands without
//!   an exit being written: the owner saw no thread queued, as a thread writes
//!   its enter before it is queued;
//! * on nobody ([`UnknownOwner::Lost`]) where events are lost. If it is not known
//!   who lost them, the thread may not even have waited all the time: one of them
//!   may have ended its wait, and another one begun the next.
//!
//! The order of events is that of their sequence numbers. The clocks of two
//! processors may disagree a little; parts are clamped to the wait, so that they
//! always add up to its duration.

use crate::contention::{Contention, Group, Owner, UnknownOwner, Wait, WaitKind};
use crate::counter::{Counter, Counters};
use crate::entity::{ChainIndex, LockIndex, ThreadIndex};
use crate::timeline::{Interval, Timeline};

/// The state of one lock.
#[derive(Debug)]
pub(crate) struct LockAnalyzer {
    lock: LockIndex,
    tenure: Tenure,
    /// The threads that wait, in the order of their enter events.
    waiters: Vec<Waiter>,
    /// Empty while no thread waits.
    timeline: Timeline,
    /// Events lost so far by nobody knows whom.
    numbers_lost: u64,
    /// Position in the timeline of the last of them.
    last_gap: u64,
}

/// What the lock's last event says about its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tenure {
    /// Nothing.
    Unseen,
    /// The thread acquired the lock.
    Entered(ThreadIndex),
    /// A thread released the lock.
    Released,
    /// Events are lost.
    Lost,
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    thread: ThreadIndex,
    chain: ChainIndex,
    enter_ns: u64,
    kind: WaitKind,
    /// Position in the timeline of the interval in which the wait began.
    first_interval: u64,
    /// [`LockAnalyzer::numbers_lost`] before the wait.
    numbers_lost: u64,
}

impl LockAnalyzer {
    pub(crate) fn new(lock: LockIndex) -> Self {
        Self {
            lock,
            tenure: Tenure::Unseen,
            waiters: Vec::new(),
            timeline: Timeline::default(),
            numbers_lost: 0,
            last_gap: 0,
        }
    }

    /// A thread begins to wait.
    pub(crate) fn enter(
        &mut self,
        thread: ThreadIndex,
        time_ns: u64,
        chain: ChainIndex,
        after_wait: bool,
        counters: &mut Counters,
    ) {
        self.abandon_wait(thread, counters);
        let kind = if after_wait {
            WaitKind::ReenterAfterWait
        } else {
            WaitKind::Enter
        };
        let first_interval = self.timeline.end();
        self.waiters.push(Waiter {
            thread,
            chain,
            enter_ns: time_ns,
            kind,
            first_interval,
            numbers_lost: self.numbers_lost,
        });
    }

    /// A thread acquires the lock that it waited for. Fills in `wait`, all but
    /// its number; `false` if it was not seen to wait.
    pub(crate) fn entered(
        &mut self,
        thread: ThreadIndex,
        time_ns: u64,
        wait: &mut Wait,
        counters: &mut Counters,
    ) -> bool {
        let waiter = self.remove_waiter(thread);
        match &waiter {
            Some(waiter) => {
                self.describe_wait(waiter, time_ns, wait);
                self.forget_unseen();
            }
            None => counters.add(Counter::EnteredWithoutEnter, 1),
        }
        let interval = Interval {
            end_ns: time_ns,
            owner: Owner::Unknown(UnknownOwner::NoExit),
            owner_for_earlier: Owner::Unknown(self.why_unknown()),
            is_gap: false,
        };
        self.end_interval(interval, counters);
        self.tenure = Tenure::Entered(thread);
        waiter.is_some()
    }

    /// A thread releases the lock.
    pub(crate) fn exit(
        &mut self,
        thread: ThreadIndex,
        time_ns: u64,
        chain: ChainIndex,
        counters: &mut Counters,
    ) {
        self.abandon_wait(thread, counters);
        let owner = Owner::Thread { thread, chain };
        let owner_for_earlier = match self.tenure {
            Tenure::Entered(other) if other != thread => {
                if self
                    .waiters
                    .first()
                    .is_some_and(|w| w.first_interval < self.timeline.end())
                {
                    counters.add(Counter::UnexpectedExits, 1);
                }
                Owner::Unknown(UnknownOwner::NoExit)
            }
            Tenure::Lost => Owner::Unknown(UnknownOwner::Lost),
            _ => owner,
        };
        self.end_interval(
            Interval {
                end_ns: time_ns,
                owner,
                owner_for_earlier,
                is_gap: false,
            },
            counters,
        );
        self.tenure = Tenure::Released;
    }

    /// An event of `thread` is lost.
    pub(crate) fn lost(&mut self, thread: ThreadIndex, counters: &mut Counters) {
        // If the thread waited, the lost event is the end of its wait: what it
        // writes later must not be taken for that.
        self.abandon_wait(thread, counters);
        self.lose_owner(false, counters);
    }

    /// That many events of the lock are lost, it is not known whose.
    pub(crate) fn gap(&mut self, numbers: u64, counters: &mut Counters) {
        self.numbers_lost = self.numbers_lost.saturating_add(numbers);
        self.last_gap = self.timeline.end();
        self.lose_owner(true, counters);
    }

    fn lose_owner(&mut self, is_gap: bool, counters: &mut Counters) {
        // Without a duration: it only tells who began to wait before the loss.
        let interval = Interval {
            is_gap,
            ..Interval::new(0, Owner::Unknown(UnknownOwner::Lost))
        };
        self.end_interval(interval, counters);
        self.tenure = Tenure::Lost;
    }

    /// Durations of the waits that have not ended, up to the last boundary.
    pub(crate) fn open_waits_ns(&self) -> impl Iterator<Item = u64> {
        self.waiters.iter().map(|waiter| {
            let seen = self.timeline.seen_from(waiter.first_interval);
            let last_ns = seen.map(|interval| interval.end_ns).max().unwrap_or(0);
            last_ns.saturating_sub(waiter.enter_ns)
        })
    }

    fn describe_wait(&self, waiter: &Waiter, entered_ns: u64, wait: &mut Wait) {
        let end_ns = entered_ns.max(waiter.enter_ns);
        wait.group = Group::Monitor;
        wait.kind = waiter.kind;
        wait.lock = self.lock;
        wait.thread = waiter.thread;
        wait.chain = waiter.chain;
        wait.start_ns = waiter.enter_ns;
        wait.duration_ns = end_ns - waiter.enter_ns;

        // Two lost events can be the end of this wait and the begin of a later
        // one: nobody may be blamed for what lies between the gaps.
        let may_be_two_waits = self.numbers_lost.saturating_sub(waiter.numbers_lost) >= 2;
        let mut between_gaps = false;

        wait.contentions.clear();
        let mut start_ns = waiter.enter_ns;
        for interval in self.timeline.seen_from(waiter.first_interval) {
            between_gaps |= may_be_two_waits && interval.is_gap;
            between_gaps &= interval.position <= self.last_gap;
            let owner = if between_gaps {
                Owner::Unknown(UnknownOwner::Lost)
            } else {
                interval.owner
            };
            let until_ns = interval.end_ns.clamp(start_ns, end_ns);
            if until_ns > start_ns {
                let duration_ns = until_ns - start_ns;
                wait.contentions.push(Contention {
                    start_ns,
                    duration_ns,
                    owner,
                });
            }
            start_ns = until_ns;
        }
        if start_ns < end_ns || wait.contentions.is_empty() {
            let saw_boundary = waiter.first_interval < self.timeline.end();
            let reason = if saw_boundary {
                self.why_unknown()
            } else {
                UnknownOwner::NoExit
            };
            let (duration_ns, owner) = (end_ns - start_ns, Owner::Unknown(reason));
            wait.contentions.push(Contention {
                start_ns,
                duration_ns,
                owner,
            });
        }
    }

    /// Why the owner between the last boundary and an entered event is unknown.
    fn why_unknown(&self) -> UnknownOwner {
        match self.tenure {
            Tenure::Unseen | Tenure::Entered(_) => UnknownOwner::NoExit,
            Tenure::Released => UnknownOwner::HandOff,
            Tenure::Lost => UnknownOwner::Lost,
        }
    }

    fn end_interval(&mut self, interval: Interval, counters: &mut Counters) {
        if !self.waiters.is_empty() {
            counters.add(Counter::IntervalsCollapsed, self.timeline.push(interval));
        }
    }

    /// Forgets that `thread` waits: it went on without an entered event.
    fn abandon_wait(&mut self, thread: ThreadIndex, counters: &mut Counters) {
        if self.remove_waiter(thread).is_some() {
            counters.add(Counter::WaitsWithoutEntered, 1);
            self.forget_unseen();
        }
    }

    fn remove_waiter(&mut self, thread: ThreadIndex) -> Option<Waiter> {
        let position = self
            .waiters
            .iter()
            .position(|waiter| waiter.thread == thread)?;
        Some(self.waiters.remove(position))
    }

    /// Forgets what no waiting thread has seen.
    fn forget_unseen(&mut self) {
        let oldest = self.waiters.first().map(|waiter| waiter.first_interval);
        self.timeline
            .forget_before(oldest.unwrap_or(self.timeline.end()));
    }
}
