//! The traces that a command works on.

use std::cell::RefCell;
use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use trace_analysis::{
    Analysis, Detail, DivisibleSink, Entities, Limits, Selection, TraceError, TraceFile,
    TraceInput, TraceSummary, Wait,
};

use crate::arguments::threads::ThreadArguments;
use crate::outcome;

/// Shorter files are done before a progress bar could be read.
const LONG_FILE_BYTES: u64 = 32 << 20;

/// Opens all traces, so that none is analyzed if one cannot be.
pub(crate) fn open(paths: &[PathBuf], follow: bool) -> Result<Vec<TraceInput>, TraceError> {
    paths.iter().map(|path| open_one(path, follow)).collect()
}

/// Opens a trace: a file, a pipe, a socket, or standard input for `-`. A file that is followed
/// is read to the end of the trace, or until the user has seen enough.
pub(crate) fn open_one(path: &Path, follow: bool) -> Result<TraceInput, TraceError> {
    if path == Path::new("-") {
        return TraceInput::of_source(Path::new("<stdin>"), io::stdin());
    }
    if follow && path.is_file() {
        return self::follow(path, TraceFile::open(path)?.header().pid);
    }
    TraceInput::open(path)
}

/// Opens a file that is followed to the end of the trace or of the process.
pub(crate) fn follow(path: &Path, pid: u32) -> Result<TraceInput, TraceError> {
    let process = process_of(pid);
    TraceInput::follow(path, move || process.exists())
}

/// A tracer writes something at least once a second; who has not for so long is another program
/// that has got the number of the JVM's process since.
const MAX_SILENCE: Duration = Duration::from_secs(60);

/// Whether this process may write more behind the end that a trace has now.
pub(crate) fn is_being_written(trace: &TraceInput, pid: u32) -> bool {
    let metadata = trace.path().metadata();
    let modified = metadata.and_then(|metadata| metadata.modified());
    // A time to come is recent, too.
    let is_silent = modified.map_or(true, |time| {
        time.elapsed().is_ok_and(|ago| ago > MAX_SILENCE)
    });
    trace.byte_len().is_some() && process_of(pid).exists() && !is_silent
}

/// Of a trace that is written all the time, so much may be unread by one who keeps up.
pub(crate) const MAX_UNREAD_BYTES: u64 = 4 << 20;

/// How long a trace is now that may grow, in bytes; 0 if nobody knows.
pub(crate) fn len_now(trace: &TraceInput) -> u64 {
    match trace.path().metadata() {
        Ok(metadata) if metadata.is_file() => metadata.len(),
        _ => 0,
    }
}

fn process_of(pid: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}"))
}

/// What an analysis is to find out.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// So much about owners.
    pub(crate) detail: Detail,
    /// What owners did, too.
    pub(crate) owner_times: bool,
}

impl Wanted {
    fn analysis(self) -> Analysis {
        let analysis = Analysis::new(Limits::default()).with_detail(self.detail);
        match self.owner_times {
            true => analysis.with_owner_times(),
            false => analysis,
        }
    }
}

impl From<Detail> for Wanted {
    fn from(detail: Detail) -> Self {
        Self {
            detail,
            owner_times: false,
        }
    }
}

/// What the analysis of all traces gives beside the waits.
pub(crate) struct Analyzed {
    pub(crate) entities: Entities,
    pub(crate) summaries: Vec<TraceSummary>,
}

/// Analyzes what `select` selects of traces, one after the other, to find out so much about
/// owners. Ends with the first error of `on_wait`, which gets the waits in order.
pub(crate) fn analyze(
    traces: Vec<TraceInput>,
    detail: Detail,
    select: impl Fn(&TraceInput) -> Result<Selection, TraceError>,
    mut on_wait: impl FnMut(&Wait, &Entities) -> io::Result<()>,
) -> outcome::Result<Analyzed> {
    let failure = RefCell::new(None);
    let mut sink = |wait: &Wait, entities: &Entities| {
        let mut failure = failure.borrow_mut();
        if failure.is_none() {
            *failure = on_wait(wait, entities).err();
        }
    };
    let mut analysis = Wanted::from(detail).analysis();
    let summaries = analyze_each(&mut analysis, traces, select, |trace, analysis, bar| {
        let summary = trace.analyze(analysis, &mut sink, |progress| {
            show(progress, bar);
            match *failure.borrow() {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        });
        match failure.take() {
            Some(failure) => Err(failure.into()),
            None => Ok(summary?),
        }
    })?;
    Ok(Analyzed {
        entities: analysis.into_entities(),
        summaries,
    })
}

/// The same with several threads, for waits in any order.
pub(crate) fn analyze_with(
    traces: Vec<TraceInput>,
    threads: ThreadArguments,
    wanted: impl Into<Wanted>,
    select: impl Fn(&TraceInput) -> Result<Selection, TraceError>,
    sink: &mut impl DivisibleSink,
) -> outcome::Result<Analyzed> {
    let mut analysis = wanted.into().analysis();
    let summaries = analyze_into(&mut analysis, traces, threads, select, sink)?;
    Ok(Analyzed {
        entities: analysis.into_entities(),
        summaries,
    })
}

/// The same with what an analysis knows of other traces.
pub(crate) fn analyze_into(
    analysis: &mut Analysis,
    traces: Vec<TraceInput>,
    threads: ThreadArguments,
    select: impl Fn(&TraceInput) -> Result<Selection, TraceError>,
    sink: &mut impl DivisibleSink,
) -> outcome::Result<Vec<TraceSummary>> {
    analyze_each(analysis, traces, select, |trace, analysis, bar| {
        let threads = threads.count(trace.byte_len());
        let summary = trace.analyze_with(threads, analysis, sink, |progress| {
            show(progress, bar);
            ControlFlow::Continue(())
        });
        Ok(summary?)
    })
}

fn analyze_each(
    analysis: &mut Analysis,
    traces: Vec<TraceInput>,
    select: impl Fn(&TraceInput) -> Result<Selection, TraceError>,
    mut run: impl FnMut(TraceInput, &mut Analysis, &ProgressBar) -> outcome::Result<TraceSummary>,
) -> outcome::Result<Vec<TraceSummary>> {
    let mut summaries = Vec::new();
    for trace in traces {
        let bar = progress_bar(&trace);
        analysis.select(select(&trace)?);
        let summary = run(trace, analysis, &bar);
        bar.finish_and_clear();
        summaries.push(summary?);
    }
    Ok(summaries)
}

fn show(progress: trace_analysis::Progress, bar: &ProgressBar) {
    bar.set_length(progress.total_bytes);
    bar.set_position(progress.bytes);
}

/// A bar on standard error for a long trace, if a person waits for it and does
/// not watch the output scroll by.
fn progress_bar(trace: &TraceInput) -> ProgressBar {
    bar_of(&trace.path().display().to_string(), trace.byte_len())
}

/// Returns a bar for that many bytes; a hidden one where nobody would see it.
pub(crate) fn bar_of(what: &str, byte_len: Option<u64>) -> ProgressBar {
    let person_waits = io::stderr().is_terminal() && byte_len >= Some(LONG_FILE_BYTES);
    if !person_waits {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_msg} {bar:30} {percent:>3} %  {eta} left")
        .expect("a valid template");
    ProgressBar::no_length()
        .with_style(style)
        .with_message(format!("Analyzing {what}"))
}
