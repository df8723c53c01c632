//! The intrinsic lock analyzer (paper, section 4.1): replays the events of one lock, in order, and
//! finds out who made whom wait.
//!
//! # Who is to blame
//!
//! A wait takes from a thread's contended enter to its contended entered. An exit by X at *t* says
//! that X held the lock until *t*, and since when, if a thread waited meanwhile; an entered by X at
//! *t* says that X holds it from *t* on. So a wait is split at those boundaries, and each part is
//! blamed
//!
//! * on X, from the acquisition that its exit reports, or its entered event, to the exit. If the
//!   exit does not report it ([`Holds::NotKnown`]), X must have barged in some time since the last
//!   boundary: it is blamed from there, unless another thread was seen to acquire the lock;
//! * on nobody ([`Owner::Free`]) from an exit to the next acquisition, as long as a thread waits
//!   that began before the exit: each release would see it, and write an event. In traces without
//!   holds, others may have had the lock meanwhile ([`UnknownOwner::HandOff`]);
//! * on nobody ([`UnknownOwner::NoExit`]) where the lock changed hands without an exit being
//!   written: the owner saw no thread queued, because a thread writes its enter before it is
//!   queued;
//! * on nobody ([`UnknownOwner::Lost`]) where events are lost. If it is not known who lost them,
//!   the thread may not even have waited all the time: one of the lost events may have ended its
//!   wait, and another begun the next one, at the latest within the hold that is released first
//!   after them.
//!
//! Events are ordered by sequence number. The clocks of two processors may disagree a little; parts
//! are clamped to the wait, so that they always add up to its duration.

use trace_format::ParkTimeout;

use crate::blame::facts::trace_end::TraceEnd;
use crate::blame::timeline::context::Context;
use crate::blame::timeline::hold_spans::HoldSpans;
use crate::blame::timeline::interval::{self, Access, Start, View};
use crate::blame::timeline::owner_timeline::Timeline;
use crate::blame::timeline::waiters::Waiters;
use crate::model::counter::{Counter, Counters};
use crate::model::detail::Detail;
use crate::model::entity::{ChainIndex, LockIndex, ThreadIndex};
use crate::model::packed_owner::PackedOwner;
use crate::model::wait::{
    HolderFacts, Holds, Mechanism, OpenWait, Owner, Resource, Turnover, UnknownOwner, WaitEnd,
    WaitId, WaitKind,
};
use crate::resolve::seen_owner::Holder;
use crate::resolve::stacks::Stacks;

#[derive(Clone, Copy, Debug)]
struct Interval {
    end_ns: u64,
    /// The owner, as seen by threads that began to wait within the interval.
    owner: PackedOwner,
    /// The owner, as seen by threads that waited before: the interval's events may show who held
    /// the lock at its end, but not since when.
    owner_for_earlier: PackedOwner,
    is_gap: bool,
    /// The owner keeps the lock beyond the end.
    goes_on: bool,
    /// The owner did not wait itself meanwhile.
    is_direct: bool,
}

impl Interval {
    fn new(end_ns: u64, owner: Owner, owner_for_earlier: Owner) -> Self {
        Self {
            end_ns,
            owner: owner.into(),
            owner_for_earlier: owner_for_earlier.into(),
            is_gap: false,
            goes_on: false,
            is_direct: false,
        }
    }

    fn unknown(end_ns: u64, reason: UnknownOwner, is_gap: bool) -> Self {
        let owner = Owner::Unknown(reason);
        Self {
            is_gap,
            ..Self::new(end_ns, owner, owner)
        }
    }
}

impl interval::Interval for Interval {
    const HAS_OWN: bool = false;

    fn end_ns(&self) -> u64 {
        self.end_ns
    }

    fn is_gap(&self) -> bool {
        self.is_gap
    }

    fn owner(&self, _access: Access) -> PackedOwner {
        self.owner_for_earlier
    }

    fn goes_on(&self) -> bool {
        self.goes_on
    }

    fn is_direct(&self) -> bool {
        self.is_direct
    }

