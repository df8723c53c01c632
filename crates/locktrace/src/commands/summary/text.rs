//! The summary in words.

use std::fmt::Write as _;

use trace_analysis::WaitKind;
use trace_model::{
    Code, Finding, Kept, OnProcessor, OtherWaits, OwnerPlace, Quiet, Saving, UnexplainedThreads,
};
use trace_report::name::printable;
use trace_report::style::{BOLD, DIM};
use trace_report::{facts, still_waiting};

use super::summarize::Summary;
use crate::text::human::{count, duration, factor, percent, plural};

/// Lines are not longer than that, however wide the terminal.
const MAX_WIDTH: usize = 100;
const TITLE_INDENT: usize = 3;
const VALUE_INDENT: usize = 14;
/// A larger factor says no more than that hardly anything is left to do.
const MEANINGFUL_SPEEDUP: f64 = 20.0;
/// Processors are not scarce if owners wait for them for a smaller share of the time.
const MIN_RUN_DELAY: f64 = 0.01;

/// Returns text for people, for a terminal of `width` columns.
pub(super) fn render(summary: &Summary, width: Option<usize>) -> String {
    let found = &summary.conclusions;
    let mut text = String::new();
    for trace in &summary.traces {
        facts::add_trace(&mut text, trace);
    }
    let totals = summary.totals(WaitKind::Contention);
    let waits = plural(totals.waits, "wait");
    let blocked = format!("{} in {waits}", duration(totals.duration_ns));
    facts::add(&mut text, "Blocked", &blocked);
    facts::add_frozen(&mut text, found.frozen_ns, totals.duration_ns);
    still_waiting::write(&mut text, &summary.traces, &summary.entities);
    let width = width.unwrap_or(MAX_WIDTH).clamp(40, MAX_WIDTH);
    if let Some(quiet) = &found.quiet {
        add_quiet(&mut text, quiet, width);
    } else if found.findings.is_empty() {
        text.push_str("\nNo code made others wait long enough to be worth a finding.\n");
    }
    for (number, finding) in (1..).zip(&found.findings) {
        add_finding(&mut text, number, finding, width);
    }
    if found.quiet.is_some() && found.findings.is_empty() {
        add_other_waits(&mut text, &found.other_waits, width);
    }
    add_unexplained(&mut text, &found.unexplained, width);
    text
}

fn add_quiet(text: &mut String, quiet: &Quiet, width: usize) {
    let blocked = match quiet.threads {
        0 => "no thread was blocked".to_owned(),
        threads => format!(
            "{} blocked for {} in all, in {} of the run",
            match threads {
                1 => "1 thread was".to_owned(),
                more => format!("{} threads were", count(more)),
            },
            duration(quiet.blocked_ns.ns()),
            percent(quiet.wall_share),
        ),
    };
    let start_up = match quiet.only_start_up {
        true => ", too little of it after start-up",
        false => "",
    };
    let title = wrapped(
        &format!("No lock is worth changing: {blocked}{start_up}."),
        width,
        0,
    );
    let _ = writeln!(text, "\n{BOLD}{title}{BOLD:#}");
}

/// What threads waited for that is no lock.
fn add_other_waits(text: &mut String, other_waits: &[OtherWaits], width: usize) {
    if other_waits.is_empty() {
        return;
    }
    text.push_str("\nThreads waited for something else:\n");
    for waits in other_waits {
        let for_what = match waits.lock_class.as_str() {
            "" => String::new(),
            class => format!(" for {class}"),
        };
        let what = format!(
            "{} in {} of {}, longest in {}{for_what} ({})",
            duration(waits.duration_ns.ns()),
            plural(waits.waits, "wait"),
            plural(waits.threads, "thread"),
            waits.place,
            duration(waits.place_ns.ns()),
        );
        let name = match waits.kind {
            "conditional" => "for threads",
            "idle" => "for work",
            "join" => "for ends",
            _ => "for time",
        };
        line(text, name, &wrapped(&what, width, VALUE_INDENT));
    }
}

