//! Predicts what a fix saves at most.

use trace_analysis::{
    ChainIndex, Entities, LockChange, OwnerCode, Prediction, Question, Replay, Value, WhatIf,
};

use super::finding::{Finding, Saving};

/// Returns the saving of a prediction; `None` without replays.
fn predicted(prediction: &Prediction) -> Option<Saving> {
    let shares = || prediction.replays.iter().map(saved_share);
    let after = prediction.after_ns as f64 / prediction.before_ns.max(1) as f64;
    Some(Saving {
        share: 1.0 - after,
        share_at_most: shares().max_by(f64::total_cmp)?,
        share_at_least: shares().min_by(f64::total_cmp)?,
        until_ns: prediction.until_ns,
    })
}

fn saved_share(replay: &Replay) -> f64 {
    1.0 - replay.changed_ns as f64 / replay.unchanged_ns.max(1) as f64
}

impl Finding {
    /// Predicts the saving if the code that held the locks is known. There is no prediction for deadlocks
    /// and hangs, initializers, which run once, and conditions.
    pub(super) fn predict_saving(
        &mut self,
        what_if: &mut WhatIf,
        processors: Option<u64>,
        entities: &Entities,
    ) {
        let is_about_holds = self.is_contention() && !self.hang;
        let Some(owner) = self.owner.as_ref().filter(|_| is_about_holds) else {
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
            self.saving = predicted(&prediction);
        }
    }

    /// Returns whether it is about locks, not conditions.
    fn is_contention(&self) -> bool {
        self.selection.kinds.is_empty()
    }
}

/// Sorts findings by what they save at most, deadlocks and hangs first. A finding without a prediction counts with all
/// of its waiting. `contention_ns` is how long threads waited for locks while the process ran.
pub(super) fn sort_by_saving(findings: &mut [Finding], contention_ns: u64) {
    let at_most_ns = |finding: &Finding| match &finding.saving {
        Some(saving) => saving.share_at_most * contention_ns as f64,
        None => finding.duration_ns.ns() as f64,
    };
    let hangs = findings.partition_point(|finding| finding.hang);
    findings[hangs..].sort_by(|a, b| at_most_ns(b).total_cmp(&at_most_ns(a)));
}
