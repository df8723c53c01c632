//! The park thread dispatcher and the park blocker dispatcher (paper, section
//! 4.1).

use trace_format::{JavaThreadId, LockId, ParkEndReason, Permit};

use crate::blame::facts::trace_end::TraceEnd;
use crate::blame::park::analyzer::{LockAnalyzer, Losses};
use crate::blame::park::code::{Code, CodeTable};
use crate::blame::park::notifications::Notifications;
use crate::blame::park::recent_wakers::{RecentWakers, WakeUp};
use crate::blame::park::waker::{self, WaitForWaker, Woken as WokenUp};
use crate::blame::timeline::context::Context;
use crate::collections::cached_map::CachedMap;
use crate::collections::small_map::SmallMap;
use crate::model::counter::Counter;
use crate::model::entity::{Entities, LockIndex, ThreadIndex};
use crate::model::lock_group::LOCK_GROUPS;
use crate::model::synchronizer::Synchronizer;
use crate::model::wait::{OpenWait, WaitId};
use crate::order::park::event::{Begin, End, ParkEvent, Release, Unpark};
use crate::order::park::permits::Waker;
use crate::order::rearranger::Step;

/// Passes the ordered events of parked threads, of some domains, to the analyzers of their
/// blockers.
#[derive(Debug)]
pub(crate) struct ParkDispatcher {
    /// Position of the trace among those analyzed.
    trace: u32,
    domains: CachedMap<LockId, Domain>,
    analyzers: Analyzers,
}

/// The state of one domain.
#[derive(Debug, Default)]
struct Domain {
    /// The parked threads.
    parked: SmallMap<ThreadIndex, Parked>,
    /// Threads woken recently: they may pass the wake-up on.
    woken: RecentWakers<ThreadIndex>,
    /// Wake-ups that a permit passes on: the lock and the thread that released it.
    passed_on: RecentWakers<(JavaThreadId, Permit)>,
    /// Notifications of which threads in `Object.wait` have yet to wake up.
    notifications: Notifications,
    losses: Losses,
}

impl Domain {
    /// Returns the park of a thread and forgets it.
    fn unpark(&mut self, thread: ThreadIndex) -> Option<Parked> {
        self.parked.remove(thread)
    }
}

/// A parked thread.
#[derive(Clone, Copy, Debug)]
struct Parked {
    wait: WaitForWaker,
    /// It waits for a lock; the lock's analyzer has the details.
    on_lock: bool,
    /// Losses before the park.
    losses: Losses,
}

impl ParkDispatcher {
    pub(crate) fn new(trace: u32) -> Self {
        Self {
            trace,
            domains: CachedMap::default(),
            analyzers: Analyzers::default(),
        }
    }

    /// Replays the next step of `domain`.
    pub(crate) fn dispatch(
        &mut self,
        lock: LockId,
        step: Step<&ParkEvent>,
        codes: &mut CodeTable,
        context: &mut Context<'_>,
    ) {
        let domain = self.domains.get_or_insert_with(lock, Domain::default);
        let mut replay = Replay {
            trace: self.trace,
            lock,
            domain,
            analyzers: &mut self.analyzers,
            codes,
        };
        match step {
            Step::Gap { numbers, .. } => replay.domain.losses.add_gap(numbers),
            Step::Event { number, event } => match event {
                &ParkEvent::Lost { thread, numbers } => replay.lost(thread, numbers, context),
                ParkEvent::Begin(begin) => replay.begin(number, begin, context),
                ParkEvent::End(end) if end.monitor => replay.wait_ends(number, end, context),
                ParkEvent::End(end) => replay.end(end, context),
                ParkEvent::Unpark(unpark) if unpark.waiters > 0 => {
                    replay.domain.notifications.add(number, unpark);
                }
                ParkEvent::Unpark(unpark) => replay.unpark(unpark, context),
                ParkEvent::Release(release) => replay.release(release, context),
            },
        }
        self.analyzers.forget_unused(context);
        self.analyzers.forget_idle(context);
    }

