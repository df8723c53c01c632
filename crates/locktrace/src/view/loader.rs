//! Reads traces into a model, and lets others ask it meanwhile.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::task::Poll;
use std::time::{Duration, Instant};

use trace_analysis::{
    Analysis, EndedHolds, Entities, Limits, Snapshot, StillBlocked, TraceError, TraceInput,
    TraceSummary, Wait, WaitSink, WhatIf,
};
use trace_format::{Chunk, Counter, FileHeader};
use trace_model::{Arrangement, Budget, Finding, Model, Search, sort_by_saving};

use crate::view::answer::Question;
use crate::view::index::{IndexFile, IndexUse, Indexed, NewIndex};
use crate::view::known_overview::KnownOverview;
use crate::{Outcome, input, problem};

/// Traces to be read.
pub(crate) struct Loader {
    traces: Vec<TraceInput>,
    index: Option<IndexFile>,
    state: State,
}

/// What has been read so far.
pub(crate) struct State {
    pub(crate) model: Model,
    /// The traces that were begun.
    pub(crate) opened: Vec<Opened>,
    /// Of the traces that were read to their end.
    pub(crate) summaries: Vec<TraceSummary>,
    pub(crate) progress: Progress,
    pub(crate) arrangement: Arrangement,
    pub(crate) libraries: Vec<String>,
    /// There is a folder with source code.
    pub(crate) has_source: bool,
    /// Who waited for locks at the newest moment of a trace that is still being written.
    waiting_now: Option<StillBlocked>,
    findings: Findings,
    /// What findings would save is predicted from it. Of several traces it is not.
    what_if: Option<WhatIf>,
    /// From an index: then no trace was read.
    known_overview: Option<KnownOverview>,
}

/// What was found last, and what is being looked for.
#[derive(Default)]
struct Findings {
    found: Vec<Finding>,
    /// Somebody has asked.
    are_wanted: bool,
    search: Option<Search>,
    /// What the search that goes on took so far.
    takes: Duration,
    /// When the last search ended, and how long it took.
    last: Option<(Instant, Duration)>,
    /// How many bytes had been read when it began.
    of_bytes: u64,
    /// They are about all that there is.
    are_final: bool,
}

/// Of a trace that is being written, the newest ten minutes are known best.
const RECENT_NS: u64 = 600 * 1_000_000_000;

/// While traces are read, at most one part in so many of the time is spent on findings.
const FINDING_SHARE: u32 = 10;

impl State {
    /// What to fix first, as far as is known: all of it when the traces are read.
    pub(crate) fn findings(&mut self, entities: &Entities) -> Vec<Finding> {
        self.findings.are_wanted = true;
        if self.progress.done {
            self.find_the_rest(entities, |_| {});
        }
        self.findings.found.clone()
    }

    /// Finds what is to be fixed in all that was read, and what that would save; lets others ask between
    /// two questions of its own.
    pub(crate) fn find_the_rest(
        &mut self,
        entities: &Entities,
        mut in_between: impl FnMut(&mut Self),
    ) {
        if self.findings.are_final {
            return;
        }
        self.begin_search();
        while self.findings.search.is_some() {
            self.search_on(entities);
            in_between(self);
        }
        if let Some(mut what_if) = self.what_if.take() {
            let processors = self.processors();
            for at in 0..self.findings.found.len() {
                self.findings.found[at].predict_saving(&mut what_if, processors, entities);
                in_between(self);
            }
            sort_by_saving(&mut self.findings.found, self.model.contention_ns());
        }
        self.findings.are_final = true;
    }

    /// How many processors the machine had, if the trace tells.
    fn processors(&self) -> Option<u64> {
        self.summaries.first()?.tracer_value(Counter::Processors)
    }

    /// Looks for findings with one question, if somebody wants them and it is time to.
    pub(crate) fn search_when_due(&mut self, entities: &Entities) {
        let findings = &self.findings;
        let is_recent = |(at, took): (Instant, Duration)| at.elapsed() < took * FINDING_SHARE;
        let is_due = findings.are_wanted
            && findings.of_bytes < self.progress.bytes
            && !findings.last.is_some_and(is_recent);
        if findings.search.is_none() && is_due {
            self.begin_search();
        }
        self.search_on(entities);
    }

