//! The stages of the analysis, connected (paper, figure 6).

use trace_format::{
    Capabilities, ChainRef, Chunk, Counter as TracerCounter, Event, ForwardRef, LockId,
    LostNumbers, PARK_DOMAINS, Segment, ThreadId,
};

use crate::code_metadata::Ended;
use crate::contention::{Detail, Wait};
use crate::contents::Contents;
use crate::counter::{Counter, Counters};
use crate::delivery::Delivery;
use crate::entity::{ChainIndex, Entities};
use crate::held_events::{Held, HeldEvents, Missing, owned};
use crate::last_events::LastEvents;
use crate::lock_dispatcher::LockDispatcher;
use crate::lock_event::LockEvent;
use crate::metadata::Resolver;
use crate::park::{Numbered, ParkEvent, Parks, Sink};
use crate::rearranger::{Rearranger, Step};
use crate::selection::Selection;
use crate::snapshot::Snapshot;
use crate::stacks::Stacks;
use crate::statistics::Statistics;
use crate::still_blocked::StillBlocked;
use crate::tally::WaitTally;
use crate::time_range::TimeRange;
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

    /// Begins the analysis of one more trace, in this version of the format, whose producer
    /// guarantees these capabilities.
    pub fn begin_trace(&mut self, version: u16, capabilities: Capabilities) -> TraceAnalysis<'_> {
        let trace = self.traces;
        self.traces += 1;
        let detail = self.detail.max(self.selection.detail());
        let range = self.selection.range();
        let has_holds = capabilities.contains(Capabilities::HOLDS);
        TraceAnalysis {
            park_domains: if version < 2 { 0 } else { PARK_DOMAINS },
            resolver: Resolver::new(&self.entities),
            held: HeldEvents::new(self.limits.max_pending_events),
            ended: Vec::new(),
            contents: Contents::default(),
            rearranger: Rearranger::new(0, self.limits.max_pending_events),
            dispatcher: LockDispatcher::new(trace, has_holds, detail, range),
            parks: Parks::new(trace, self.limits.max_pending_events / PARK_EVENT_SIZE),
            counters: Counters::default(),
            last_events: LastEvents::default(),
            detail,
            range,
            delivery: Delivery::new(&self.selection, detail),
            wait: Wait::blank(),
            analysis: self,
        }
    }
}

