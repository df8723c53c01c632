//! A report as JSON.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;
use trace_analysis::{Aspect, Entities, Row, Rows, TraceSummary, UnknownOwner, Value};

use crate::deadlocks::{self, DeadlockRecord};
use crate::hangs::{self, HangRecord};
use crate::human;
use crate::owners::OwnersRecord;
use crate::record::{FrameRecord, KindRecord, NamedNumbers, frames, kind_records, write_json};
use crate::report::Report;
use crate::still_waiting::StillWaitingRecord;

impl Report<'_> {
    /// Writes the report as one JSON object.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn write_json(&self, out: impl Write) -> io::Result<()> {
        write(self, out)
    }
}

#[derive(Serialize)]
struct ReportRecord<'a> {
    deadlocks: Vec<DeadlockRecord<'a>>,
    hangs: Vec<HangRecord<'a>>,
    trace: TraceRecord<'a>,
    totals: TotalsRecord,
    tree: Vec<RowRecord<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<OmittedRecord>,
}

#[derive(Serialize)]
struct TraceRecord<'a> {
    files: Vec<String>,
    /// Of the earliest trace.
    start_unix_ns: u64,
    /// Of all traces together.
    duration_ns: u64,
    /// Of the first trace.
    jvm: &'a str,
    /// All traces are complete.
    complete: bool,
    lost_events: u64,
}

#[derive(Serialize)]
struct TotalsRecord {
    contentions: u64,
    waits: u64,
    duration_ns: u64,
    max_wait_ns: u64,
    /// The lock was free.
    free_ns: u64,
    /// The process did not run.
    frozen_ns: u64,
    barging_holds: u64,
    unknown_owner_ns: u64,
    unknown_owner_ns_by_reason: NamedNumbers,
    safepoint_ns: u64,
    reenter_after_wait_ns: u64,
    /// What owners did in the waits for locks.
    #[serde(skip_serializing_if = "Option::is_none")]
    owners: Option<OwnersRecord>,
    /// Threads that still waited for a lock when the traces ended.
    still_blocked: StillWaitingRecord,
    /// Threads that still waited for another thread to do something, without idle workers.
    still_waiting: StillWaitingRecord,
    /// All waits, whether they are in the tree or not.
    waits_of_all_kinds: Vec<KindRecord>,
}

#[derive(Serialize)]
struct RowRecord<'a> {
    aspect: &'static str,
    key: String,
    label: Cow<'a, str>,
    contentions: u64,
    waits: u64,
    duration_ns: u64,
    max_wait_ns: u64,
    share: f64,
    /// Of an aspect of call chains.
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<Vec<FrameRecord<'a>>>,
    children: Vec<RowRecord<'a>>,
    /// Children left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<OmittedRecord>,
}

#[derive(Serialize)]
struct OmittedRecord {
    rows: usize,
    duration_ns: u64,
}

pub(crate) fn write(report: &Report<'_>, out: impl Write) -> io::Result<()> {
    let total_ns = report.main.totals.all.duration_ns;
    let record = ReportRecord {
        deadlocks: deadlocks::records(report.summaries, report.entities),
        hangs: hangs::records(report.summaries, report.entities),
        trace: trace_record(report),
        totals: totals_record(report),
        tree: row_records(&report.main.rows, total_ns, report.entities),
        omitted: omitted_record(&report.main.rows),
    };
    write_json(out, &record)
}

fn trace_record<'a>(report: &Report<'a>) -> TraceRecord<'a> {
    let summaries = report.summaries;
    let headers = || summaries.iter().map(|summary| summary.file.header());
    let files = summaries
        .iter()
        .map(|summary| summary.file.path().display().to_string());
    TraceRecord {
        files: files.collect(),
        start_unix_ns: headers()
            .map(|header| header.start_unix_ns)
            .min()
            .unwrap_or(0),
        duration_ns: report.duration_ns(),
        jvm: headers().next().map_or("", |header| &header.jvm),
        complete: summaries.iter().all(TraceSummary::is_complete),
        lost_events: summaries
            .iter()
            .map(TraceSummary::lost_events)
            .fold(0, u64::saturating_add),
    }
}

fn totals_record(report: &Report<'_>) -> TotalsRecord {
    let totals = &report.main.totals;
    let reasons = UnknownOwner::ALL.map(UnknownOwner::name);
    let by_reason = reasons.into_iter().zip(totals.unknown_owner_ns);
    TotalsRecord {
        contentions: totals.all.contentions,
        waits: totals.all.waits,
        duration_ns: totals.all.duration_ns,
        max_wait_ns: totals.all.max_wait_ns,
        free_ns: totals.free_ns,
        frozen_ns: totals.frozen_ns,
        barging_holds: report.barging_holds(),
        unknown_owner_ns: totals.all_unknown_owner_ns(),
        unknown_owner_ns_by_reason: NamedNumbers(by_reason.collect()),
        safepoint_ns: totals.safepoint_ns,
        reenter_after_wait_ns: totals.reenter_after_wait_ns,
        owners: report.owners,
        still_blocked: StillWaitingRecord::for_locks(report.summaries),
        still_waiting: StillWaitingRecord::for_others(report.summaries, report.entities),
        waits_of_all_kinds: kind_records(&report.waits),
    }
}

fn row_records<'a>(rows: &'a Rows, total_ns: u64, entities: &'a Entities) -> Vec<RowRecord<'a>> {
    rows.rows
        .iter()
        .map(|row| row_record(row, total_ns, entities))
        .collect()
}

fn row_record<'a>(row: &'a Row, total_ns: u64, entities: &'a Entities) -> RowRecord<'a> {
    let chain = match row.value {
        Value::Chain(chain) if has_frames(row.aspect) => Some(chain),
        _ => None,
    };
    RowRecord {
        aspect: row.aspect.name(),
        key: row.value.key(entities),
        // Programs that read it know locks by these names.
        label: match row.value {
            Value::Lock(_) | Value::Class(_) => row.value.name(entities).into(),
            _ => Cow::Borrowed(&row.label),
        },
        contentions: row.sums.contentions,
        waits: row.sums.waits,
        duration_ns: row.sums.duration_ns,
        max_wait_ns: row.sums.max_wait_ns,
        share: human::share(row.sums.duration_ns, total_ns),
        frames: chain.map(|chain| frames(chain, entities)),
        children: row_records(&row.children, total_ns, entities),
        omitted: omitted_record(&row.children),
    }
}

/// Returns whether the rows of an aspect list the frames of their call chains.
fn has_frames(aspect: Aspect) -> bool {
    match aspect {
        Aspect::Chain | Aspect::OwnerChain | Aspect::OwnerSampleChain => true,
        Aspect::Mechanism
        | Aspect::Kind
        | Aspect::LockClass
        | Aspect::Lock
        | Aspect::LockSite
        | Aspect::LockSiteChain
        | Aspect::Thread
        | Aspect::Method
        | Aspect::Caller
        | Aspect::WaitEnd
        | Aspect::OwnerThread
        | Aspect::OwnerMethod
        | Aspect::OwnerCaller
        | Aspect::RootOwnerThread
        | Aspect::RootOwnerMethod
        | Aspect::RootLockClass
        | Aspect::Depth
        | Aspect::OwnerActivity
        | Aspect::OwnerSample => false,
    }
}

fn omitted_record(rows: &Rows) -> Option<OmittedRecord> {
    let record = OmittedRecord {
        rows: rows.omitted,
        duration_ns: rows.omitted_ns,
    };
    (rows.omitted > 0).then_some(record)
}