    fn begin_search(&mut self) {
        self.findings.search = Some(Search::new(self.still_blocked()));
        self.findings.of_bytes = self.progress.bytes;
    }

    /// Looks for findings.
    pub(crate) fn is_searching(&self) -> bool {
        self.findings.search.is_some()
    }

    fn search_on(&mut self, entities: &Entities) {
        let Some(mut search) = self.findings.search.take() else {
            return;
        };
        let start = Instant::now();
        let goes_on = search.step(&mut self.model, entities).unwrap_or(false);
        if !goes_on {
            let still_blocked = still_blocked(&self.summaries, self.waiting_now.as_ref());
            self.findings.found = search.findings(still_blocked, &mut self.model, entities);
            let takes = std::mem::take(&mut self.findings.takes) + start.elapsed();
            self.findings.last = Some((Instant::now(), takes));
            return;
        }
        self.findings.takes += start.elapsed();
        self.findings.search = Some(search);
    }

    /// The threads that waited for locks when their traces ended; of one that is still being
    /// written, those that wait now.
    pub(crate) fn still_blocked(&self) -> impl Iterator<Item = &StillBlocked> {
        still_blocked(&self.summaries, self.waiting_now.as_ref())
    }

    /// Who waits for locks now; `None` if no trace that is being written tells.
    pub(crate) fn waiting_now(&self) -> Option<&StillBlocked> {
        self.waiting_now.as_ref()
    }

    /// What there is to show first, if it is known from an index.
    pub(crate) fn known_overview(&self) -> Option<KnownOverview> {
        let mut overview = self.known_overview.clone()?;
        overview.keep(self.model.folding(), self.model.is_exact());
        overview.has_source(self.has_source);
        Some(overview)
    }

    /// Says on standard error what each trace lacks.
    pub(crate) fn complain(&self) -> Outcome {
        let Some(overview) = &self.known_overview else {
            return problem::complain(&self.summaries);
        };
        for opened in &self.opened {
            problem::complain_of(&opened.path, &overview.problems());
        }
        if overview.is_complete() {
            Outcome::Complete
        } else {
            Outcome::Incomplete
        }
    }

    /// A trace that is being written has come so far.
    fn has_come_to(&mut self, snapshot: &Snapshot) {
        self.model.goes_on_until(snapshot.complete_until_ns);
        self.waiting_now = Some(snapshot.still_blocked());
    }
}

/// Takes the waits of the traces.
struct Sink<'s>(&'s mut State);

impl WaitSink for Sink<'_> {
    fn wait(&mut self, wait: &Wait, entities: &Entities) {
        self.0.model.add(wait, entities);
        if let Some(what_if) = &mut self.0.what_if {
            what_if.wait(wait, entities);
        }
    }

    fn wants_holds(&self) -> bool {
        self.0.what_if.is_some()
    }

    fn holds(&mut self, holds: EndedHolds) {
        if let Some(what_if) = &mut self.0.what_if {
            what_if.holds(holds);
        }
    }
}

fn still_blocked<'s>(
    summaries: &'s [TraceSummary],
    waiting_now: Option<&'s StillBlocked>,
) -> impl Iterator<Item = &'s StillBlocked> {
    let ended = summaries.iter().map(|summary| &summary.still_blocked);
    ended.chain(waiting_now)
}

/// A trace that was begun.
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) header: FileHeader,
}

impl Opened {
    fn new(trace: &TraceInput) -> Self {
        Self {
            path: trace.path().to_owned(),
            header: trace.header().clone(),
        }
    }
}

impl Progress {
    /// So many bytes are read, of so many.
    fn read(&mut self, bytes: u64, total_bytes: u64) {
        self.bytes = bytes;
        self.total_bytes = self.total_bytes.max(bytes).max(total_bytes);
        if self.total_bytes - self.bytes > input::MAX_UNREAD_BYTES {
            self.live = false;
        }
    }

