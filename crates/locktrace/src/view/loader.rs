//! Reads traces into a model, and lets others ask it meanwhile.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use trace_analysis::{Analysis, Entities, Limits, TraceError, TraceInput, TraceSummary, Wait};
use trace_format::FileHeader;
use trace_model::{Arrangement, Finding, Model, Search};

/// Traces to be read.
pub(crate) struct Loader {
    traces: Vec<TraceInput>,
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
    findings: Findings,
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
    /// They are about all that there is.
    are_final: bool,
}

/// While traces are read, at most one part in so many of the time is spent on findings.
const FINDING_SHARE: u32 = 10;

impl State {
    /// What to mend first, as far as is known: all of it when the traces are read.
    pub(crate) fn findings(&mut self, entities: &Entities) -> Vec<Finding> {
        self.findings.are_wanted = true;
        if self.progress.done {
            self.find_the_rest(entities, |_| {});
        }
        self.findings.found.clone()
    }

    /// Finds what is to mend in all that was read, and lets others ask between two questions
    /// of its own.
    pub(crate) fn find_the_rest(
        &mut self,
        entities: &Entities,
        mut in_between: impl FnMut(&mut Self),
    ) {
        if self.findings.are_final {
            return;
        }
        self.findings.search = Some(Search::default());
        while self.findings.search.is_some() {
            self.search_on(entities);
            in_between(self);
        }
        self.findings.are_final = true;
    }

    /// Looks for findings with one question, if somebody wants them and it is time to.
    pub(crate) fn search_when_due(&mut self, entities: &Entities) {
        let findings = &mut self.findings;
        let is_recent = |(at, took): (Instant, Duration)| at.elapsed() < took * FINDING_SHARE;
        if findings.search.is_none() {
            let is_due = findings.are_wanted && !findings.last.is_some_and(is_recent);
            findings.search = is_due.then(Search::default);
        }
        self.search_on(entities);
    }

    fn search_on(&mut self, entities: &Entities) {
        let Some(mut search) = self.findings.search.take() else {
            return;
        };
        let start = Instant::now();
        let goes_on = search.step(&mut self.model, entities).unwrap_or(false);
        if !goes_on {
            let still_blocked = self.summaries.iter();
            let still_blocked = still_blocked.map(|summary| &summary.still_blocked);
            self.findings.found = search.findings(still_blocked, &self.model, entities);
            let takes = std::mem::take(&mut self.findings.takes) + start.elapsed();
            self.findings.last = Some((Instant::now(), takes));
            return;
        }
        self.findings.takes += start.elapsed();
        self.findings.search = Some(search);
    }
}

/// A trace that was begun.
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) header: FileHeader,
}

impl Progress {
    /// So many bytes are read. Of a pipe, or of a file that grows, there are no more yet.
    fn read(&mut self, bytes: u64) {
        self.bytes = bytes;
        self.total_bytes = self.total_bytes.max(bytes);
    }
}

/// All traces, and what they refer to.
pub(crate) struct Loaded {
    pub(crate) state: State,
    pub(crate) entities: Entities,
}

/// How far the traces are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Progress {
    pub(crate) bytes: u64,
    pub(crate) total_bytes: u64,
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
                    done: false,
                },
                arrangement,
                libraries: libraries.to_vec(),
                has_source: false,
                findings: Findings::default(),
            },
        }
    }

    /// Says whether there is a folder with source code.
    pub(crate) fn has_source(&mut self, has_source: bool) {
        self.state.has_source = has_source;
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
        let Self { traces, mut state } = self;
        let mut analysis = Analysis::new(Limits::default()).with_detail(state.model.detail());
        let mut read_before = 0;
        for mut input in traces {
            state.model.begin_trace(input.header().start_unix_ns);
            state.opened.push(Opened {
                path: input.path().to_owned(),
                header: input.header().clone(),
            });
            let mut trace = analysis.begin_trace(input.version(), input.header().capabilities);
            while let Some(chunk) = input.next_chunk()? {
                trace.chunk(chunk, &mut |wait: &Wait, entities: &Entities| {
                    state.model.add(wait, entities);
                });
                state.progress.read(read_before + input.offset());
                watcher.look(&mut state, trace.entities());
                if watcher.progress(state.progress).is_break() {
                    break;
                }
            }
            let range = trace.range();
            let findings = trace.finish(&mut |wait: &Wait, entities: &Entities| {
                state.model.add(wait, entities);
            });
            read_before += input.offset();
            let summary = TraceSummary::new(&input, range, findings);
            state.model.goes_on_until(summary.duration_ns);
            state.summaries.push(summary);
        }
        state.progress.total_bytes = read_before;
        state.model.forget_names();
        state.progress.bytes = state.progress.total_bytes;
        watcher.before_done(&mut state, analysis.entities());
        state.progress.done = true;
        let _ = watcher.progress(state.progress);
        Ok(Loaded {
            state,
            entities: analysis.into_entities(),
        })
    }
}