    /// Forgets the locks on which no thread is parked, except the last few.
    pub(super) fn forget_unused(&mut self, context: &mut Context<'_>) {
        let recent_since = self.analyzers.recent_since();
        self.analyzers.forget_unused_since(recent_since, context);
    }

    /// Returns the locks that are not forgotten, and other blockers of parked threads.
    pub(super) fn locks(&self) -> impl Iterator<Item = LockIndex> {
        let domains = self.domains.values();
        let parked = domains.flat_map(|domain| domain.parked.iter());
        let parked_on = parked.map(|(_, parked)| parked.wait.lock);
        parked_on.chain(self.analyzers.analyzers.iter().map(|(lock, _)| lock))
    }

    /// Adds the waits that have not ended.
    pub(crate) fn add_open(&self, open: &mut Vec<OpenWait>) {
        for (lock, domain) in self.domains.iter() {
            let parked = domain.parked.iter();
            let for_waker = parked.filter(|(_, parked)| !parked.on_lock);
            open.extend(
                for_waker.map(|(thread, parked)| parked.wait.open(self.trace, lock, thread)),
            );
        }
        for (_, analyzer) in self.analyzers.analyzers.iter() {
            if !analyzer.is_in_use() {
                continue;
            }
            let holder = analyzer.holder();
            open.extend(analyzer.open().map(|mut wait| {
                let domain = self.domains.get(wait.id.lock);
                let is_known = domain.is_some_and(|domain| analyzer.is_up_to(domain.losses));
                wait.hold_by(holder.filter(|_| is_known));
                wait
            }));
        }
    }

    /// Ends the trace: passes on the waits for a waker that have not ended. Returns the analyzers of
    /// the locks.
    pub(crate) fn finish(
        mut self,
        end: &TraceEnd,
        context: &mut Context<'_>,
    ) -> impl Iterator<Item = (LockIndex, LockAnalyzer)> + use<> {
        let mut domains: Vec<_> = self.domains.iter().collect();
        domains.sort_unstable_by_key(|&(domain, _)| domain);
        for (lock, domain) in domains {
            let mut for_waker = Vec::new();
            for (thread, parked) in domain.parked.iter() {
                if !parked.on_lock {
                    for_waker.push((parked, parked.wait.open(self.trace, lock, thread)));
                } else if let Some(analyzer) = self.analyzers.get_mut(parked.wait.lock) {
                    analyzer.lost(domain.losses, context);
                }
            }
            for_waker.sort_unstable_by_key(|(_, open)| open.id);
            for (parked, open) in for_waker {
                domain.pass_on_open(parked, &open, end, context);
            }
        }
        self.analyzers.analyzers.into_entries()
    }
}

impl Domain {
    /// Passes on a wait for a waker that has not ended, unless it may be over.
    fn pass_on_open(
        &self,
        parked: &Parked,
        open: &OpenWait,
        end: &TraceEnd,
        context: &mut Context<'_>,
    ) {
        if end.went_on(open.thread, open.start_ns) {
            return context.counters.add(Counter::WaitsWithoutEntered, 1);
        }
        context.counters.add(Counter::OpenWaits, 1);
        if self.losses.of_nobody == parked.losses.of_nobody {
            waker::describe_open(open, 0, end.time_ns, context);
            context.pass_on_open(open);
        }
    }
}

/// The state needed to replay the events of one domain.
struct Replay<'a> {
    trace: u32,
    /// The ID of the domain.
    lock: LockId,
    domain: &'a mut Domain,
    analyzers: &'a mut Analyzers,
    codes: &'a mut CodeTable,
}

