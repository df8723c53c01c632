//! The analysis as a library, for what is too much for a detour over text.

use std::ops::ControlFlow;
use std::path::Path;

use trace_analysis::{Analysis, Entities, Severity, TraceError, TraceFile, TraceSummary, Wait};
use trace_format::{Chunk, Event, Segment, ThreadId};

/// Runs a trace through the analysis.
pub fn analyze(
    trace: &Path,
    mut on_wait: impl FnMut(&Wait, &Entities),
) -> Result<TraceSummary, TraceError> {
    let mut analysis = Analysis::default();
    TraceFile::open(trace)?.analyze(&mut analysis, &mut on_wait, |_| ControlFlow::Continue(()))
}

/// Reads all events of a trace in the order of the file, each with its thread.
///
/// Panics if one cannot be read.
pub fn for_each_event(trace: &Path, mut on_event: impl FnMut(ThreadId, &Event<'_>)) {
    for_each_segment(trace, |segment| {
        for event in segment.events() {
            on_event(segment.thread, &event.expect("the trace is sound"));
        }
    });
}

/// Reads what was in each buffer, in the order of the file.
///
/// Panics if something cannot be read.
pub fn for_each_segment(trace: &Path, mut on_segment: impl FnMut(&Segment<'_>)) {
    let trace = TraceFile::open(trace).unwrap_or_else(|error| panic!("{error}"));
    let mut reader = trace.read().unwrap_or_else(|error| panic!("{error}"));
    while let Some(chunk) = trace
        .next_chunk(&mut reader)
        .expect("the trace is readable")
    {
        if let Chunk::Events(events) = chunk {
            for segment in events.segments() {
                on_segment(&segment.expect("the trace is sound"));
            }
        }
    }
}

/// Panics unless a trace is complete, nothing of it was lost, and the analysis
/// made sense of all of it.
pub fn check_sound(summary: &TraceSummary) {
    let trace = summary.file.path().display();
    assert!(summary.is_whole(), "{trace}: {:?}", summary.damage);
    assert_eq!(summary.lost_events(), 0, "{trace}: lost events");
    for (counter, value) in summary.counters.iter() {
        let expected = value == 0 || counter.severity() == Severity::Normal;
        assert!(expected, "{trace}: {} = {value}", counter.name());
    }
}
