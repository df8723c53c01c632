//! A comparison for a pull request.

use std::fmt::Write;

use trace_comparison::{Change, Verdict};
use trace_report::name::printable;

use crate::commands::diff::comparison::Diff;
use crate::commands::diff::quantity::{self, Per};
use crate::text::human;

pub(super) fn render(diff: &Diff<'_>) -> String {
    let mut text = String::new();
    let comparison = &diff.comparison;
    let (before, after, change) = &comparison.total;
    let per = match diff.per {
        Per::Second => "per second",
        Per::Unit => "per unit of work",
    };
    let relative = match change.share {
        Some(share) => human::signed_percent(share),
        None => diff.per.difference(change.rate_ns),
    };
    let _ = writeln!(
        text,
        "**Lock contention: {relative}** ({}) blocked time {per}{}\n",
        quantity::interval(change, before.rate_ns, diff.per),
        remark(change),
    );
    let aspects = diff.aspects.iter();
    let aspects: Vec<String> = aspects
        .map(|aspect| aspect.name().replace('-', " "))
        .collect();
    let _ = writeln!(
        text,
        "| {} | Before | After | Change | 95 % interval | |",
        aspects.join(" | ")
    );
    let _ = writeln!(
        text,
        "|{}---:|---:|---:|---:|---|",
        "---|".repeat(aspects.len())
    );
    let all = std::iter::once("**all**".to_owned());
    let none = std::iter::repeat_n(String::new(), aspects.len() - 1);
    let rest = [
        diff.per.rate(before.rate_ns),
        diff.per.rate(after.rate_ns),
        relative,
        quantity::interval(change, before.rate_ns, diff.per),
        quantity::verdict(change.verdict).to_owned(),
    ];
    add_row(&mut text, all.chain(none).chain(rest));
    for row in &comparison.rows {
        let names = row.values.iter().map(|value| code(&value.label));
        add_row(
            &mut text,
            names.chain([
                diff.per.rate(row.before.rate_ns),
                diff.per.rate(row.after.rate_ns),
                quantity::relative(row),
                quantity::interval(&row.change, row.before.rate_ns, diff.per),
                quantity::verdict(row.change.verdict).to_owned(),
            ]),
        );
    }
    if comparison.omitted > 0 {
        let rows = human::plural(comparison.omitted as u64, "row");
        let _ = writeln!(text, "\n{rows} that differ less are left out.");
    }
    for regression in &diff.regressions {
        let _ = writeln!(text, "\n**Above the limit**: {}", escaped(regression));
    }
    text
}

fn remark(change: &Change) -> &'static str {
    match change.verdict {
        Verdict::More | Verdict::Less => "",
        Verdict::Unclear => ", which may be chance",
        Verdict::TooShort => "; the runs are too short to tell more",
    }
}

fn add_row(text: &mut String, cells: impl Iterator<Item = String>) {
    for cell in cells {
        let _ = write!(text, "| {cell} ");
    }
    text.push_str("|\n");
}

/// A name, which is anything that a program calls something.
fn code(name: &str) -> String {
    let name = printable(name).replace('|', "\\|");
    let longest_run = name
        .split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let quote = "`".repeat(longest_run + 1);
    let room = if longest_run > 0 { " " } else { "" };
    format!("{quote}{room}{name}{room}{quote}")
}

/// Text in which no name is taken for markup.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(
            character,
            '<' | '>' | '*' | '_' | '`' | '[' | ']' | '\\' | '|'
        ) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
