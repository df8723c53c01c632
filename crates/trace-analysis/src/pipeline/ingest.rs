//! Ingest: reads a trace, binds its events to entities and puts them in order.

use trace_format::{
    ChainRef, Chunk, Event, ForwardRef, LockId, LostNumbers, PARK_DOMAINS, SystemRecord, ThreadId,
};

use crate::blame::facts::trace_end::TraceEnd;
use crate::blame::monitor::dispatcher::LockDispatcher;
use crate::blame::monitor::last_wait_end::LastWaitEnds;
use crate::collections::hash::SeededMap;
use crate::model::counter::{Counter, Counters};
use crate::model::entity::{ChainIndex, Lock, ThreadIndex};
use crate::model::entity_store::{EntityStore, InUse};
use crate::model::thread_life::ThreadLife;
use crate::model::wait::{HolderFacts, OpenWait};
use crate::order::lock_event::LockEvent;
use crate::order::park::event::{Begin, End, ParkEvent, Release, Unpark};
use crate::order::park::park_order::ParkOrder;
use crate::order::rearranger::{Rearranger, Step};
use crate::order::system_fact::{HookPart, Sample, SystemFact, Times};
use crate::pipeline::blame_stage::Stage;
use crate::pipeline::contents::{Contents, OnEvent};
use crate::pipeline::lock_users::LockUserFinder;
use crate::resolve::code::Ended;
use crate::resolve::forward_refs::ForwardRefs;
use crate::resolve::owned_event::OwnedEvent;
use crate::resolve::resolver::Resolver;
use crate::resolve::stacks::StartedStack;
use crate::resolve::unresolved_events::{Held, Missing, UnresolvedEvents};

/// Binds the events of one trace to entities, puts those of each lock in order, and passes them on
/// to a [`Stage`].
///
/// A description may arrive after the events that refer to it. Memory stays bounded: an event that
/// waits too long for a description is passed on without it.
#[derive(Debug)]
pub(crate) struct Ingest<'a> {
    pub(crate) entities: &'a mut EntityStore,
    /// Position of the trace among those analyzed.
    trace: u32,
    resolver: Resolver,
    held: UnresolvedEvents,
    /// Entities that ended while events that may refer to them are held back.
    ended: Vec<Ended>,
    pub(crate) contents: Contents,
    last_waits: LastWaitEnds,
    rearranger: Rearranger<LockEvent>,
    parks: ParkOrder,
    forward_refs: ForwardRefs,
    lock_users: LockUserFinder,
    park_domains: u64,
    /// Records of the system and the tracer about threads that are not described yet.
    held_records: Vec<SystemRecord>,
    /// When and where each owner was sampled last.
    last_seen: SeededMap<ThreadIndex, (u64, ChainIndex)>,
    counters: Counters,
}

/// Maximum number of records that wait for descriptions of their threads.
const MAX_HELD_RECORDS: usize = 1 << 12;

/// Maximum numbers of events held back to be put in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    /// Events of intrinsic locks.
    pub(crate) events: usize,
    /// Events of parked threads.
    pub(crate) parks: usize,
}

impl<'a> Ingest<'a> {
    /// Creates the ingest of a trace in this version of the format. Holds back up to `pending`
    /// events.
    pub(crate) fn new(
        entities: &'a mut EntityStore,
        trace: u32,
        version: u16,
        pending: Pending,
    ) -> Self {
        Self {
            park_domains: if version < 2 { 0 } else { PARK_DOMAINS },
            resolver: Resolver::new(entities),
            entities,
            trace,
            held: UnresolvedEvents::new(pending.events),
            ended: Vec::new(),
            contents: Contents::default(),
            last_waits: LastWaitEnds::default(),
            held_records: Vec::new(),
            rearranger: Rearranger::new(0, pending.events),
            parks: ParkOrder::new(pending.parks),
            forward_refs: ForwardRefs::default(),
            last_seen: SeededMap::default(),
            lock_users: LockUserFinder::default(),
            counters: Counters::default(),
        }
    }

    /// Returns the entities that events refer to, as far as they are known.
    pub(crate) fn entities(&self) -> &EntityStore {
        self.entities
    }

