//! `locktrace collect`: moves the traces of a folder that have ended into tables.
//!
//! May be ended at any moment, and run again: no trace is deleted before the tables of all are on
//! the disk, and the tables of the same trace are the same.

pub(crate) mod arguments;
mod candidate;
mod watermark;

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use trace_analysis::TraceError;
use trace_export::tables::Coverage;

use self::candidate::{Candidate, Content, State, unreadable};
use self::watermark::{Watermark, digest};
use crate::arguments::filter::FilterArguments;
use crate::arguments::range::RangeArguments;
use crate::arguments::waits::WaitArguments;
use crate::commands::collect::arguments::CollectArguments;
use crate::commands::export::tables;
use crate::files::destination::Destination;
use crate::outcome::{self, Failure, Outcome, UsageError};
use crate::redaction::Redaction;
use crate::text::human;
use crate::{output, problem};

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
    /// Those of whose runs the tables have more.
    parts: Vec<Candidate>,
    /// Files that hold no trace, and why.
    no_traces: Vec<(Candidate, String)>,
    unreadable: usize,
}

pub(crate) fn run(arguments: &CollectArguments) -> outcome::Result<Outcome> {
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
    let host = arguments.origin.host();
    let destination = Destination::owned(&arguments.output, &owner(&host, folder)?)?;
    let watermark = Watermark::new(&host, folder)?;
    // They take space, no more.
    if let Err(error) = destination.remove_leftovers(watermark.folder_of_host()) {
        output::complain(&error);
    }
    let mut collected = Collected::default();
    for path in traces(folder)? {
        match collect(path, arguments, &redaction, &destination, &mut collected) {
            Err(error) if is_of_no_file(&error) => {}
            Err(error) if error.downcast_ref::<TraceError>().is_some() => {
                output::complain(&error);
                collected.unreadable += 1;
            }
            done => done?,
        }
    }
    if collected.unreadable == 0 {
        let go_on = collected.go_on.iter().copied();
        watermark.advance(&destination, begun, go_on.min())?;
    }
    if !(arguments.keep || collected.ended.is_empty()) {
        destination.sync()?;
        collected.ended.iter().try_for_each(Candidate::delete)?;
    }
    collected.set_aside(arguments.keep)?;
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

/// What is written says by this whose it is: only this process, which has the lock, writes as it.
/// Folders of two containers may have one path.
fn owner(host: &str, folder: &Path) -> Result<String, TraceError> {
    let error = |source| unreadable(folder, source);
    let path = folder.canonicalize().map_err(error)?;
    let metadata = fs::metadata(&path).map_err(error)?;
    let (device, inode) = (metadata.dev(), metadata.ino());
    Ok(digest(&format!(
        "{host}\n{device}\n{inode}\n{}",
        path.display()
    )))
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

/// Somebody has removed it meanwhile.
fn is_of_no_file(error: &Failure) -> bool {
    let error = error.downcast_ref::<TraceError>();
    error.is_some_and(
        |error| matches!(error, TraceError::Io { source, .. } if source.kind() == ErrorKind::NotFound),
    )
}

/// Writes the tables of a trace that has ended.
fn collect(
    path: PathBuf,
    arguments: &CollectArguments,
    redaction: &Redaction,
    destination: &Destination,
    collected: &mut Collected,
) -> outcome::Result<()> {
    let candidate = Candidate::find(path)?;
    let trace = match candidate.open()? {
        Content::Trace(trace) => trace,
        Content::NoTrace(reason) if candidate.is_of_a_killed_process() => {
            collected.no_traces.push((candidate, reason));
            return Ok(());
        }
        Content::NoTrace(_) => {
            collected.go_on.push(candidate.earliest_start_unix_ns());
            return Ok(());
        }
    };
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
    // Of a copy that was torn, there may be the whole.
    let may_replace = |name: &Path, found: Coverage| {
        if found.is_complete() {
            return Ok(true);
        }
        let there = destination.read(name)?.and_then(Coverage::read);
        Ok(there.is_none_or(|there| there <= found))
    };
    let origin = &arguments.origin;
    let trace = trace.input()?;
    let summary = tables::write(trace, &waits, redaction, destination, origin, may_replace)?;
    let Some(summary) = summary else {
        collected.parts.push(candidate);
        return Ok(());
    };
    if problem::complain(&[summary]) == Outcome::Incomplete {
        collected.incomplete += 1;
    }
    collected.ended.push(candidate);
    Ok(())
}

impl Collected {
    /// Says which files were not collected and never will be, and gives them other names, so that the
    /// next one who collects does not look at them.
    fn set_aside(&self, keep: bool) -> io::Result<()> {
        let parts = self.parts.iter();
        let parts = parts.map(|part| (part, "the tables have more of its run"));
        let no_traces = self.no_traces.iter();
        let no_traces = no_traces.map(|(file, reason)| (file, reason.as_str()));
        for (file, reason) in parts.chain(no_traces) {
            let path = file.path().display();
            let aside = if keep { None } else { file.set_aside()? };
            match aside {
                Some(aside) => {
                    let aside = aside.display();
                    output::complain(&format_args!("{path}: {reason}; set aside as {aside}"));
                }
                None => output::complain(&format_args!("{path}: {reason}")),
            }
        }
        Ok(())
    }

    /// What has become of the traces, for a log.
    fn line(&self, arguments: &CollectArguments) -> String {
        let (ended, done) = match self.ended.len() {
            0 => (0, ""),
            ended if arguments.keep => (ended, ", kept"),
            ended => (ended, " and deleted"),
        };
        format!(
            "{}: {} collected{done}, {} of them incomplete; {} may still be written; {} copied from a trace that went on; {} of whose runs the tables have more; {} hold no trace; {} cannot be read",
            arguments.folder.display(),
            human::plural(ended as u64, "trace"),
            self.incomplete,
            self.go_on.len(),
            self.copies,
            self.parts.len(),
            self.no_traces.len(),
            self.unreadable,
        )
    }

    fn outcome(&self) -> Outcome {
        if self.unreadable > 0 {
            Outcome::Unreadable
        } else if self.incomplete > 0 || !self.no_traces.is_empty() {
            Outcome::Incomplete
        } else {
            Outcome::Complete
        }
    }
}