    fn collapsed(end_ns: u64) -> Self {
        Self::unknown(end_ns, UnknownOwner::Collapsed, true)
    }
}

/// The state of one lock.
#[derive(Debug)]
pub(crate) struct LockAnalyzer {
    lock: LockIndex,
    /// Exits report for how long the lock was held.
    has_holds: bool,
    /// The detail requested about owners.
    detail: Detail,
    owner_state: OwnerState,
    /// The thread that has the lock, if one was seen with it and not seen to release it.
    holder: Option<Holder>,
    /// Made when the first thread waits: for many locks no thread ever does.
    waited_for: Option<Box<WaitedFor>>,
}

/// The state needed once threads have waited.
#[derive(Debug, Default)]
struct WaitedFor {
    turnover: Turnover,
    /// Present while a thread waits: a program can have millions of locks.
    contended: Option<Box<Contended>>,
}

/// The state needed only while threads wait.
#[derive(Debug, Default)]
pub(crate) struct Contended {
    waiters: Waiters<Waiter>,
    /// Empty while no thread waits.
    timeline: Timeline<Interval>,
    /// Position from which on no owner waited itself.
    direct_from: u64,
}

impl Contended {
    /// Returns the last time at which the owner may have changed, for the threads waiting now.
    fn last_boundary_ns(&mut self) -> u64 {
        let last_ns = self.timeline.last_end_ns();
        last_ns.unwrap_or_else(|| self.waiters.earliest_ns(|_| true).unwrap_or(0))
    }
}

/// A release of the lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    pub(crate) thread: ThreadIndex,
    pub(crate) time_ns: u64,
    pub(crate) holds: Holds,
    pub(crate) chain: ChainIndex,
    /// The thread has not waited since then.
    pub(crate) waited_until_ns: u64,
}

/// The owner after the lock's last event, as far as that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerState {
    /// Nothing is known.
    Unseen,
    /// The thread acquired the lock, in the code of the call chain.
    Entered(ThreadIndex, Option<ChainIndex>),
    /// A thread released the lock.
    Released,
    /// Events are lost, some of them possibly by unknown threads.
    Lost { of_nobody: bool },
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    id: WaitId,
    thread: ThreadIndex,
    chain: ChainIndex,
    start: Start,
    /// Releases of the lock before the wait.
    releases_before: u64,
    after_wait: bool,
    /// By the clock, the wait did not begin before the last boundary.
    is_in_time: bool,
}

/// Returns the state while a thread waits.
fn contended_mut(waited_for: &mut Option<Box<WaitedFor>>) -> Option<&mut Contended> {
    waited_for.as_mut()?.contended.as_deref_mut()
}

impl LockAnalyzer {
    pub(crate) fn new(lock: LockIndex, has_holds: bool, detail: Detail) -> Self {
        Self {
            lock,
            has_holds,
            detail,
            owner_state: OwnerState::Unseen,
            holder: None,
            waited_for: None,
        }
    }

    /// Takes the state that is needed only while threads wait, if no thread does, to be used for another lock.
    #[inline]
    pub(crate) fn take_idle(&mut self) -> Option<Box<Contended>> {
        let contended = &mut self.waited_for.as_mut()?.contended;
        let mut idle = contended.take_if(|contended| contended.waiters.is_empty())?;
        idle.timeline.begin_anew();
        idle.direct_from = 0;
        Some(idle)
    }

    pub(crate) fn lock(&self) -> LockIndex {
        self.lock
    }

    fn contended(&self) -> Option<&Contended> {
        self.waited_for.as_ref()?.contended.as_deref()
    }

