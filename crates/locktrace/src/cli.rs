//! The command line.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{CommandFactory, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

use crate::commands::attach::{self, AttachArguments, DetachArguments};
use crate::commands::collect::arguments::CollectArguments;
use crate::commands::contentions::arguments::ContentionsArguments;
use crate::commands::convoys::{self, ConvoysArguments};
use crate::commands::diff::arguments::DiffArguments;
use crate::commands::dump::arguments::DumpArguments;
use crate::commands::export::arguments::ExportArguments;
use crate::commands::lock_order::{self, LockOrderArguments};
use crate::commands::metrics::arguments::MetricsArguments;
use crate::commands::query::{self, QueryArguments};
use crate::commands::report::arguments::ReportArguments;
use crate::commands::stat::arguments::StatArguments;
use crate::commands::statistics::arguments::{LocksArguments, ThreadsArguments};
use crate::commands::summary::{self, SummaryArguments};
use crate::commands::top::{self, TopArguments};
use crate::commands::view::{self, ViewArguments};
use crate::commands::what_if::{self, WhatIfArguments};
use crate::commands::{
    collect, contentions, diff, dump, export, metrics, report, stat, statistics,
};
use crate::files::paths;
use crate::outcome::{self, Outcome};
use crate::output;

/// Shows who blocks whom on which lock in a Java application.
///
/// Reads traces that a JVM writes with -XX:+TraceLockContention.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  done, but a trace is incomplete: its end or other parts are missing, the tracer
     dropped events, or events do not fit together; standard error says which
  2  wrong usage
  3  a trace cannot be read, or is not a trace
  4  the output cannot be written
  5  diff found more waiting than --fail-above allows

The exit code is the same if the output goes to a program that does not read all of it.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show where threads were blocked and who held the locks
    Report(ReportArguments),
    /// List every contention: who waited when, for how long, and who held the lock
    Contentions(ContentionsArguments),
    /// List the locks: how often and how long threads waited for each, and how many threads
    Locks(LocksArguments),
    /// List the threads: how often and how long each waited and made others wait
    Threads(ThreadsArguments),
    /// Show which locks are nested in which order, and orders that may deadlock
    LockOrder(LockOrderArguments),
    /// Show locks whose queue does not drain, and threads that were woken for nothing
    Convoys(ConvoysArguments),
    /// Predict how long threads would wait if a lock were removed, split, or held for a shorter time
    WhatIf(WhatIfArguments),
    /// Show what a trace has and what it lacks
    Stat(StatArguments),
    /// List the events of a trace in the order of the file
    Dump(DumpArguments),
    /// Show what to fix first: the code that made threads wait most, and what usually helps
    Summary(SummaryArguments),
    /// Compare lock contention before and after a change, with confidence intervals
    Diff(DiffArguments),
    /// Show traces in the browser: what to fix first, timelines, flame graphs
    #[command(visible_alias = "serve")]
    View(ViewArguments),
    /// Answer one question of the viewer's page about traces, as JSON
    Query(QueryArguments),
    /// Show which threads block which in a running program, and where most time is lost
    Top(TopArguments),
    /// Print sums for monitoring systems, as OpenMetrics or Prometheus text
    Metrics(MetricsArguments),
    /// Trace a running JVM of any vendor, with an agent
    Attach(AttachArguments),
    /// End the trace of an agent
    Detach(DetachArguments),
    /// Write lock contention in the format of another tool: pprof, flame graphs, tables
    Export(ExportArguments),
    /// Move the finished traces of a folder into tables, as a job on every host
    Collect(CollectArguments),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages, one for each command, into a folder
    Man {
        /// The folder
        #[arg(value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
}

impl Command {
    /// Runs the command.
    pub(crate) fn run(self) -> outcome::Result<Outcome> {
        match self {
            Self::Report(arguments) => report::run(&arguments),
            Self::Contentions(arguments) => contentions::run(&arguments),
            Self::Locks(arguments) => statistics::locks(&arguments.figures, &arguments.sort),
            Self::Threads(arguments) => statistics::threads(&arguments.figures, &arguments.sort),
            Self::LockOrder(arguments) => lock_order::run(&arguments),
            Self::Convoys(arguments) => convoys::run(&arguments),
            Self::WhatIf(arguments) => what_if::run(&arguments),
            Self::Stat(arguments) => stat::run(&arguments),
            Self::Dump(arguments) => dump::run(&arguments),
            Self::Summary(arguments) => summary::run(&arguments),
            Self::Diff(arguments) => diff::run(&arguments),
            Self::View(arguments) => view::run(&arguments),
            Self::Query(arguments) => query::run(&arguments),
            Self::Top(arguments) => top::run(&arguments),
            Self::Metrics(arguments) => metrics::run(&arguments),
            Self::Attach(arguments) => attach::attach(&arguments),
            Self::Detach(arguments) => attach::detach(&arguments),
            Self::Export(arguments) => export::run(&arguments),
            Self::Collect(arguments) => collect::run(&arguments),
            Self::Completions { shell } => complete(shell),
            Self::Man { folder } => write_manual(&folder),
        }
    }
}

/// Prints a completion script.
fn complete(shell: Shell) -> outcome::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "locktrace", &mut script);
    let mut out = output::machine();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Outcome::Complete)
}

/// Writes `locktrace.1`, `locktrace-report.1` and so on, made of what `--help` says.
fn write_manual(folder: &Path) -> outcome::Result<Outcome> {
    clap_mangen::generate_to(Cli::command(), folder)
        .map_err(|error| paths::named(folder, &error))?;
    Ok(Outcome::Complete)
}
