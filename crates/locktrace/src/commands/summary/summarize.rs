//! What traces come to, from one pass over their waits.

use trace_analysis::{
    DivisibleSink, EndedHolds, Entities, Selection, StillBlocked, TraceInput, TraceSummary, Wait,
    WaitKind, WaitSink, WaitSums, WhatIf,
};
use trace_format::Counter;
use trace_model::{Conclusions, Evidence, Run};

use crate::arguments::threads::ThreadArguments;
use crate::input;
use crate::outcome;
use crate::view::traces::{ModelArguments, open, targets};

/// In larger traces one release is a part of too many waits to place each of them.
const MAX_BYTES_WITH_CONTENTIONS: u64 = 64 << 20;

/// What one or several traces come to.
pub(super) struct Summary {
    pub(super) traces: Vec<TraceSummary>,
    pub(super) conclusions: Conclusions,
    pub(super) entities: Entities,
}

impl Summary {
    /// Returns the sums over all waits of a kind.
    pub(super) fn totals(&self, kind: WaitKind) -> WaitSums {
        let mut totals = WaitSums::default();
        for trace in &self.traces {
            totals.add(trace.waits.sum(|_, of| of == kind));
        }
        totals
    }

    pub(super) fn still_blocked(&self) -> impl Iterator<Item = &StillBlocked> + Clone {
        self.traces.iter().map(|trace| &trace.still_blocked)
    }
}

/// What a pass over the waits collects.
struct Collected {
    evidence: Evidence,
    /// Predictions are about one trace.
    what_if: Option<WhatIf>,
}

impl WaitSink for Collected {
    fn wait(&mut self, wait: &Wait, entities: &Entities) {
        self.evidence.wait(wait, entities);
        if let Some(what_if) = &mut self.what_if {
            what_if.wait(wait, entities);
        }
    }

    fn wants_holds(&self) -> bool {
        self.what_if.is_some()
    }

    fn holds(&mut self, holds: EndedHolds) {
        if let Some(what_if) = &mut self.what_if {
            what_if.holds(holds);
        }
    }
}

impl DivisibleSink for Collected {
    fn part(&self) -> Self {
        Self {
            evidence: self.evidence.part(),
            what_if: self.what_if.as_ref().map(WhatIf::part),
        }
    }

    fn merge(&mut self, part: Self) {
        self.evidence.merge(part.evidence);
        if let (Some(what_if), Some(part)) = (&mut self.what_if, part.what_if) {
            what_if.merge(part);
        }
    }
}

/// Reads traces, and draws conclusions.
pub(super) fn summarize(
    model: &ModelArguments,
    threads: ThreadArguments,
) -> outcome::Result<Summary> {
    let mut traces = open(&targets(model))?;
    traces.sort_by_key(|trace| trace.header().start_unix_ns);
    let lengths = traces.iter().filter_map(TraceInput::byte_len);
    let bytes: u64 = lengths.sum();
    let mut collected = Collected {
        evidence: Evidence::new(model.library.clone()),
        what_if: (traces.len() == 1).then(WhatIf::default),
    };
    let analyzed = input::analyze_with(
        traces,
        threads,
        Evidence::detail(bytes <= MAX_BYTES_WITH_CONTENTIONS),
        |_| Ok(Selection::default()),
        &mut collected,
    )?;
    let mut summary = Summary {
        traces: analyzed.summaries,
        conclusions: Conclusions::default(),
        entities: analyzed.entities,
    };
    let durations_ns = summary.traces.iter().map(|trace| trace.duration_ns);
    let run_ns = durations_ns.fold(0, u64::saturating_add);
    let lives = match summary.traces.as_slice() {
        [only] => &only.lives[..],
        _ => &[],
    };
    let run = Run {
        traces: summary.traces.len(),
        duration_ns: run_ns,
        lives,
    };
    let evidence = collected.evidence;
    summary.conclusions = evidence.conclude(summary.still_blocked(), run, &summary.entities);
    if let Some(mut what_if) = collected.what_if {
        let processors = summary.traces.first();
        let processors = processors.and_then(|trace| trace.tracer_value(Counter::Processors));
        summary
            .conclusions
            .predict_savings(&mut what_if, processors, &summary.entities);
    }
    Ok(summary)
}