    /// Handles a thread that begins to wait. If none does yet, `idle` makes the state for it.
    #[expect(clippy::too_many_arguments, reason = "the fields of one event")]
    pub(crate) fn enter(
        &mut self,
        idle: impl FnOnce() -> Box<Contended>,
        id: WaitId,
        thread: ThreadIndex,
        time_ns: u64,
        chain: ChainIndex,
        after_wait: bool,
        context: &mut Context<'_>,
    ) {
        self.abandon_wait(thread, context);
        let WaitedFor {
            turnover,
            contended,
        } = &mut **self.waited_for.get_or_insert_default();
        let contended = contended.get_or_insert_with(idle);
        let waiter = Waiter {
            id,
            thread,
            chain,
            start: contended.timeline.start_wait(time_ns),
            releases_before: turnover.releases,
            after_wait,
            is_in_time: contended.timeline.last_end_ns() <= Some(time_ns),
        };
        contended.waiters.push(thread, time_ns, waiter);
    }

    /// Notes the owner that a thread saw when it began to wait, if it could see one.
    pub(crate) fn see_owner(
        &mut self,
        waiter: ThreadIndex,
        owner: Option<Holder>,
        stacks: &Stacks,
    ) {
        let is_other = |holder: &Holder| !holder.is(waiter, stacks);
        // An owner seen later has acquired the lock without an event.
        self.holder = owner.filter(is_other).or(self.holder.filter(is_other));
    }

    /// Handles an acquisition by a thread that waited; `safepoint_ns` of the wait was in a
    /// safepoint.
    pub(crate) fn entered(
        &mut self,
        thread: ThreadIndex,
        time_ns: u64,
        safepoint_ns: u64,
        context: &mut Context<'_>,
    ) {
        let before = Interval::new(time_ns, self.owner_before_acquisition(), self.nobody());
        let waiter = self.remove_waiter(thread);
        match &waiter {
            Some(waiter) => {
                context.wait.safepoint_ns = safepoint_ns;
                self.describe_wait(waiter, before, context);
                if let Some(WaitedFor { turnover, .. }) = self.waited_for.as_deref_mut() {
                    turnover.wait(context.wait.whole_duration_ns);
                }
                self.forget_unseen(context.spans);
                context.pass_on();
            }
            None => context.counters.add(Counter::EnteredWithoutEnter, 1),
        }
        self.end_interval(before, context.counters);
        self.owner_state = OwnerState::Entered(thread, waiter.map(|waiter| waiter.chain));
        self.holder = Some(Holder::Thread(thread));
    }

    /// Handles a release.
    pub(crate) fn exit(&mut self, exit: &Exit, stacks: &Stacks, context: &mut Context<'_>) {
        let Exit {
            thread,
            time_ns,
            holds,
            chain,
            waited_until_ns,
        } = *exit;
        self.abandon_wait(thread, context);
        let is_direct = waited_until_ns <= self.blamed_since_ns(exit);
        let owner = Owner::Thread { thread, chain };
        let mut owner_for_earlier = match self.owner_state {
            OwnerState::Entered(other, _) if other != thread => {
                if self.somebody_waited_before() {
                    context.counters.add(Counter::UnexpectedExits, 1);
                }
                Owner::Unknown(UnknownOwner::NoExit)
            }
            OwnerState::Lost { .. } => Owner::Unknown(UnknownOwner::Lost),
            _ => owner,
        };
        if let Holds::For { holds, held_ns } = holds {
            let acquired_ns = time_ns.saturating_sub(held_ns);
            self.acquired((owner, is_direct), holds, acquired_ns, context.counters);
            if let OwnerState::Lost { of_nobody: true } = self.owner_state
                && let Some(contended) = contended_mut(&mut self.waited_for)
            {
                // It may have begun before the loss.
                contended.timeline.doubt_next();
            }
            owner_for_earlier = owner;
        }
        let interval = Interval {
            is_direct,
            ..Interval::new(time_ns, owner, owner_for_earlier)
        };
        self.end_interval(interval, context.counters);
        if !is_direct && let Some(contended) = contended_mut(&mut self.waited_for) {
            contended.direct_from = contended.timeline.end();
        }
        self.note_release(exit);
        self.owner_state = OwnerState::Released;
        self.holder = self.holder.filter(|holder| !holder.is(thread, stacks));
    }

