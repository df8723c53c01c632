//! The blame stage: from events, in order and bound to entities, to waits on their way to the sink.

use trace_format::LockId;

use crate::aggregate::kind_totals::WaitTally;
use crate::aggregate::selection::Selection;
use crate::aggregate::still_blocked::StillBlocked;
use crate::blame::activity::owner_facts::ToThread;
use crate::blame::activity::owner_times::OwnerTimes;
use crate::blame::facts::trace_end::TraceEnd;
use crate::blame::monitor::dispatcher::LockDispatcher;
use crate::blame::park::Parks;
use crate::blame::timeline::context::{Context, WaitOutput};
use crate::blame::timeline::hold_spans::{HoldSpans, Trail};
use crate::blame::timeline::sampled_parts::SampledParts;
use crate::model::counter::Counters;
use crate::model::detail::Detail;
use crate::model::entity::{ChainIndex, Entities};
use crate::model::entity_store::{EntityStore, InUse};
use crate::model::time_range::TimeRange;
use crate::model::wait::{EndedHolds, OpenWait, Wait, WaitKind};
use crate::model::wait_sink::WaitSink;
use crate::order::lock_event::{LockEvent, PackedHolds};
use crate::order::park::event::ParkEvent;
use crate::order::rearranger::Step;
use crate::order::system_fact::SystemFact;
use crate::pipeline::output::Output;
use crate::resolve::stacks::{Stacks, StartedStack};

/// A receiver of resolved events. Their references are among `entities` when they are passed on.
pub(crate) trait Stage {
    /// Takes the location of a thread's stack.
    fn stack(&mut self, started: StartedStack, entities: &EntityStore);

    /// Takes the next step of a lock.
    fn lock(&mut self, lock: LockId, step: Step<&LockEvent>, entities: &EntityStore);

    /// Takes the next step of a domain of parks.
    fn park(&mut self, domain: LockId, step: Step<&ParkEvent>, entities: &EntityStore);

    /// Adds another pending chain.
    fn pending(&mut self, entities: &EntityStore);

    /// Resolves a pending chain.
    fn resolved(&mut self, pending: ChainIndex, chain: ChainIndex, entities: &EntityStore);

    /// Takes an action of the JVM or the system.
    fn system(&mut self, fact: SystemFact, entities: &EntityStore);

    /// Notes that names change: everything passed on before refers to the old ones.
    fn settle(&mut self, _entities: &EntityStore) {}
}

/// Finds out who is to blame for the waits of some locks of a trace, and passes the waits on.
#[derive(Debug)]
pub(crate) struct BlameStage {
    dispatcher: LockDispatcher,
    parks: Parks,
    common: Common,
}

/// The state shared by monitors and parks.
#[derive(Debug)]
struct Common {
    output: Output,
    counters: Counters,
    detail: Detail,
    range: TimeRange,
    /// The wait that just ended; kept to reuse the memory.
    wait: Wait,
    /// The spans in which owners held locks that threads waited for; kept for the same reason.
    spans: HoldSpans,
}

/// An output that passes on waits with their entities.
struct Passing<'a> {
    output: &'a mut Output,
    entities: &'a Entities,
    sink: &'a mut dyn WaitSink,
}

impl WaitOutput for Passing<'_> {
    fn wait(&mut self, wait: &mut Wait, trail: Trail, counters: &mut Counters) {
        self.output
            .pass_on((wait, trail), self.entities, counters, self.sink);
    }

    fn open_wait(&mut self, open: OpenWait) {
        self.output.still_blocked.add(open);
    }
}

impl Common {
    /// Runs a stage of blame, and takes the waits that it passes on.
    #[inline]
    fn run(
        &mut self,
        entities: &Entities,
        sink: &mut dyn WaitSink,
        stage: impl FnOnce(&mut Context<'_>),
    ) {
        stage(&mut Context {
            entities,
            detail: self.detail,
            range: self.range,
            counters: &mut self.counters,
            spans: &mut self.spans,
            wait: &mut self.wait,
            output: &mut Passing {
                output: &mut self.output,
                entities,
                sink,
            },
        });
        self.output.add_spans(&mut self.spans);
        if let Some(sampled) = &mut self.spans.sampled
            && let Some(kept) = sampled.changed()
        {
            sink.sampled(kept);
        }
    }
}

/// The parameters of the stage.
#[derive(Clone, Copy)]
pub(crate) struct Setup<'a> {
    /// Position of the trace among those analyzed.
    pub(crate) trace: u32,
    /// Exits report for how long locks were held.
    pub(crate) has_holds: bool,
    pub(crate) detail: Detail,
    /// The activity of owners is wanted.
    pub(crate) owner_times: bool,
    pub(crate) selection: &'a Selection,
}