/// The analysis of one trace, which is fed with its chunks, or with single events.
///
/// A description may come behind the events that refer to it. Memory stays bounded: what
/// waits for a description too long is analyzed without it.
#[derive(Debug)]
pub struct TraceAnalysis<'a> {
    analysis: &'a mut Analysis,
    resolver: Resolver,
    held: HeldEvents,
    /// What ended while events are held back that may refer to it.
    ended: Vec<Ended>,
    contents: Contents,
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
    /// Returns what the waits found so far refer to. Names of threads may still change.
    pub fn entities(&self) -> &Entities {
        &self.analysis.entities
    }

    /// The part of the time that is considered.
    pub fn range(&self) -> TimeRange {
        self.range
    }

    /// Takes the next chunk of the trace. Passes the waits that have ended to `sink`.
    pub fn chunk(&mut self, chunk: Chunk<'_>, sink: &mut impl WaitSink) {
        let Some(events) = self.contents.chunk(chunk) else {
            return;
        };
        for segment in events.segments() {
            match segment {
                Ok(segment) => self.segment(&segment, sink),
                Err(_) => self.contents.malformed_segments += 1,
            }
        }
        self.held.next_chunk();
        while let Some(missing) = self.held.oldest(true) {
            self.give_up(missing, sink);
        }
    }

    fn segment(&mut self, segment: &Segment<'_>, sink: &mut impl WaitSink) {
        self.contents.statistics.add_segment(segment);
        let mut decoder = segment.events();
        let mut start = decoder.offset();
        while let Some(event) = decoder.next() {
            let Ok(event) = event else {
                self.contents.malformed_segments += 1;
                return;
            };
            let statistics = &mut self.contents.statistics;
            statistics.add_event(&event, decoder.offset() - start);
            start = decoder.offset();
            self.event(segment.thread, &event, sink);
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
        self.take(thread, event, sink);
    }

    #[inline]
    fn take(&mut self, thread: ThreadId, event: &Event<'_>, sink: &mut impl WaitSink) {
        if let Err(missing) = self.bind(thread, event, sink) {
            self.hold(missing, thread, event, sink);
        }
    }

    /// Resolves what an event refers to, and passes it on. Fails if that has to be described
    /// first.
    #[inline]
    fn bind(
        &mut self,
        thread: ThreadId,
        event: &Event<'_>,
        sink: &mut impl WaitSink,
    ) -> Result<(), Missing> {
        let (entities, resolver) = (&mut self.analysis.entities, &mut self.resolver);
        let (lock, sequence, event) = match *event {
            Event::LockDescription(description) => {
                let lock = resolver.lock(
                    description.class,
                    description.mirrored_class,
                    description.identity_hash,
                    entities,
                )?;
                (description.lock, 0, LockEvent::Description { lock })
            }
            Event::ContendedEnter(enter) => {
                let event = LockEvent::Enter {
                    thread: resolver.thread(thread)?,
                    time_ns: enter.time_ns,
                    chain: resolver.chain(enter.chain, entities)?,
                    after_wait: enter.after_wait,
                    owner: resolver.owner(enter.owner)?,
                };
                (enter.lock, enter.sequence, event)
            }
            Event::ContendedEntered(entered) => {
                let event = LockEvent::Entered {
                    thread: resolver.thread(thread)?,
                    time_ns: entered.time_ns,
                    safepoint_ns: entered.safepoint_ns,
                };
                (entered.lock, entered.sequence, event)
            }
            Event::ContendedExit(exit) => {
                let thread = resolver.thread(thread)?;
                let chain = match exit.chain {
                    ChainRef::Chain(chain) => resolver.chain(chain, entities)?,
                    ChainRef::Forward(forward_ref) => self.delivery.forward_refs.refer(forward_ref),
                };
                let event = LockEvent::Exit {
                    thread,
                    time_ns: exit.time_ns,
                    holds: exit.hold.into(),
                    chain,
                };
                (exit.lock, exit.sequence, event)
            }
            Event::LockRetired(retired) => (retired.lock, retired.sequence, LockEvent::Retired),
            Event::LostNumbers(LostNumbers {
                lock,
                first,
                count: numbers,
            }) => {
                let thread = resolver.thread(thread)?;
                self.counters.add(Counter::LostNumbers, numbers);
                if lock.0 <= self.park_domains {
                    self.park((lock, first, ParkEvent::Lost { thread, numbers }), sink);
                    return Ok(());
                }
                (lock, first, LockEvent::Lost { thread, numbers })
            }
            Event::ParkBegin(park) => {
                let thread = resolver.thread(thread)?;
                let event = ParkEvent::begin(thread, &park, resolver, entities)?;
                self.park(event, sink);
                return Ok(());
            }
            Event::ParkEnd(park) => {
                let thread = resolver.thread(thread)?;
                let event = ParkEvent::end(thread, &park, resolver, entities)?;
                self.park(event, sink);
                return Ok(());
            }
            Event::Unpark(unpark) => {
                let thread = resolver.thread(thread)?;
                let event = ParkEvent::unpark(thread, &unpark, resolver, entities)?;
                self.park(event, sink);
                return Ok(());
            }
            Event::ExclusiveRelease(release) => {
                let thread = resolver.thread(thread)?;
                let event = ParkEvent::release(thread, &release, resolver, entities)?;
                self.park(event, sink);
                return Ok(());
            }
            Event::ForwardResolved(resolved) => {
                let chain = resolver.chain(resolved.chain, entities)?;
                self.resolved(resolved.forward_ref, chain, sink);
                return Ok(());
            }
            _ => {
                self.metadata(thread, event, sink);
                return Ok(());
            }
        };
        self.lock(lock, sequence, event, sink);
        Ok(())
    }

    /// A forward reference stands for this chain.
    fn resolved(&mut self, forward_ref: ForwardRef, chain: ChainIndex, sink: &mut impl WaitSink) {
        let pending = self.delivery.forward_refs.resolve(forward_ref, chain);
        let (entities, counters) = (&self.analysis.entities, &mut self.counters);
        self.delivery.resolved(pending, entities, counters, sink);
    }

    fn metadata(&mut self, thread: ThreadId, event: &Event<'_>, sink: &mut impl WaitSink) {
        if let Some(ended) = self.resolver.ended_by(event) {
            return self.end(ended, sink);
        }
        let described = self
            .resolver
            .describe(thread, event, &mut self.analysis.entities);
        if let Some(described) = described
            && !self.held.is_empty()
        {
            self.release(described, sink);
            if let Event::ThreadStart(start) = event {
                self.release(Missing::JavaThread(start.java_id), sink);
            }
        }
    }

    /// Nothing that comes refers to what has ended.
    fn end(&mut self, ended: Ended, sink: &mut impl WaitSink) {
        // What is not described until here will never be.
        match ended {
            Ended::Chain(chain) if self.held.contains(Missing::Chain(chain)) => {
                self.give_up(Missing::Chain(chain), sink);
            }
            Ended::Method(method) if self.held.contains(Missing::Method(method)) => {
                self.give_up(Missing::Method(method), sink);
            }
            _ => {}
        }
        if self.held.is_empty() {
            self.resolver.retire(ended);
        } else {
            self.ended.push(ended);
        }
    }

    /// Keeps an event until that is described.
    #[cold]
    fn hold(
        &mut self,
        missing: Missing,
        thread: ThreadId,
        event: &Event<'_>,
        sink: &mut impl WaitSink,
    ) {
        if let Some(event) = owned(event) {
            self.held.push(missing, Held { thread, event });
        }
        while self.held.is_full()
            && let Some(missing) = self.held.oldest(false)
        {
            self.give_up(missing, sink);
        }
    }

    /// Goes on without a description.
    fn give_up(&mut self, missing: Missing, sink: &mut impl WaitSink) {
        self.resolver.give_up(missing, &mut self.analysis.entities);
        self.release(missing, sink);
    }

    /// Takes the events that have waited for this.
    fn release(&mut self, described: Missing, sink: &mut impl WaitSink) {
        for Held { thread, event } in self.held.take(described) {
            self.take(thread, &event, sink);
        }
        if self.held.is_empty() {
            for ended in std::mem::take(&mut self.ended) {
                self.resolver.retire(ended);
            }
        }
    }

    fn release_all(&mut self, sink: &mut impl WaitSink) {
        while let Some(missing) = self.held.oldest(false) {
            self.give_up(missing, sink);
        }
    }

    fn lock(&mut self, lock: LockId, sequence: u64, event: LockEvent, sink: &mut impl WaitSink) {
        let mut replay = Replay {
            dispatcher: &mut self.dispatcher,
            stacks: self.resolver.stacks(),
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

    /// Returns what is known so far beside the waits that went to the sink. Costs as much as
    /// there are threads that wait.
    pub fn snapshot(&mut self) -> Snapshot {
        let mut open = self.dispatcher.open(self.resolver.stacks());
        self.parks.add_open(&mut open);
        open.sort_unstable_by_key(|wait| (wait.start_ns, wait.id));
        let mut counters = self.counters.clone();
        self.resolver.count_unresolved(&mut counters);
        Snapshot {
            complete_until_ns: self.contents.complete_until_ns(),
            last_event_ns: self.contents.statistics.last_event_ns,
            open,
            waits: self.delivery.waits.clone(),
            counters,
            pending_events: self.rearranger.pending() + self.parks.pending(),
            events_without_names: self.held.len(),
            waits_without_names: self.delivery.held(),
        }
    }

    /// Ends the trace: what is still held back is released without what never
    /// came, and waits that have not ended go to `sink` as such.
    pub fn finish(mut self, sink: &mut impl WaitSink) -> Findings {
        self.release_all(sink);
        self.goes_on_until(self.contents.last_ns());
        let mut replay = Replay {
            dispatcher: &mut self.dispatcher,
            stacks: self.resolver.stacks(),
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
        let stacks = self.resolver.stacks();
        self.dispatcher.finish(
            &end,
            stacks,
            &mut self.wait,
            &mut self.counters,
            &mut on_wait,
        );
        let mut to_delivery = Sink {
            entities,
            detail: self.detail,
            range: self.range,
            counters: &mut self.counters,
            wait: &mut self.wait,
            on_wait: &mut on_wait,
        };
        self.parks.finish(&end, &mut to_delivery);
        self.delivery.finish(entities, &mut self.counters, sink);
        self.resolver.count_unresolved(&mut self.counters);
        let Contents {
            statistics,
            malformed_segments,
            ..
        } = &self.contents;
        self.counters
            .add(Counter::MalformedSegments, *malformed_segments);
        self.counters
            .add(Counter::MissingBuffers, statistics.missing_buffers());
        Findings {
            duration_ns: self.contents.last_ns(),
            tracer: self.contents.tracer,
            statistics: self.contents.statistics,
            counters: self.counters,
            waits: self.delivery.waits,
            still_blocked: self.delivery.still_blocked,
        }
    }
}

/// What the analysis of a trace found beside the single waits.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// From the trace's start to its end, or to its last event if the end is missing, in
    /// nanoseconds; 0 if only single events were taken.
    pub duration_ns: u64,
    /// What the tracer counted, in the order of its counters.
    pub tracer: Vec<(TracerCounter, u64)>,
    /// What the chunks consist of.
    pub statistics: Statistics,
    /// What there was to count.
    pub counters: Counters,
    /// The waits selected, by what they were for.
    pub waits: WaitTally,
    /// The threads that still waited for a lock when the trace ended, whatever is selected.
    pub still_blocked: StillBlocked,
}

/// What comes behind the rearranger.
struct Replay<'a> {
    dispatcher: &'a mut LockDispatcher,
    stacks: &'a Stacks,
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
            stacks,
            entities,
            wait,
            delivery,
        } = self;
        if dispatcher.dispatch(lock, step, stacks, wait, entities, counters) {
            delivery.pass_on(wait, entities, counters, sink);
        }
    }
}
