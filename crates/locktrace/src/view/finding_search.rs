//! What follows from what was read so far.

use std::time::{Duration, Instant};

use trace_model::Conclusions;

/// What was found last, and when to look again.
#[derive(Default)]
pub(super) struct FindingSearch {
    pub(super) found: Conclusions,
    /// Somebody has asked.
    pub(super) are_wanted: bool,
    /// When the last search ended, and how long it took.
    last: Option<(Instant, Duration)>,
    /// How many bytes had been read then.
    of_bytes: u64,
    /// What was found is about whole traces.
    pub(super) are_final: bool,
}

/// While traces are read, at most a tenth of the time is spent on findings.
const FINDING_SHARE: u32 = 10;

impl FindingSearch {
    /// Returns whether to search when `bytes` have been read.
    pub(super) fn is_due(&self, bytes: u64) -> bool {
        let is_recent = |(at, took): (Instant, Duration)| at.elapsed() < took * FINDING_SHARE;
        self.are_wanted && self.of_bytes < bytes && !self.last.is_some_and(is_recent)
    }

    /// Keeps what `search` finds in what was read so far: `bytes`.
    pub(super) fn search(&mut self, bytes: u64, search: impl FnOnce() -> Conclusions) {
        let start = Instant::now();
        self.found = search();
        self.of_bytes = bytes;
        self.last = Some((Instant::now(), start.elapsed()));
    }
}
