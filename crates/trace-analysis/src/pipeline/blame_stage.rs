//! From events, in order and bound to entities, to waits on their way to the sink.

use trace_format::LockId;

use crate::aggregate::kind_totals::WaitTally;
use crate::aggregate::selection::Selection;
use crate::aggregate::still_blocked::StillBlocked;
use crate::blame::activity::owner_facts::ToThread;
use crate::blame::activity::sums::OwnerTimes;
use crate::blame::facts::trace_end::TraceEnd;
use crate::blame::monitor::dispatcher::LockDispatcher;
use crate::blame::park::{Parks, Sink};
use crate::blame::timeline::hold_range::HoldRanges;
use crate::blame::timeline::hold_spans::HoldSpans;
use crate::model::counter::Counters;
use crate::model::entity::{ChainIndex, Entities};
use crate::model::entity_store::{EntityStore, InUse};
use crate::model::time_range::TimeRange;
use crate::model::wait::{Detail, EndedHolds, OpenWait, Wait, WaitKind};
use crate::model::wait_sink::WaitSink;
use crate::order::lock_event::{LockEvent, PackedHolds};
use crate::order::park::event::ParkEvent;
use crate::order::rearranger::Step;
use crate::order::system_fact::SystemFact;
use crate::pipeline::output::Output;
use crate::resolve::stacks::{Stacks, StartedStack};

/// Takes events whose references are resolved, to what is among `entities` when they are passed on.
pub(crate) trait Stage {
    /// Where the stack of a thread is.
    fn stack(&mut self, started: StartedStack, entities: &EntityStore);

    /// The next step of a lock.
    fn lock(&mut self, lock: LockId, step: Step<&LockEvent>, entities: &EntityStore);

    /// The next step of a domain of parks.
    fn park(&mut self, domain: LockId, step: Step<&ParkEvent>, entities: &EntityStore);

    /// One more pending chain is given out.
    fn pending(&mut self, entities: &EntityStore);

    /// A pending chain stands for this one.
    fn resolved(&mut self, pending: ChainIndex, chain: ChainIndex, entities: &EntityStore);

    /// The JVM or the system did that.
    fn system(&mut self, fact: SystemFact, entities: &EntityStore);

    /// Names change: what was passed on before is about those until then.
    fn settle(&mut self, _entities: &EntityStore) {}
}

/// Finds out who is to blame for the waits of some locks of a trace, and passes them on.
#[derive(Debug)]
pub(crate) struct BlameStage {
    dispatcher: LockDispatcher,
    parks: Parks,
    delivery: Output,
    counters: Counters,
    detail: Detail,
    range: TimeRange,
    /// The wait that just ended; kept to reuse its memory.
    wait: Wait,
    /// When owners had locks that threads waited for; the same.
    spans: HoldSpans,
}

/// What is to be known to begin.
#[derive(Clone, Copy)]
pub(crate) struct Setup<'a> {
    /// Position of the trace among those analyzed.
    pub(crate) trace: u32,
    /// Exits say for how long locks were held.
    pub(crate) has_holds: bool,
    pub(crate) detail: Detail,
    /// It is asked for what owners did.
    pub(crate) owner_times: bool,
    pub(crate) selection: &'a Selection,
}

/// What was found beside the single waits.
#[derive(Debug, Default)]
pub(crate) struct Blamed {
    pub(crate) counters: Counters,
    pub(crate) waits: WaitTally,
    pub(crate) still_blocked: StillBlocked,
    pub(crate) owner_times: Option<OwnerTimes>,
}

impl Blamed {
    /// Adds what was found of other locks.
    pub(crate) fn merge(&mut self, other: Self) {
        self.counters.merge(&other.counters);
        self.waits.merge(&other.waits);
        self.still_blocked.merge(other.still_blocked);
        if let Some(other) = &other.owner_times {
            self.owner_times.get_or_insert_default().merge(other);
        }
    }
}

impl BlameStage {
    pub(crate) fn new(setup: Setup<'_>) -> Self {
        let Setup {
            trace,
            has_holds,
            detail,
            owner_times,
            selection,
        } = setup;
        let range = selection.range();
        Self {
            dispatcher: LockDispatcher::new(trace, has_holds, detail, range),
            parks: Parks::new(trace),
            delivery: Output::new(selection, detail, owner_times),
            counters: Counters::default(),
            detail,
            range,
            wait: Wait::blank(),
            spans: HoldSpans {
                are_wanted: (owner_times && detail < Detail::Contentions)
                    && selection.may_select(WaitKind::Contention),
                ..HoldSpans::default()
            },
        }
    }

    /// What owners did is added up by that thread from now on, as far as it can.
    pub(crate) fn pass_owner_facts_to(&mut self, thread: ToThread) {
        self.delivery.pass_owner_facts_to(thread);
    }

    /// Where threads' stacks are.
    pub(crate) fn stacks(&mut self) -> &mut Stacks {
        self.dispatcher.stacks()
    }

    /// Replays the next step of a lock.
    #[inline]
    pub(crate) fn lock(
        &mut self,
        lock: LockId,
        step: Step<&LockEvent>,
        entities: &Entities,
        sink: &mut dyn WaitSink,
    ) {
        if sink.wants_holds()
            && let Step::Event { event, .. } = step
            && let LockEvent::Exit {
                thread,
                time_ns,
                holds,
                ..
            } = *event
            && self.range.contains(time_ns)
            && let Some(lock) = self.dispatcher.lock(lock)
        {
            sink.holds(EndedHolds {
                lock,
                thread,
                end_ns: time_ns,
                holds: holds.get(),
            });
        }
        let (wait, counters) = (&mut self.wait, &mut self.counters);
        let spans = &mut self.spans;
        if (self.dispatcher).dispatch(lock, step, spans, wait, entities, counters) {
            let wait = (wait, &mut spans.shared);
            self.delivery.pass_on(wait, entities, counters, sink);
        }
        self.delivery.add_spans(spans);
    }

