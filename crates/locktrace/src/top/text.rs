//! Texts that the terminal's view and the plain tables share.

use std::time::{SystemTime, UNIX_EPOCH};

use trace_report::name::width;

use crate::text::human::{self, plural};
use crate::top::snapshot::{Blocked, ChainEnd, Phase, Table, TopSnapshot, Window};

/// Returns the owner of the lock, the owner that this one waits for, and so on, in at most this number of columns if
/// there is a limit: those in the middle give way first.
pub(super) fn owners(blocked: &Blocked, max_width: Option<usize>) -> String {
    let names: Vec<&str> = blocked
        .owners
        .iter()
        .map(|owner| owner.thread.as_str())
        .collect();
    let end = match blocked.end {
        ChainEnd::Runs => "",
        ChainEnd::Unknown if names.is_empty() => return "<not known>".to_owned(),
        ChainEnd::Unknown => " → ?",
        ChainEnd::OtherThread if names.is_empty() => return "<another thread>".to_owned(),
        ChainEnd::OtherThread => " → <another thread>",
        ChainEnd::Deadlock => " DEADLOCK",
        ChainEnd::Cut => " → …",
    };
    let whole = names.join(" → ") + end;
    let fits = |text: &str| max_width.is_none_or(|max_width| width(text) <= max_width);
    match names.as_slice() {
        [first, middle @ .., root] if !fits(&whole) => {
            let more = if middle.is_empty() {
                String::new()
            } else {
                format!("+{} → ", middle.len())
            };
            let short = format!("{first} → {more}{root}{end}");
            if fits(&short) {
                short
            } else {
                format!("… → {root}{end}")
            }
        }
        _ => whole,
    }
}

/// What is said of the time that a table is about.
pub(super) fn table_title(table: &Table, window: Window, phase: Phase) -> String {
    let duration = human::duration(table.duration_ns());
    let of_trace = if phase == Phase::Ended {
        " of the trace"
    } else {
        ""
    };
    let time = match window {
        Window::Whole if phase == Phase::Ended => format!("in the whole trace, {duration}"),
        Window::Whole => format!("since tracing began, {duration}"),
        _ => format!("in the last {duration}{of_trace}"),
    };
    let threads = human::share(table.total.blocked_ns, table.duration_ns());
    let rest = match table.rest.blocked_ns {
        0 => String::new(),
        rest_ns => format!(", {} of it in rows left out", human::duration(rest_ns)),
    };
    format!(
        "Blocked {time}: {} in {}, mean {threads:.1} threads{rest}",
        human::duration(table.total.blocked_ns),
        plural(table.total.waits, "wait"),
    )
}

/// How many threads are blocked, and how many wait for another thread.
pub(super) fn blocked_title(snapshot: &TopSnapshot) -> String {
    let all = snapshot.blocked.len() + snapshot.blocked_omitted;
    let for_locks = all.saturating_sub(snapshot.wait_otherwise);
    let threads = plural(for_locks as u64, "thread");
    let others = match snapshot.wait_otherwise {
        0 => String::new(),
        1 => "; 1 waits for another thread".to_owned(),
        others => format!("; {} wait for another thread", human::count(others as u64)),
    };
    match snapshot.phase {
        Phase::Ended => format!("Blocked when the trace ended: {threads}{others}"),
        Phase::CatchingUp { .. } => format!("Blocked then: {threads}{others}"),
        Phase::Live => format!("Blocked now: {threads}{others}"),
    }
}

/// How far the trace has been read, and when that was.
pub(super) fn phase(snapshot: &TopSnapshot, now_unix_ns: u64) -> String {
    let at = human::wall_clock(snapshot.until_unix_ns);
    let until = human::duration(snapshot.until_ns);
    match snapshot.phase {
        Phase::CatchingUp {
            read_bytes,
            total_bytes,
        } => {
            let share = human::percent(human::share(read_bytes, total_bytes));
            format!("reading, {share}: {until} until {at}")
        }
        Phase::Live => {
            let age = human::duration(now_unix_ns.saturating_sub(snapshot.until_unix_ns));
            format!("live: {until} until {at}, {age} ago")
        }
        Phase::Ended => format!("the trace has ended: {until} until {at}"),
    }
}

/// The time by the clock, in nanoseconds since 1970.
pub(super) fn now_unix_ns() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    since_1970.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
