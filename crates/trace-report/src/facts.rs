//! Lines of a name and a fact, at the top of text for people.

use std::fmt::Write;

use trace_analysis::{TimeRange, TraceSummary, WaitKind};
use trace_format::Counter;

use crate::human;
use crate::name::printable;
use crate::problem;
use crate::style::{ALARM, BOLD};

/// Adds one line.
pub fn add(text: &mut String, name: &str, fact: &str) {
    let _ = writeln!(text, "{BOLD}{name:<11}{BOLD:#} {fact}");
}

/// Adds the part of the blocked time in which the process did not run, if any.
pub fn add_frozen(text: &mut String, frozen_ns: u64, blocked_ns: u64) {
    if frozen_ns == 0 {
        return;
    }
    let frozen = format!(
        "{}, {} of the blocked time: the process did not run",
        human::duration(frozen_ns),
        human::percent(human::share(frozen_ns, blocked_ns)),
    );
    add(text, "Frozen", &frozen);
}

/// Adds the origin of a trace, and what it lacks.
pub fn add_trace(text: &mut String, summary: &TraceSummary) {
    let header = summary.file.header();
    let path = summary.file.path().display();
    let duration = human::duration(summary.duration_ns);
    let start = human::wall_clock(header.start_unix_ns);
    add(text, "Trace", &format!("{path}, {duration} from {start}"));
    if summary.range != TimeRange::default() {
        let until_ns = summary.range.until_ns.min(summary.duration_ns);
        let (from, until) = (summary.range.from_ns.min(until_ns), until_ns);
        let considered = format!("{} to {}", human::duration(from), human::duration(until));
        add(text, "Considered", &considered);
    }
    add(
        text,
        "JVM",
        &format!("{}, process {}", printable(&header.jvm), header.pid),
    );
    for omission in header.capabilities.omissions() {
        add(text, "Left out", omission);
    }
    // The JVM's own threads without work wait from the start on.
    let has_purpose = |_, kind| kind != WaitKind::Idle;
    let begun_before = summary.waits.sum(has_purpose).begun_before;
    if begun_before > 0 {
        let waits = human::plural(begun_before, "wait");
        add(
            text,
            "Cut off",
            &format!("{waits} had begun before the trace, and count from its start"),
        );
    }
    let untold = summary.tracer_value(Counter::UntoldWaits).unwrap_or(0);
    if untold > 0 {
        let waits = human::plural(untold, "wait");
        let missing = format!("{waits} that had begun before the trace are not in it");
        add(text, "Left out", &missing);
    }
    for problem in problem::lines(summary) {
        let _ = writeln!(text, "{ALARM}{:<11} {problem}{ALARM:#}", "Incomplete");
    }
}
