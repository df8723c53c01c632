//! What to fix first, in words.

use std::fmt::Write as _;
use std::io::Write as _;

use clap::{Args, ValueEnum};
use trace_analysis::WaitKind;
use trace_model::{Arrangement, Code, Finding, Saving};
use trace_report::facts;
use trace_report::name::printable;
use trace_report::style::{BOLD, DIM};

use crate::outcome::{self, Outcome};
use crate::text::human::{count, duration, percent, plural};
use crate::view::answer::Question;
use crate::view::loader::Loader;
use crate::view::progress_bar::progress_bar;
use crate::view::state::State;
use crate::view::traces::{ModelArguments, open, targets};
use crate::{output, problem};

const SUMMARY_NOTES: &str = "\
At most five findings, deadlocks first, then those that would save most. Each is of a pattern:
  deadlock                 threads block each other for good
  long-hold                a lock is held for long
  many-short-holds         it is held for short times, but so often that others have to queue
  convoy                   the same, and most of the time goes into waking the next thread
  one-global-lock          one lock object serializes many methods
  many-locks-of-one-class  the lock is divided already
  notify-storm             threads woken from Object.wait queue up for the lock again
  writer-behind-readers    readers hold the lock together while a writer waits
  taking-turns             threads park until others like them, which park too, unpark them
  pool-too-small           threads wait until others like them give something back
  class-initialization     threads wait for a static initializer

A finding saves the time by which threads would wait less for all locks if its code held the lock
for no time. Replays of the trace predict it (see what-if); the most, the mean and the least of them
are shown. Findings that are not about a lock have no prediction, nor have those of several traces.

The wall time of a finding is the time in which at least one of its waits went on, times the share
of them that its code caused.

Waiting for another thread or for a pool counts if it took longer than waiting for locks. Idle
workers never count.";

#[derive(Args, Debug)]
#[command(after_long_help = SUMMARY_NOTES)]
pub(crate) struct SummaryArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,

    /// Output format
    #[arg(long, value_enum, default_value_t = SummaryFormat::Text)]
    pub(crate) format: SummaryFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryFormat {
    /// Sentences for people
    Text,
    /// One JSON object
    Json,
}

/// Lines are not longer than that, however wide the terminal.
const MAX_WIDTH: usize = 100;
const TITLE_INDENT: usize = 3;
const VALUE_INDENT: usize = 13;

/// Returns text for people, for a terminal of `width` columns.
pub(crate) fn render(state: &State, findings: &[Finding], width: Option<usize>) -> String {
    let mut text = String::new();
    for summary in &state.summaries {
        facts::add_trace(&mut text, summary);
    }
    let totals = state.model.totals(WaitKind::Contention);
    let waits = plural(totals.waits, "wait");
    let blocked = format!("{} in {waits}", duration(totals.duration_ns));
    facts::add(&mut text, "Blocked", &blocked);
    facts::add_frozen(
        &mut text,
        state.model.confidence().frozen_ns,
        totals.duration_ns,
    );
    if findings.is_empty() {
        text.push_str("\nNo code made others wait long enough to be worth a finding.\n");
    }
    let width = width.unwrap_or(MAX_WIDTH).clamp(40, MAX_WIDTH);
    for (number, finding) in (1..).zip(findings) {
        add_finding(&mut text, number, finding, width);
    }
    text
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
    line(
        text,
        "waits",
        &format!(
            "{} of {}, half of them at most {}, 99 % at most {}, longest {}",
            count(finding.waits),
            plural(finding.threads, "thread"),
            duration(finding.p50_ns),
            duration(finding.p99_ns),
            duration(finding.max_ns),
        ),
    );
    let start_up = if finding.start_up_only {
        "; at the start only"
    } else {
        ""
    };
    let about = if finding.wall_exact { "" } else { "about " };
    line(
        text,
        "wall time",
        &format!(
            "{about}{} with anybody waiting, {:.1} threads at once{start_up}",
            percent(finding.wall_share),
            finding.mean_waiters,
        ),
    );
    if let Some(saving) = &finding.saving {
        line(
            text,
            "saves",
            &wrapped(&savings(saving), width, VALUE_INDENT),
        );
    }
    line(text, "pattern", finding.pattern);
    line(text, "sure", finding.confidence.level);
    for note in &finding.confidence.notes {
        line(text, "", &wrapped(note, width, VALUE_INDENT));
    }
    line(text, "helps", &wrapped(finding.remedy, width, VALUE_INDENT));
}

/// What it would save if the code held the lock for no time, as replays of the trace find.
fn savings(saving: &Saving) -> String {
    let until = match saving.until_ns {
        Some(until_ns) => format!(" in the first {}", duration(until_ns)),
        None => String::new(),
    };
    let share = |share: f64| percent(share.max(0.0));
    format!(
        "at most {} of all waiting for locks{until} ({} on average, {} at least)",
        share(saving.share_at_most),
        share(saving.share),
        share(saving.share_at_least),
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
    let _ = writeln!(text, "{:TITLE_INDENT$}{DIM}{name:<9}{DIM:#} {value}", "");
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

/// `locktrace summary`.
pub(crate) fn run(arguments: &SummaryArguments) -> outcome::Result<Outcome> {
    let traces = open(&targets(&arguments.model))?;
    let arrangement = Arrangement::OneAfterTheOther;
    let loader = Loader::new(traces, arrangement, &arguments.model.library);
    let mut loaded = loader.load(&mut progress_bar())?;
    match arguments.format {
        SummaryFormat::Text => {
            let findings = loaded.state.findings(&loaded.entities);
            output::print(&render(&loaded.state, &findings, output::terminal_width()))?;
        }
        SummaryFormat::Json => {
            let answer = loaded.state.answer(&Question::Overview, &loaded.entities)?;
            let mut out = output::machine();
            out.write_all(answer.as_bytes())?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
    }
    Ok(problem::complain(&loaded.state.summaries))
}