    /// Takes the next chunk of the trace.
    pub(crate) fn chunk(&mut self, chunk: Chunk<'_>, stage: &mut impl Stage) {
        let mut contents = std::mem::take(&mut self.contents);
        let is_moment = matches!(chunk, Chunk::Counters(_));
        let has_events = contents.chunk(
            chunk,
            &mut EventReceiver {
                ingest: self,
                stage,
            },
        );
        self.contents = contents;
        if has_events {
            self.end_chunk(stage);
        }
        if is_moment {
            for missing in self.held.next_moment() {
                self.give_up(missing, stage);
            }
        }
    }

    /// Forgets locks and threads that have not been used for long, except those `in_use`.
    pub(crate) fn forget(&mut self, mut in_use: InUse) {
        self.resolver.add_in_use(&mut in_use);
        self.entities.forget(&in_use);
        self.resolver.forget(self.entities);
        let entities = &*self.entities;
        (self.last_seen).retain(|&thread, _| entities.has_thread(thread));
        let resolver = &self.resolver;
        self.contents
            .forget(|thread| resolver.has_forgotten(thread));
        self.last_waits
            .forget(|thread| resolver.has_forgotten(thread));
    }

    /// Passes on an action of the JVM or the system.
    fn system(&mut self, record: SystemRecord, stage: &mut impl Stage) {
        match self.fact(record) {
            Some(fact) => stage.system(fact, self.entities),
            None if self.held_records.len() < MAX_HELD_RECORDS => self.held_records.push(record),
            None => {}
        }
    }

    /// Binds a record to entities. Returns `None` if its thread is not described yet.
    fn fact(&mut self, record: SystemRecord) -> Option<SystemFact> {
        Some(match record {
            SystemRecord::Safepoint(safepoint) => SystemFact::Safepoint(safepoint),
            SystemRecord::Freeze(freeze) => SystemFact::Freeze(freeze),
            SystemRecord::ThreadTimes(times) => SystemFact::Times(Times {
                thread: self.resolver.thread(times.thread).ok()?,
                time_ns: times.time_ns,
                processor_ns: times.processor_ns,
                run_delay_ns: times.run_delay_ns,
                timeslices: times.timeslices,
            }),
            SystemRecord::HookPart(part) => SystemFact::Hook(HookPart {
                thread: self.resolver.thread(part.thread).ok()?,
                end_ns: part.end_ns,
                duration_ns: part.duration_ns,
                weight: part.weight,
            }),
        })
    }

    /// Ends a chunk, when all its events have been taken.
    fn end_chunk(&mut self, stage: &mut impl Stage) {
        for held in std::mem::take(&mut self.held_records) {
            self.system(held, stage);
        }
        self.held.next_chunk();
        while let Some(missing) = self.held.oldest(true) {
            self.give_up(missing, stage);
        }
    }

    /// Takes one event of `thread`. The events of one thread may arrive in any order, too, but an
    /// event that ends an identifier must come after all that refer to it.
    #[inline]
    pub(crate) fn event(&mut self, thread: ThreadId, event: &Event<'_>, stage: &mut impl Stage) {
        self.contents.add_time(thread, event);
        self.take(thread, event, stage);
    }

    #[inline(always)]
    fn take(&mut self, thread: ThreadId, event: &Event<'_>, stage: &mut impl Stage) {
        if let Err(missing) = self.bind(thread, event, stage) {
            self.hold(missing, thread, event);
            self.bound_held(stage);
        }
    }