/// Threads of which the trace says little.
fn add_unexplained(text: &mut String, unexplained: &[UnexplainedThreads], width: usize) {
    if unexplained.is_empty() {
        return;
    }
    text.push_str(
        "\nUnexplained time: running, sleeping, in input or output, or in Object.wait:\n",
    );
    for group in unexplained {
        let what = format!(
            "{} of {} in {}",
            percent(group.share()),
            duration(group.lived_ns.ns()),
            plural(group.threads, "thread"),
        );
        let line = wrapped(
            &format!("{}: {what}", printable(&group.name)),
            width,
            TITLE_INDENT,
        );
        let _ = writeln!(text, "{:TITLE_INDENT$}{line}", "");
    }
}

fn add_finding(text: &mut String, number: usize, finding: &Finding, width: usize) {
    let title = wrapped(&printable(&finding.title), width, TITLE_INDENT);
    let _ = writeln!(text, "\n{BOLD}{number}. {title}{BOLD:#}");
    if let Some(owner) = &finding.owner {
        // Of a wait for something else than a lock, the owner is who ended it.
        let is_contention = finding.selection.kinds.is_empty();
        let role = if is_contention { "held at" } else { "woken at" };
        line(text, role, place(owner));
        called_from(text, owner);
    }
    if !finding.owner_callers.is_empty() {
        let callers = places(&finding.owner_callers);
        line(text, "called by", &wrapped(&callers, width, VALUE_INDENT));
    }
    if !finding.kept_by.is_empty() {
        line(text, "kept by", &kept_by(finding, width));
    }
    if !finding.owner_places.is_empty() {
        line(text, "owner in", &owner_places(finding, width));
    }
    if let Some(bounds) = &finding.owner_on_processor {
        let ran = wrapped(&on_processor(bounds), width, VALUE_INDENT);
        line(text, "owner ran", &ran);
    }
    for waiter in &finding.waiters {
        let waits = plural(waiter.waits, "wait");
        let time = duration(waiter.duration_ns.ns());
        line(
            text,
            "waited at",
            &format!("{}, {time} in {waits}", place(&waiter.code)),
        );
        called_from(text, &waiter.code);
    }
    let listed = finding.waiters.len() as u64;
    if !finding.waiters.is_empty() && finding.waiter_sites > listed {
        let more = plural(finding.waiter_sites - listed, "more method");
        line(text, "", &format!("and {more}"));
    }
    for through in &finding.through {
        let behind = format!(
            "{} of it for {}, whose owner {} waited for this lock itself",
            duration(through.duration_ns.ns()),
            through.lock_class.label,
            through.owner.label,
        );
        line(text, "behind", &wrapped(&behind, width, VALUE_INDENT));
    }
    add_figures(text, finding, width);
    line(text, "pattern", finding.pattern);
    line(text, "confidence", finding.confidence.level);
    for note in &finding.confidence.notes {
        line(text, "", &wrapped(note, width, VALUE_INDENT));
    }
    line(
        text,
        "remedy",
        &wrapped(finding.remedy, width, VALUE_INDENT),
    );
}

fn places(places: &[OwnerPlace]) -> String {
    let places = places.iter();
    let places = places.map(|it| format!("{} ({})", it.place, percent(it.share)));
    places.collect::<Vec<_>>().join(", ")
}

/// For how long users of a pool kept what they had waited for.
fn kept_by(finding: &Finding, width: usize) -> String {
    let users = finding.kept_by.iter().map(|it| {
        let times = plural(it.times, "time");
        format!(
            "{} for {} on average (seen {times})",
            it.by,
            duration(it.mean_ns)
        )
    });
    wrapped(&users.collect::<Vec<_>>().join(", "), width, VALUE_INDENT)
}

/// Where the owner was, by samples of its stack.
fn owner_places(finding: &Finding, width: usize) -> String {
    let places = places(&finding.owner_places);
    let sampled = match finding.owner_sampled {
        ..0.5 => format!(
            "; sampled in {} of its time",
            percent(finding.owner_sampled)
        ),
        _ => String::new(),
    };
    wrapped(&(places + &sampled), width, VALUE_INDENT)
}

