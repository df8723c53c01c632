//! `locktrace locks` and `locktrace threads`: statistics of each.

pub(crate) mod arguments;
mod rows;
mod sheet;

use std::fmt::Write as _;

use serde::Serialize;
use trace_analysis::{Detail, Entities, Figures, TraceInput, TraceSummary};
use trace_report::facts;
use trace_report::record::write_json;
use trace_report::style::DIM;

use crate::commands::statistics::arguments::{FiguresArguments, FiguresFormat};
use crate::commands::statistics::rows::{LOCK_COLUMNS, THREAD_COLUMNS, lock_row, thread_row};
use crate::commands::statistics::sheet::{RowRecord, Sheet};
use crate::outcome::{self, Outcome};
use crate::text::human::plural;
use crate::{input, output, problem};

pub(crate) fn locks(arguments: &FiguresArguments, sort: &str) -> outcome::Result<Outcome> {
    run(arguments, sort, |figures, entities| Sheet {
        label_title: "Lock",
        name_keys: ["lock_class", "lock_id"],
        columns: &LOCK_COLUMNS,
        rows: figures
            .locks()
            .into_iter()
            .map(|(lock, figures)| lock_row(lock, figures, entities))
            .collect(),
    })
}

pub(crate) fn threads(arguments: &FiguresArguments, sort: &str) -> outcome::Result<Outcome> {
    run(arguments, sort, |figures, entities| Sheet {
        label_title: "Thread",
        name_keys: ["thread_id", "thread"],
        columns: &THREAD_COLUMNS,
        rows: figures
            .threads(entities)
            .iter()
            .map(|(thread, figures)| thread_row(*thread, figures, entities))
            .collect(),
    })
}

fn run(
    arguments: &FiguresArguments,
    sort: &str,
    sheet: impl Fn(&Figures, &Entities) -> Sheet,
) -> outcome::Result<Outcome> {
    let traces = input::open(&arguments.traces, arguments.follow)?;
    let select = |trace: &TraceInput| arguments.waits.selection(trace);
    let mut figures = Figures::default();
    let analyzed = input::analyze_with(
        traces,
        arguments.threads,
        Detail::OWNERS,
        select,
        &mut figures,
    )?;
    let mut sheet = sheet(&figures, &analyzed.entities);
    sheet.sort_by(sort);
    let is_table = arguments.format == FiguresFormat::Table;
    let omitted = match arguments.top.unwrap_or(if is_table { 20 } else { 0 }) {
        0 => 0,
        top => sheet.rows.drain(top.min(sheet.rows.len())..).count(),
    };
    match arguments.format {
        FiguresFormat::Table => {
            output::print(&text(&sheet, omitted, arguments, &analyzed.summaries))?;
        }
        FiguresFormat::Csv => sheet.write_csv(output::machine())?,
        FiguresFormat::Json => {
            let record = FiguresRecord {
                traces: analyzed.summaries.iter().map(TraceRecord::new).collect(),
                omitted,
                rows: sheet.records(),
            };
            write_json(output::machine(), &record)?;
        }
    }
    Ok(problem::complain(&analyzed.summaries))
}

fn text(
    sheet: &Sheet,
    omitted: usize,
    arguments: &FiguresArguments,
    summaries: &[TraceSummary],
) -> String {
    let mut text = String::new();
    for summary in summaries {
        facts::add_trace(&mut text, summary);
    }
    text.push('\n');
    if sheet.rows.is_empty() {
        text.push_str("No thread had to wait for a lock.\n");
        return text;
    }
    sheet.write_table(&mut text, arguments.wide, output::terminal_width());
    if omitted > 0 {
        let rows = plural(omitted as u64, "more row");
        let _ = writeln!(text, "{DIM}and {rows} (--top){DIM:#}");
    }
    text
}

#[derive(Serialize)]
struct FiguresRecord<'a> {
    traces: Vec<TraceRecord>,
    /// Rows that `--top` left out.
    omitted: usize,
    rows: Vec<RowRecord<'a>>,
}

#[derive(Serialize)]
struct TraceRecord {
    file: String,
    duration_ns: u64,
    complete: bool,
}

impl TraceRecord {
    fn new(summary: &TraceSummary) -> Self {
        Self {
            file: summary.file.path().display().to_string(),
            duration_ns: summary.duration_ns,
            complete: summary.is_complete(),
        }
    }
}