    /// Resolves the references of an event, and passes it on. Fails if one has to be described
    /// first.
    #[inline(never)]
    fn bind(
        &mut self,
        thread: ThreadId,
        event: &Event<'_>,
        stage: &mut impl Stage,
    ) -> Result<(), Missing> {
        let (entities, resolver) = (&mut *self.entities, &mut self.resolver);
        match *event {
            Event::LockDescription(description) => {
                let lock = resolver.lock(
                    description.class,
                    description.mirrored_class,
                    description.identity_hash,
                    entities,
                )?;
                self.lock(description.lock, 0, LockEvent::Description { lock }, stage);
            }
            Event::ContendedEnter(ref enter) => {
                let event = LockEvent::Enter {
                    thread: resolver.thread(thread)?,
                    time_ns: enter.time_ns,
                    chain: resolver.chain(enter.chain, entities)?,
                    after_wait: enter.after_wait,
                    owner: resolver.owner(enter.owner)?,
                };
                self.lock(enter.lock, enter.sequence, event, stage);
            }
            Event::ContendedEntered(ref entered) => {
                let event = LockEvent::Entered {
                    thread: resolver.thread(thread)?,
                    time_ns: entered.time_ns,
                    safepoint_ns: entered.safepoint_ns,
                };
                self.lock(entered.lock, entered.sequence, event, stage);
            }
            Event::ContendedExit(ref exit) => {
                let since_wait_ns = self.last_waits.since(thread, exit.time_ns);
                let thread = resolver.thread(thread)?;
                let chain = match exit.chain {
                    ChainRef::Chain(chain) => resolver.chain(chain, entities)?,
                    ChainRef::Forward(forward_ref) => self.refer(forward_ref, stage),
                };
                let event = LockEvent::Exit {
                    thread,
                    time_ns: exit.time_ns,
                    holds: exit.hold.into(),
                    chain,
                    since_wait_ns,
                };
                self.lock(exit.lock, exit.sequence, event, stage);
            }
            Event::LockRetired(retired) => {
                self.lock(retired.lock, retired.sequence, LockEvent::Retired, stage);
            }
            Event::LostNumbers(LostNumbers {
                lock,
                first,
                count: numbers,
            }) => {
                let thread = resolver.thread(thread)?;
                self.counters.add(Counter::LostNumbers, numbers);
                if lock.0 <= self.park_domains {
                    self.park(lock, first, ParkEvent::Lost { thread, numbers }, stage);
                } else {
                    self.lock(lock, first, LockEvent::Lost { thread, numbers }, stage);
                }
            }
            Event::ParkBegin(ref park) => {
                let begin = Begin::bind(resolver.thread(thread)?, park, resolver, entities)?;
                self.lock_users.wait(begin.lock, begin.chain, entities);
                self.park(park.domain, park.sequence, ParkEvent::Begin(begin), stage);
            }
            Event::ParkEnd(ref park) => {
                let end = End::bind(resolver.thread(thread)?, park, resolver)?;
                self.park(park.domain, park.sequence, ParkEvent::End(end), stage);
            }
            Event::Unpark(ref unpark) => {
                let event = Unpark::bind(resolver.thread(thread)?, unpark, resolver, entities)?;
                self.park(
                    unpark.domain,
                    unpark.sequence,
                    ParkEvent::Unpark(event),
                    stage,
                );
            }
            Event::ExclusiveRelease(ref release) => {
                let event = Release::bind(resolver.thread(thread)?, release, resolver, entities)?;
                let event = ParkEvent::Release(event);
                self.park(release.domain, release.sequence, event, stage);
            }
            Event::ForwardResolved(resolved) => {
                let chain = resolver.chain(resolved.chain, entities)?;
                self.resolved(resolved.forward_ref, chain, stage);
            }
            Event::LockSite(ref site) => {
                let (lock, chain) = resolver.lock_site(site, entities)?;
                entities.add_lock_site(lock, chain, |entities| stage.settle(entities));
            }
            Event::OwnerSample(sample) => {
                let sample = Sample {
                    owner: resolver.thread(sample.owner)?,
                    time_ns: sample.time_ns,
                    since_ns: sample.since_ns,
                    interval_ns: sample.interval_ns,
                    chain: resolver.chain(sample.chain, entities)?,
                };
                self.last_seen
                    .insert(sample.owner, (sample.time_ns, sample.chain));
                stage.system(SystemFact::Sample(sample), self.entities);
            }
            _ => self.metadata(thread, event, stage),
        }
        Ok(())
    }

    /// Returns the chain of an exit: a pending one if the chain is yet to come.
    fn refer(&mut self, forward_ref: ForwardRef, stage: &mut impl Stage) -> ChainIndex {
        let (chain, is_new) = self.forward_refs.refer(forward_ref);
        if is_new {
            stage.pending(self.entities);
        }
        chain
    }

    /// Resolves a forward reference to a chain.
    fn resolved(&mut self, forward_ref: ForwardRef, chain: ChainIndex, stage: &mut impl Stage) {
        let (pending, is_new) = self.forward_refs.resolve(forward_ref, chain);
        if is_new {
            stage.pending(self.entities);
        }
        stage.resolved(pending, chain, self.entities);
    }

