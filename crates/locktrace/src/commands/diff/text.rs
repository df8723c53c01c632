//! A comparison for people.

use std::fmt::Write;

use trace_analysis::TraceSummary;
use trace_comparison::{Amount, Verdict};
use trace_report::facts;
use trace_report::style::{ALARM, BOLD, DIM};

use crate::commands::diff::comparison::Diff;
use crate::commands::diff::quantity::{self, Per};
use crate::text::human::{self, plural};
use crate::text::labelled_table;

pub(super) fn render(diff: &Diff<'_>, width_limit: Option<usize>) -> String {
    let mut text = String::new();
    let comparison = &diff.comparison;
    let (before, after, change) = &comparison.total;
    for (name, side, amount) in [("Before", 0, before), ("After", 1, after)] {
        facts::add(&mut text, name, &side_text(diff, side, amount));
    }
    let interval = quantity::interval(change, before.rate_ns, diff.per);
    let relative = match change.share {
        Some(share) => human::signed_percent(share),
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
    let aspects = diff.aspects.iter();
    let aspects: Vec<String> = aspects
        .map(|aspect| aspect.name().replace('-', " "))
        .collect();
    let rows = diff.comparison.rows.iter().map(|row| labelled_table::Row {
        numbers: vec![
            quantity::verdict(row.change.verdict).to_owned(),
            diff.per.rate(row.before.rate_ns),
            diff.per.rate(row.after.rate_ns),
            quantity::relative(row),
            quantity::interval(&row.change, row.before.rate_ns, diff.per),
        ],
        label: quantity::row_label(row),
        style: match row.change.verdict {
            Verdict::More => ALARM,
            Verdict::Less => BOLD,
            Verdict::Unclear | Verdict::TooShort => DIM,
        },
    });
    let rows: Vec<_> = rows.collect();
    let titles = ["", "Before", "After", "Change", "95 % interval"];
    labelled_table::add(text, &titles, &aspects.join(" › "), &rows, width_limit);
    let omitted = diff.comparison.omitted;
    if omitted > 0 {
        let rows = plural(omitted as u64, "row");
        let _ = writeln!(text, "{DIM}and {rows} that differ less (--top){DIM:#}");
    }
}
