//! The tree of a report: numbers on the left, branches and labels on the right.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};
use trace_analysis::{Aspect, Row, Rows, Sums, Value, WaitKind};

use crate::human;
use crate::kinds::Kinds;
use crate::name::{chain_line, fit, width};
use crate::report::{Part, Report};
use crate::style::{BOLD, DIM};

/// Width of call chains where no terminal sets a limit.
const CHAIN_WIDTH: usize = 120;
/// Precedes the frames of a call chain that stand on lines of their own.
const CALLED_BY: &str = "← ";
/// The least width of labels, even if the line then wraps.
const MIN_LABEL_WIDTH: usize = 24;

/// A line of the tree.
struct Line<'a> {
    /// Share, blocked time, waits, longest wait.
    numbers: [String; 4],
    branches: String,
    label: Label<'a>,
}

enum Label<'a> {
    Row(&'a Row),
    /// A frame of the call chain above.
    Frame(String),
    /// The number of rows left out, and their time in nanoseconds.
    Omitted(usize, u64),
}

/// The rows of a report as a tree.
pub(crate) struct Tree<'a> {
    part: &'a Part,
    report: &'a Report<'a>,
    full_chains: bool,
    lines: Vec<Line<'a>>,
}

impl<'a> Tree<'a> {
    /// Creates the tree of a part of a report, with a line for each frame if `full_chains`.
    pub(crate) fn new(part: &'a Part, report: &'a Report<'a>, full_chains: bool) -> Self {
        let mut tree = Self {
            part,
            report,
            full_chains,
            lines: Vec::new(),
        };
        tree.add(&part.rows, "", true);
        tree
    }

    /// Adds `rows`, whose parent's branches go on as `stem`.
    fn add(&mut self, rows: &'a Rows, stem: &str, is_root: bool) {
        let count = rows.rows.len() + usize::from(rows.omitted > 0);
        for (at, row) in rows.rows.iter().enumerate() {
            let (branches, stem) = grow(stem, at + 1 == count, is_root);
            let numbers = self.numbers(row.sums);
            self.lines.push(Line {
                numbers,
                branches,
                label: Label::Row(row),
            });
            if self.full_chains {
                self.add_frames(row, &stem);
            }
            self.add(&row.children, &stem, false);
        }
        if rows.omitted > 0 {
            let share = human::share(rows.omitted_ns, self.part.totals.all.duration_ns);
            let (branches, _) = grow(stem, true, is_root);
            self.lines.push(Line {
                numbers: [
                    human::percent(share),
                    String::new(),
                    String::new(),
                    String::new(),
                ],
                branches,
                label: Label::Omitted(rows.omitted, rows.omitted_ns),
            });
        }
    }

    fn numbers(&self, sums: Sums) -> [String; 4] {
        let share = human::share(sums.duration_ns, self.part.totals.all.duration_ns);
        [
            human::percent(share),
            human::duration(sums.duration_ns),
            human::count(sums.waits),
            human::duration(sums.max_wait_ns),
        ]
    }

    /// Adds the frames of a call chain but the innermost, which is its label.
    fn add_frames(&mut self, row: &Row, stem: &str) {
        let Value::Chain(chain) = row.value else {
            return;
        };
        let going_on = if row.children.rows.is_empty() {
            ""
        } else {
            "│"
        };
        for label in self.report.entities.frame_labels(chain).into_iter().skip(1) {
            self.lines.push(Line {
                numbers: Default::default(),
                branches: format!("{stem}{going_on:<2}"),
                label: Label::Frame(label),
            });
        }
    }