    /// There is nothing to read at the moment, or half a chunk. Returns whether that is news.
    fn has_caught_up(&mut self) -> bool {
        let was_live = self.live;
        self.live = self.total_bytes - self.bytes <= input::MAX_UNREAD_BYTES;
        self.live != was_live
    }
}

/// All traces, and what they refer to.
pub(crate) struct Loaded {
    pub(crate) state: State,
    pub(crate) entities: Entities,
    /// Where it can be kept.
    index: Option<IndexFile>,
}

impl Loaded {
    /// An index of what was read, to be written, if there is to be one. All findings are in it.
    pub(crate) fn new_index(&mut self) -> Option<NewIndex> {
        let index = self.index.take()?;
        let overview = self
            .state
            .answer(&Question::Overview, &self.entities)
            .ok()?;
        Some(index.with(overview, self.state.model.to_stored(&self.entities)))
    }

    /// Writes an index of what was read, if there is to be one.
    pub(crate) fn keep_index(&mut self) {
        if let Some(index) = self.new_index() {
            index.write();
        }
    }

    /// Keeps so many rows of the model, as an exported file does. What was found in all of it
    /// stays.
    pub(crate) fn fold_to(&mut self, rows: usize) {
        self.state.findings(&self.entities);
        let budget = Budget {
            rows,
            folded_shares: rows,
            parts: usize::MAX,
        };
        self.state.model.fold_to(budget, &self.entities);
    }
}

/// How far the traces are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Progress {
    pub(crate) bytes: u64,
    pub(crate) total_bytes: u64,
    /// The last trace is still being written, and what is written of it is read.
    pub(crate) live: bool,
    pub(crate) done: bool,
}

/// Whoever wants to know how the reading goes on.
pub(crate) trait Watcher {
    /// Some of a trace is read.
    fn progress(&mut self, _progress: Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// The state may be asked now. Called very often.
    fn look(&mut self, _state: &mut State, _entities: &Entities) {}

    /// The state may be asked for a moment: there is nothing else to do.
    fn wait(&mut self, _state: &mut State, _entities: &Entities) {}

    /// All is read, but nobody knows yet.
    fn before_done(&mut self, _state: &mut State, _entities: &Entities) {}
}

impl Watcher for () {}

impl Loader {
    pub(crate) fn new(
        mut traces: Vec<TraceInput>,
        arrangement: Arrangement,
        libraries: &[String],
    ) -> Self {
        let bytes = traces.iter().filter_map(TraceInput::byte_len).sum();
        let limits = trace_model::Limits::default();
        let model = Model::new(limits, arrangement, bytes, libraries.to_vec());
        let what_if = (traces.len() == 1).then(WhatIf::default);
        if arrangement == Arrangement::OneAfterTheOther {
            traces.sort_by_key(|trace| trace.header().start_unix_ns);
        }
        Self {
            traces,
            state: State {
                model,
                opened: Vec::new(),
                summaries: Vec::new(),
                progress: Progress {
                    bytes: 0,
                    total_bytes: bytes,
                    live: false,
                    done: false,
                },
                arrangement,
                libraries: libraries.to_vec(),
                has_source: false,
                waiting_now: None,
                findings: Findings::default(),
                what_if,
                known_overview: None,
            },
            index: None,
        }
    }

    /// Reads an index in place of the trace, if there is only one and its index can be used.
    #[must_use]
    pub(crate) fn with_index(self, index: IndexUse) -> Self {
        let index = match self.traces.as_slice() {
            [trace] => IndexFile::of(trace, index, &self.state.libraries),
            _ => None,
        };
        Self { index, ..self }
    }

    /// Says whether there is a folder with source code.
    pub(crate) fn has_source(&mut self, has_source: bool) {
        self.state.has_source = has_source;
    }

