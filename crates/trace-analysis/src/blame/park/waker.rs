//! Waits for something other than a lock: the thread that ended the wait takes the place of the
//! owner.

use trace_format::{LockId, ParkEndReason, ParkTimeout};

use crate::blame::facts::freezes::Freezes;
use crate::blame::park::code::Code;
use crate::blame::timeline::context::Context;
use crate::model::detail::Detail;
use crate::model::entity::{ChainIndex, LockIndex, ThreadIndex};
use crate::model::synchronizer::Synchronizer;
use crate::model::time_range::TimeRange;
use crate::model::wait::{
    Contention, HolderFacts, Mechanism, OpenWait, Owner, Resource, Turnover, UnknownOwner, Wait,
    WaitId, WaitKind,
};
use crate::order::park::event::{Begin, End};
use crate::order::park::permits::Waker;

/// A thread that waits for something other than a lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitForWaker {
    /// Number of the park's begin in its domain.
    number: u64,
    pub(crate) lock: LockIndex,
    synchronizer: Synchronizer,
    code: Code,
    chain: ChainIndex,
    start_ns: u64,
    /// Time in safepoints during earlier parks of the same wait.
    safepoint_ns: u64,
    /// Timeout of the wait, as first given.
    timeout: ParkTimeout,
    mechanism: Mechanism,
}

/// The context of the end of such a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Woken<'a> {
    /// Position of the trace among those analyzed.
    pub(crate) trace: u32,
    pub(crate) domain: LockId,
    pub(crate) end: &'a End,
    pub(crate) waker: Option<Waker>,
    /// Enough events were lost meanwhile for it to be two waits.
    pub(crate) may_be_two_waits: bool,
}

impl WaitForWaker {
    /// Creates the wait of a thread that parks in this code.
    pub(crate) fn new(number: u64, begin: &Begin, code: Code) -> Self {
        Self {
            number,
            lock: begin.lock,
            synchronizer: begin.synchronizer,
            code,
            chain: begin.chain,
            start_ns: begin.time_ns,
            safepoint_ns: 0,
            timeout: begin.timeout,
            mechanism: match begin.monitor {
                true => Mechanism::Monitor,
                false => Mechanism::Park,
            },
        }
    }

    /// Continues a wait that began at `start_ns`, with the number and the timeout of its first
    /// park; earlier parks spent `safepoint_ns` in safepoints.
    pub(super) fn since(
        self,
        number: u64,
        start_ns: u64,
        timeout: ParkTimeout,
        safepoint_ns: u64,
    ) -> Self {
        Self {
            number,
            start_ns,
            timeout,
            safepoint_ns,
            ..self
        }
    }

    /// Returns the kind of the wait, which ended for this reason if it has. Parking without a known
    /// synchronizer is waiting for another thread; with a timeout it lets time pass until another
    /// thread ends it. Methods of the JDK wait in `Object.wait` for what their callers want.
    fn kind(&self, reason: Option<ParkEndReason>) -> WaitKind {
        if let (Mechanism::Monitor, Some(kind)) = (self.mechanism, self.code.waits_for) {
            kind
        } else if self.code.idles || self.synchronizer == Synchronizer::Pool {
            WaitKind::Idle
        } else if self.synchronizer == Synchronizer::Other
            && self.timeout != ParkTimeout::None
            && reason.is_none_or(|reason| reason == ParkEndReason::TimedOut)
        {
            WaitKind::Sleep
        } else {
            WaitKind::Conditional
        }
    }

    /// Returns the ID of the wait, in this domain of this trace.
    fn id(&self, trace: u32, domain: LockId) -> WaitId {
        WaitId {
            trace,
            lock: domain,
            number: self.number,
        }
    }