impl Replay<'_> {
    fn lost(&mut self, thread: ThreadIndex, numbers: u64, context: &mut Context<'_>) {
        self.domain.losses.add_listed(numbers);
        // A parked thread writes no event except the end of its park.
        self.abandon(thread, context);
    }

    fn begin(&mut self, number: u64, begin: &Begin, context: &mut Context<'_>) {
        self.abandon(begin.thread, context);
        let code = self.codes.of_chain(begin.chain, context.entities);
        let losses = self.domain.losses;
        let on_lock = self.is_on_lock(begin, code);
        if on_lock {
            let analyzer = self.analyzers.add(begin.lock, begin.synchronizer, losses);
            analyzer.lost(losses, context);
            let id = WaitId {
                trace: self.trace,
                lock: self.lock,
                number,
            };
            analyzer.begin(id, begin, code, context);
        }
        let wait = WaitForWaker::new(number, begin, code);
        let parked = Parked {
            wait,
            on_lock,
            losses,
        };
        self.domain.parked.insert(begin.thread, parked);
    }

    /// Returns whether the thread waits for a lock.
    fn is_on_lock(&self, begin: &Begin, code: Code) -> bool {
        let had_owner = || {
            let analyzer = self.analyzers.get(begin.lock);
            begin.owner.get().is_some() || analyzer.is_some_and(LockAnalyzer::knows_owner)
        };
        begin.synchronizer.is_lock()
            || begin.synchronizer == Synchronizer::Queued && (!code.shares || had_owner())
    }

    fn end(&mut self, end: &End, context: &mut Context<'_>) {
        let passed_on = self.take_passed_on(end, context.entities);
        let Some(parked) = self.domain.unpark(end.thread) else {
            context.counters.add(Counter::EnteredWithoutEnter, 1);
            return;
        };
        let lock = parked.wait.lock;
        // A permit left over from another lock may be consumed before it is known whether it passes
        // on a wake-up.
        let first = passed_on.filter(|passed_on| passed_on.lock == lock);
        let waker = end.waker;
        let waker = waker.map(|waker| first.map_or(waker, |first| first.waker));
        if !parked.on_lock {
            self.woken(parked.wait, &parked, end, waker, context);
        } else if self.is_signal(lock, end, waker, context.entities) {
            let wait = match self.analyzers.get_mut(lock) {
                Some(analyzer) => analyzer.leave(end.thread, parked.wait, context.spans),
                None => parked.wait,
            };
            self.woken(wait, &parked, end, waker, context);
        } else {
            let unseen =
                waker.filter(|waker| self.is_unseen_release(lock, end, waker, context.entities));
            if let Some(analyzer) = self.analyzers.get_mut(lock) {
                analyzer.lost(self.domain.losses, context);
                analyzer.end(end, unseen, context);
            }
        }
        match waker {
            Some(waker) => self.domain.woken.note(end.thread, lock, waker),
            None => _ = self.domain.woken.take(end.thread),
        }
    }

    /// Passes on a wait in `Object.wait`.
    fn wait_ends(&mut self, number: u64, end: &End, context: &mut Context<'_>) {
        let waker = self.domain.notifications.take(number, end.permit);
        match self.domain.unpark(end.thread) {
            Some(parked) => self.woken(parked.wait, &parked, end, waker, context),
            None => context.counters.add(Counter::EnteredWithoutEnter, 1),
        }
    }

    /// Returns the wake-up passed on by the permit that the thread consumes, if any; few permits do
    /// so.
    fn take_passed_on(&mut self, end: &End, entities: &Entities) -> Option<WakeUp> {
        let passed_on = &mut self.domain.passed_on;
        if passed_on.is_empty() {
            return None;
        }
        passed_on.take((entities.thread(end.thread).java_id, end.permit))
    }

    /// Passes on a wait for a waker.
    fn woken(
        &mut self,
        wait: WaitForWaker,
        parked: &Parked,
        end: &End,
        waker: Option<Waker>,
        context: &mut Context<'_>,
    ) {
        let lost_meanwhile = self.domain.losses.of_nobody - parked.losses.of_nobody;
        let woken = WokenUp {
            trace: self.trace,
            domain: self.lock,
            end,
            waker,
            may_be_two_waits: lost_meanwhile >= 2,
        };
        wait.describe(
            &woken,
            context.detail,
            context.range,
            &context.spans.freezes,
            context.wait,
        );
        context.pass_on();
    }

    /// Returns whether the thread waited for a signal, not for an owner to release the lock: a
    /// semaphore was released by a thread that never acquired it. If no release is known to have
    /// ended the wait, it counts as a wait for a signal if all releases so far were signals.
    fn is_signal(
        &mut self,
        lock: LockIndex,
        end: &End,
        waker: Option<Waker>,
        entities: &Entities,
    ) -> bool {
        let is_release = match waker {
            Some(waker) if end.is_unparked() => {
                let code = self.codes.of_chain(waker.chain, entities);
                if code.is_release() && waker.signalled.get() == Some(lock) {
                    return true;
                }
                !self.is_unseen_release(lock, end, &waker, entities)
            }
            _ => false,
        };
        let analyzer = self.analyzers.get(lock);
        !is_release && analyzer.is_some_and(LockAnalyzer::is_signalled_only)
    }

    /// Returns whether the unpark was a release of a lock whose analyzer has not seen it. It may
    /// have been a release of another lock on which the thread parked before.
    fn is_unseen_release(
        &mut self,
        lock: LockIndex,
        end: &End,
        waker: &Waker,
        entities: &Entities,
    ) -> bool {
        let code = self.codes.of_chain(waker.chain, entities);
        let class = entities.lock_class(lock);
        end.unpark_elsewhere
            && end.reason != ParkEndReason::Interrupted
            && class.is_some_and(|class| code.may_release(class, entities))
            && code.is_release()
    }

    fn unpark(&mut self, unpark: &Unpark, context: &mut Context<'_>) {
        let code = self.codes.of_chain(unpark.chain, context.entities);
        if code.passes_on
            && let Some(woken) = self.domain.woken.get(unpark.thread)
            && woken.lock == unpark.lock
        {
            let permit = (unpark.target, unpark.permit);
            let passed_on = &mut self.domain.passed_on;
            passed_on.note(permit, unpark.lock, woken.waker);
        }
        if let Some(analyzer) = self.analyzers.get_mut(unpark.lock) {
            analyzer.lost(self.domain.losses, context);
            if unpark.never_acquired && code.is_release() {
                analyzer.signal(unpark.time_ns);
            } else {
                analyzer.unpark(unpark, code, context);
            }
        }
    }

    fn release(&mut self, release: &Release, context: &mut Context<'_>) {
        let losses = self.domain.losses;
        let (lock, synchronizer) = (release.lock, release.synchronizer);
        if !synchronizer.is_lock() && synchronizer != Synchronizer::Queued {
            // A thread that parks on it blames no owner.
            return;
        }
        let analyzer = self.analyzers.add(lock, synchronizer, losses);
        analyzer.lost(losses, context);
        analyzer.release(release, context);
    }

    /// Ends the park of a thread that is known to have gone on: the end event is lost.
    fn abandon(&mut self, thread: ThreadIndex, context: &mut Context<'_>) {
        let Some(parked) = self.domain.unpark(thread) else {
            return;
        };
        context.counters.add(Counter::WaitsWithoutEntered, 1);
        if parked.on_lock
            && let Some(analyzer) = self.analyzers.get_mut(parked.wait.lock)
        {
            analyzer.abandon(thread, context.spans);
        }
    }
}

