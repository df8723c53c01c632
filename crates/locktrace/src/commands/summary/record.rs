//! The summary as one JSON object.

use serde::Serialize;
use trace_analysis::{TraceSummary, WaitKind};
use trace_model::{DeadlockRecord, Finding, HangRecord, OtherWaits, Quiet, UnexplainedThreads};
use trace_report::problem;

use super::summarize::Summary;

/// The object: what `api/model` of the viewer has, but for what only a page needs.
#[derive(Serialize)]
pub(super) struct SummaryRecord<'a> {
    locktrace: &'static str,
    traces: Vec<TraceRecord<'a>>,
    totals: Vec<KindRecord>,
    findings: &'a [Finding],
    /// If no lock is worth changing.
    quiet: Option<&'a Quiet>,
    other_waits: &'a [OtherWaits],
    unexplained: &'a [UnexplainedThreads],
    deadlocks: &'a [DeadlockRecord],
    hangs: &'a [HangRecord],
}

#[derive(Serialize)]
struct TraceRecord<'a> {
    path: String,
    jvm: &'a str,
    pid: u32,
    /// Text: the number is too large for JavaScript.
    start_unix_ns: String,
    duration_ns: u64,
    complete: bool,
    problems: Vec<String>,
}

#[derive(Serialize)]
struct KindRecord {
    kind: &'static str,
    duration_ns: u64,
    waits: u64,
}

impl<'a> SummaryRecord<'a> {
    pub(super) fn new(summary: &'a Summary) -> Self {
        let kinds = WaitKind::ALL.into_iter();
        let totals = kinds.map(|kind| (kind, summary.totals(kind)));
        let conclusions = &summary.conclusions;
        Self {
            locktrace: env!("CARGO_PKG_VERSION"),
            traces: summary.traces.iter().map(TraceRecord::new).collect(),
            totals: totals
                .filter(|(_, totals)| totals.waits > 0)
                .map(|(kind, totals)| KindRecord {
                    kind: kind.name(),
                    duration_ns: totals.duration_ns,
                    waits: totals.waits,
                })
                .collect(),
            findings: &conclusions.findings,
            quiet: conclusions.quiet.as_ref(),
            other_waits: &conclusions.other_waits,
            unexplained: &conclusions.unexplained,
            deadlocks: &conclusions.deadlocks,
            hangs: &conclusions.hangs,
        }
    }
}

impl<'a> TraceRecord<'a> {
    fn new(trace: &'a TraceSummary) -> Self {
        let header = trace.file.header();
        Self {
            path: trace.file.path().display().to_string(),
            jvm: &header.jvm,
            pid: header.pid,
            start_unix_ns: header.start_unix_ns.to_string(),
            duration_ns: trace.duration_ns,
            complete: trace.is_complete(),
            problems: problem::lines(trace),
        }
    }
}
