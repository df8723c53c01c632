//! `locktrace top`: what threads wait for while a program runs.

mod batch;
mod photographer;
mod picture;
mod recent;
mod render;
mod source;
mod state;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod trace_source;

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use trace_analysis::TraceInput;

use crate::cli::TopArguments;
use crate::process::ProcessError;
use crate::started_trace::StartedTrace;
use crate::target::Target;
use crate::top::picture::{Phase, Picture};
use crate::top::trace_source::TraceSource;
use crate::view::UsageError;
use crate::{Outcome, input, output, process};

/// `locktrace top`.
pub(crate) fn run(arguments: &TopArguments) -> anyhow::Result<Outcome> {
    if !arguments.batch && !io::stdout().is_terminal() {
        return Err(UsageError("standard output is no terminal: use --batch").into());
    }
    let enough = Arc::default();
    let (trace, started) = open(arguments, &enough)?;
    let kinds = arguments.kinds.or_contention();
    let mut source = TraceSource::start(trace, kinds, arguments.interval);
    let last = if arguments.batch {
        batch::run(&mut source, arguments, &enough)?
    } else {
        terminal::run(&mut source, arguments.interval, &enough)?
    };
    if let Some(started) = started {
        started.stop()?;
    }
    Ok(last.map_or(Outcome::Complete, |picture| outcome(&picture)))
}

/// Opens the trace; one that a JVM has to start first ends when the user has seen enough, by
/// whatever signal.
fn open(
    arguments: &TopArguments,
    enough: &Arc<AtomicBool>,
) -> anyhow::Result<(TraceInput, Option<StartedTrace>)> {
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
fn outcome(last: &Picture) -> Outcome {
    if last.phase != Phase::Ended || last.incomplete.is_empty() {
        return Outcome::Complete;
    }
    for line in &last.incomplete {
        output::complain(&format_args!("{}: {line}", last.name));
    }
    Outcome::Incomplete
}

/// The time by the clock, in nanoseconds since 1970.
fn now_unix_ns() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    since_1970.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