    fn metadata(&mut self, thread: ThreadId, event: &Event<'_>, stage: &mut impl Stage) {
        if let Some(ended) = self.resolver.ended_by(event) {
            return self.end(ended, stage);
        }
        if self.resolver.may_rename(thread, event) {
            stage.settle(self.entities);
        }
        let described = self.resolver.describe(thread, event, self.entities);
        if let Event::ThreadStart(start) = event
            && let Ok(thread) = self.resolver.thread(thread)
        {
            let started = StartedStack {
                thread,
                start_ns: start.time_ns,
                stack: start.stack,
            };
            stage.stack(started, self.entities);
        }
        if let Some(described) = described
            && !self.held.is_empty()
        {
            self.release(described, stage);
            if let Event::ThreadStart(start) = event {
                self.release(Missing::JavaThread(start.java_id), stage);
            }
        }
    }

    /// Ends an entity: no later event refers to it.
    fn end(&mut self, ended: Ended, stage: &mut impl Stage) {
        // If it is not described by now, it will never be.
        match ended {
            Ended::Chain(chain) if self.held.contains(Missing::Chain(chain)) => {
                self.give_up(Missing::Chain(chain), stage);
            }
            Ended::Method(method) if self.held.contains(Missing::Method(method)) => {
                self.give_up(Missing::Method(method), stage);
            }
            _ => {}
        }
        if self.held.is_empty() {
            self.resolver.retire(ended);
        } else {
            self.ended.push(ended);
        }
    }

    /// Holds an event back until `missing` is described.
    #[cold]
    fn hold(&mut self, missing: Missing, thread: ThreadId, event: &Event<'_>) {
        let event = OwnedEvent::new(event);
        self.held.push(missing, Held { thread, event });
    }

    /// Gives up the oldest missing descriptions while too many events are held back. The events may
    /// then wait for another description.
    #[cold]
    fn bound_held(&mut self, stage: &mut impl Stage) {
        while self.held.is_full()
            && let Some(missing) = self.held.oldest(false)
        {
            self.give_up(missing, stage);
        }
    }

    /// Goes on without a description.
    fn give_up(&mut self, missing: Missing, stage: &mut impl Stage) {
        self.resolver.give_up(missing, self.entities);
        self.release(missing, stage);
    }

    /// Takes the events that have waited for a description.
    fn release(&mut self, described: Missing, stage: &mut impl Stage) {
        for Held { thread, event } in self.held.take(described) {
            event.pass_to(|event| {
                if let Err(missing) = self.bind(thread, event, stage) {
                    self.hold(missing, thread, event);
                }
            });
        }
        if self.held.is_empty() {
            for ended in std::mem::take(&mut self.ended) {
                self.resolver.retire(ended);
            }
        }
    }

    fn release_all(&mut self, stage: &mut impl Stage) {
        while let Some(missing) = self.held.oldest(false) {
            self.give_up(missing, stage);
        }
    }

    #[inline(always)]
    fn lock(&mut self, lock: LockId, sequence: u64, event: LockEvent, stage: &mut impl Stage) {
        let mut ordered = Ordered {
            trace: self.trace,
            entities: self.entities,
            lock_users: &mut self.lock_users,
            stage,
        };
        self.rearranger.arrive(
            lock,
            sequence,
            event,
            &mut self.counters,
            |lock, step, counters| ordered.step(lock, step, counters),
        );
    }

    #[inline(always)]
    fn park(&mut self, domain: LockId, sequence: u64, event: ParkEvent, stage: &mut impl Stage) {
        let (entities, counters) = (&*self.entities, &mut self.counters);
        (self.parks).arrive(
            domain,
            sequence,
            event,
            entities,
            counters,
            |domain, step, _| {
                stage.park(domain, step, entities);
            },
        );
    }

    /// Notes that the trace went on until at least `time_ns` nanoseconds after its start, whatever
    /// the time of its last event.
    pub(crate) fn goes_on_until(&mut self, time_ns: u64) {
        self.contents.last_events.end(time_ns);
    }

    /// Adds to a wait that has not ended what is known of the thread that has the lock.
    pub(crate) fn complete(&self, wait: &mut OpenWait) {
        let Some((holder, _)) = wait.holder else {
            return;
        };
        let seen = self.last_seen.get(&holder).copied();
        wait.holder_facts = HolderFacts {
            ended_ns: self.resolver.ended_ns(holder),
            seen: seen.filter(|&(time_ns, _)| time_ns >= wait.start_ns),
        };
    }

