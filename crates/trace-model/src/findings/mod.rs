//! Finds what to fix first.
//!
//! A finding is about code that held locks of one class while others waited for them. Its [`pattern`]
//! decides what it says and which remedy it names.

mod candidate;
mod confidence;
mod deadlock;
mod facts;
mod finding;
mod pattern;
mod saving;
mod wall;

use trace_analysis::{Entities, StillBlocked, ThreadIndex, WaitKind};

use self::candidate::{Answers, Asking, Candidate};
use crate::hash::SeededSet;
use crate::model::Model;
use crate::scope::run_time_ns;
use crate::selection::QuestionError;

pub use deadlock::{DeadlockRecord, DeadlockedThread, ThreadBehind, deadlocks};
pub use finding::{Code, Finding, FindingConfidence, Named, Saving, WaitingCode};
pub use saving::sort_by_saving;

/// The most findings: a person reads no more.
const MAX_FINDINGS: usize = 5;

/// A search for what to fix first, question by question, so that a caller can do other work in
/// between.
pub struct Search {
    contention: Option<Asking>,
    conditional: Option<Asking>,
    /// Threads that deadlocks block: no other code is to blame for their last waits.
    stuck: SeededSet<ThreadIndex>,
}

impl Search {
    /// Creates a search. `still_blocked` has the threads that waited when the traces ended.
    pub fn new<'a>(still_blocked: impl Iterator<Item = &'a StillBlocked>) -> Self {
        Self {
            contention: None,
            conditional: None,
            stuck: deadlock::stuck_threads(still_blocked),
        }
    }

    /// Asks the next question. Returns `false` if there are no more.
    ///
    /// # Errors
    ///
    /// Never because of the caller.
    pub fn step(&mut self, model: &mut Model, entities: &Entities) -> Result<bool, QuestionError> {
        let new = |model: &Model, kind| Asking::new(model, kind, entities);
        let contention = self
            .contention
            .get_or_insert_with(|| new(model, WaitKind::Contention));
        if contention.ask(model, &self.stuck, entities)? {
            return Ok(true);
        }
        if self.conditional.is_none() && !candidate::wants_conditional(model) {
            return Ok(false);
        }
        let conditional = self
            .conditional
            .get_or_insert_with(|| new(model, WaitKind::Conditional));
        conditional.ask(model, &self.stuck, entities)
    }

    /// Returns the findings once there are no more questions, the most important first. `still_blocked`
    /// has the threads that waited when the traces ended.
    pub fn findings<'a>(
        self,
        still_blocked: impl Iterator<Item = &'a StillBlocked>,
        model: &mut Model,
        entities: &Entities,
    ) -> Vec<Finding> {
        let answers = |asking: Option<Asking>| asking.and_then(|asking| asking.answers(model));
        let contention = answers(self.contention);
        let deadlocks = deadlocks(still_blocked, entities);
        let others_ns = contention.as_ref().map(Answers::duration_ns);
        let others_ns = others_ns.unwrap_or_default();
        let mut findings = deadlock::findings(&deadlocks, others_ns, model.end_ns());
        if let Some(contention) = contention {
            let conditional = answers(self.conditional);
            let stuck_ns = deadlock::blocked_ns(&deadlocks);
            let candidates =
                candidate::candidates(model, &contention, stuck_ns, conditional.as_ref());
            let mut rest: Vec<_> = candidates.iter().map(Candidate::finding).collect();
            rest.sort_by_key(|finding| std::cmp::Reverse(finding.duration_ns));
            rest.truncate(MAX_FINDINGS.saturating_sub(findings.len()));
            model.prepare(entities, true);
            for finding in &mut rest {
                finding.measure_wall_time(model, &self.stuck);
            }
            findings.append(&mut rest);
        }
        findings.truncate(MAX_FINDINGS);
        findings
    }
}

impl Finding {
    /// Takes the wall time from the parts of waits, if they are known.
    fn measure_wall_time(&mut self, model: &Model, stuck: &SeededSet<ThreadIndex>) {
        let Some(wall_ns) = wall::exact_ns(model, &self.selection, stuck) else {
            return;
        };
        let run_ns = run_time_ns(model, &self.selection);
        self.wall_share = wall_ns as f64 / run_ns.max(1) as f64;
        self.mean_waiters = self.duration_ns.ns() as f64 / wall_ns.max(1) as f64;
        self.wall_ns = wall_ns;
        self.wall_exact = true;
    }
}

impl Model {
    /// Finds what to fix first, the most important first. `still_blocked` has the
    /// threads that waited when the traces ended.
    ///
    /// # Errors
    ///
    /// Never because of the caller.
    pub fn findings<'a>(
        &mut self,
        still_blocked: impl Iterator<Item = &'a StillBlocked> + Clone,
        entities: &Entities,
    ) -> Result<Vec<Finding>, QuestionError> {
        let mut search = Search::new(still_blocked.clone());
        while search.step(self, entities)? {}
        Ok(search.findings(still_blocked, self, entities))
    }
}