/// The analyzers of locks.
#[derive(Debug, Default)]
struct Analyzers {
    analyzers: CachedMap<LockIndex, LockAnalyzer>,
    /// Number of analyzers at which those not in use are forgotten.
    max: usize,
    /// Number of steps replayed, and the step at which the remembered state is counted next.
    steps: u64,
    next_count: u64,
}

/// Number of analyzers that are always kept.
const MIN_ANALYZERS: usize = (1 << 14) / LOCK_GROUPS;

/// Number of most recently used analyzers that are kept even if names exceed their memory: a woken
/// thread may park again, and the last owner has yet to show its code.
const RECENT_ANALYZERS: usize = (1 << 9) / LOCK_GROUPS;

/// Bound of what is remembered of locks without recent events: waits of woken threads, and
/// intervals with an owner.
const MAX_REMEMBERED: usize = (1 << 17) / LOCK_GROUPS;

/// Number of steps of other locks after which a lock's last event is not recent any more.
const LONG: u64 = 1 << 14;

/// Minimum number of steps between two counts of the remembered state, in addition to one per
/// analyzer.
const MIN_STEPS: u64 = 1 << 12;

impl Analyzers {
    fn get(&self, lock: LockIndex) -> Option<&LockAnalyzer> {
        self.analyzers.get(lock)
    }