    #[inline]
    fn note_release(&mut self, exit: &Exit) {
        let Some(WaitedFor {
            turnover,
            contended,
        }) = self.waited_for.as_deref_mut()
        else {
            return;
        };
        if let Holds::For { holds: 1, held_ns } = exit.holds {
            turnover.hold(held_ns);
        }
        let first = || Some(contended.as_ref()?.waiters.first()?.start.time_ns);
        turnover.release(exit.time_ns, first);
    }

    /// Returns the time since which waiting threads may blame the thread that releases the lock, or
    /// an earlier one.
    fn blamed_since_ns(&mut self, exit: &Exit) -> u64 {
        let may_have_gone_on = match (exit.holds, self.owner_state) {
            (Holds::For { holds: 1, .. }, OwnerState::Entered(entered, _)) => {
                entered == exit.thread
            }
            (Holds::For { .. }, _) => false,
            _ => true,
        };
        match (exit.holds, contended_mut(&mut self.waited_for)) {
            (Holds::For { held_ns, .. }, _) if !may_have_gone_on => {
                exit.time_ns.saturating_sub(held_ns)
            }
            (_, Some(contended)) => contended.last_boundary_ns(),
            (_, None) => 0,
        }
    }

    /// Adds the acquisition that an exit reports. If the exit stands for several holds, they are
    /// taken as one hold of the same total duration up to the exit, after all pauses between them.
    fn acquired(
        &mut self,
        (owner, is_direct): (Owner, bool),
        holds: u16,
        acquired_ns: u64,
        counters: &mut Counters,
    ) {
        let has_entered = match (self.owner_state, owner) {
            (OwnerState::Entered(entered, _), Owner::Thread { thread, .. }) => entered == thread,
            _ => false,
        };
        // Its entered event may be lost.
        let may_have_waited = has_entered || matches!(self.owner_state, OwnerState::Lost { .. });
        let barging_holds = holds - u16::from(may_have_waited);
        // Since its entered event it cannot have released the lock unseen.
        let goes_on = has_entered && holds == 1;
        let (before, owner_for_earlier) = match (goes_on, has_entered) {
            (true, _) => (self.owner_before_acquisition(), owner),
            (false, true) => (Owner::Free, Owner::Free),
            (false, false) => (self.owner_before_acquisition(), self.nobody()),
        };
        let interval = Interval {
            goes_on,
            is_direct,
            ..Interval::new(acquired_ns, before, owner_for_earlier)
        };
        if let Some(contended) = contended_mut(&mut self.waited_for)
            && let Some(first_ns) = contended.waiters.earliest_ns(|_| true)
        {
            let holds = u64::from(barging_holds);
            contended.timeline.note_barging(acquired_ns, holds);
            if first_ns <= acquired_ns {
                counters.add(Counter::BargingHolds, holds);
            }
        }
        self.end_interval(interval, counters);
    }

    /// Returns whether a waiting thread has seen the last boundary.
    fn somebody_waited_before(&self) -> bool {
        self.contended().is_some_and(|contended| {
            let first = contended.waiters.first();
            first.is_some_and(|waiter| waiter.start.position < contended.timeline.end())
        })
    }

    /// Returns who had the lock between the last boundary and the acquisition that follows, for
    /// threads that began to wait in between.
    fn owner_before_acquisition(&self) -> Owner {
        match self.nobody() {
            // A release would have seen the thread that waited before.
            Owner::Free if self.somebody_waited_before() => Owner::Free,
            _ => Owner::Unknown(UnknownOwner::NoExit),
        }
    }

    /// Handles the loss of an event of `thread`.
    pub(crate) fn lost(&mut self, thread: ThreadIndex, context: &mut Context<'_>) {
        // If the thread waited, the lost event ended its wait: its later events must not be taken
        // for that.
        self.abandon_wait(thread, context);
        self.lose_owner(false, context.counters);
    }

    /// Handles the loss of this many events of unknown threads.
    pub(crate) fn gap(&mut self, numbers: u64, counters: &mut Counters) {
        if let Some(contended) = contended_mut(&mut self.waited_for) {
            contended.timeline.lose(numbers);
        }
        self.lose_owner(true, counters);
    }