    /// Appends the lines, no wider than `width_limit`.
    pub(crate) fn render(&self, text: &mut String, width_limit: Option<usize>) {
        let mut numbers = Table::new();
        numbers.load_style(presets::NOTHING);
        // Who waits for work or for time is not blocked.
        let blocked = match self.part.kinds.is_only(WaitKind::Contention) {
            true => "Blocked",
            false => "Waited",
        };
        numbers.set_header(["Share", blocked, "Waits", "Longest"]);
        numbers.add_rows(self.lines.iter().map(|line| &line.numbers));
        for column in numbers.column_iter_mut() {
            column.set_cell_alignment(CellAlignment::Right);
            column.set_padding((0, 2));
        }
        let mut numbers = numbers.lines();

        let header = numbers.next().unwrap_or_default();
        let aspects: Vec<String> = self
            .report
            .aspects
            .iter()
            .map(|aspect| aspect.name().replace('-', " "))
            .collect();
        let _ = writeln!(text, "{BOLD}{header}{}{BOLD:#}", aspects.join(" › "));
        for (line, numbers) in self.lines.iter().zip(numbers) {
            let taken = width(&numbers) + width(&line.branches);
            let room = width_limit.map(|limit| limit.saturating_sub(taken).max(MIN_LABEL_WIDTH));
            let label = self.label(&line.label, room);
            let _ = writeln!(text, "{numbers}{}{label}", dim(&line.branches));
        }
    }

    fn label(&self, label: &Label<'_>, room: Option<usize>) -> String {
        match label {
            Label::Row(row) => {
                let role = role(row, &self.part.kinds);
                let room = room.map(|room| room.saturating_sub(width(role)));
                dim(role) + &self.row_label(row, room)
            }
            Label::Frame(frame) => {
                let room = room.map(|room| room.saturating_sub(width(CALLED_BY)));
                dim(CALLED_BY) + &fit(frame, room)
            }
            Label::Omitted(rows, duration_ns) => dim(&format!(
                "and {} more, {} in all",
                human::count(*rows as u64),
                human::duration(*duration_ns)
            )),
        }
    }

    fn row_label(&self, row: &Row, room: Option<usize>) -> String {
        let entities = self.report.entities;
        let frames = match row.value {
            Value::Chain(chain) => entities.chain(chain).frames(),
            _ => &[],
        };
        match frames {
            [] => fit(&row.label, room),
            [innermost, ..] if self.full_chains => fit(&entities.frame_label(innermost), room),
            _ => {
                let frames = &frames[row.first_frame..];
                chain_line(frames, entities, room.unwrap_or(CHAIN_WIDTH))
            }
        }
    }
}

/// Returns the branches before a row, and those before the rows below it.
fn grow(stem: &str, is_last: bool, is_root: bool) -> (String, String) {
    match (is_root, is_last) {
        (true, _) => (String::new(), String::new()),
        (false, false) => (format!("{stem}├─ "), format!("{stem}│  ")),
        (false, true) => (format!("{stem}└─ "), format!("{stem}   ")),
    }
}

/// Returns the part that the value of `row` had in the contentions.
fn role(row: &Row, kinds: &Kinds) -> &'static str {
    if let Value::Free | Value::Frozen | Value::UnknownOwner(_) | Value::SiteNotSeen = row.value {
        return "";
    }
    let only_locks = kinds.is_only(WaitKind::Contention);
    match row.aspect {
        Aspect::Mechanism | Aspect::Kind | Aspect::LockClass | Aspect::Lock | Aspect::WaitEnd => "",
        Aspect::LockSite | Aspect::LockSiteChain => "allocated by ",
        Aspect::Thread | Aspect::Method | Aspect::Caller | Aspect::Chain => match only_locks {
            true => "blocked ",
            false => "waited ",
        },
        Aspect::OwnerThread
        | Aspect::OwnerMethod
        | Aspect::OwnerCaller
        | Aspect::OwnerChain
        | Aspect::RootOwnerThread
        | Aspect::RootOwnerMethod
        | Aspect::RootLockClass
        | Aspect::Depth
        | Aspect::OwnerActivity
        | Aspect::OwnerSample
        | Aspect::OwnerSampleChain => match (only_locks, kinds.contains(WaitKind::Contention)) {
            (true, _) => "held by ",
            (false, true) => "held or woken by ",
            (false, false) => "woken by ",
        },
    }
}

/// Returns `text` in a style that does not distract.
fn dim(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("{DIM}{text}{DIM:#}")
    }
}
