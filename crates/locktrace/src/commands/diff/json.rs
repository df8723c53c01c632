//! A comparison as JSON.

use std::io::Write;

use serde::Serialize;
use trace_analysis::TraceSummary;
use trace_comparison::{Amount, Change};
use trace_report::record::write_json;

use crate::commands::diff::comparison::Diff;
use crate::commands::diff::quantity::Per;
use crate::outcome;

#[derive(Serialize)]
struct DiffRecord<'a> {
    /// What rates are per: `second` or `unit`.
    per: &'static str,
    confidence: f64,
    before: SideRecord,
    after: SideRecord,
    total: ChangeRecord,
    rows: Vec<RowRecord<'a>>,
    /// Rows left out.
    omitted: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<LimitRecord<'a>>,
}

#[derive(Serialize)]
struct SideRecord {
    files: Vec<String>,
    /// Of the considered time of all runs.
    duration_ns: u64,
    /// Units of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    units: Option<f64>,
    /// All traces are complete.
    complete: bool,
}

#[derive(Serialize)]
struct RowRecord<'a> {
    values: Vec<ValueRecord<'a>>,
    #[serde(flatten)]
    change: ChangeRecord,
}

#[derive(Serialize)]
struct ValueRecord<'a> {
    aspect: &'static str,
    key: &'a str,
    label: &'a str,
}

#[derive(Serialize)]
struct ChangeRecord {
    before: AmountRecord,
    after: AmountRecord,
    change_ns: f64,
    /// Of the rate before; null if that was nothing.
    change_share: Option<f64>,
    /// Of `change_ns`; null if the runs are too short.
    interval_ns: Option<[f64; 2]>,
    verdict: &'static str,
}

#[derive(Serialize)]
struct AmountRecord {
    waits: u64,
    duration_ns: u64,
    /// Blocked time per second or unit.
    rate_ns: f64,
}

#[derive(Serialize)]
struct LimitRecord<'a> {
    growth: f64,
    exceeded: bool,
    by: &'a [String],
}

pub(super) fn write(diff: &Diff<'_>, out: impl Write) -> outcome::Result<()> {
    let comparison = &diff.comparison;
    let side = |at: usize| {
        let runs = &diff.sides[at];
        let considered = |run: &&TraceSummary| run.range.duration_ns(run.duration_ns);
        SideRecord {
            files: runs
                .iter()
                .map(|run| run.file.path().display().to_string())
                .collect(),
            duration_ns: runs.iter().map(considered).fold(0, u64::saturating_add),
            units: (diff.per == Per::Unit).then(|| comparison.units[at]),
            complete: runs.iter().all(|run| run.is_complete()),
        }
    };
    let (before, after, change) = &comparison.total;
    let record = DiffRecord {
        per: diff.per.name(),
        confidence: trace_comparison::CONFIDENCE,
        before: side(0),
        after: side(1),
        total: change_record(before, after, change),
        rows: comparison
            .rows
            .iter()
            .map(|row| RowRecord {
                values: row
                    .values
                    .iter()
                    .map(|value| ValueRecord {
                        aspect: value.aspect.name(),
                        key: &value.key,
                        label: &value.label,
                    })
                    .collect(),
                change: change_record(&row.before, &row.after, &row.change),
            })
            .collect(),
        omitted: comparison.omitted,
        limit: diff.fail_above.map(|growth| LimitRecord {
            growth,
            exceeded: !diff.regressions.is_empty(),
            by: &diff.regressions,
        }),
    };
    Ok(write_json(out, &record)?)
}

fn change_record(before: &Amount, after: &Amount, change: &Change) -> ChangeRecord {
    ChangeRecord {
        before: amount_record(before),
        after: amount_record(after),
        change_ns: change.rate_ns,
        change_share: change.share,
        interval_ns: change.interval_ns,
        verdict: change.verdict.name(),
    }
}

fn amount_record(amount: &Amount) -> AmountRecord {
    AmountRecord {
        waits: amount.waits,
        duration_ns: amount.duration_ns,
        rate_ns: amount.rate_ns,
    }
}
