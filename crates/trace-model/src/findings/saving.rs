//! Predicts what a fix saves at most.

use trace_analysis::{
    ChainIndex, Effect, Entities, LockChange, OwnerCode, Prediction, Question, Replay, Speedup,
    Value, WhatIf,
};

use super::finding::{Finding, Saving};

/// Returns the saving that is predicted.
fn saving(prediction: &Prediction, effect: &Effect) -> Saving {
    let reliable = prediction.replays.iter().filter(|it| it.is_reliable);
    let shares = reliable.map(saved_share);
    let after = effect.after_ns as f64 / prediction.before_ns.max(1) as f64;
    let Speedup {
        of, factor, range, ..
    } = effect.speedup;
    Saving {
        speedup: factor,
        speedup_least: range.0,
        speedup_most: range.1,
        speedup_of: of.name(),
        share: 1.0 - after,
        share_at_most: shares.clone().fold(f64::NEG_INFINITY, f64::max),
        share_at_least: shares.fold(f64::INFINITY, f64::min),
        replayed_share: prediction.replayed_share,
    }
}

fn saved_share(replay: &Replay) -> f64 {
    1.0 - replay.changed_ns as f64 / replay.unchanged_ns.max(1) as f64
}

impl Finding {
    /// Predicts the saving if the code that held the locks is known, or who keeps longest what a pool lends. There is no
    /// prediction for deadlocks and hangs, initializers, which run once, and other conditions.
    pub(super) fn predict_saving(
        &mut self,
        what_if: &mut WhatIf,
        processors: Option<u64>,
        entities: &Entities,
    ) {
        if self.hang {
            return;
        }
        let is_called = |value: Value, key: &str| value.key(entities) == key;
        let owner = self.owner.as_ref().filter(|_| self.is_contention());
        let code = owner.map(|owner| OwnerCode::new(|value| is_called(value, &owner.key)));
        let keeper = self.kept_by.first();
        if code.is_none() && keeper.is_none() {
            return;
        }
        let prediction = what_if.predict(&Question {
            change: LockChange::MovedOut,
            is_changed: |lock| {
                is_called(Value::of_lock_class(lock, entities), &self.lock_class.key)
                    && entities.initialized_class(lock).is_none()
            },
            is_affected: |chain: Option<ChainIndex>, lock| {
                let is_of = |chain| match (&code, keeper) {
                    (Some(code), _) => code.has(chain, lock, entities),
                    (None, keeper) => keeper.is_some_and(|it| it.given_in.contains(&chain)),
                };
                chain.is_some_and(is_of)
            },
            processors,
            entities,
        });
        if prediction.locks.iter().any(|lock| lock.is_changed) {
            match &prediction.effect {
                Ok(effect) => self.saving = Some(saving(&prediction, effect)),
                Err(reason) => self.unreliable = Some(reason.name()),
            }
        }
    }

    /// Returns whether it is about locks, not conditions.
    fn is_contention(&self) -> bool {
        self.selection.kinds.is_empty()
    }
}

/// Sorts findings by how much sooner the work would be done, deadlocks and hangs first, and last what is only at
/// the start. A finding without a prediction counts as if all of its waiting were gone: `busy_share` returns the share of
/// the time in which threads are busy that some nanoseconds of waiting are.
pub(super) fn sort_by_saving(findings: &mut [Finding], mut busy_share: impl FnMut(u64) -> f64) {
    let mut speedup = |finding: &Finding| match &finding.saving {
        Some(saving) => saving.speedup,
        None => 1.0 / (1.0 - busy_share(finding.duration_ns.ns())).max(f64::MIN_POSITIVE),
    };
    let hangs = findings.partition_point(|finding| finding.hang);
    findings[hangs..].sort_by(|a, b| {
        let order = a.start_up_only.cmp(&b.start_up_only);
        order.then_with(|| speedup(b).total_cmp(&speedup(a)))
    });
}