    fn lose_owner(&mut self, is_gap: bool, counters: &mut Counters) {
        // The empty interval only marks who began to wait before the loss.
        let interval = Interval::unknown(0, UnknownOwner::Lost, is_gap);
        self.end_interval(interval, counters);
        let since_gap = self.owner_state == OwnerState::Lost { of_nobody: true };
        self.owner_state = OwnerState::Lost {
            of_nobody: is_gap || since_gap,
        };
        self.holder = None;
    }

    /// Returns the number of waits that have not ended.
    pub(crate) fn open_waits(&self) -> u64 {
        let contended = self.contended();
        contended.map_or(0, |contended| contended.waiters.iter().count() as u64)
    }

    /// Returns the waits that have not ended.
    pub(crate) fn open(&self, stacks: &Stacks) -> impl Iterator<Item = OpenWait> {
        let waited_for = self.waited_for.iter();
        let state = waited_for.flat_map(|state| Some((state.contended.as_ref()?, &state.turnover)));
        state.flat_map(|(contended, turnover)| {
            let waiters = contended.waiters.iter();
            waiters.map(|(_, waiter)| OpenWait {
                kind: WaitKind::Contention,
                holder: self.holder(waiter.thread, stacks).thread(),
                holder_facts: HolderFacts::default(),
                id: waiter.id,
                mechanism: Mechanism::Monitor,
                lock: self.lock,
                resource: Resource::Lock,
                thread: waiter.thread,
                chain: waiter.chain,
                start_ns: waiter.start.time_ns,
                duration_ns: 0,
                timeout: ParkTimeout::None,
                turnover: *turnover,
                releases: turnover.releases - waiter.releases_before,
            })
        })
    }

    /// Returns the last known owner, for a thread that still waits.
    fn holder(&self, waiter: ThreadIndex, stacks: &Stacks) -> Owner {
        let holder = self.holder.and_then(|holder| holder.thread(stacks));
        match (holder, self.owner_state) {
            (_, OwnerState::Lost { .. }) if self.holder.is_none() => {
                Owner::Unknown(UnknownOwner::Lost)
            }
            (None, _) => Owner::Unknown(UnknownOwner::TraceEnded),
            (Some(thread), _) if thread == waiter => Owner::Unknown(UnknownOwner::TraceEnded),
            (Some(thread), OwnerState::Entered(entered, Some(chain))) if entered == thread => {
                Owner::Thread { thread, chain }
            }
            (Some(thread), _) => Owner::Thread {
                thread,
                chain: ChainIndex::NOT_RELEASED,
            },
        }
    }

    /// Describes a wait that ended, as far as known, when the thread acquired the lock. `last` is
    /// the interval that ends then.
    fn describe_wait(&mut self, waiter: &Waiter, last: Interval, context: &mut Context<'_>) {
        let timeline = self.contended().map(|contended| &contended.timeline);
        let saw_boundary = timeline.is_some_and(|known| waiter.start.position < known.end());
        let rest = if saw_boundary {
            last.owner_for_earlier
        } else {
            last.owner
        };
        context.wait.end = WaitEnd::Acquired;
        context.wait.holder = None;
        self.describe_until(waiter, last.end_ns, rest, context);
    }

    /// Describes a wait until `end_ns`, with `rest` as the owner since the last boundary.
    fn describe_until(
        &mut self,
        waiter: &Waiter,
        end_ns: u64,
        rest: PackedOwner,
        context: &mut Context<'_>,
    ) {
        let wait = &mut *context.wait;
        wait.id = waiter.id;
        wait.mechanism = Mechanism::Monitor;
        wait.kind = WaitKind::Contention;
        wait.after_wait = waiter.after_wait;
        wait.lock = self.lock;
        wait.thread = waiter.thread;
        wait.chain = waiter.chain;
        wait.timeout = ParkTimeout::None;
        let Some((start_ns, end_ns)) = wait.set_time(waiter.start.time_ns, end_ns, context.range)
        else {
            return;
        };

        let began = waiter.start.position;
        let contended = self
            .waited_for
            .get_or_insert_default()
            .contended
            .get_or_insert_default();
        let view = View {
            start: waiter.start.at(start_ns),
            end_ns,
            access: Access::Exclusive,
            own: None,
            owner_of: move |position, interval: &Interval| {
                if position == began {
                    interval.owner
                } else {
                    interval.owner_for_earlier
                }
            },
            rest,
            is_direct: began >= contended.direct_from
                && waiter.is_in_time
                && rest.thread().is_none(),
        };
        let timeline = &mut contended.timeline;
        wait.barging_holds = timeline.barging_holds(view.start);
        timeline.describe(&view, u64::MAX, self.detail, context.spans, wait);
    }