    /// Returns the wait of a thread that is still parked, in this domain of this trace.
    pub(crate) fn open(&self, trace: u32, domain: LockId, thread: ThreadIndex) -> OpenWait {
        OpenWait {
            id: self.id(trace, domain),
            mechanism: self.mechanism,
            lock: self.lock,
            resource: Resource::Event,
            thread,
            chain: self.chain,
            start_ns: self.start_ns,
            duration_ns: 0,
            kind: self.kind(None),
            timeout: self.timeout,
            holder: None,
            holder_facts: HolderFacts::default(),
            turnover: Turnover::default(),
            releases: 0,
        }
    }

    /// Fills in `wait`.
    pub(crate) fn describe(
        &self,
        woken: &Woken<'_>,
        detail: Detail,
        range: TimeRange,
        freezes: &Freezes,
        wait: &mut Wait,
    ) {
        let end_ns = woken.end.time_ns.max(self.start_ns);
        wait.id = self.id(woken.trace, woken.domain);
        wait.mechanism = self.mechanism;
        wait.barging_holds = 0;
        wait.kind = self.kind(Some(woken.end.reason));
        wait.after_wait = false;
        wait.lock = self.lock;
        wait.thread = woken.end.thread;
        wait.chain = self.chain;
        wait.safepoint_ns = self.safepoint_ns.saturating_add(woken.end.safepoint_ns);
        wait.end = woken.end.reason.into();
        wait.timeout = self.timeout;
        wait.holder = None;
        if wait.set_time(self.start_ns, end_ns, range).is_none() {
            return;
        }

        let mut add = |start_ns: u64, until_ns: u64, owner| {
            let duration_ns = until_ns - start_ns;
            wait.contentions.push(Contention {
                start_ns,
                duration_ns,
                owner,
            });
        };
        match woken.waker {
            _ if woken.may_be_two_waits => {
                add(self.start_ns, end_ns, Owner::Unknown(UnknownOwner::Lost));
            }
            Some(Waker {
                thread,
                time_ns,
                chain,
                ..
            }) => {
                // A permit can be older than the park.
                let until_ns = time_ns.clamp(self.start_ns, end_ns);
                if until_ns > self.start_ns || until_ns == end_ns {
                    add(self.start_ns, until_ns, Owner::Thread { thread, chain });
                }
                if until_ns < end_ns {
                    add(until_ns, end_ns, Owner::Unknown(UnknownOwner::HandOff));
                }
            }
            None => {
                let reason = match woken.end.reason {
                    ParkEndReason::TimedOut | ParkEndReason::Spurious => UnknownOwner::NotWoken,
                    // Not every unpark has an event.
                    _ if woken.end.permit.is_none() => UnknownOwner::NoExit,
                    _ => UnknownOwner::Lost,
                };
                add(self.start_ns, end_ns, Owner::Unknown(reason));
            }
        }
        settle(wait, detail, range, freezes);
    }
}

/// Fills in the context's wait with one for something other than an owner that the trace does not end: who
/// was to end it is not known.
pub(super) fn describe_open(
    open: &OpenWait,
    safepoint_ns: u64,
    end_ns: u64,
    context: &mut Context<'_>,
) {
    let wait = &mut *context.wait;
    wait.id = open.id;
    wait.mechanism = open.mechanism;
    wait.barging_holds = 0;
    wait.kind = open.kind;
    wait.after_wait = false;
    wait.lock = open.lock;
    wait.thread = open.thread;
    wait.chain = open.chain;
    wait.safepoint_ns = safepoint_ns;
    wait.timeout = open.timeout;
    if let Some((start_ns, end_ns)) = wait.set_time(open.start_ns, end_ns, context.range) {
        wait.contentions.push(Contention {
            start_ns,
            duration_ns: end_ns - start_ns,
            owner: Owner::Unknown(UnknownOwner::TraceEnded),
        });
        settle(wait, context.detail, context.range, &context.spans.freezes);
    }
}

/// Adds up the contentions of a wait, and keeps them if they are wanted.
fn settle(wait: &mut Wait, detail: Detail, range: TimeRange, freezes: &Freezes) {
    wait.clip_contentions(range);
    freezes.cut(&mut wait.contentions);
    wait.add_up_contentions();
    if !detail.has_contentions() {
        wait.contentions.clear();
    }
}
