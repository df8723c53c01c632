//! `locktrace top`: what threads wait for while a program runs.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use trace_analysis::TraceInput;

use crate::arguments::waits::KindArguments;
use crate::jvm::process::{self, ProcessError};
use crate::jvm::started_trace::StartedTrace;
use crate::jvm::target::Target;
use crate::outcome::{self, Outcome, UsageError};
use crate::top::snapshot::{Phase, TopSnapshot};
use crate::top::trace_source::TraceSource;
use crate::top::{batch, terminal};
use crate::{input, output};

const TOP_NOTES: &str = "\
The upper table lists the threads that wait for a lock, each with the owner, the owner that this one
waits for, and so on. It shows the last moment for which the trace is complete, at most about a
second ago. The lower table shows the time that threads were blocked recently, by the class of the
lock and the method that held it; a wait is added when it ends.

Once a trace has ended, the upper table lists the threads that were still blocked, and the lower
one shows the last seconds, or the whole trace.

Press ? for the keys. Set NO_COLOR to turn colours off.";

#[derive(Args, Debug)]
#[command(after_long_help = TOP_NOTES)]
pub(crate) struct TopArguments {
    /// JVM, trace that is being written or has ended, pipe, or - for standard input
    #[arg(value_name = "PID|TRACE")]
    pub(crate) target: PathBuf,

    #[command(flatten)]
    pub(crate) kinds: KindArguments,

    /// Where the trace goes if the JVM has to start one [default: a temporary file]
    #[arg(long, value_name = "FILE")]
    pub(crate) trace_file: Option<PathBuf>,

    /// Seconds between two updates
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = parse_interval)]
    pub(crate) interval: Duration,

    /// Print plain tables, and end when the trace does
    #[arg(long)]
    pub(crate) batch: bool,

    /// End after N tables
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        requires = "batch",
        value_parser = clap::value_parser!(u64).range(1..),
    )]
    pub(crate) number: Option<u64>,
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    const SECONDS: std::ops::RangeInclusive<f64> = 0.1..=3600.0;
    match text.parse() {
        Ok(seconds) if SECONDS.contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("expected a number of seconds from 0.1 to 3600".to_owned()),
    }
}

/// `locktrace top`.
pub(crate) fn run(arguments: &TopArguments) -> outcome::Result<Outcome> {
    if !arguments.batch && !io::stdout().is_terminal() {
        return Err(UsageError("standard output is no terminal: use --batch").into());
    }
    let enough = Arc::default();
    let (trace, started) = open(arguments, &enough)?;
    let kinds = arguments.kinds.or_contention();
    let mut source = TraceSource::start(trace, kinds, arguments.interval);
    let last = if arguments.batch {
        batch::run(&mut source, arguments.interval, arguments.number, &enough)?
    } else {
        terminal::run(&mut source, arguments.interval, &enough)?
    };
    if let Some(started) = started {
        started.stop()?;
    }
    Ok(last.map_or(Outcome::Complete, |snapshot| outcome(&snapshot)))
}

/// Opens the trace; one that a JVM has to start first ends when the user has seen enough, by
/// whatever signal.
fn open(
    arguments: &TopArguments,
    enough: &Arc<AtomicBool>,
) -> outcome::Result<(TraceInput, Option<StartedTrace>)> {
    let pid = match Target::of(&arguments.target) {
        Target::Trace(_) if arguments.trace_file.is_some() => {
            return Err(UsageError("--trace-file is for a process that is not traced yet").into());
        }
        Target::Trace(path) => return Ok((input::open_one(&path, true)?, None)),
        Target::Process(pid) => pid,
    };
    match process::trace_of(pid) {
        Ok(path) => Ok((input::follow(&path, pid)?, None)),
        Err(ProcessError::DoesNotTrace(_)) => {
            for signal in [SIGHUP, SIGINT, SIGTERM] {
                signal_hook::flag::register(signal, Arc::clone(enough))?;
            }
            let started = StartedTrace::start(pid, arguments.trace_file.as_deref())?;
            Ok((input::follow(started.path(), pid)?, Some(started)))
        }
        Err(error) => Err(error.into()),
    }
}

/// Says on standard error what a trace lacks that has ended.
fn outcome(last: &TopSnapshot) -> Outcome {
    if last.phase != Phase::Ended || last.incomplete.is_empty() {
        return Outcome::Complete;
    }
    for line in &last.incomplete {
        output::complain(&format_args!("{}: {line}", last.name));
    }
    Outcome::Incomplete
}
