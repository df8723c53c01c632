//! The stages of the analysis, connected (paper, figure 6).

use trace_format::{Capabilities, Event, LockId, LostNumbers, ThreadId};

use crate::contention::{Detail, Wait};
use crate::counter::{Counter, Counters};
use crate::entity::Entities;
use crate::forward_refs::{ForwardSource, Lookahead};
use crate::last_events::LastEvents;
use crate::lock_dispatcher::LockDispatcher;
use crate::lock_event::LockEvent;
use crate::metadata::{Metadata, Resolver};
use crate::park::{Numbered, ParkEvent, Parks, Sink};
use crate::rearranger::{Rearranger, Step};
use crate::trace_file::{TraceError, TraceFile};

/// What the analysis may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many events to hold back until the events before them come. Park
    /// events count threefold.
    pub max_pending_events: usize,
}

/// Memory that a park event takes compared with one of an intrinsic lock.
const PARK_EVENT_SIZE: usize = 3;

impl Default for Limits {
    /// Four million events, which take 160 MB, and at most three times as much if
    /// they are of many locks: an eighth as many may have some.
    fn default() -> Self {
        Self {
            max_pending_events: 4_000_000,
        }
    }
}

/// An analysis of one or more traces.
#[derive(Debug, Default)]
pub struct Analysis {
    limits: Limits,
    detail: Detail,
    entities: Entities,
    /// How many traces have begun.
    traces: u32,
    next_wait_id: u64,
}

impl Analysis {
    /// Creates an analysis within `limits`.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Finds out only so much about who made threads wait.
    #[must_use]
    pub fn with_detail(self, detail: Detail) -> Self {
        Self { detail, ..self }
    }

    /// Returns what the waits found so far refer to.
    pub fn entities(&self) -> &Entities {
        &self.entities
    }

    /// Returns what the waits found refer to, when the analysis is over.
    pub fn into_entities(self) -> Entities {
        self.entities
    }

    /// Takes what `event`, written by `thread`, describes or ends, for a trace that
    /// this analysis will begin.
    pub(crate) fn collect(&mut self, metadata: &mut Metadata, thread: ThreadId, event: &Event<'_>) {
        metadata.collect(thread, event);
        metadata.settle(event, &mut self.entities);
    }

    fn parts(&mut self) -> (&Entities, &mut u64) {
        (&self.entities, &mut self.next_wait_id)
    }

    /// Begins the analysis of a file, which `metadata` describes but for forward
    /// references.
    pub(crate) fn begin_trace_of_file(
        &mut self,
        metadata: Metadata,
        file: &TraceFile,
    ) -> TraceAnalysis<'_> {
        let mut trace = self.begin_trace(metadata);
        *trace.resolver.forward_refs() = ForwardSource::File(Box::new(Lookahead::new(file)));
        trace
    }

    /// Begins the analysis of one more trace, which `metadata` describes.
    pub fn begin_trace(&mut self, metadata: Metadata) -> TraceAnalysis<'_> {
        let trace = self.traces;
        self.traces += 1;
        let has_holds = metadata.capabilities.contains(Capabilities::HOLDS);
        TraceAnalysis {
            park_domains: metadata.park_domains,
            resolver: Resolver::new(metadata),
            rearranger: Rearranger::new(0, self.limits.max_pending_events),
            dispatcher: LockDispatcher::new(trace, has_holds, self.detail),
            parks: Parks::new(self.limits.max_pending_events / PARK_EVENT_SIZE),
            counters: Counters::default(),
            last_events: LastEvents::default(),
            wait: Wait::blank(),
            analysis: self,
        }
    }
}

/// The analysis of one trace, event by event.
#[derive(Debug)]
pub struct TraceAnalysis<'a> {
    analysis: &'a mut Analysis,
    resolver: Resolver,
    rearranger: Rearranger<LockEvent>,
    dispatcher: LockDispatcher,
    parks: Parks,
    park_domains: u64,
    counters: Counters,
    last_events: LastEvents,
    /// The wait that just ended; kept to reuse its memory.
    wait: Wait,
}

