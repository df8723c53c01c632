//! The analysis as a library, for what is too much for a detour over text.

use std::ops::ControlFlow;
use std::path::Path;

use trace_analysis::{Analysis, Entities, Severity, TraceError, TraceFile, TraceSummary, Wait};
use trace_format::{Chunk, Event, ThreadId};

/// Runs a trace through the analysis.
pub fn analyze(
    trace: &Path,
    on_wait: impl FnMut(&Wait, &Entities),
) -> Result<TraceSummary, TraceError> {
    let mut analysis = Analysis::default();
    TraceFile::open(trace)?.analyze(&mut analysis, on_wait, |_| ControlFlow::Continue(()))
}

/// Reads all events of a trace in the order of the file, each with its thread.
///
/// Panics if one cannot be read.
pub fn for_each_event(trace: &Path, mut on_event: impl FnMut(ThreadId, &Event<'_>)) {
    let trace = TraceFile::open(trace).unwrap_or_else(|error| panic!("{error}"));
    let mut reader = trace.read().unwrap_or_else(|error| panic!("{error}"));
    while let Some(chunk) = trace
        .next_chunk(&mut reader)
        .expect("the trace is readable")
    {
        let Chunk::Events(events) = chunk else {
            continue;
        };
        for segment in events.segments() {
            let segment = segment.expect("the trace is sound");
            for event in segment.events() {
                on_event(segment.thread, &event.expect("the trace is sound"));
            }
        }
    }
}

/// Panics unless a trace is complete, nothing of it was lost, and the analysis
/// made sense of all of it.
pub fn check_sound(summary: &TraceSummary) {
    let trace = summary.file.path().display();
    assert!(summary.is_complete(), "{trace}: {:?}", summary.damage);
    assert_eq!(summary.lost_events(), 0, "{trace}");
    for (counter, value) in summary.counters.iter() {
        let expected = value == 0 || counter.severity() == Severity::Normal;
        assert!(expected, "{trace}: {} = {value}", counter.name());
    }
}
