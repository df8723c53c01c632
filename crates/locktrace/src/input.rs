//! The traces that a command works on.

use std::cell::RefCell;
use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use trace_analysis::{
    Analysis, Detail, Entities, Limits, Selection, TraceError, TraceFile, TraceInput, TraceSummary,
    Wait,
};

use crate::view::{Progress, Watcher};

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
        let pid = TraceFile::open(path)?.header().pid;
        let process = PathBuf::from(format!("/proc/{pid}"));
        return TraceInput::follow(path, move || process.exists());
    }
    TraceInput::open(path)
}

/// What the analysis of all traces gives beside the waits.
pub(crate) struct Analyzed {
    pub(crate) entities: Entities,
    pub(crate) summaries: Vec<TraceSummary>,
}

/// Analyzes what `select` selects of traces, one after the other, to find out so much about
/// owners. Ends with the first error of `on_wait`.
pub(crate) fn analyze(
    traces: Vec<TraceInput>,
    detail: Detail,
    select: impl Fn(&TraceInput) -> Result<Selection, TraceError>,
    mut on_wait: impl FnMut(&Wait, &Entities) -> io::Result<()>,
) -> anyhow::Result<Analyzed> {
    let mut analysis = Analysis::new(Limits::default()).with_detail(detail);
    let mut summaries = Vec::new();
    let failure = RefCell::new(None);
    for trace in traces {
        let bar = progress_bar(&trace);
        analysis.select(select(&trace)?);
        let summary = trace.analyze(
            &mut analysis,
            &mut |wait: &Wait, entities: &Entities| {
                let mut failure = failure.borrow_mut();
                if failure.is_none() {
                    *failure = on_wait(wait, entities).err();
                }
            },
            |progress| {
                bar.set_length(progress.total_bytes);
                bar.set_position(progress.bytes);
                match *failure.borrow() {
                    Some(_) => ControlFlow::Break(()),
                    None => ControlFlow::Continue(()),
                }
            },
        );
        bar.finish_and_clear();
        if let Some(failure) = failure.take() {
            return Err(failure.into());
        }
        summaries.push(summary?);
    }
    Ok(Analyzed {
        entities: analysis.into_entities(),
        summaries,
    })
}

/// A bar on standard error for traces that are long together, if a person waits for them.
pub(crate) fn bar() -> Bar {
    Bar(None)
}

/// See [`bar`].
pub(crate) struct Bar(Option<ProgressBar>);

impl Watcher for Bar {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        let bar = self
            .0
            .get_or_insert_with(|| bar_of("traces", Some(progress.total_bytes)));
        bar.set_length(progress.total_bytes);
        bar.set_position(progress.bytes);
        if progress.done {
            bar.finish_and_clear();
        }
        ControlFlow::Continue(())
    }
}

/// A bar on standard error for a long trace, if a person waits for it and does
/// not watch the output scroll by.
fn progress_bar(trace: &TraceInput) -> ProgressBar {
    bar_of(&trace.path().display().to_string(), trace.byte_len())
}

fn bar_of(what: &str, byte_len: Option<u64>) -> ProgressBar {
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