    /// Replays the next step of a domain of parks.
    #[inline]
    pub(crate) fn park(
        &mut self,
        domain: LockId,
        step: Step<&ParkEvent>,
        entities: &Entities,
        sink: &mut dyn WaitSink,
    ) {
        if sink.wants_holds()
            && let Step::Event { event, .. } = step
            && let ParkEvent::Release(release) = event
            && self.range.contains(release.time_ns)
        {
            sink.holds(EndedHolds {
                lock: release.lock,
                thread: release.thread,
                end_ns: release.time_ns,
                holds: PackedHolds::from(release.hold).get(),
            });
        }
        let delivery = &mut self.delivery;
        let mut sink = Sink {
            entities,
            detail: self.detail,
            range: self.range,
            counters: &mut self.counters,
            spans: &mut self.spans,
            wait: &mut self.wait,
            on_wait: &mut |wait, shared, counters| {
                delivery.pass_on((wait, shared), entities, counters, sink);
            },
        };
        self.parks.dispatch(domain, step, &mut sink);
        self.delivery.add_spans(&mut self.spans);
    }

    /// One more pending chain is given out.
    pub(crate) fn pending(&mut self) {
        self.delivery.chains.push();
    }

    /// A pending chain stands for this one.
    pub(crate) fn resolved(
        &mut self,
        pending: ChainIndex,
        chain: ChainIndex,
        entities: &Entities,
        sink: &mut dyn WaitSink,
    ) {
        self.delivery.chains.resolve(pending, chain);
        let counters = &mut self.counters;
        self.delivery.resolved(pending, entities, counters, sink);
    }

    /// Forgets the locks for which no thread waits, where the trace does not say that they have
    /// ended, and adds the others.
    pub(crate) fn forget_unused(
        &mut self,
        entities: &Entities,
        in_use: &mut InUse,
        sink: &mut dyn WaitSink,
    ) {
        let delivery = &mut self.delivery;
        self.parks.forget_unused(&mut Sink {
            entities,
            detail: self.detail,
            range: self.range,
            counters: &mut self.counters,
            spans: &mut self.spans,
            wait: &mut self.wait,
            on_wait: &mut |wait, shared, counters| {
                delivery.pass_on((wait, shared), entities, counters, sink);
            },
        });
        self.delivery.add_spans(&mut self.spans);
        in_use.locks.extend(self.dispatcher.locks());
        in_use.locks.extend(self.parks.locks());
        self.delivery.add_in_use(in_use);
    }

    /// The waits that have not ended, in no order.
    pub(crate) fn open(&self) -> Vec<OpenWait> {
        let mut open = self.dispatcher.open();
        self.parks.add_open(&mut open);
        open
    }

    /// How many waits are held back.
    pub(crate) fn held_waits(&self) -> usize {
        self.delivery.held()
    }

    /// The JVM or the system did that.
    pub(crate) fn system(&mut self, fact: SystemFact) {
        match fact {
            SystemFact::Freeze(freeze) => self.spans.freezes.add(freeze),
            fact => self.delivery.system(fact),
        }
    }

    /// What has been found so far.
    pub(crate) fn waits(&self) -> &WaitTally {
        self.delivery.waits()
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// No more events: waits that have not ended go to `sink` as such.
    pub(crate) fn finish(
        mut self,
        end: &TraceEnd,
        entities: &Entities,
        sink: &mut dyn WaitSink,
    ) -> Blamed {
        let delivery = &mut self.delivery;
        let mut on_wait = |wait: &mut Wait, shared: &mut HoldRanges, counters: &mut Counters| {
            delivery.pass_on((wait, shared), entities, counters, sink);
        };
        let (wait, counters) = (&mut self.wait, &mut self.counters);
        let spans = &mut self.spans;
        self.dispatcher
            .finish(end, spans, wait, counters, &mut on_wait);
        let mut to_delivery = Sink {
            entities,
            detail: self.detail,
            range: self.range,
            counters,
            spans,
            wait,
            on_wait: &mut on_wait,
        };
        self.parks.finish(end, &mut to_delivery);
        self.delivery.add_spans(spans);
        self.delivery.finish(entities, &mut self.counters, sink);
        Blamed {
            counters: self.counters,
            owner_times: self.delivery.take_owner_times(),
            waits: self.delivery.waits().clone(),
            still_blocked: self.delivery.still_blocked,
        }
    }
}

/// Finds who is to blame for waits at all locks, in the thread that reads the trace.
pub(crate) struct SameThread<'a> {
    pub(crate) blaming: &'a mut BlameStage,
    pub(crate) sink: &'a mut dyn WaitSink,
}

impl Stage for SameThread<'_> {
    fn stack(&mut self, started: StartedStack, _entities: &EntityStore) {
        self.blaming.stacks().add(started);
    }

    #[inline]
    fn lock(&mut self, lock: LockId, step: Step<&LockEvent>, entities: &EntityStore) {
        self.blaming.lock(lock, step, entities, self.sink);
    }

    #[inline]
    fn park(&mut self, domain: LockId, step: Step<&ParkEvent>, entities: &EntityStore) {
        self.blaming.park(domain, step, entities, self.sink);
    }

    fn pending(&mut self, _entities: &EntityStore) {
        self.blaming.pending();
    }

    fn resolved(&mut self, pending: ChainIndex, chain: ChainIndex, entities: &EntityStore) {
        self.blaming.resolved(pending, chain, entities, self.sink);
    }

    fn system(&mut self, fact: SystemFact, _entities: &EntityStore) {
        self.blaming.system(fact);
    }
}
