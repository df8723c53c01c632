//! The stages of the analysis, connected (paper, figure 6).

use trace_format::{Capabilities, Chunk, Counter as TracerCounter, Event, ThreadId};

use crate::aggregate::kind_totals::WaitTally;
use crate::aggregate::selection::Selection;
use crate::aggregate::statistics::Statistics;
use crate::aggregate::still_blocked::StillBlocked;
use crate::blame::activity::owner_times::OwnerTimes;
use crate::model::counter::Counters;
use crate::model::detail::Detail;
use crate::model::entity::Entities;
use crate::model::entity_store::{EntityStore, InUse};
use crate::model::thread_life::ThreadLife;
use crate::model::time_range::TimeRange;
use crate::model::wait_sink::WaitSink;
use crate::pipeline::blame_stage::{BlameStage, Blamed, SameThread, Setup};
use crate::pipeline::ingest::{Ingest, Pending};
use crate::pipeline::snapshot::Snapshot;

/// Limits of the resources of an analysis.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of events held back until the events before them arrive. Park events count
    /// threefold.
    pub max_pending_events: usize,
}

/// Size of a park event in memory, relative to an event of an intrinsic lock.
const PARK_EVENT_SIZE: usize = 3;

impl Limits {
    /// Returns the limits that keep within this much memory, in bytes.
    pub fn within(bytes: usize) -> Self {
        /// An event takes 40 bytes, and three times as much if each belongs to another lock.
        const MAX_EVENT_BYTES: usize = 120;
        Self {
            max_pending_events: bytes / MAX_EVENT_BYTES,
        }
    }
}

impl Default for Limits {
    /// Returns a limit of four million events. They take 160 MB, and up to three times as much if
    /// they belong to many locks: at most half a million locks may have pending events.
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
    /// The activity of owners is wanted.
    owner_times: bool,
    selection: Selection,
    entities: EntityStore,
    /// Number of traces begun.
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

    /// Limits the detail about who made threads wait.
    #[must_use]
    pub fn with_detail(self, detail: Detail) -> Self {
        Self { detail, ..self }
    }

    /// Also finds out what the owners of locks did while others waited for them
    /// ([`Findings::owner_times`]).
    #[must_use]
    pub fn with_owner_times(self) -> Self {
        Self {
            owner_times: true,
            ..self
        }
    }

    /// Keeps call chains only as long as they take no more memory than `bytes`. All others become
    /// [one](crate::Chain::NotKept).
    #[must_use]
    pub fn with_max_chain_bytes(mut self, bytes: usize) -> Self {
        self.entities.set_max_chain_bytes(bytes);
        self
    }

    /// Keeps threads and locks only as long as they take no more memory than `bytes`, together with
    /// classes and methods. Those not used for long are [forgotten](crate::Lock::Forgotten) then,
    /// which makes no difference where nothing refers to them any more.
    #[must_use]
    pub fn with_max_name_bytes(mut self, bytes: usize) -> Self {
        self.entities.set_max_name_bytes(bytes);
        self
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

    /// Returns the selection.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Returns the entities that the waits found so far refer to.
    pub fn entities(&self) -> &Entities {
        &self.entities
    }

    /// Ends the analysis, and returns the entities that the waits refer to.
    pub fn into_entities(self) -> Entities {
        self.entities.into_entities()
    }

    /// Begins the analysis of another trace, in this version of the format, whose producer
    /// guarantees these capabilities.
    pub fn begin_trace(&mut self, version: u16, capabilities: Capabilities) -> TraceAnalysis<'_> {
        let (ingest, setup) = self.begin(version, capabilities);
        TraceAnalysis {
            ingest,
            blaming: BlameStage::new(setup),
            range: setup.selection.range(),
        }
    }

    /// Returns the stages' state to analyze another trace.
    pub(crate) fn begin(
        &mut self,
        version: u16,
        capabilities: Capabilities,
    ) -> (Ingest<'_>, Setup<'_>) {
        let trace = self.traces;
        self.traces += 1;
        let max_pending = self.limits.max_pending_events;
        let selection = &self.selection;
        // Conditions select parts of a wait.
        let is_by_owners = self.owner_times || self.detail.roots;
        let by_parts = match selection.has_conditions() && is_by_owners {
            true => Detail::CONTENTIONS,
            false => self.detail,
        };
        let setup = Setup {
            trace,
            has_holds: capabilities.contains(Capabilities::HOLDS),
            detail: self.detail.and(selection.detail()).and(by_parts),
            owner_times: self.owner_times,
            selection,
        };
        let pending = Pending {
            events: max_pending,
            parks: max_pending / PARK_EVENT_SIZE,
        };
        let entities = &mut self.entities;
        (Ingest::new(entities, trace, version, pending), setup)
    }
}

/// The analysis of one trace, fed with its chunks or with single events.
///
/// A description may arrive after the events that refer to it. Memory stays bounded: an event that
/// waits too long for a description is analyzed without it.
#[derive(Debug)]
pub struct TraceAnalysis<'a> {
    ingest: Ingest<'a>,
    blaming: BlameStage,
    range: TimeRange,
}

