//! What it would save at most to fix something.

use serde::Serialize;
use trace_analysis::{
    ChainIndex, Entities, LockChange, OwnerCode, Prediction, Question, Replay, Value, WhatIf,
};

use super::Finding;
use super::deadlock::DEADLOCK;

/// What it would bring if code held a lock for no time: no remedy for that code alone can do more.
///
/// Each replay of the trace finds a share that is saved, in proportion to what it makes of the trace as
/// it is. They assume different things of what a trace does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Saving {
    /// The share of the time that threads waited for any lock, to do the same work, that the replays find
    /// on the average: 1 is all of it. Negative where threads would wait even longer elsewhere.
    pub share: f64,
    /// The largest share of all replays.
    pub share_at_most: f64,
    /// The smallest one.
    pub share_at_least: f64,
    /// It is about the time up to then, in nanoseconds since the trace's start; of the rest too much
    /// is in the trace.
    pub until_ns: Option<u64>,
}

impl Saving {
    /// `None` without replays.
    fn new(prediction: &Prediction) -> Option<Self> {
        let shares = || prediction.replays.iter().map(saved_share);
        let after = prediction.after_ns as f64 / prediction.before_ns.max(1) as f64;
        Some(Self {
            share: 1.0 - after,
            share_at_most: shares().max_by(f64::total_cmp)?,
            share_at_least: shares().min_by(f64::total_cmp)?,
            until_ns: prediction.until_ns,
        })
    }
}

fn saved_share(replay: &Replay) -> f64 {
    1.0 - replay.changed_ns as f64 / replay.unchanged_ns.max(1) as f64
}

impl Finding {
    /// Predicts what it would save, if that can be told: of code that is known to have held locks,
    /// but not of deadlocks, of initializers, which run once, and of what is no lock.
    pub fn predict_saving(
        &mut self,
        what_if: &mut WhatIf,
        processors: Option<u64>,
        entities: &Entities,
    ) {
        let Some(owner) = self.owner.as_ref().filter(|_| self.is_contention()) else {
            return;
        };
        let is_called = |value: Value, key: &str| value.key(entities) == key;
        let code = OwnerCode::new(|value| is_called(value, &owner.key));
        let prediction = what_if.predict(&Question {
            change: LockChange::Holds(0.0),
            is_changed: |lock| {
                is_called(Value::of_lock_class(lock, entities), &self.lock_class.key)
                    && entities.initialized_class(lock).is_none()
            },
            is_affected: |chain: Option<ChainIndex>, lock| {
                chain.is_some_and(|chain| code.has(chain, lock, entities))
            },
            processors,
            entities,
        });
        if prediction.locks.iter().any(|lock| lock.is_changed) {
            self.saving = Saving::new(&prediction);
        }
    }

    /// It is about locks, and not about what else threads wait for.
    fn is_contention(&self) -> bool {
        self.selection.kinds.is_empty()
    }
}

/// Sorts findings by what they would save at most, deadlocks first. If that cannot be told of one, it is all
/// of the waiting that it is about. `contention_ns` is how long threads waited for locks
/// while the process ran.
pub fn sort_by_saving(findings: &mut [Finding], contention_ns: u64) {
    let at_most_ns = |finding: &Finding| match &finding.saving {
        Some(saving) => saving.share_at_most * contention_ns as f64,
        None => finding.duration_ns.ns() as f64,
    };
    let deadlocks = findings.partition_point(|finding| finding.pattern == DEADLOCK);
    findings[deadlocks..].sort_by(|a, b| at_most_ns(b).total_cmp(&at_most_ns(a)));
}
