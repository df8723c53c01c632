//! Reads traces into a model, and lets others ask it meanwhile.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use trace_analysis::{Analysis, Entities, Limits, TraceError, TraceInput, TraceSummary, Wait};
use trace_format::FileHeader;
use trace_model::{Arrangement, Finding, Model};

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

/// What was found last.
#[derive(Default)]
struct Findings {
    found: Vec<Finding>,
    /// It is as of then, and took so long.
    at: Option<(Instant, Duration)>,
    is_final: bool,
}

/// While traces are read, so much of the time may be spent on findings.
const FINDING_SHARE: u32 = 10;

impl State {
    /// What to mend first, as far as is known.
    pub(crate) fn findings(&mut self, entities: &Entities) -> Vec<Finding> {
        let known = &self.findings;
        let is_recent = |(at, took): (Instant, Duration)| at.elapsed() < took * FINDING_SHARE;
        if !known.is_final && (self.progress.done || !known.at.is_some_and(is_recent)) {
            let start = Instant::now();
            let still_blocked = self.summaries.iter();
            let still_blocked = still_blocked.map(|summary| &summary.still_blocked);
            let found = self.model.findings(still_blocked, entities);
            self.findings = Findings {
                found: found.unwrap_or_default(),
                at: Some((start, start.elapsed())),
                is_final: self.progress.done,
            };
        }
        self.findings.found.clone()
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
        state.progress.done = true;
        let _ = watcher.progress(state.progress);
        Ok(Loaded {
            state,
            entities: analysis.into_entities(),
        })
    }
}
