//! `locktrace top --batch`: a plain table every few seconds.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use comfy_table::{CellAlignment, Table, presets};

use crate::text::human;
use crate::top::render;
use crate::top::snapshot::{Phase, TopSnapshot, Window};
use crate::top::text::{self, now_unix_ns};
use crate::top::trace_source::TraceSource;
use crate::{outcome, output};

/// How long to wait before looking again whether there is something to print.
const PAUSE: Duration = Duration::from_millis(20);

/// Prints as often as is asked for, until the trace ends or the user has seen `enough`. Returns what was printed last.
pub(crate) fn run(
    source: &mut TraceSource,
    interval: Duration,
    number: Option<u64>,
    enough: &AtomicBool,
) -> outcome::Result<Option<Arc<TopSnapshot>>> {
    let mut out = output::machine();
    let (mut printed, mut last) = (0, None);
    let mut next = Instant::now();
    while number.is_none_or(|number| printed < number) {
        let snapshot = loop {
            // Relaxed: it stands for nothing else.
            if enough.load(Ordering::Relaxed) {
                return Ok(last);
            }
            match source.latest()? {
                Some(snapshot) if snapshot.phase == Phase::Ended => break snapshot,
                // Of what was written long ago, only the end is wanted.
                Some(snapshot) if snapshot.phase == Phase::Live && Instant::now() >= next => {
                    break snapshot;
                }
                _ => thread::sleep(PAUSE),
            }
        };
        next = Instant::now() + interval;
        out.write_all(table(&snapshot, now_unix_ns()).as_bytes())?;
        out.flush()?;
        printed += 1;
        let is_last = snapshot.phase == Phase::Ended || out.get_ref().is_closed();
        last = Some(snapshot);
        if is_last {
            break;
        }
    }
    Ok(last)
}

/// The rows of each table.
const ROWS: usize = 20;

/// A snapshot as plain text.
fn table(snapshot: &TopSnapshot, now_unix_ns: u64) -> String {
    let mut text = String::new();
    let phase = text::phase(snapshot, now_unix_ns);
    let _ = writeln!(text, "{}, process {}; {phase}", snapshot.name, snapshot.pid);
    for line in &snapshot.incomplete {
        let _ = writeln!(text, "Incomplete: {line}");
    }
    for hang in &snapshot.hangs {
        let _ = writeln!(text, "HANG: {hang}");
    }
    let _ = writeln!(text, "{}", text::blocked_title(snapshot));
    if !snapshot.blocked.is_empty() {
        let mut table = plain(["For", "Thread", "Waits for", "Held by"], 1);
        for blocked in snapshot.blocked.iter().take(ROWS) {
            table.add_row([
                human::duration(blocked.for_ns),
                blocked.thread.clone(),
                blocked.lock.clone(),
                text::owners(blocked, None),
            ]);
        }
        add(&mut text, &table);
    }
    let window = if snapshot.phase == Phase::Ended {
        Window::Whole
    } else {
        Window::TenSeconds
    };
    let found = &snapshot.tables[window as usize];
    let _ = writeln!(text, "{}", text::table_title(found, window, snapshot.phase));
    if !found.rows.is_empty() {
        let head = [
            "Share",
            "Blocked",
            "Waits",
            "Longest",
            "Lock class",
            "Held by",
            "Blocked in",
        ];
        let mut table = plain(head, 4);
        for row in found.rows.iter().take(ROWS) {
            let share = human::share(row.sums.blocked_ns, found.total.blocked_ns);
            table.add_row([
                human::percent(share),
                human::duration(row.sums.blocked_ns),
                human::count(row.sums.waits),
                human::duration(row.sums.longest_ns),
                row.lock_class.clone(),
                row.owner.clone(),
                render::blocked_in(row),
            ]);
        }
        add(&mut text, &table);
    }
    text.push('\n');
    text
}

/// A table without lines, of which the first columns are `numbers`.
fn plain<const N: usize>(head: [&str; N], numbers: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(head);
    for (at, column) in table.column_iter_mut().enumerate() {
        if at < numbers {
            column.set_cell_alignment(CellAlignment::Right);
        }
        column.set_padding((0, 2));
    }
    table
}

fn add(text: &mut String, table: &Table) {
    for line in table.lines() {
        let _ = writeln!(text, "{}", line.trim_end());
    }
}