/// The findings, apart from single waits.
#[derive(Debug, Default)]
pub(crate) struct Blamed {
    pub(crate) counters: Counters,
    pub(crate) waits: WaitTally,
    pub(crate) still_blocked: StillBlocked,
    pub(crate) owner_times: Option<OwnerTimes>,
}

impl Blamed {
    /// Adds the findings about other locks.
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
        Self {
            dispatcher: LockDispatcher::new(trace, has_holds),
            parks: Parks::new(trace),
            common: Common {
                output: Output::new(selection, detail, owner_times),
                counters: Counters::default(),
                detail,
                range: selection.range(),
                wait: Wait::blank(),
                spans: HoldSpans {
                    are_wanted: (owner_times && !detail.has_contentions())
                        && selection.may_select(WaitKind::Contention),
                    sampled: detail.is_sampled.then(SampledParts::default),
                    ..HoldSpans::default()
                },
            },
        }
    }

    /// Passes facts about owners to `thread` from now on, as far as possible.
    pub(crate) fn pass_owner_facts_to(&mut self, thread: ToThread) {
        self.common.output.pass_owner_facts_to(thread);
    }

    /// Returns the threads' stacks.
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
            && self.common.range.contains(time_ns)
            && let Some(lock) = self.dispatcher.lock(lock)
        {
            sink.holds(EndedHolds {
                lock,
                thread,
                end_ns: time_ns,
                holds: holds.get(),
            });
        }
        let dispatcher = &mut self.dispatcher;
        self.common.run(entities, sink, |context| {
            dispatcher.dispatch(lock, step, context);
        });
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
            && self.common.range.contains(release.time_ns)
        {
            sink.holds(EndedHolds {
                lock: release.lock,
                thread: release.thread,
                end_ns: release.time_ns,
                holds: PackedHolds::from(release.hold).get(),
            });
        }
        let parks = &mut self.parks;
        self.common.run(entities, sink, |context| {
            parks.dispatch(domain, step, context);
        });
    }

    /// Adds another pending chain.
    pub(crate) fn pending(&mut self) {
        self.common.output.chains.push();
    }

    /// Resolves a pending chain.
    pub(crate) fn resolved(
        &mut self,
        pending: ChainIndex,
        chain: ChainIndex,
        entities: &Entities,
        sink: &mut dyn WaitSink,
    ) {
        self.common.output.chains.resolve(pending, chain);
        let counters = &mut self.common.counters;
        (self.common.output).resolved(pending, entities, counters, sink);
    }

    /// Forgets the locks for which no thread waits, if the trace does not say when they end, and
    /// adds the others to `in_use`.
    pub(crate) fn forget_unused(
        &mut self,
        entities: &Entities,
        in_use: &mut InUse,
        sink: &mut dyn WaitSink,
    ) {
        let parks = &mut self.parks;
        self.common
            .run(entities, sink, |context| parks.forget_unused(context));
        in_use.locks.extend(self.dispatcher.locks());
        in_use.locks.extend(self.parks.locks());
        self.common.output.add_in_use(in_use);
    }

    /// Returns the waits that have not ended, in no particular order.
    pub(crate) fn open(&self) -> Vec<OpenWait> {
        let mut open = self.dispatcher.open();
        self.parks.add_open(&mut open);
        open
    }

    /// Returns how many waits are held back.
    pub(crate) fn held_waits(&self) -> usize {
        self.common.output.held()
    }

    /// Takes an action of the JVM or the system.
    pub(crate) fn system(&mut self, fact: SystemFact) {
        match fact {
            SystemFact::Freeze(freeze) => return self.common.spans.freezes.add(freeze),
            SystemFact::Safepoint(safepoint) if self.common.detail.roots => {
                self.common.spans.safepoints.add(safepoint);
            }
            _ => {}
        }
        self.common.output.system(fact);
    }

    /// Returns the tally of waits so far.
    pub(crate) fn waits(&self) -> &WaitTally {
        self.common.output.waits()
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.common.counters
    }

    /// Ends the trace: passes waits that have not ended to `sink` as such.
    pub(crate) fn finish(
        self,
        end: &TraceEnd,
        entities: &Entities,
        sink: &mut dyn WaitSink,
    ) -> Blamed {
        let mut common = self.common;
        common.run(entities, sink, |context| {
            self.dispatcher.finish(end, context);
            self.parks.finish(end, context);
        });
        let Common {
            mut output,
            mut counters,
            ..
        } = common;
        output.finish(entities, &mut counters, sink);
        Blamed {
            counters,
            owner_times: output.take_owner_times(),
            waits: output.waits().clone(),
            still_blocked: output.still_blocked,
        }
    }
}

/// The stage for all locks, in the thread that reads the trace.
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
