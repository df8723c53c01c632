//! What to fix first.
//!
//! A finding is about the code that held locks of one class while others waited for
//! them. Which [`pattern`] it is decides what is said about it, and what usually
//! helps.

mod candidate;
mod confidence;
mod deadlock;
mod facts;
mod pattern;
mod saving;
mod wall;

use serde::Serialize;
use trace_analysis::{Entities, StillBlocked, ThreadIndex, WaitKind};

use self::candidate::{Answers, Asking, Candidate};
use crate::hash::SeededSet;
use crate::model::Model;
use crate::scope::run_time_ns;
use crate::selection::{QuestionError, Selection};
use crate::sum::Sum;

pub use deadlock::{DeadlockRecord, DeadlockedThread, ThreadBehind, deadlocks};
pub use saving::{Saving, sort_by_saving};

/// The most that a person reads.
const MAX_FINDINGS: usize = 5;

/// Something to fix.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Stands for the same finding in every analysis.
    pub id: String,
    /// The name of its pattern.
    pub pattern: &'static str,
    /// What is the matter, in one sentence.
    pub title: String,
    /// What usually helps.
    pub remedy: &'static str,
    /// The class of the locks.
    pub lock_class: Named,
    /// The code that held them; `None` if no thread is known to have done so.
    pub owner: Option<Code>,
    /// The code that waited, that with the most time first; three at most.
    pub waiters: Vec<WaitingCode>,
    /// How many methods waited.
    pub waiter_sites: u64,
    /// The time waited because of it, in nanoseconds.
    pub duration_ns: Sum,
    /// Its share of all such waiting, 0 to 1.
    pub share: f64,
    /// The time in which anybody waited because of it, in nanoseconds.
    pub wall_ns: u64,
    /// That is the time of the parts that it is about. Else it is in proportion: the time in which
    /// any of the waits concerned went on, times the finding's share of them.
    pub wall_exact: bool,
    /// Its share of the time in which the traces ran, 0 to 1.
    pub wall_share: f64,
    /// How many waits.
    pub waits: u64,
    /// Half of them waited at most so long because of it, in nanoseconds.
    pub p50_ns: u64,
    /// Of 100 waits, 99 waited at most so long because of it, in nanoseconds.
    pub p99_ns: u64,
    /// The longest waited so long because of it, in nanoseconds.
    pub max_ns: u64,
    /// How many threads waited at once on average, when any did.
    pub mean_waiters: f64,
    /// How many threads waited.
    pub threads: u64,
    /// How many lock objects.
    pub locks: u64,
    /// How sure it is.
    pub confidence: Confidence,
    /// It was so at the start of the traces only.
    pub start_up_only: bool,
    /// What it would save to fix it, if that was [predicted](Finding::predict_saving).
    pub saving: Option<Saving>,
    /// What it is about.
    pub selection: Selection,
}

/// Something with a name.
#[derive(Clone, Debug, Serialize)]
pub struct Named {
    /// Text that stands for the same thing in every analysis.
    pub key: String,
    /// Text for people.
    pub label: String,
}

/// A method, and where it stood most of the time.
#[derive(Clone, Debug, Serialize)]
pub struct Code {
    /// The method's key.
    pub key: String,
    /// The method.
    pub label: String,
    /// Method, file and line; empty if the call chain is not known.
    pub frame: String,
    /// Of a method of the JDK or of a library, the innermost frame outside of them; empty of
    /// others, and if there is none.
    pub called_from: String,
}

/// Code that waited.
#[derive(Clone, Debug, Serialize)]
pub struct WaitingCode {
    /// Which.
    #[serde(flatten)]
    pub code: Code,
    /// How long, in nanoseconds.
    pub duration_ns: Sum,
    /// How many waits.
    pub waits: u64,
}

/// How sure a finding is.
#[derive(Clone, Debug, Serialize)]
pub struct Confidence {
    /// `high`, `medium` or `low`.
    pub level: &'static str,
    /// How long threads waited for these locks when nobody had them, in nanoseconds.
    pub free_ns: Sum,
    /// How long it is not known who had them, in nanoseconds.
    pub unknown_ns: Sum,
    /// How much of the finding's time was spent in safepoints, in nanoseconds, as far as
    /// its waits are known one by one.
    pub safepoint_ns: Sum,
    /// Why the level is not high, and what else to know.
    pub notes: Vec<String>,
}

/// Finds what to fix first, one question after the other, so that whoever has others to
/// answer can do so in between.
pub struct Search {
    contention: Option<Asking>,
    conditional: Option<Asking>,
    /// Threads in deadlocks and behind them: their last waits are nobody else's fault.
    stuck: SeededSet<ThreadIndex>,
}

impl Search {
    /// Asks nothing yet. `still_blocked` has the threads that waited when the traces ended.
    pub fn new<'a>(still_blocked: impl Iterator<Item = &'a StillBlocked>) -> Self {
        Self {
            contention: None,
            conditional: None,
            stuck: deadlock::stuck_threads(still_blocked),
        }
    }

    /// Asks the next question. `false` if there is none any more.
    ///
    /// # Errors
    ///
    /// None that a caller could cause.
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

    /// What was found when there was no question any more, the most important first.
    /// `still_blocked` has the threads that waited when the traces ended.
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
    /// None that a caller could cause.
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
