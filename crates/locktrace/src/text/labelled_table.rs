//! Tables of numbers with a label at the end of each row, which may be longer than any line.

use std::fmt::Write;

use anstyle::Style;
use comfy_table::{CellAlignment, Table, presets};
use trace_report::name::{fit, width};
use trace_report::style::BOLD;

/// With less room beside the numbers, a label stands on a line of its own.
const MIN_LABEL_WIDTH: usize = 40;

/// A row.
pub(crate) struct Row {
    /// As many as there are titles.
    pub(crate) numbers: Vec<String>,
    pub(crate) label: String,
    pub(crate) style: Style,
}

/// Adds a table; `titles` are those of the numbers. What has no title is no number.
pub(crate) fn add(
    text: &mut String,
    titles: &[&str],
    label_title: &str,
    rows: &[Row],
    width_limit: Option<usize>,
) {
    let mut numbers = Table::new();
    numbers.load_style(presets::NOTHING);
    numbers.set_header(titles);
    for row in rows {
        numbers.add_row(&row.numbers);
    }
    for (at, column) in numbers.column_iter_mut().enumerate() {
        if !titles[at].is_empty() {
            column.set_cell_alignment(CellAlignment::Right);
        }
        column.set_padding((0, 2));
    }
    let mut numbers = numbers.lines();
    let header = numbers.next().unwrap_or_default();
    let room = width_limit.map(|limit| limit.saturating_sub(width(&header)));
    let is_beside = room.is_none_or(|room| room >= MIN_LABEL_WIDTH);
    if is_beside {
        let _ = writeln!(text, "{BOLD}{header}{label_title}{BOLD:#}");
    } else {
        let header = header.trim_end();
        let _ = writeln!(
            text,
            "{BOLD}{header}{BOLD:#}\n{BOLD}  {label_title}{BOLD:#}"
        );
    }
    for (row, numbers) in rows.iter().zip(numbers) {
        let (style, label) = (row.style, &row.label);
        if is_beside {
            let label = fit(label, room);
            let _ = writeln!(text, "{style}{numbers}{style:#}{label}");
        } else {
            let indented = width_limit.map(|limit| limit.saturating_sub(2));
            let label = fit(label, indented);
            let _ = writeln!(text, "{style}{}{style:#}\n  {label}", numbers.trim_end());
        }
    }
}
