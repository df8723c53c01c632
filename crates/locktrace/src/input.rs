//! The traces that a command works on.

use std::cell::RefCell;
use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use trace_analysis::{
    Analysis, Detail, Entities, Limits, Selection, TraceError, TraceFile, TraceSummary, Wait,
};

/// Shorter files are done before a progress bar could be read.
const LONG_FILE_BYTES: u64 = 32 << 20;

/// Opens all traces, so that none is analyzed if one cannot be.
pub(crate) fn open(paths: &[PathBuf]) -> Result<Vec<TraceFile>, TraceError> {
    paths.iter().map(|path| TraceFile::open(path)).collect()
}

/// What the analysis of all traces gives beside the waits.
pub(crate) struct Analyzed {
    pub(crate) entities: Entities,
    pub(crate) summaries: Vec<TraceSummary>,
}

/// Analyzes what `select` selects of traces, one after the other, to find out so much about
/// owners. Ends with the first error of `on_wait`.
pub(crate) fn analyze(
    traces: &[TraceFile],
    detail: Detail,
    select: impl Fn(&TraceFile) -> Result<Selection, TraceError>,
    mut on_wait: impl FnMut(&Wait, &Entities) -> io::Result<()>,
) -> anyhow::Result<Analyzed> {
    let mut analysis = Analysis::new(Limits::default()).with_detail(detail);
    let mut summaries = Vec::new();
    let failure = RefCell::new(None);
    for trace in traces {
        let bar = progress_bar(trace);
        analysis.select(select(trace)?);
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

/// A bar on standard error for a long trace, if a person waits for it and does
/// not watch the output scroll by.
fn progress_bar(trace: &TraceFile) -> ProgressBar {
    let person_waits = io::stderr().is_terminal() && trace.byte_len() >= LONG_FILE_BYTES;
    if !person_waits {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_msg} {bar:30} {percent:>3} %  {eta} left")
        .expect("a valid template");
    ProgressBar::no_length()
        .with_style(style)
        .with_message(format!("Analyzing {}", trace.path().display()))
}
