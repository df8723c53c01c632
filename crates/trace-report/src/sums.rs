//! The sums of a report.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use trace_analysis::{
    Aggregation, ChainIndex, Detail, DivisibleSink, Entities, Wait, WaitKind, WaitSink,
};

use crate::kinds::Kinds;

/// Adds up the waits of a report.
#[derive(Clone, Debug)]
pub struct ReportSums {
    pub(crate) kinds: Kinds,
    pub(crate) aggregation: Aggregation,
    pub(crate) conditional: Option<Conditional>,
}

/// Conditional waiting, without workers whose loop takes from a queue: they are idle.
#[derive(Clone, Debug)]
pub(crate) struct Conditional {
    pub(crate) aggregation: Aggregation,
    /// The time of the waits that ended, in nanoseconds: others may only have outlasted the trace.
    pub(crate) ended_ns: u64,
    /// Whether a call chain belongs to such a worker.
    worker_loops: HashMap<ChainIndex, bool, RandomState>,
}

impl ReportSums {
    /// Creates sums over waits of these kinds in the form of `aggregation`, which is empty.
    pub fn new(kinds: Kinds, aggregation: Aggregation) -> Self {
        Self {
            kinds,
            aggregation,
            conditional: None,
        }
    }

    /// Also adds up conditional waiting, apart from the others: leaving it out would hide the
    /// bottleneck where threads waited longer for a condition than for locks.
    #[must_use]
    pub fn with_conditional(self) -> Self {
        let conditional = Some(Conditional::new(self.aggregation.part()));
        Self {
            conditional,
            ..self
        }
    }

    /// Returns the detail that these sums need from an analysis.
    pub fn detail(&self) -> Detail {
        self.aggregation.detail()
    }
}

impl WaitSink for ReportSums {
    fn wait(&mut self, wait: &Wait, entities: &Entities) {
        if self.kinds.contains(wait.kind) {
            self.aggregation.add(wait, entities);
        } else if wait.kind == WaitKind::Conditional
            && let Some(conditional) = &mut self.conditional
        {
            conditional.add(wait, entities);
        }
    }
}

impl DivisibleSink for ReportSums {
    fn part(&self) -> Self {
        let conditional = self.conditional.as_ref();
        Self {
            kinds: self.kinds.clone(),
            aggregation: self.aggregation.part(),
            conditional: conditional.map(|found| Conditional::new(found.aggregation.part())),
        }
    }

    fn merge(&mut self, part: Self) {
        self.aggregation.merge(&part.aggregation);
        if let (Some(conditional), Some(part)) = (&mut self.conditional, part.conditional) {
            conditional.aggregation.merge(&part.aggregation);
            conditional.ended_ns = conditional.ended_ns.saturating_add(part.ended_ns);
        }
    }
}

impl Conditional {
    fn new(aggregation: Aggregation) -> Self {
        Self {
            aggregation,
            ended_ns: 0,
            worker_loops: HashMap::default(),
        }
    }

    fn add(&mut self, wait: &Wait, entities: &Entities) {
        let is_worker_loop = self.worker_loops.entry(wait.chain);
        if !*is_worker_loop.or_insert_with(|| entities.is_worker_loop(wait.chain)) {
            self.aggregation.add(wait, entities);
            if wait.ended() {
                self.ended_ns = self.ended_ns.saturating_add(wait.duration_ns);
            }
        }
    }
}