    /// Reads on at the end of the last trace if it is still being written, until its JVM ends:
    /// those before it are as they are now. Who waits for more may
    /// [be asked](Watcher::wait) meanwhile. A JVM in a container does not know its
    /// own process: `processes` says which one writes which trace.
    ///
    /// # Errors
    ///
    /// If it cannot be opened again.
    pub(crate) fn follow(&mut self, processes: &HashMap<PathBuf, u32>) -> Result<(), TraceError> {
        if let Some(last) = self.traces.last_mut() {
            let known = processes.get(last.path()).copied();
            let pid = known.unwrap_or(last.header().pid);
            if input::is_being_written(last, pid) {
                *last = input::follow(last.path(), pid)?;
            }
        }
        if self
            .traces
            .last()
            .is_some_and(|last| last.byte_len().is_none())
        {
            self.state.model.keep_recent(RECENT_NS);
        }
        let traces = std::mem::take(&mut self.traces).into_iter();
        let waits = |trace: &TraceInput| trace.byte_len().is_none();
        let traces = traces.map(|trace| if waits(&trace) { trace.fed() } else { trace });
        self.traces = traces.collect();
        Ok(())
    }

    /// How far the traces are read: not at all.
    pub(crate) fn progress(&self) -> Progress {
        self.state.progress
    }

    /// Reads all traces.
    ///
    /// # Errors
    ///
    /// If one cannot be read.
    pub(crate) fn load(self, watcher: &mut impl Watcher) -> Result<Loaded, TraceError> {
        if let Some(indexed) = self.index.as_ref().and_then(IndexFile::read) {
            return Ok(self.of_index(indexed, watcher));
        }
        let Self {
            traces,
            index,
            mut state,
        } = self;
        let mut analysis = Analysis::new(Limits::default()).with_detail(state.model.detail());
        let mut read_before = 0;
        for mut input in traces {
            state.model.begin_trace(input.header().start_unix_ns);
            state.opened.push(Opened::new(&input));
            let mut trace = analysis.begin_trace(input.version(), input.header().capabilities);
            loop {
                let chunk = match input.poll_chunk()? {
                    Poll::Ready(Some(chunk)) => chunk,
                    Poll::Ready(None) => break,
                    Poll::Pending => {
                        if state.progress.has_caught_up() {
                            let _ = watcher.progress(state.progress);
                        }
                        watcher.wait(&mut state, trace.entities());
                        continue;
                    }
                };
                // It says until when the trace is complete.
                let is_moment = matches!(chunk, Chunk::Counters(_));
                trace.chunk(chunk, &mut Sink(&mut state));
                let goes_on = input.byte_len().is_none();
                if is_moment && goes_on {
                    state.has_come_to(&trace.snapshot());
                }
                let len = if goes_on { input::len_now(&input) } else { 0 };
                let bytes = read_before + input.offset();
                state.progress.read(bytes, read_before + len);
                watcher.look(&mut state, trace.entities());
                if watcher.progress(state.progress).is_break() {
                    break;
                }
            }
            let range = trace.range();
            let findings = trace.finish(&mut Sink(&mut state));
            read_before += input.offset();
            state.waiting_now = None;
            let summary = TraceSummary::new(&input, range, findings);
            state.model.goes_on_until(summary.duration_ns);
            state.summaries.push(summary);
        }
        state.progress.live = false;
        state.progress.total_bytes = read_before;
        state.model.forget_names();
        state.progress.bytes = state.progress.total_bytes;
        watcher.before_done(&mut state, analysis.entities());
        state.progress.done = true;
        let _ = watcher.progress(state.progress);
        // What more there will be of a trace is not known before its end is there.
        let index = index.filter(|_| state.summaries.iter().all(TraceSummary::is_whole));
        Ok(Loaded {
            state,
            entities: analysis.into_entities(),
            index,
        })
    }

    fn of_index(self, indexed: Indexed, watcher: &mut impl Watcher) -> Loaded {
        let mut state = self.state;
        state.opened = self.traces.iter().map(Opened::new).collect();
        let mut overview = indexed.overview;
        for opened in &state.opened {
            overview.rename(&opened.path);
        }
        state.known_overview = Some(overview);
        state.model = indexed.model;
        state.findings.are_final = true;
        state.progress.bytes = state.progress.total_bytes;
        state.progress.done = true;
        let _ = watcher.progress(state.progress);
        Loaded {
            state,
            entities: Entities::default(),
            index: None,
        }
    }
}
