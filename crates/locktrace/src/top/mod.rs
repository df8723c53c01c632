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
use std::time::{SystemTime, UNIX_EPOCH};

use crate::cli::TopArguments;
use crate::target::Target;
use crate::top::picture::{Phase, Picture};
use crate::top::trace_source::TraceSource;
use crate::view::UsageError;
use crate::{Outcome, input, output};

/// `locktrace top`.
pub(crate) fn run(arguments: &TopArguments) -> anyhow::Result<Outcome> {
    let target = Target::of(&arguments.target);
    let path = target.trace()?;
    if !arguments.batch && !io::stdout().is_terminal() {
        return Err(UsageError("standard output is no terminal: use --batch").into());
    }
    let trace = match target {
        Target::Process(pid) => input::follow(&path, pid)?,
        Target::Trace(_) => input::open_one(&path, true)?,
    };
    let kinds = arguments.kinds.or_contention();
    let mut source = TraceSource::start(trace, kinds, arguments.interval);
    let last = if arguments.batch {
        batch::run(&mut source, arguments)?
    } else {
        terminal::run(&mut source, arguments.interval)?
    };
    Ok(last.map_or(Outcome::Complete, |picture| outcome(&picture)))
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
