//! A comparison for people.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};
use trace_analysis::TraceSummary;
use trace_comparison::{Amount, Verdict};
use trace_report::facts;
use trace_report::name::{fit, width};
use trace_report::style::{ALARM, BOLD, DIM};

use super::Diff;
use super::quantity::{self, Per};
use crate::human::{self, plural};

/// With less room beside the numbers, what a row is stands on a line of its own.
const MIN_LABEL_WIDTH: usize = 40;

pub(super) fn render(diff: &Diff<'_>, width_limit: Option<usize>) -> String {
    let mut text = String::new();
    let comparison = &diff.comparison;
    let (before, after, change) = &comparison.total;
    for (name, side, amount) in [("Before", 0, before), ("After", 1, after)] {
        facts::add(&mut text, name, &side_text(diff, side, amount));
    }
    let interval = quantity::interval(change, before.rate_ns, diff.per);
    let relative = match change.share {
        Some(share) => quantity::signed_percent(share),
        None => diff.per.difference(change.rate_ns),
    };
    let blocked = format!(
        "{} before, {} after{}: {relative} ({interval}), {}",
        diff.per.rate(before.rate_ns),
        diff.per.rate(after.rate_ns),
        match diff.per {
            Per::Second => "",
            Per::Unit => ", per unit of work",
        },
        sentence(change.verdict),
    );
    facts::add(&mut text, "Blocked", &blocked);
    if diff.sides.iter().any(|side| side.len() == 1) {
        let remark =
            "one run on a side: what runs differ by from start to start is not in the intervals";
        facts::add(&mut text, "Note", remark);
    }
    if comparison.rows.is_empty() {
        text.push_str("\nNo thread had to wait for a lock.\n");
        return text;
    }
    text.push('\n');
    write_rows(&mut text, diff, width_limit);
    text
}

/// What was read of a side.
fn side_text(diff: &Diff<'_>, side: usize, amount: &Amount) -> String {
    let runs = &diff.sides[side];
    let files: Vec<String> = runs.iter().map(|run| path(run)).collect();
    let considered = |run: &&TraceSummary| run.range.duration_ns(run.duration_ns);
    let duration_ns = runs.iter().map(considered).fold(0, u64::saturating_add);
    let mut text = format!(
        "{}: {}, {}",
        files.join(", "),
        human::duration(duration_ns),
        plural(amount.waits, "wait"),
    );
    if diff.per == Per::Unit {
        let units = diff.comparison.units[side];
        let _ = write!(text, ", {} of work", plural(units.round() as u64, "unit"));
    }
    text
}

fn path(summary: &TraceSummary) -> String {
    summary.file.path().display().to_string()
}

fn sentence(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::More | Verdict::Less => "more of a difference than chance explains",
        Verdict::Unclear => "which may be chance",
        Verdict::TooShort => "and the runs are too short to tell more",
    }
}

fn write_rows(text: &mut String, diff: &Diff<'_>, width_limit: Option<usize>) {
    let rows = &diff.comparison.rows;
    let mut numbers = Table::new();
    numbers.load_style(presets::NOTHING);
    numbers.set_header(["", "Before", "After", "Change", "95 % interval"]);
    for row in rows {
        numbers.add_row([
            quantity::verdict(row.change.verdict).to_owned(),
            diff.per.rate(row.before.rate_ns),
            diff.per.rate(row.after.rate_ns),
            quantity::relative(row),
            quantity::interval(&row.change, row.before.rate_ns, diff.per),
        ]);
    }
    for (at, column) in numbers.column_iter_mut().enumerate() {
        if at > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
        column.set_padding((0, 2));
    }
    let mut numbers = numbers.lines();
    let header = numbers.next().unwrap_or_default();
    let room = width_limit.map(|limit| limit.saturating_sub(width(&header)));
    let is_beside = room.is_none_or(|room| room >= MIN_LABEL_WIDTH);
    let aspects: Vec<String> = diff
        .aspects
        .iter()
        .map(|aspect| aspect.name().replace('-', " "))
        .collect();
    let aspects = aspects.join(" › ");
    if is_beside {
        let _ = writeln!(text, "{BOLD}{header}{aspects}{BOLD:#}");
    } else {
        let _ = writeln!(
            text,
            "{BOLD}{}{BOLD:#}\n{BOLD}  {aspects}{BOLD:#}",
            header.trim_end()
        );
    }
    for (row, numbers) in rows.iter().zip(numbers) {
        let style = match row.change.verdict {
            Verdict::More => ALARM,
            Verdict::Less => BOLD,
            Verdict::Unclear | Verdict::TooShort => DIM,
        };
        let label = quantity::row_label(row);
        if is_beside {
            let label = fit(&label, room);
            let _ = writeln!(text, "{style}{numbers}{style:#}{label}");
        } else {
            let indented = width_limit.map(|limit| limit.saturating_sub(2));
            let label = fit(&label, indented);
            let _ = writeln!(text, "{style}{}{style:#}\n  {label}", numbers.trim_end());
        }
    }
    let omitted = diff.comparison.omitted;
    if omitted > 0 {
        let rows = plural(omitted as u64, "row");
        let _ = writeln!(text, "{DIM}and {rows} that differ less (--top){DIM:#}");
    }
}
