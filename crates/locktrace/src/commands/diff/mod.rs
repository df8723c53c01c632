//! `locktrace diff`: what became of lock contention.

pub(crate) mod arguments;
mod comparison;
mod json;
mod markdown;
mod quantity;
mod text;

use std::path::{Path, PathBuf};

use trace_analysis::{Aspect, Condition, Selection, TraceInput, TraceSummary};
use trace_comparison::{Comparison, RunCollector, Unit, Verdict, Work};

use crate::commands::diff::arguments::{DiffArguments, DiffFormat};
use crate::commands::diff::comparison::Diff;
use crate::commands::diff::quantity::Per;
use crate::outcome::{self, Outcome, UsageError, cause};
use crate::text::human;
use crate::{input, output, problem};

pub(crate) fn run(arguments: &DiffArguments) -> outcome::Result<Outcome> {
    let paths = paths(arguments);
    let before_count = 1 + arguments.more_before.len();
    let traces = input::open(&paths, false)?;
    let ranges: Result<Vec<_>, _> = traces
        .iter()
        .map(|trace| arguments.waits.range.of(trace))
        .collect();
    let from_ns = ranges?.iter().map(|range| range.from_ns).collect();
    let (unit, per) = unit(arguments);
    let mut collector = RunCollector::new(
        arguments.by.clone(),
        arguments.library.clone(),
        compared(arguments),
        unit,
        from_ns,
    );
    let detail = collector.detail();
    let in_range =
        |trace: &TraceInput| Ok(Selection::default().in_range(arguments.waits.range.of(trace)?));
    let threads = arguments.threads;
    let analyzed = input::analyze_with(traces, threads, detail, in_range, &mut collector)?;
    let summaries = &analyzed.summaries;
    let work = works(arguments, summaries, before_count)?;
    let comparison = Comparison::new(
        &collector,
        [&work[0], &work[1]],
        Some(arguments.top).filter(|&top| top > 0),
        &analyzed.entities,
    );
    if let Some(side) = comparison.units.iter().position(|&units| units <= 0.0) {
        return Err(no_work(arguments, &paths, side, before_count).into());
    }
    let (before, after) = summaries.split_at(before_count);
    let diff = Diff {
        regressions: regressions(&comparison, arguments.fail_above),
        comparison,
        aspects: &arguments.by,
        per,
        sides: [before.iter().collect(), after.iter().collect()],
        fail_above: arguments.fail_above,
    };
    match arguments.format {
        DiffFormat::Text => output::print(&text::render(&diff, output::terminal_width()))?,
        DiffFormat::Markdown => output::print(&markdown::render(&diff))?,
        DiffFormat::Json => json::write(&diff, output::machine())?,
    }
    let outcome = problem::complain(summaries);
    for regression in &diff.regressions {
        output::complain(regression);
    }
    Ok(if diff.regressions.is_empty() {
        outcome
    } else {
        Outcome::Regressed
    })
}

/// Those before the change come first.
fn paths(arguments: &DiffArguments) -> Vec<PathBuf> {
    let before = std::iter::once(&arguments.first_before).chain(&arguments.more_before);
    let after = std::iter::once(&arguments.first_after).chain(&arguments.more_after);
    before.chain(after).cloned().collect()
}

/// Which waits are compared, but for their time.
fn compared(arguments: &DiffArguments) -> Selection {
    let waits = &arguments.waits;
    let everything = trace_analysis::TimeRange::default();
    let selection = waits.filter.selection(everything, &arguments.library);
    selection.of_kinds(waits.kinds.or_contention().kinds())
}

fn unit(arguments: &DiffArguments) -> (Unit, Per) {
    match &arguments.per {
        Some(pattern) => {
            let condition = Condition {
                aspect: Aspect::Method,
                patterns: vec![pattern.clone()],
                is_negated: false,
            };
            (Unit::Waits(Selection::default().with(condition)), Per::Unit)
        }
        None if arguments.work.is_empty() => (Unit::Second, Per::Second),
        None => (Unit::Given, Per::Unit),
    }
}

/// What was done on each side.
fn works(
    arguments: &DiffArguments,
    summaries: &[TraceSummary],
    before_count: usize,
) -> Result<[Work; 2], UsageError> {
    let units = match *arguments.work.as_slice() {
        [] => [0.0, 0.0],
        [both] => [both, both],
        [before, after] => [before, after],
        _ => return Err(UsageError("--work takes one number, or BEFORE,AFTER")),
    };
    let runs = |positions: std::ops::Range<usize>, units| Work {
        runs: positions
            .map(|at| {
                (
                    at,
                    summaries[at].range.duration_ns(summaries[at].duration_ns),
                )
            })
            .collect(),
        units,
    };
    Ok([
        runs(0..before_count, units[0]),
        runs(before_count..summaries.len(), units[1]),
    ])
}

/// Nothing can be divided by the work of a side.
fn no_work(
    arguments: &DiffArguments,
    paths: &[PathBuf],
    side: usize,
    before_count: usize,
) -> NoWork {
    let first: &Path = &paths[side * before_count];
    let what = if arguments.per.is_some() {
        "no wait matches --per"
    } else {
        "nothing of it is between --from and --to"
    };
    NoWork(format!("{}: {what}", first.display()))
}

/// A side has nothing to be compared by.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NoWork(String);

cause!(Usage: NoWork);

/// What has grown by more than a share of all blocked time before, beyond what chance explains.
fn regressions(comparison: &Comparison, fail_above: Option<f64>) -> Vec<String> {
    let Some(allowed) = fail_above else {
        return Vec::new();
    };
    let (before, _, total) = &comparison.total;
    let has_grown = |change: &trace_comparison::Change| {
        change.verdict == Verdict::More && change.rate_ns > allowed * before.rate_ns
    };
    let above = |what: &str, rate_ns: f64| {
        let growth = if before.rate_ns > 0.0 {
            human::signed_percent(rate_ns / before.rate_ns)
        } else {
            "from nothing".to_owned()
        };
        let allowed = human::signed_percent(allowed);
        format!("{what}: {growth} of all blocked time before, more than {allowed}")
    };
    let mut found = Vec::new();
    if has_grown(total) {
        found.push(above("blocked time", total.rate_ns));
    }
    for row in comparison.rows.iter().filter(|row| has_grown(&row.change)) {
        found.push(above(&quantity::row_label(row), row.change.rate_ns));
    }
    found
}