    fn get_mut(&mut self, lock: LockIndex) -> Option<&mut LockAnalyzer> {
        let analyzer = self.analyzers.get_mut(lock)?;
        analyzer.last_step = self.steps;
        Some(analyzer)
    }

    fn add(
        &mut self,
        lock: LockIndex,
        synchronizer: Synchronizer,
        losses: Losses,
    ) -> &mut LockAnalyzer {
        let new = || LockAnalyzer::new(lock, synchronizer, losses);
        let analyzer = self.analyzers.get_or_insert_with(lock, new);
        analyzer.last_step = self.steps;
        analyzer
    }

    /// Forgets the locks on which no thread is parked. This has to be done from time to time,
    /// because nothing in the trace says that a lock will not be used again.
    fn forget_unused(&mut self, context: &mut Context<'_>) {
        if self.analyzers.len() > self.max.max(MIN_ANALYZERS) {
            self.forget_unused_since(u64::MAX, context);
        }
    }

    /// Returns the step of the oldest of the last few lock events.
    fn recent_since(&self) -> u64 {
        let analyzers = self.analyzers.iter();
        let mut last_steps: Vec<_> = analyzers.map(|(_, analyzer)| analyzer.last_step).collect();
        match last_steps.len().checked_sub(RECENT_ANALYZERS) {
            Some(others) if others > 0 => *last_steps.select_nth_unstable(others).1,
            _ => 0,
        }
    }

    /// Forgets the locks on which no thread is parked and that have had no event since `step`.
    fn forget_unused_since(&mut self, step: u64, context: &mut Context<'_>) {
        let mut unused = (self.analyzers)
            .extract_if(|analyzer| !analyzer.is_in_use() && analyzer.last_step < step);
        unused.sort_unstable_by_key(|&(lock, _)| lock);
        for (_, mut analyzer) in unused {
            analyzer.pass_on_all_ended(context);
        }
        self.max = self.analyzers.len() * 2;
    }

    /// Forgets woken threads, and the owners since they began to wait, of locks without recent
    /// events. They are remembered for a while, because a woken thread may park again; but
    /// thousands of threads may leave hundreds of locks for good.
    fn forget_idle(&mut self, context: &mut Context<'_>) {
        self.steps += 1;
        if self.steps < self.next_count {
            return;
        }
        self.next_count = self.steps + MIN_STEPS.max(self.analyzers.len() as u64);
        let long_ago = self.steps.saturating_sub(LONG);
        let analyzers = self.analyzers.iter_mut();
        let mut idle: Vec<_> = analyzers
            .filter(|(_, analyzer)| analyzer.last_step < long_ago && !analyzer.is_in_use())
            .collect();
        let remembered = idle.iter().map(|(_, analyzer)| analyzer.remembered());
        if remembered.sum::<usize>() <= MAX_REMEMBERED {
            return;
        }
        idle.sort_unstable_by_key(|&(lock, _)| lock);
        for (_, analyzer) in idle {
            analyzer.pass_on_all_ended(context);
            analyzer.shrink();
        }
    }
}
