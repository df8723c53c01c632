//! The search for findings, in steps between which questions are answered.

use std::time::{Duration, Instant};

use trace_analysis::{Entities, StillBlocked};
use trace_model::{Finding, Model, Search};

/// What was found last, and the search that goes on.
#[derive(Default)]
pub(super) struct FindingSearch {
    pub(super) found: Vec<Finding>,
    /// Somebody has asked.
    pub(super) are_wanted: bool,
    search: Option<Search>,
    /// How long the search that goes on took so far.
    takes: Duration,
    /// When the last search ended, and how long it took.
    last: Option<(Instant, Duration)>,
    /// How many bytes had been read when it began.
    of_bytes: u64,
    /// What was found is about whole traces.
    pub(super) are_final: bool,
}

/// While traces are read, at most a tenth of the time is spent on findings.
const FINDING_SHARE: u32 = 10;

impl FindingSearch {
    /// Returns whether to begin a search when `bytes` have been read.
    pub(super) fn is_due(&self, bytes: u64) -> bool {
        let is_recent = |(at, took): (Instant, Duration)| at.elapsed() < took * FINDING_SHARE;
        self.search.is_none()
            && self.are_wanted
            && self.of_bytes < bytes
            && !self.last.is_some_and(is_recent)
    }

    /// Begins a search in what was read so far: `bytes`.
    pub(super) fn begin(&mut self, search: Search, bytes: u64) {
        self.search = Some(search);
        self.of_bytes = bytes;
    }

    /// Returns whether a search goes on.
    pub(super) fn goes_on(&self) -> bool {
        self.search.is_some()
    }

    /// Asks one question of the search that goes on; keeps its findings after the last one.
    pub(super) fn step<'b>(
        &mut self,
        model: &mut Model,
        still_blocked: impl Iterator<Item = &'b StillBlocked>,
        entities: &Entities,
    ) {
        let Some(mut search) = self.search.take() else {
            return;
        };
        let start = Instant::now();
        if search.step(model, entities).unwrap_or(false) {
            self.takes += start.elapsed();
            self.search = Some(search);
            return;
        }
        self.found = search.findings(still_blocked, model, entities);
        let takes = std::mem::take(&mut self.takes) + start.elapsed();
        self.last = Some((Instant::now(), takes));
    }
}
