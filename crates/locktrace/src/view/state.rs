//! What has been read of the traces so far.

use std::path::PathBuf;

use trace_analysis::{
    EndedHolds, Entities, Snapshot, StillBlocked, TraceInput, TraceSummary, Wait, WaitSink, WhatIf,
};
use trace_format::{Counter, FileHeader};
use trace_model::{Arrangement, Conclusions, Evidence, Model, Run};

use crate::outcome::Outcome;
use crate::problem;
use crate::view::finding_search::FindingSearch;
use crate::view::progress::Progress;
use crate::view::stored_overview::StoredOverview;

/// What has been read so far.
pub(crate) struct State {
    pub(crate) model: Model,
    /// What findings are made of.
    pub(super) evidence: Evidence,
    /// The traces that were begun.
    pub(crate) opened: Vec<Opened>,
    /// Of the traces that were read to their end.
    pub(crate) summaries: Vec<TraceSummary>,
    pub(crate) progress: Progress,
    pub(crate) arrangement: Arrangement,
    pub(crate) libraries: Vec<String>,
    /// There is a folder with source code.
    pub(crate) has_source: bool,
    /// Who waited for locks at the newest moment of a trace that is still being written.
    pub(super) waiting_now: Option<StillBlocked>,
    pub(super) findings: FindingSearch,
    /// What findings would save is predicted from it. Of several traces it is not.
    pub(super) what_if: Option<WhatIf>,
    /// From an index: then no trace was read.
    pub(super) stored_overview: Option<StoredOverview>,
}

/// A trace that was begun.
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) header: FileHeader,
}

impl Opened {
    pub(super) fn new(trace: &TraceInput) -> Self {
        Self {
            path: trace.path().to_owned(),
            header: trace.header().clone(),
        }
    }
}

impl State {
    /// Returns the state before traces of `bytes` are read.
    pub(super) fn new(
        model: Model,
        bytes: u64,
        arrangement: Arrangement,
        libraries: &[String],
        what_if: Option<WhatIf>,
    ) -> Self {
        Self {
            model,
            evidence: Evidence::new(libraries.to_vec()),
            opened: Vec::new(),
            summaries: Vec::new(),
            progress: Progress {
                bytes: 0,
                total_bytes: bytes,
                live: false,
                done: false,
            },
            arrangement,
            libraries: libraries.to_vec(),
            has_source: false,
            waiting_now: None,
            findings: FindingSearch::default(),
            what_if,
            stored_overview: None,
        }
    }

    /// The threads that waited for locks when their traces ended; of one that is still being
    /// written, those that wait now.
    pub(crate) fn still_blocked(&self) -> impl Iterator<Item = &StillBlocked> {
        still_blocked(&self.summaries, self.waiting_now.as_ref())
    }

    /// Who waits for locks now; `None` if no trace that is being written tells.
    pub(crate) fn waiting_now(&self) -> Option<&StillBlocked> {
        self.waiting_now.as_ref()
    }

    /// Returns what follows, as far as is known: all of it when the traces are read.
    pub(crate) fn conclusions(&mut self, entities: &Entities) -> Conclusions {
        self.findings.are_wanted = true;
        if self.progress.done {
            self.find_the_rest(entities, |_| {});
        }
        self.findings.found.clone()
    }

    /// Finds what to fix in all that was read, and what that would save. Calls `in_between` before
    /// the predictions.
    pub(crate) fn find_the_rest(
        &mut self,
        entities: &Entities,
        mut in_between: impl FnMut(&mut Self),
    ) {
        if self.findings.are_final {
            return;
        }
        self.search(entities);
        in_between(self);
        if let Some(mut what_if) = self.what_if.take() {
            let processors = self.processors();
            let found = &mut self.findings.found;
            found.predict_savings(&mut what_if, processors, entities);
        }
        self.findings.are_final = true;
    }

    /// Looks for findings, if somebody wants them and it is time to.
    pub(crate) fn search_when_due(&mut self, entities: &Entities) {
        if self.findings.is_due(self.progress.bytes) {
            self.search(entities);
        }
    }

    fn search(&mut self, entities: &Entities) {
        let still_blocked = still_blocked(&self.summaries, self.waiting_now.as_ref());
        let lives = match self.summaries.as_slice() {
            [only] => &only.lives[..],
            _ => &[],
        };
        let run = Run {
            traces: self.model.traces().len(),
            duration_ns: self.model.end_ns(),
            lives,
        };
        self.findings.search(self.progress.bytes, || {
            self.evidence.conclude(still_blocked, run, entities)
        });
    }

    /// Returns how many processors the machine had, if the trace has the number.
    fn processors(&self) -> Option<u64> {
        self.summaries.first()?.tracer_value(Counter::Processors)
    }

    /// Returns the overview, if it is known from an index.
    pub(crate) fn stored_overview(&self) -> Option<StoredOverview> {
        let mut overview = self.stored_overview.clone()?;
        overview.keep(self.model.folding(), self.model.is_exact());
        overview.has_source(self.has_source);
        Some(overview)
    }

    /// Says on standard error what each trace lacks.
    pub(crate) fn complain(&self) -> Outcome {
        let Some(overview) = &self.stored_overview else {
            return problem::complain(&self.summaries);
        };
        for opened in &self.opened {
            problem::complain_of(&opened.path, &overview.problems());
        }
        if overview.is_complete() {
            Outcome::Complete
        } else {
            Outcome::Incomplete
        }
    }

    /// A trace that is being written has come so far.
    pub(super) fn has_come_to(&mut self, snapshot: &Snapshot) {
        self.model.goes_on_until(snapshot.complete_until_ns);
        self.waiting_now = Some(snapshot.still_blocked());
    }
}

/// Takes the waits of the traces.
pub(super) struct Sink<'s>(pub(super) &'s mut State);

impl WaitSink for Sink<'_> {
    fn wait(&mut self, wait: &Wait, entities: &Entities) {
        self.0.model.add(wait, entities);
        self.0.evidence.wait(wait, entities);
        if let Some(what_if) = &mut self.0.what_if {
            what_if.wait(wait, entities);
        }
    }

    fn wants_holds(&self) -> bool {
        self.0.what_if.is_some()
    }

    fn holds(&mut self, holds: EndedHolds) {
        if let Some(what_if) = &mut self.0.what_if {
            what_if.holds(holds);
        }
    }
}

fn still_blocked<'s>(
    summaries: &'s [TraceSummary],
    waiting_now: Option<&'s StillBlocked>,
) -> impl Iterator<Item = &'s StillBlocked> + Clone {
    let ended = summaries.iter().map(|summary| &summary.still_blocked);
    ended.chain(waiting_now)
}