    /// Returns the substitute for an owner between the last boundary and an acquisition.
    fn nobody(&self) -> Owner {
        Owner::Unknown(match self.owner_state {
            OwnerState::Released if self.has_holds => return Owner::Free,
            OwnerState::Released => UnknownOwner::HandOff,
            OwnerState::Unseen | OwnerState::Entered(..) => UnknownOwner::NoExit,
            OwnerState::Lost { .. } => UnknownOwner::Lost,
        })
    }

    #[inline]
    fn end_interval(&mut self, interval: Interval, counters: &mut Counters) {
        if let Some(contended) = contended_mut(&mut self.waited_for)
            && !contended.waiters.is_empty()
        {
            let collapsed = contended.timeline.push(interval);
            counters.add(Counter::IntervalsCollapsed, collapsed);
        }
    }

    /// Forgets the wait of a thread that went on without an entered event.
    fn abandon_wait(&mut self, thread: ThreadIndex, context: &mut Context<'_>) {
        if self.remove_waiter(thread).is_some() {
            context.counters.add(Counter::WaitsWithoutEntered, 1);
            self.forget_unseen(context.spans);
        }
    }

    #[inline]
    fn remove_waiter(&mut self, thread: ThreadIndex) -> Option<Waiter> {
        contended_mut(&mut self.waited_for)?.waiters.take(thread)
    }

    /// Forgets the intervals that no waiting thread has seen.
    fn forget_unseen(&mut self, spans: &mut HoldSpans) {
        if let Some(Contended {
            waiters, timeline, ..
        }) = contended_mut(&mut self.waited_for)
        {
            let oldest = waiters.first().map(|waiter| waiter.start.position);
            timeline.forget_before(oldest.unwrap_or(timeline.end()), spans);
        }
    }

    /// Ends the trace: passes on what waits have in common.
    pub(crate) fn finish(&mut self, spans: &mut HoldSpans) {
        if let Some(Contended { timeline, .. }) = contended_mut(&mut self.waited_for) {
            timeline.forget_before(timeline.end(), spans);
        }
    }

    /// Passes on a wait that has not ended, unless it may be over.
    pub(crate) fn pass_on_open(
        &mut self,
        open: &OpenWait,
        end: &TraceEnd,
        stacks: &Stacks,
        context: &mut Context<'_>,
    ) {
        let contended = self
            .waited_for
            .get_or_insert_default()
            .contended
            .get_or_insert_default();
        let ticket = contended.waiters.find(open.thread);
        let Some(&waiter) = ticket.and_then(|ticket| contended.waiters.get(ticket)) else {
            return;
        };
        let counters = &mut *context.counters;
        if end.went_on(waiter.thread, waiter.start.time_ns) {
            return counters.add(Counter::WaitsWithoutEntered, 1);
        }
        counters.add(Counter::OpenWaits, 1);
        if contended.timeline.loses_since(waiter.start) {
            let known_ns = contended.timeline.known_until_ns(waiter.start);
            let known_ns = known_ns.saturating_sub(waiter.start.time_ns);
            return counters.add(Counter::OpenWaitsNs, known_ns);
        }
        let rest = self.holder(waiter.thread, stacks);
        context.wait.safepoint_ns = 0;
        self.describe_until(&waiter, end.time_ns, rest.into(), context);
        context.pass_on_open(open);
    }
}
