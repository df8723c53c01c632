//! `locktrace collect`: moves the traces of a folder that have ended into tables.
//!
//! May be ended at any moment, and run again: no trace is deleted before the tables of all are on
//! the disk, and the tables of the same trace are the same.

mod candidate;
mod watermark;

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use trace_analysis::TraceError;

use self::candidate::{Candidate, State};
use self::watermark::Watermark;
use crate::cli::{CollectArguments, WaitArguments};
use crate::destination::Destination;
use crate::export::tables;
use crate::redaction::Redaction;
use crate::selection::{FilterArguments, RangeArguments};
use crate::view::UsageError;
use crate::{Outcome, human, output, problem};

/// What has become of the traces of a folder.
#[derive(Default)]
struct Collected {
    /// Those whose tables are written.
    ended: Vec<Candidate>,
    /// How many of these lack something.
    incomplete: usize,
    /// When those that may still be written began, in nanoseconds since 1970.
    go_on: Vec<u64>,
    copies: usize,
    unreadable: usize,
}

pub(crate) fn run(arguments: &CollectArguments) -> anyhow::Result<Outcome> {
    let begun = SystemTime::now();
    let folder = arguments.folder.as_path();
    let Some(_lock) = lock(folder)? else {
        output::complain(&format_args!(
            "{}: another process collects it",
            folder.display()
        ));
        return Ok(Outcome::Complete);
    };
    if !arguments.redact.rules.is_empty() && arguments.redact.redact_key.is_none() {
        return Err(UsageError(
            "--redact needs --redact-key here: the same trace has to make the same tables",
        )
        .into());
    }
    let redaction = arguments.redact.redaction()?;
    let destination = Destination::new(&arguments.output)?;
    let mut collected = Collected::default();
    for path in traces(folder)? {
        match collect(path, arguments, &redaction, &destination, &mut collected) {
            Err(error) if error.is::<TraceError>() => {
                output::complain(&error);
                collected.unreadable += 1;
            }
            done => done?,
        }
    }
    let watermark = Watermark::new(&arguments.origin.host(), folder)?;
    if collected.unreadable == 0 {
        let go_on = collected.go_on.iter().copied();
        watermark.advance(&destination, begun, go_on.min())?;
    }
    if !(arguments.keep || collected.ended.is_empty()) {
        destination.sync()?;
        collected.ended.iter().try_for_each(Candidate::delete)?;
    }
    let mut out = output::machine();
    writeln!(out, "{}", collected.line(arguments))?;
    out.flush()?;
    Ok(collected.outcome())
}

/// Who has the lock collects the folder. It ends with the process.
fn lock(folder: &Path) -> Result<Option<File>, TraceError> {
    let error = |source| unreadable(folder, source);
    let file = File::open(folder).map_err(error)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(error(source)),
    }
}

/// The files that are called as traces are, in the order of their names. What is a link belongs
/// elsewhere.
fn traces(folder: &Path) -> Result<Vec<PathBuf>, TraceError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|source| unreadable(folder, source))?;
    let files = entries
        .into_iter()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let paths = files.map(|entry| entry.path());
    let mut traces: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "lct"))
        .collect();
    traces.sort();
    Ok(traces)
}

fn unreadable(path: &Path, source: io::Error) -> TraceError {
    TraceError::Io {
        path: path.to_owned(),
        source,
    }
}

/// Writes the tables of a trace that has ended.
fn collect(
    path: PathBuf,
    arguments: &CollectArguments,
    redaction: &Redaction,
    destination: &Destination,
    collected: &mut Collected,
) -> anyhow::Result<()> {
    let (candidate, trace) = Candidate::open(path)?;
    match candidate.state(&trace)? {
        State::Ended => {}
        State::GoesOn => {
            collected.go_on.push(trace.header().start_unix_ns);
            return Ok(());
        }
        State::Copy => {
            collected.copies += 1;
            return Ok(());
        }
    }
    let waits = WaitArguments {
        kinds: arguments.kinds.clone(),
        range: RangeArguments::default(),
        filter: FilterArguments::default(),
    };
    let origin = &arguments.origin;
    let summary = tables::write(trace.input()?, &waits, redaction, destination, origin)?;
    if problem::complain(&[summary]) == Outcome::Incomplete {
        collected.incomplete += 1;
    }
    collected.ended.push(candidate);
    Ok(())
}

impl Collected {
    /// What has become of the traces, for a log.
    fn line(&self, arguments: &CollectArguments) -> String {
        let (ended, done) = match self.ended.len() {
            0 => (0, ""),
            ended if arguments.keep => (ended, ", kept"),
            ended => (ended, " and deleted"),
        };
        format!(
            "{}: {} collected{done}, {} of them incomplete; {} may still be written; {} copied from a trace that went on; {} cannot be read",
            arguments.folder.display(),
            human::plural(ended as u64, "trace"),
            self.incomplete,
            self.go_on.len(),
            self.copies,
            self.unreadable,
        )
    }

    fn outcome(&self) -> Outcome {
        if self.unreadable > 0 {
            Outcome::Unreadable
        } else if self.incomplete > 0 {
            Outcome::Incomplete
        } else {
            Outcome::Complete
        }
    }
}