impl TraceAnalysis<'_> {
    /// A chunk of the file is over. Fails if the file could not be read where a
    /// reference led to.
    pub(crate) fn next_chunk(&mut self) -> Result<(), TraceError> {
        match self.resolver.forward_refs() {
            ForwardSource::Collected(_) => Ok(()),
            ForwardSource::File(ahead) => ahead.next_chunk(),
        }
    }

    /// Takes one event of `thread`. The events of one thread may come in any
    /// order, too, but an event that ends an identifier comes after all that refer
    /// to it. Passes the waits that have ended to `on_wait`.
    #[inline]
    pub fn event(
        &mut self,
        thread: ThreadId,
        event: &Event<'_>,
        on_wait: &mut impl FnMut(&Wait, &Entities),
    ) {
        if let Some(time_ns) = event.time_ns() {
            self.last_events.add(thread, time_ns);
        }
        let (entities, resolver) = (&mut self.analysis.entities, &mut self.resolver);
        let (lock, sequence, event) = match *event {
            Event::LockDescription(description) => {
                let lock = resolver.lock(
                    description.class,
                    description.mirrored_class,
                    description.identity_hash,
                    entities,
                );
                (description.lock, 0, LockEvent::Description { lock })
            }
            Event::ContendedEnter(enter) => {
                let event = LockEvent::Enter {
                    thread: resolver.thread(thread, entities),
                    time_ns: enter.time_ns,
                    chain: resolver.chain(enter.chain, entities),
                    after_wait: enter.after_wait,
                    owner: resolver.owner(enter.owner, enter.time_ns, entities).into(),
                };
                (enter.lock, enter.sequence, event)
            }
            Event::ContendedEntered(entered) => {
                let event = LockEvent::Entered {
                    thread: resolver.thread(thread, entities),
                    time_ns: entered.time_ns,
                    safepoint_ns: entered.safepoint_ns,
                };
                (entered.lock, entered.sequence, event)
            }
            Event::ContendedExit(exit) => {
                let event = LockEvent::Exit {
                    thread: resolver.thread(thread, entities),
                    time_ns: exit.time_ns,
                    holds: exit.hold.into(),
                    chain: resolver.chain_ref(exit.chain, entities),
                };
                (exit.lock, exit.sequence, event)
            }
            Event::LockRetired(retired) => (retired.lock, retired.sequence, LockEvent::Retired),
            Event::LostNumbers(LostNumbers {
                lock,
                first,
                count: numbers,
            }) => {
                self.counters.add(Counter::LostNumbers, numbers);
                let thread = resolver.thread(thread, entities);
                if lock.0 <= self.park_domains {
                    let event = (lock, first, ParkEvent::Lost { thread, numbers });
                    return self.park(event, on_wait);
                }
                (lock, first, LockEvent::Lost { thread, numbers })
            }
            Event::ParkBegin(park) => {
                let thread = resolver.thread(thread, entities);
                let event = ParkEvent::begin(thread, &park, resolver, entities);
                return self.park(event, on_wait);
            }
            Event::ParkEnd(park) => {
                let thread = resolver.thread(thread, entities);
                let event = ParkEvent::end(thread, &park, resolver, entities);
                return self.park(event, on_wait);
            }
            Event::Unpark(unpark) => {
                let thread = resolver.thread(thread, entities);
                let event = ParkEvent::unpark(thread, &unpark, resolver, entities);
                return self.park(event, on_wait);
            }
            Event::ExclusiveRelease(release) => {
                let thread = resolver.thread(thread, entities);
                let event = ParkEvent::release(thread, &release, resolver, entities);
                return self.park(event, on_wait);
            }
            _ => return resolver.follow(event),
        };
        let mut replay = Replay {
            dispatcher: &mut self.dispatcher,
            analysis: self.analysis,
            wait: &mut self.wait,
        };
        self.rearranger.arrive(
            lock,
            sequence,
            event,
            &mut self.counters,
            |lock, step, counters| {
                replay.step(lock, step, counters, on_wait);
            },
        );
    }

    fn park(&mut self, event: Numbered, on_wait: &mut impl FnMut(&Wait, &Entities)) {
        let detail = self.analysis.detail;
        let (entities, next_wait_id) = self.analysis.parts();
        let mut sink = Sink {
            entities,
            detail,
            counters: &mut self.counters,
            wait: &mut self.wait,
            on_wait: &mut |wait, counters| pass_on(wait, next_wait_id, entities, counters, on_wait),
        };
        self.parks.event(event, &mut sink);
    }

    /// The trace went on until `time_ns` nanoseconds after its start at least, whatever
    /// the time of its last event.
    pub fn goes_on_until(&mut self, time_ns: u64) {
        self.last_events.end(time_ns);
    }

    /// Ends the trace: what is still held back is released without what never
    /// came, and waits that have not ended go to `on_wait` as such. Returns what there was to count.
    pub fn finish(mut self, on_wait: &mut impl FnMut(&Wait, &Entities)) -> Counters {
        let mut replay = Replay {
            dispatcher: &mut self.dispatcher,
            analysis: self.analysis,
            wait: &mut self.wait,
        };
        self.rearranger
            .finish(&mut self.counters, |lock, step, counters| {
                replay.step(lock, step, counters, on_wait);
            });
        let end = self.last_events.finish(self.resolver.threads());
        let detail = self.analysis.detail;
        let (entities, next_wait_id) = self.analysis.parts();
        let mut on_wait = |wait: &mut Wait, counters: &mut Counters| {
            pass_on(wait, next_wait_id, entities, counters, on_wait);
        };
        self.dispatcher
            .finish(&end, &mut self.wait, &mut self.counters, &mut on_wait);
        let mut sink = Sink {
            entities,
            detail,
            counters: &mut self.counters,
            wait: &mut self.wait,
            on_wait: &mut on_wait,
        };
        self.parks.finish(&end, &mut sink);
        self.resolver.count_unresolved(&mut self.counters);
        self.counters
    }
}

/// Gives a wait its number, checks it, and passes it on.
fn pass_on(
    wait: &mut Wait,
    next_wait_id: &mut u64,
    entities: &Entities,
    counters: &mut Counters,
    on_wait: &mut impl FnMut(&Wait, &Entities),
) {
    wait.id = *next_wait_id;
    *next_wait_id += 1;
    let blamed_ns: u64 = wait.blame.iter().map(|blame| blame.duration_ns).sum();
    if blamed_ns != wait.duration_ns {
        counters.add(Counter::UnbalancedWaits, 1);
    }
    on_wait(wait, entities);
}

/// What comes behind the rearranger.
struct Replay<'a> {
    dispatcher: &'a mut LockDispatcher,
    analysis: &'a mut Analysis,
    wait: &'a mut Wait,
}

impl Replay<'_> {
    fn step(
        &mut self,
        lock: LockId,
        step: Step<LockEvent>,
        counters: &mut Counters,
        on_wait: &mut impl FnMut(&Wait, &Entities),
    ) {
        let entities = &mut self.analysis.entities;
        if !self
            .dispatcher
            .dispatch(lock, step, self.wait, entities, counters)
        {
            return;
        }
        let (entities, next_wait_id) = self.analysis.parts();
        pass_on(self.wait, next_wait_id, entities, counters, on_wait);
    }
}
