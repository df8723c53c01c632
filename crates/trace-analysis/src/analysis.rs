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
use crate::selection::{Selection, Selector};
use crate::still_blocked::StillBlocked;
use crate::tally::WaitTally;
use crate::time_range::TimeRange;
use crate::trace_file::{TraceError, TraceFile};
use crate::wait_sink::WaitSink;

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
    selection: Selection,
    entities: Entities,
    /// How many traces have begun.
    traces: u32,
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

    /// Considers only what `selection` selects.
    #[must_use]
    pub fn with_selection(mut self, selection: Selection) -> Self {
        self.select(selection);
        self
    }

    /// Considers only what `selection` selects, in the traces that begin from now on.
    pub fn select(&mut self, selection: Selection) {
        self.selection = selection;
    }

    /// Returns what is considered.
    pub fn selection(&self) -> &Selection {
        &self.selection
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
        let detail = self.detail.max(self.selection.detail());
        let range = self.selection.range();
        let has_holds = metadata.capabilities.contains(Capabilities::HOLDS);
        TraceAnalysis {
            park_domains: metadata.park_domains,
            resolver: Resolver::new(metadata),
            rearranger: Rearranger::new(0, self.limits.max_pending_events),
            dispatcher: LockDispatcher::new(trace, has_holds, detail, range),
            parks: Parks::new(trace, self.limits.max_pending_events / PARK_EVENT_SIZE),
            counters: Counters::default(),
            last_events: LastEvents::default(),
            detail,
            range,
            delivery: Delivery::new(&self.selection),
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
    detail: Detail,
    range: TimeRange,
    delivery: Delivery,
    /// The wait that just ended; kept to reuse its memory.
    wait: Wait,
}

impl TraceAnalysis<'_> {
    /// The part of the time that is considered.
    pub(crate) fn range(&self) -> TimeRange {
        self.range
    }

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
    /// to it. Passes the waits that have ended to `sink`.
    #[inline]
    pub fn event(&mut self, thread: ThreadId, event: &Event<'_>, sink: &mut impl WaitSink) {
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
                    return self.park(event, sink);
                }
                (lock, first, LockEvent::Lost { thread, numbers })
            }
            Event::ParkBegin(park) => {
                let thread = resolver.thread(thread, entities);
                let event = ParkEvent::begin(thread, &park, resolver, entities);
                return self.park(event, sink);
            }
            Event::ParkEnd(park) => {
                let thread = resolver.thread(thread, entities);
                let event = ParkEvent::end(thread, &park, resolver, entities);
                return self.park(event, sink);
            }
            Event::Unpark(unpark) => {
                let thread = resolver.thread(thread, entities);
                let event = ParkEvent::unpark(thread, &unpark, resolver, entities);
                return self.park(event, sink);
            }
            Event::ExclusiveRelease(release) => {
                let thread = resolver.thread(thread, entities);
                let event = ParkEvent::release(thread, &release, resolver, entities);
                return self.park(event, sink);
            }
            _ => return resolver.follow(event),
        };
        let mut replay = Replay {
            dispatcher: &mut self.dispatcher,
            entities: &mut self.analysis.entities,
            wait: &mut self.wait,
            delivery: &mut self.delivery,
        };
        self.rearranger.arrive(
            lock,
            sequence,
            event,
            &mut self.counters,
            |lock, step, counters| {
                replay.step(lock, step, counters, sink);
            },
        );
    }

    fn park(&mut self, event: Numbered, sink: &mut impl WaitSink) {
        let (entities, delivery) = (&self.analysis.entities, &mut self.delivery);
        let mut sink = Sink {
            entities,
            detail: self.detail,
            range: self.range,
            counters: &mut self.counters,
            wait: &mut self.wait,
            on_wait: &mut |wait, counters| delivery.pass_on(wait, entities, counters, sink),
        };
        self.parks.event(event, &mut sink);
    }

    /// The trace went on until `time_ns` nanoseconds after its start at least, whatever
    /// the time of its last event.
    pub fn goes_on_until(&mut self, time_ns: u64) {
        self.last_events.end(time_ns);
    }

    /// Ends the trace: what is still held back is released without what never
    /// came, and waits that have not ended go to `sink` as such.
    pub fn finish(mut self, sink: &mut impl WaitSink) -> Findings {
        let mut replay = Replay {
            dispatcher: &mut self.dispatcher,
            entities: &mut self.analysis.entities,
            wait: &mut self.wait,
            delivery: &mut self.delivery,
        };
        self.rearranger
            .finish(&mut self.counters, |lock, step, counters| {
                replay.step(lock, step, counters, sink);
            });
        let end = self.last_events.finish(self.resolver.threads());
        let (entities, delivery) = (&self.analysis.entities, &mut self.delivery);
        let mut on_wait = |wait: &mut Wait, counters: &mut Counters| {
            delivery.pass_on(wait, entities, counters, sink);
        };
        self.dispatcher
            .finish(&end, &mut self.wait, &mut self.counters, &mut on_wait);
        let mut sink = Sink {
            entities,
            detail: self.detail,
            range: self.range,
            counters: &mut self.counters,
            wait: &mut self.wait,
            on_wait: &mut on_wait,
        };
        self.parks.finish(&end, &mut sink);
        self.resolver.count_unresolved(&mut self.counters);
        Findings {
            counters: self.counters,
            waits: self.delivery.waits,
            still_blocked: self.delivery.still_blocked,
        }
    }
}

/// What the analysis of a trace found beside the single waits.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// What there was to count.
    pub counters: Counters,
    /// The waits selected, by what they were for.
    pub waits: WaitTally,
    /// The threads that still waited for a lock when the trace ended, whatever is selected.
    pub still_blocked: StillBlocked,
}

/// Where all waits go before they go to the caller's sink.
#[derive(Debug)]
struct Delivery {
    selector: Selector,
    waits: WaitTally,
    still_blocked: StillBlocked,
}

impl Delivery {
    fn new(selection: &Selection) -> Self {
        Self {
            selector: Selector::new(selection),
            waits: WaitTally::default(),
            still_blocked: StillBlocked::default(),
        }
    }

    /// Checks a wait, and passes on what is selected of it.
    fn pass_on(
        &mut self,
        wait: &mut Wait,
        entities: &Entities,
        counters: &mut Counters,
        sink: &mut impl WaitSink,
    ) {
        self.still_blocked.add(wait);
        if wait.blame.is_empty() {
            // Nothing of it is in the time considered.
            return;
        }
        let blamed_ns: u64 = wait.blame.iter().map(|blame| blame.duration_ns).sum();
        if blamed_ns != wait.duration_ns {
            counters.add(Counter::UnbalancedWaits, 1);
        }
        if self.selector.select(wait, entities) {
            self.waits.add(wait);
            sink.wait(wait, entities);
        }
    }
}

/// What comes behind the rearranger.
struct Replay<'a> {
    dispatcher: &'a mut LockDispatcher,
    entities: &'a mut Entities,
    wait: &'a mut Wait,
    delivery: &'a mut Delivery,
}

impl Replay<'_> {
    fn step(
        &mut self,
        lock: LockId,
        step: Step<LockEvent>,
        counters: &mut Counters,
        sink: &mut impl WaitSink,
    ) {
        let Self {
            dispatcher,
            entities,
            wait,
            delivery,
        } = self;
        if dispatcher.dispatch(lock, step, wait, entities, counters) {
            delivery.pass_on(wait, entities, counters, sink);
        }
    }
}
