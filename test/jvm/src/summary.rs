//! The analysis as a library, for what is too much for a detour over text.

use std::ops::ControlFlow;
use std::path::Path;

use trace_analysis::{Analysis, Entities, Severity, TraceError, TraceFile, TraceSummary, Wait};

/// Runs a trace through the analysis.
pub fn analyze(
    trace: &Path,
    on_wait: impl FnMut(&Wait, &Entities),
) -> Result<TraceSummary, TraceError> {
    let mut analysis = Analysis::default();
    TraceFile::open(trace)?.analyze(&mut analysis, on_wait, |_| ControlFlow::Continue(()))
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