impl TraceAnalysis<'_> {
    /// Returns the entities that the waits found so far refer to. Names of threads may still
    /// change.
    pub fn entities(&self) -> &Entities {
        self.ingest.entities
    }

    /// Returns the time range considered.
    pub fn range(&self) -> TimeRange {
        self.range
    }

    /// Takes the next chunk of the trace. Passes the waits that have ended to `sink`.
    pub fn chunk(&mut self, chunk: Chunk<'_>, sink: &mut dyn WaitSink) {
        let blaming = &mut self.blaming;
        self.ingest.chunk(chunk, &mut SameThread { blaming, sink });
        if self.ingest.entities.are_names_too_many() {
            self.forget(sink);
        }
    }

    /// Forgets locks and threads that have not been used for long.
    #[cold]
    fn forget(&mut self, sink: &mut dyn WaitSink) {
        let mut in_use = InUse::default();
        (self.blaming).forget_unused(self.ingest.entities, &mut in_use, sink);
        self.ingest.forget(in_use);
        let entities = self.ingest.entities();
        let stacks = self.blaming.stacks();
        stacks.retain(|thread| entities.has_thread(thread));
    }

    /// Returns `false` if threads, locks, classes and methods take more memory than they
    /// [may](Analysis::with_max_name_bytes), although all unused ones were forgotten.
    pub fn has_room_for_names(&self) -> bool {
        !self.ingest.entities.are_names_too_many()
    }

    /// Takes one event of `thread`. The events of one thread may arrive in any order, too, but an
    /// event that ends an identifier must come after all that refer to it. Passes the waits that
    /// have ended to `sink`.
    #[inline]
    pub fn event(&mut self, thread: ThreadId, event: &Event<'_>, sink: &mut dyn WaitSink) {
        let blaming = &mut self.blaming;
        let mut stage = SameThread { blaming, sink };
        self.ingest.event(thread, event, &mut stage);
    }

    /// Notes that the trace went on until at least `time_ns` nanoseconds after its start, whatever
    /// the time of its last event.
    pub fn goes_on_until(&mut self, time_ns: u64) {
        self.ingest.goes_on_until(time_ns);
    }

    /// Returns a snapshot of everything known so far, except the waits passed to the sink. Takes
    /// time proportional to the number of waiting threads.
    pub fn snapshot(&self) -> Snapshot {
        let mut open = self.blaming.open();
        let until_ns = self.ingest.contents.complete_until_ns();
        for wait in &mut open {
            wait.duration_ns = until_ns.saturating_sub(wait.start_ns);
            self.ingest.complete(wait);
        }
        open.sort_unstable_by_key(|wait| (wait.start_ns, wait.id));
        let mut counters = self.ingest.counters();
        counters.merge(self.blaming.counters());
        Snapshot {
            complete_until_ns: until_ns,
            last_event_ns: self.ingest.contents.statistics.last_event_ns,
            open,
            waits: self.blaming.waits().clone(),
            counters,
            pending_events: self.ingest.pending(),
            events_without_names: self.ingest.held(),
            waits_without_names: self.blaming.held_waits(),
        }
    }

    /// Returns the findings so far, as if the trace had ended now, but without the waits that have
    /// not ended.
    pub fn findings(&self) -> Findings {
        let contents = &self.ingest.contents;
        let snapshot = self.snapshot();
        Findings {
            duration_ns: contents.last_ns(),
            tracer: contents.tracer.clone(),
            statistics: contents.statistics.clone(),
            still_blocked: snapshot.still_blocked(),
            counters: snapshot.counters,
            waits: snapshot.waits,
            lives: self.ingest.lives(),
            owner_times: None,
        }
    }

    /// Ends the trace: analyzes events still held back, without the descriptions and predecessors
    /// that never arrived, and passes waits that have not ended to `sink` as such.
    pub fn finish(mut self, sink: &mut dyn WaitSink) -> Findings {
        let blaming = &mut self.blaming;
        let end = self.ingest.finish(&mut SameThread { blaming, sink });
        let blamed = self.blaming.finish(&end, self.ingest.entities(), sink);
        Findings::new(self.ingest, blamed)
    }
}

/// The findings about a trace, apart from single waits.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// From the trace's start to its end, or to its last event if the end is missing, in
    /// nanoseconds; 0 if only single events were taken.
    pub duration_ns: u64,
    /// The tracer's counters, in their order.
    pub tracer: Vec<(TracerCounter, u64)>,
    /// Statistics of the chunks' contents.
    pub statistics: Statistics,
    /// The counters of the analysis.
    pub counters: Counters,
    /// The selected waits, by purpose.
    pub waits: WaitTally,
    /// The threads that still waited when the trace ended, whatever is selected.
    pub still_blocked: StillBlocked,
    /// When the threads lived.
    pub lives: Vec<ThreadLife>,
    /// The activity of lock owners during the selected waits; `None` if not
    /// [requested](Analysis::with_owner_times), or the trace is not over.
    pub owner_times: Option<OwnerTimes>,
}

impl Findings {
    /// Returns the findings about a trace that is over.
    pub(crate) fn new(ingest: Ingest<'_>, blamed: Blamed) -> Self {
        let mut counters = ingest.counters();
        counters.merge(&blamed.counters);
        let still_blocked = blamed.still_blocked.complete(|wait| ingest.complete(wait));
        let lives = ingest.lives();
        let contents = ingest.contents;
        Self {
            duration_ns: contents.last_ns(),
            tracer: contents.tracer,
            statistics: contents.statistics,
            counters,
            waits: blamed.waits,
            still_blocked,
            lives,
            owner_times: blamed.owner_times,
        }
    }
}
