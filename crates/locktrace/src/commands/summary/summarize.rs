//! What traces come to, from one pass over their waits.

use trace_analysis::{
    Analysis, DivisibleSink, EndedHolds, Entities, Limits, Selection, StillBlocked, TimeSampling,
    TraceInput, TraceSummary, Wait, WaitKind, WaitSink, WaitSums, WhatIf,
};
use trace_format::Counter;
use trace_model::{Conclusions, Evidence, Run};

use crate::arguments::threads::ThreadArguments;
use crate::input;
use crate::outcome;
use crate::view::traces::{ModelArguments, open, targets};

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
    /// The single contentions of all waits are known.
    is_complete: bool,
    /// Otherwise the evidence comes from a second pass.
    can_repeat: bool,
}

impl Collected {
    fn wants_evidence(&self) -> bool {
        self.is_complete || !self.can_repeat
    }
}

impl WaitSink for Collected {
    fn wait(&mut self, wait: &Wait, entities: &Entities) {
        if self.wants_evidence() {
            self.evidence.wait(wait, entities);
        }
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

    fn sampled(&mut self, kept: TimeSampling) {
        self.is_complete = false;
        if let Some(what_if) = &mut self.what_if {
            what_if.sampled(kept);
        }
    }
}

impl DivisibleSink for Collected {
    fn part(&self) -> Self {
        Self {
            evidence: self.evidence.part(),
            what_if: self.what_if.as_ref().map(WhatIf::part),
            is_complete: true,
            can_repeat: self.can_repeat,
        }
    }

    fn merge(&mut self, part: Self) {
        self.evidence.merge(part.evidence);
        self.is_complete &= part.is_complete;
        if let (Some(what_if), Some(part)) = (&mut self.what_if, part.what_if) {
            what_if.merge(part);
        }
    }
}

fn open_in_order(model: &ModelArguments) -> outcome::Result<Vec<TraceInput>> {
    let mut traces = open(&targets(model))?;
    traces.sort_by_key(|trace| trace.header().start_unix_ns);
    Ok(traces)
}

/// Reads traces, and draws conclusions.
pub(super) fn summarize(
    model: &ModelArguments,
    threads: ThreadArguments,
) -> outcome::Result<Summary> {
    let traces = open_in_order(model)?;
    let can_repeat = traces.iter().all(|trace| trace.byte_len().is_some());
    let mut collected = Collected {
        evidence: Evidence::new(model.library.clone()),
        what_if: (traces.len() == 1).then(WhatIf::default),
        is_complete: true,
        can_repeat,
    };
    let all = |_: &TraceInput| Ok(Selection::default());
    let with_contentions = Evidence::detail(true).sampled();
    let mut analysis = Analysis::new(Limits::default()).with_detail(with_contentions);
    let mut summaries = input::analyze_into(&mut analysis, traces, threads, all, &mut collected)?;
    if !collected.wants_evidence() {
        // There are too many contentions to place each of them: root owners are added up.
        analysis = analysis.with_detail(Evidence::detail(false));
        collected.evidence = Evidence::new(model.library.clone());
        let traces = open_in_order(model)?;
        let evidence = &mut collected.evidence;
        summaries = input::analyze_into(&mut analysis, traces, threads, all, evidence)?;
    }
    let mut summary = Summary {
        traces: summaries,
        conclusions: Conclusions::default(),
        entities: analysis.into_entities(),
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
