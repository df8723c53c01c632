//! The arguments of `locktrace locks` and `locktrace threads`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use crate::arguments::filter::PATTERNS;
use crate::arguments::threads::ThreadArguments;
use crate::arguments::waits::WaitArguments;
use crate::commands::statistics::rows::{lock_keys, thread_keys};

/// What `locks` and `threads` have in common.
#[derive(Args, Debug)]
pub(crate) struct FiguresArguments {
    /// Trace files, pipes, or - for standard input; same names in several are added up
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) waits: WaitArguments,

    /// Show at most N rows, 0 for all [default: 20 in a table, else 0]
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,

    /// Show all columns in a table
    #[arg(long)]
    pub(crate) wide: bool,

    /// Read on while the file grows, until the trace ends or the JVM does
    #[arg(long)]
    pub(crate) follow: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    /// Output format
    #[arg(long, value_enum, default_value_t = FiguresFormat::Table)]
    pub(crate) format: FiguresFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FiguresFormat {
    /// A table for people
    Table,
    /// One JSON object
    Json,
    /// Comma-separated values
    Csv,
}

const FIGURES_COLUMNS: &str = "\
Columns:
  Blocked    how long threads waited, all waits together
  Waits      how many waits that were; Shortest, Mean, Deviation (standard), Median, 95 % and 99 %
             (that part of the waits was at most as long, to 3 percent) and Longest are of these
  Free       how much of the time nobody held the lock: woken threads were not running yet
  Unknown    how much of the time the owner is not known
  Holds      how often the lock was released (of a thread: how often it released one) while others
             waited for it, whichever waits are selected; Mean hold, Longest hold and so on are of
             these, from the acquisition on, but for the Untimed ones: the trace does not tell when
             they began, mostly because nobody waited then. Of the Averaged ones it has means only
A wait of which --from, --to or a filter leaves a part counts as long as that.";

const LOCKS_COLUMNS: &str = "\
  Waiting    how many threads waited for the lock
  Owning     how many owned it meanwhile (of --kind conditional: how many ended the waits)";

const THREADS_COLUMNS: &str = "\
  Locks      how many locks the thread waited for
  Owners     how many threads owned them meanwhile
  Caused     how long others waited while the thread owned the lock. Parts is the number of waits;
             Mean part and Longest part are of these
  Blocking   how many threads these were";

#[derive(Args, Debug)]
#[command(after_long_help = format!("{PATTERNS}\n\n{FIGURES_COLUMNS}\n{LOCKS_COLUMNS}"))]
pub(crate) struct LocksArguments {
    #[command(flatten)]
    pub(crate) figures: FiguresArguments,

    /// The column to sort by, as JSON calls it: most first
    #[arg(
        long,
        value_name = "COLUMN",
        default_value = "blocked_ns",
        value_parser = PossibleValuesParser::new(lock_keys()),
    )]
    pub(crate) sort: String,
}

#[derive(Args, Debug)]
#[command(after_long_help = format!("{PATTERNS}\n\n{FIGURES_COLUMNS}\n{THREADS_COLUMNS}"))]
pub(crate) struct ThreadsArguments {
    #[command(flatten)]
    pub(crate) figures: FiguresArguments,

    /// The column to sort by, as JSON calls it: most first
    #[arg(
        long,
        value_name = "COLUMN",
        default_value = "blocked_ns",
        value_parser = PossibleValuesParser::new(thread_keys()),
    )]
    pub(crate) sort: String,
}
