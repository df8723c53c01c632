//! The arguments of `locktrace diff`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use trace_analysis::{Aspect, Pattern};

use crate::arguments::aspects::direct_aspect_parser;
use crate::arguments::filter::PATTERNS;
use crate::arguments::threads::ThreadArguments;
use crate::arguments::waits::WaitArguments;

const DIFF_NOTES: &str = "\
Blocked time is compared per second of the run, which is how many threads were blocked on average, or
per unit of work. A row is the same on both sides if its classes and methods are called alike.

The interval says where the difference lies with a probability of 95 %, by how much the runs
themselves vary from one moment to the next. With one run on a side, what runs differ by from start
to start is not in it: give several, if you can. A row is marked (more, less) only if so large a
difference is beyond chance among all rows compared.

In a build, where two more runs of each side stand behind the first:

  locktrace diff before-1.lct after-1.lct --before before-2.lct --before before-3.lct \\
    --after after-2.lct --after after-3.lct --from 10s --fail-above 20%";

#[derive(Args, Debug)]
#[command(after_long_help = format!("{PATTERNS}\n\n{DIFF_NOTES}"))]
pub(crate) struct DiffArguments {
    /// Trace from before the change
    #[arg(value_name = "BEFORE")]
    pub(crate) first_before: PathBuf,

    /// Trace from after the change
    #[arg(value_name = "AFTER")]
    pub(crate) first_after: PathBuf,

    /// One more run from before the change
    #[arg(long = "before", value_name = "TRACE")]
    pub(crate) more_before: Vec<PathBuf>,

    /// One more run from after the change
    #[arg(long = "after", value_name = "TRACE")]
    pub(crate) more_after: Vec<PathBuf>,

    /// Aspects to group contentions by: those with the same values are one row
    #[arg(
        long,
        value_name = "ASPECT,...",
        value_delimiter = ',',
        default_value = "lock-class,owner-method",
        value_parser = direct_aspect_parser(),
    )]
    pub(crate) by: Vec<Aspect>,

    /// Divide by the number of waits of methods that match PATTERN, such as those of a worker for
    /// its next task, in place of seconds. These are of any kind, and not filtered
    #[arg(long, value_name = "waits-of=PATTERN", value_parser = parse_unit)]
    pub(crate) per: Option<Pattern>,

    /// Divide by the units of work done in all runs of a side: one number for both sides, or
    /// BEFORE,AFTER
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        num_args = 1,
        conflicts_with = "per",
        value_parser = parse_work,
    )]
    pub(crate) work: Vec<f64>,

    #[command(flatten)]
    pub(crate) waits: WaitArguments,

    /// Compare the N rows that differ most, 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,

    /// Exit with code 5 if the blocked time grew by more than P percent, or a row by more than P
    /// percent of all blocked time before, beyond what chance explains
    #[arg(long, value_name = "P", value_parser = parse_growth)]
    pub(crate) fail_above: Option<f64>,

    /// Packages and classes to skip when naming callers
    #[arg(long, value_name = "PREFIX,...", value_delimiter = ',')]
    pub(crate) library: Vec<String>,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    /// Output format
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    pub(crate) format: DiffFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// A table for people
    Text,
    /// A table for a pull request
    Markdown,
    /// One JSON object
    Json,
}

/// A growth as a share; it may be beyond all that there was.
fn parse_growth(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    match number.trim_end().parse::<f64>() {
        Ok(percent) if percent >= 0.0 && percent.is_finite() => Ok(percent / 100.0),
        _ => Err("expected a percentage, as 20%".to_owned()),
    }
}

fn parse_unit(text: &str) -> Result<Pattern, String> {
    let Some(pattern) = text.strip_prefix("waits-of=") else {
        return Err("expected waits-of=PATTERN".to_owned());
    };
    pattern
        .parse()
        .map_err(|error: trace_analysis::InvalidPattern| error.to_string())
}

fn parse_work(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(units) if units > 0.0 && units.is_finite() => Ok(units),
        _ => Err("expected a number above 0".to_owned()),
    }
}
