//! What if one lock were another one, or held for a shorter time, or not there?
//!
//! A replay keeps each thread's own work and its order, and changes the lock: so threads wait
//! elsewhere, where before they did not meet. A trace does not show all that this depends on. So
//! there are several replays, each with other assumptions, and the prediction lies between them.

mod assumed;
mod bounds;
mod busy;
mod change;
mod clock;
mod demand;
mod hold;
mod hold_code;
mod holds;
mod inferred;
mod known_lock;
mod known_thread;
mod observed;
mod owner_code;
mod pool;
mod prediction;
mod predictor;
mod program;
mod replay;
mod succession;

use crate::model::entity::{ChainIndex, Entities, LockIndex};
use crate::model::time_sampling::TimeSampling;
use crate::model::wait::{EndedHolds, Wait};
use crate::model::wait_sink::{DivisibleSink, WaitSink};
pub use change::{LockChange, UnknownChange};
use observed::Observed;
pub use owner_code::OwnerCode;
pub use prediction::{
    Assumptions, Effect, LockOutcome, Prediction, Replay, Speedup, SpeedupOf, Unreliable,
    UnseenHolds,
};
use predictor::Predictor;

/// Collects what threads did, for predictions, from the waits that an analysis with
/// [`Detail::CONTENTIONS`](crate::Detail::CONTENTIONS) finds, [sampled](crate::Detail::sampled) or not: of all kinds, and of
/// one trace.
#[derive(Clone, Debug, Default)]
pub struct WhatIf {
    observed: Observed,
    /// What the last question needed that the next one may need as well.
    predictor: Option<Predictor>,
}

/// What is to be predicted.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q, L, C> {
    /// The change.
    pub change: LockChange,
    /// Which locks are changed.
    pub is_changed: L,
    /// Which code [`Holds`](LockChange::Holds), [`MovedOut`](LockChange::MovedOut) and
    /// [`ReadWrite`](LockChange::ReadWrite) affect, where
    /// it acquires the lock or releases it: whose holds get shorter, or what only reads. `None`
    /// is code that nobody knows.
    pub is_affected: C,
    /// How many processors the machine has, if it is known.
    pub processors: Option<u64>,
    /// What the waits refer to.
    pub entities: &'q Entities,
}

impl WhatIf {
    /// Predicts what a change of one or several locks would bring. Of several questions about the same waits
    /// and as many processors, all but the first one take less time.
    pub fn predict<L, C>(&mut self, question: &Question<'_, L, C>) -> Prediction
    where
        L: Fn(LockIndex) -> bool,
        C: Fn(Option<ChainIndex>, LockIndex) -> bool,
    {
        let about_holds = question.change.changes_holds();
        let predictor = self.predictor(question.processors, about_holds, question.entities);
        let changed =
            predictor.changed(question.change, &question.is_changed, &question.is_affected);
        predictor.predict(&changed)
    }

    /// Returns the share of the time in which threads that contend are busy, each counted as much as it waits, that
    /// `duration_ns` of their waiting for locks and pools is.
    pub fn busy_share(
        &mut self,
        duration_ns: u64,
        processors: Option<u64>,
        entities: &Entities,
    ) -> f64 {
        self.predictor(processors, false, entities)
            .busy_share(duration_ns)
    }

    fn predictor(
        &mut self,
        processors: Option<u64>,
        about_holds: bool,
        entities: &Entities,
    ) -> &mut Predictor {
        let known = self.predictor.take();
        let known = known.filter(|known| known.answers(processors, about_holds));
        let new = || Predictor::new(&self.observed, processors, about_holds, entities);
        self.predictor.insert(known.unwrap_or_else(new))
    }
}

impl WaitSink for WhatIf {
    fn wait(&mut self, wait: &Wait, _entities: &Entities) {
        self.predictor = None;
        self.observed.add_wait(wait);
    }

    fn wants_holds(&self) -> bool {
        true
    }

    fn holds(&mut self, holds: EndedHolds) {
        self.predictor = None;
        self.observed.add_holds(holds);
    }

    fn sampled(&mut self, kept: TimeSampling) {
        self.predictor = None;
        self.observed.keep_only(kept);
    }
}

impl DivisibleSink for WhatIf {
    fn part(&self) -> Self {
        Self {
            observed: Observed::part(),
            predictor: None,
        }
    }

    fn merge(&mut self, part: Self) {
        self.predictor = None;
        self.observed.append(part.observed);
    }
}
