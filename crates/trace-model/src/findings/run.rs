//! The traces that conclusions are about.

use trace_analysis::ThreadLife;

/// The first tenth of a run is its start.
const START_PART: u64 = 10;
/// A shorter run is all start-up.
const MIN_RUN_NS: u64 = 5_000_000_000;

/// The traces that conclusions are about.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// How many there are.
    pub traces: usize,
    /// How long they are together, in nanoseconds.
    pub duration_ns: u64,
    /// When the threads of the only trace lived.
    pub lives: &'a [ThreadLife],
}

impl Run<'_> {
    /// Returns when the start is over, in nanoseconds since the trace's start; `None` of a short run, and of several.
    pub(super) fn start_ns(&self) -> Option<u64> {
        let has_start = self.traces == 1 && self.duration_ns >= MIN_RUN_NS;
        has_start.then_some(self.duration_ns / START_PART)
    }
}