/// Whether the owner was on a processor, by the system's counters.
fn on_processor(bounds: &OnProcessor) -> String {
    let (least, most) = (percent(bounds.least), percent(bounds.most));
    let waited = match bounds.run_delay_least {
        ..MIN_RUN_DELAY => String::new(),
        share => format!(", and waited for one for {} at least", percent(share)),
    };
    format!("on a processor for {least} to {most} of this time{waited}")
}

fn add_figures(text: &mut String, finding: &Finding, width: usize) {
    let waits = format!(
        "{} of {}, median {}, 99th percentile {}, longest {}",
        count(finding.waits),
        plural(finding.threads, "thread"),
        duration(finding.p50_ns),
        duration(finding.p99_ns),
        duration(finding.max_ns),
    );
    line(text, "waits", &wrapped(&waits, width, VALUE_INDENT));
    let start_up = match finding.start_up_only {
        true => "; during start-up only",
        false => "",
    };
    let about = if finding.wall_exact { "" } else { "about " };
    let run = format!(
        "{about}{} of the run with at least one thread waiting, {:.1} on average{start_up}",
        percent(finding.wall_share),
        finding.mean_waiters,
    );
    line(text, "wall time", &wrapped(&run, width, VALUE_INDENT));
    match finding.unreliable {
        Some("waits-itself") => line(
            text,
            "saves",
            "unknown: this code mostly waits for another lock meanwhile, see there",
        ),
        Some(_) => line(
            text,
            "saves",
            "unknown: replays of the trace do not reproduce its waiting",
        ),
        None => {}
    }
    if let Some(saving) = &finding.saving {
        line(
            text,
            "saves",
            &wrapped(
                &savings(saving, finding.kept_by.first()),
                width,
                VALUE_INDENT,
            ),
        );
    }
}

/// What it would save if the code did its work after the release, as replays of the trace find; of a pool, if the one that
/// keeps longest what it borrows did so.
fn savings(saving: &Saving, keeper: Option<&Kept>) -> String {
    let what = match saving.speedup_of {
        "latency" => "the time of these threads",
        _ => "the time for the same work",
    };
    let slices = match saving.replayed_share < 1.0 {
        true => format!(
            "; {} of the time was replayed",
            percent(saving.replayed_share)
        ),
        false => String::new(),
    };
    if saving.speedup > MEANINGFUL_SPEEDUP {
        return format!(
            "nearly all of {what}: these threads do hardly anything but wait for this lock{slices}"
        );
    }
    format!(
        "{} of {what}{}: {} as fast ({} to {}), and {} of all waiting for locks{}{slices}",
        percent((1.0 - 1.0 / saving.speedup).max(0.0)),
        keeper.map_or(
            " if this code did its work after the release".to_owned(),
            |it| format!(" if {} gave it back at once", it.by)
        ),
        factor(saving.speedup),
        factor(saving.speedup_least),
        factor(saving.speedup_most),
        percent(saving.share.max(0.0)),
        keeper.map_or("", |_| " and pools"),
    )
}

/// Where code stands, as far as that is known.
fn place(code: &Code) -> &str {
    if code.frame.is_empty() {
        &code.label
    } else {
        &code.frame
    }
}

fn called_from(text: &mut String, code: &Code) {
    if !code.called_from.is_empty() {
        line(text, "", &format!("called from {}", code.called_from));
    }
}

fn line(text: &mut String, name: &str, value: &str) {
    let lines: Vec<String> = value.split('\n').map(printable).collect();
    let value = lines.join("\n");
    let _ = writeln!(text, "{:TITLE_INDENT$}{DIM}{name:<10}{DIM:#} {value}", "");
}

/// Breaks lines between words; all but the first begin with `indent` spaces.
fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let width = width - indent;
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("one at least");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines.join(&format!("\n{:indent$}", ""))
}