    /// Returns when threads lived.
    pub(crate) fn lives(&self) -> Vec<ThreadLife> {
        self.resolver.lives()
    }

    /// Returns the counters so far.
    pub(crate) fn counters(&self) -> Counters {
        let mut counters = self.counters.clone();
        self.resolver.count_unresolved(&mut counters);
        counters.add(Counter::ChainsNotKept, self.entities.chains_not_kept());
        let (locks, threads) = (
            self.entities.locks_forgotten(),
            self.entities.threads_forgotten(),
        );
        counters.add(Counter::LocksForgotten, locks as u64);
        counters.add(Counter::ThreadsForgotten, threads as u64);
        counters
    }

    /// Returns how many events are held back to be put in order.
    pub(crate) fn pending(&self) -> usize {
        self.rearranger.pending() + self.parks.pending()
    }

    /// Returns how many events wait for a description.
    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    /// Ends the trace: passes on events still held back, without the descriptions and predecessors
    /// that never arrived.
    pub(crate) fn finish(&mut self, stage: &mut impl Stage) -> TraceEnd {
        self.release_all(stage);
        self.goes_on_until(self.contents.last_ns());
        let mut ordered = Ordered {
            trace: self.trace,
            entities: self.entities,
            lock_users: &mut self.lock_users,
            stage,
        };
        self.rearranger
            .finish(&mut self.counters, |lock, step, counters| {
                ordered.step(lock, step, counters);
            });
        let entities = &*self.entities;
        self.parks.finish(&mut self.counters, |domain, step, _| {
            stage.park(domain, step, entities);
        });
        let unresolved = self.forward_refs.unresolved_exits();
        (self.counters).add(Counter::ForwardRefsUnresolved, unresolved);
        let forgotten = self.forward_refs.forgotten();
        self.counters.add(Counter::ForwardRefsForgotten, forgotten);
        let Contents {
            statistics,
            malformed_segments,
            ..
        } = &self.contents;
        (self.counters).add(Counter::MalformedSegments, *malformed_segments);
        (self.counters).add(Counter::MissingBuffers, statistics.missing_buffers());
        std::mem::take(&mut self.contents.last_events).finish(self.resolver.threads())
    }
}

/// A receiver of events as they are decoded.
struct EventReceiver<'i, 'a, S> {
    ingest: &'i mut Ingest<'a>,
    stage: &'i mut S,
}

impl<S: Stage> OnEvent for EventReceiver<'_, '_, S> {
    fn begin_buffer(&mut self, thread: ThreadId, index: u64) {
        self.ingest.last_waits.begin_buffer(thread, index);
    }

    #[inline(always)]
    fn event(&mut self, thread: ThreadId, event: &Event<'_>) {
        self.ingest.last_waits.add(event);
        self.ingest.take(thread, event, self.stage);
    }

    fn system(&mut self, record: SystemRecord) {
        self.ingest.system(record, self.stage);
    }
}

/// The stage after the rearranger.
struct Ordered<'a, S> {
    trace: u32,
    entities: &'a mut EntityStore,
    lock_users: &'a mut LockUserFinder,
    stage: &'a mut S,
}

impl<S: Stage> Ordered<'_, S> {
    #[inline]
    fn step(&mut self, lock: LockId, step: Step<&LockEvent>, counters: &mut Counters) {
        if LockDispatcher::lacks_description(&step) {
            self.describe(lock, counters);
        }
        if let Step::Event { event, .. } = step {
            self.lock_users.event(lock, event, self.entities);
        }
        self.pass_on(lock, step);
    }

    /// Describes a lock that the trace does not describe.
    #[cold]
    fn describe(&mut self, lock: LockId, counters: &mut Counters) {
        counters.add(Counter::LocksNotDescribed, 1);
        let trace = self.trace;
        let not_described = self.entities.add_lock(Lock::NotDescribed { trace, lock });
        let event = LockEvent::Description {
            lock: not_described,
        };
        let event = &event;
        self.pass_on(lock, Step::Event { number: 0, event });
    }

    #[inline]
    fn pass_on(&mut self, lock: LockId, step: Step<&LockEvent>) {
        self.stage.lock(lock, step, self.entities);
    }
}
