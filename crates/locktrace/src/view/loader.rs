//! Reads traces into a model, and lets others ask it meanwhile.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::task::Poll;

use trace_analysis::{Analysis, Entities, Limits, TraceError, TraceInput, TraceSummary, WhatIf};
use trace_format::Chunk;
use trace_model::{Arrangement, Budget, Evidence, Model};

use crate::arguments::index::IndexUse;
use crate::input;
use crate::view::answer::Question;
use crate::view::index::{IndexFile, Indexed, NewIndex};
use crate::view::progress::Progress;
use crate::view::state::{Opened, Sink, State};

/// Traces to be read.
pub(crate) struct Loader {
    traces: Vec<TraceInput>,
    index: Option<IndexFile>,
    state: State,
}

/// Of a trace that is being written, the newest ten minutes are known best.
const RECENT_NS: u64 = 600 * 1_000_000_000;

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

    /// Folds the model to a number of rows, as an exported file does. What was found in all of it
    /// stays.
    pub(crate) fn fold_to(&mut self, rows: usize) {
        self.state.conclusions(&self.entities);
        let budget = Budget {
            rows,
            folded_shares: rows,
            parts: usize::MAX,
        };
        self.state.model.fold_to(budget, &self.entities);
    }
}

/// A watcher of the progress.
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
            state: State::new(model, bytes, arrangement, libraries, what_if),
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
        let mut detail = state.model.detail();
        // Waits are held back until their root owners are known, and would come too late.
        if traces.iter().all(|trace| trace.byte_len().is_some()) {
            detail = detail.and(Evidence::detail(detail.has_contentions()));
        }
        let mut analysis = Analysis::new(Limits::default()).with_detail(detail);
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
        state.stored_overview = Some(overview);
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
