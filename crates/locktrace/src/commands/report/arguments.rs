//! The arguments of `locktrace report`.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use trace_analysis::{Aspect, PLACEHOLDERS, RowLimits};
use trace_report::Form;

use crate::arguments::aspects::aspect_parser;
use crate::arguments::filter::PATTERNS;
use crate::arguments::threads::ThreadArguments;
use crate::arguments::waits::WaitArguments;

const REPORT_COLUMNS: &str = "\
Columns:
  Share    of the time that all threads together were blocked
  Blocked  the time itself
  Waits    how many waits had a part in it
  Longest  the longest that one wait had

A wait is blamed on the threads that held the lock meanwhile, each for its part. Where nobody held
it, <lock was free>: woken threads were not running yet. In a barging hold, a thread acquired
the lock without waiting while others waited. While the process was stopped or frozen,
<process did not run>. No owner is known
  hand-off         from a release until the next thread is seen to have the lock, where the trace
                   does not tell since when locks are held
  no exit seen     if a thread released the lock before it could see anyone queued
  events lost      where the trace lacks events
  too many owners  in a wait with more owners than are kept
  readers          readers shared the lock; only the last of them writes an event
  not woken        of waits that are no contention: no thread ended it
which is shown as <owner unknown: ...>.

Of conditional waiting, the thread that ended it takes the owner's place. Where threads waited
longer for a condition than for locks, the longest such waits come in a table of their own, unless
--kind says what to show. Waits of idle workers never come there.

Methods are those that use a lock, not those inside of a lock of java.util.concurrent. caller and
owner-caller are the first methods outside of the JDK and of what --library names. Who initializes
a class does so wherever it was first used: the thread is shown instead of the method.

In the place of a name:";

/// What is to say about a report beside its options.
fn report_notes() -> String {
    let mut notes = format!("{PATTERNS}\n\n{REPORT_COLUMNS}");
    for (placeholder, meaning) in PLACEHOLDERS {
        let _ = write!(notes, "\n  {placeholder}\n      {meaning}");
    }
    notes
}

#[derive(Args, Debug)]
#[command(after_long_help = report_notes())]
pub(crate) struct ReportArguments {
    /// Trace files, pipes, or - for standard input; same names in several are added up
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,

    /// Aspects to group contentions by, from the outermost to the innermost
    #[arg(
        long,
        value_name = "ASPECT,...",
        value_delimiter = ',',
        default_value = trace_report::DEFAULT_BY,
        value_parser = aspect_parser(),
    )]
    pub(crate) by: Vec<Aspect>,

    #[command(flatten)]
    pub(crate) waits: WaitArguments,

    /// Show at most N rows of each group, 0 for all [default: 10 in a table, else 0]
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,

    /// Add up rows with less than P percent of the blocked time [default: 0.1 in a table, unless
    /// all rows of a group are that small; else 0]
    #[arg(long, value_name = "P", value_parser = parse_percent)]
    pub(crate) min_share: Option<f64>,

    /// Show all rows
    #[arg(long, conflicts_with_all = ["top", "min_share"])]
    pub(crate) all: bool,

    /// Packages and classes to skip when naming callers
    #[arg(long, value_name = "PREFIX,...", value_delimiter = ',')]
    pub(crate) library: Vec<String>,

    /// Show all frames of call chains, not only the ones that fit on the line
    #[arg(long)]
    pub(crate) full_chains: bool,

    /// Show above the table what owners did while others waited: ran, had no processor, waited
    /// themselves, or were stopped at safepoints. Takes longer
    #[arg(long)]
    pub(crate) activity: bool,

    /// Read on while the file grows, until the trace ends or the JVM does
    #[arg(long)]
    pub(crate) follow: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Table)]
    pub(crate) format: ReportFormat,
}

impl ReportArguments {
    /// The rows wanted.
    pub(crate) fn limits(&self) -> RowLimits {
        self.form().limits(self.top, self.min_share)
    }

    /// The rows wanted of what nobody asked for.
    pub(crate) fn limits_beside(&self) -> RowLimits {
        self.form().limits_beside(self.top, self.min_share)
    }

    fn form(&self) -> Form {
        if self.format == ReportFormat::Table && !self.all {
            Form::ForPeople
        } else {
            Form::Whole
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// A tree for people
    Table,
    /// One JSON object
    Json,
    /// The innermost rows, a column for each aspect
    Csv,
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    match number.parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("expected a number from 0 to 100".to_owned()),
    }
}
