//! What a page shows first.

use serde::Serialize;
use trace_analysis::{Counter, Entities, StillBlocked, TraceSummary};
use trace_model::{
    Arrangement, Conclusions, Confidence, DeadlockRecord, Finding, Folding, HangRecord, OtherWaits,
    Quiet, Sum, Trace, UnexplainedThreads, deadlocks, hangs,
};
use trace_report::problem;

use crate::view::progress::Progress;
use crate::view::state::{Opened, State};
use crate::view::stored_overview::VERSION;

/// The answer of `api/model`.
#[derive(Serialize)]
pub(crate) struct Overview<'a> {
    version: u32,
    locktrace: &'static str,
    progress: Progress,
    traces: Vec<TraceRecord<'a>>,
    compare: Option<Compare>,
    /// Text: the number is too large for JavaScript.
    start_unix_ns: String,
    duration_ns: u64,
    libraries: &'a [String],
    totals: Vec<KindRecord>,
    confidence: Confidence,
    pub(crate) exact: bool,
    pub(crate) folded: Option<Folding>,
    findings: Vec<Finding>,
    /// If no lock is worth changing.
    quiet: Option<Quiet>,
    other_waits: Vec<OtherWaits>,
    unexplained: Vec<UnexplainedThreads>,
    deadlocks: Vec<DeadlockRecord>,
    hangs: Vec<HangRecord>,
    source: bool,
    live: Option<Live>,
}

/// A trace that is being written.
#[derive(Serialize)]
struct Live {
    /// `None` if it has not said yet until when it is complete.
    waiting: Option<Waiting>,
}

/// Who waits for locks at the newest moment.
#[derive(Serialize)]
struct Waiting {
    threads: usize,
    /// How long the first of them has waited.
    longest_ns: u64,
}

#[derive(Serialize)]
struct TraceRecord<'a> {
    path: String,
    jvm: &'a str,
    pid: u32,
    start_unix_ns: String,
    offset_ns: u64,
    duration_ns: u64,
    /// `None` as long as it is read.
    complete: Option<bool>,
    problems: Vec<String>,
}

/// Which traces are compared, by their positions.
#[derive(Serialize)]
struct Compare {
    before: Vec<usize>,
    after: Vec<usize>,
}

#[derive(Serialize)]
struct KindRecord {
    kind: &'static str,
    duration_ns: Sum,
    waits: u64,
}

impl<'a> Overview<'a> {
    pub(crate) fn new(state: &'a mut State, entities: &Entities) -> Self {
        let Conclusions {
            findings,
            quiet,
            other_waits,
            unexplained,
            ..
        } = state.conclusions(entities);
        let state = &*state;
        let traces = state.model.traces();
        let records = state.opened.iter().zip(traces).enumerate();
        let records = records.map(|(position, (opened, trace))| {
            TraceRecord::new(opened, trace, state.summaries.get(position))
        });
        let start_unix_ns = traces.iter().map(|trace| trace.start_unix_ns).min();
        let kinds = state.model.kinds().filter(|(_, totals)| totals.waits > 0);
        Self {
            version: VERSION,
            locktrace: env!("CARGO_PKG_VERSION"),
            progress: state.progress,
            traces: records.collect(),
            compare: (state.arrangement == Arrangement::Together).then(|| Compare {
                before: vec![0],
                after: (1..traces.len()).collect(),
            }),
            start_unix_ns: start_unix_ns.unwrap_or(0).to_string(),
            duration_ns: state.model.end_ns(),
            libraries: &state.libraries,
            totals: kinds
                .map(|(kind, totals)| KindRecord {
                    kind: kind.name(),
                    duration_ns: totals.duration_ns.into(),
                    waits: totals.waits,
                })
                .collect(),
            confidence: Confidence {
                barging_holds: state
                    .summaries
                    .iter()
                    .map(|summary| summary.counters.value(Counter::BargingHolds))
                    .fold(0, u64::saturating_add),
                ..state.model.confidence()
            },
            exact: state.model.is_exact(),
            folded: state.model.folding(),
            findings,
            quiet,
            other_waits,
            unexplained,
            deadlocks: deadlocks(state.still_blocked(), entities),
            hangs: hangs(state.still_blocked(), entities),
            source: state.has_source,
            live: state.progress.live.then(|| Live {
                waiting: state.waiting_now().map(Waiting::new),
            }),
        }
    }
}

impl<'a> TraceRecord<'a> {
    fn new(opened: &'a Opened, trace: &Trace, summary: Option<&TraceSummary>) -> Self {
        let header = &opened.header;
        Self {
            path: opened.path.display().to_string(),
            jvm: &header.jvm,
            pid: header.pid,
            start_unix_ns: trace.start_unix_ns.to_string(),
            offset_ns: trace.offset_ns,
            duration_ns: trace.duration_ns,
            complete: summary.map(TraceSummary::is_complete),
            problems: summary.map(problem::lines).unwrap_or_default(),
        }
    }
}

impl Waiting {
    fn new(now: &StillBlocked) -> Self {
        let durations_ns = now.threads().iter().map(|blocked| blocked.duration_ns);
        Self {
            threads: now.threads().len(),
            longest_ns: durations_ns.max().unwrap_or(0),
        }
    }
}
