//! `locktrace report`: the aggregation tree.

mod csv;
mod deadlocks;
mod json;
mod table;
mod tree;

use std::collections::HashMap;

use foldhash::fast::RandomState;
use trace_analysis::{
    Aggregation, Aspect, ChainIndex, Counter, DivisibleSink, Entities, Rows, Totals, TraceInput,
    TraceSummary, Wait, WaitKind, WaitSink, WaitTally,
};

use crate::Outcome;
use crate::cli::{KindArguments, ReportArguments, ReportFormat};
use crate::{input, output, problem};

/// What there is to show.
struct Report<'a> {
    summaries: &'a [TraceSummary],
    aspects: &'a [Aspect],
    /// The waits of all kinds.
    waits: WaitTally,
    /// What the user asked for.
    main: Part,
    /// Conditional waiting, if the user did not say what to show, and threads waited
    /// longer for that than for locks: then it hides the bottleneck to leave it out.
    conditional: Option<Part>,
    entities: &'a Entities,
}

/// The waits of some kinds.
struct Part {
    kinds: KindArguments,
    totals: Totals,
    rows: Rows,
}

impl Report<'_> {
    /// How often threads acquired a lock without waiting while others waited for it.
    fn barging_holds(&self) -> u64 {
        let summaries = self.summaries.iter();
        summaries
            .map(|summary| summary.counters.value(Counter::BargingHolds))
            .fold(0, u64::saturating_add)
    }

    /// Durations of all traces together, of which a part may be considered, in nanoseconds.
    fn duration_ns(&self) -> u64 {
        self.summaries
            .iter()
            .map(|summary| summary.range.duration_ns(summary.duration_ns))
            .fold(0, u64::saturating_add)
    }
}

/// Conditional waiting, without workers whose loop takes from a queue: they are idle.
struct Conditional {
    aggregation: Aggregation,
    /// Whether a call chain is that of such a worker.
    worker_loops: HashMap<ChainIndex, bool, RandomState>,
}

/// Adds up the waits that a report is about.
struct Sink {
    kinds: KindArguments,
    aggregation: Aggregation,
    conditional: Option<Conditional>,
}

impl WaitSink for Sink {
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

impl DivisibleSink for Sink {
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
        }
    }
}

impl Conditional {
    fn new(aggregation: Aggregation) -> Self {
        Self {
            aggregation,
            worker_loops: HashMap::default(),
        }
    }

    fn add(&mut self, wait: &Wait, entities: &Entities) {
        let is_worker_loop = self.worker_loops.entry(wait.chain);
        if !*is_worker_loop.or_insert_with(|| entities.is_worker_loop(wait.chain)) {
            self.aggregation.add(wait, entities);
        }
    }
}

pub(crate) fn run(arguments: &ReportArguments) -> anyhow::Result<Outcome> {
    let traces = input::open(&arguments.traces, arguments.follow)?;
    let kinds = arguments.waits.kinds.or_contention();
    let new_aggregation =
        || Aggregation::with_libraries(arguments.by.as_slice(), arguments.library.clone());
    let shows_more = arguments.format == ReportFormat::Table && arguments.waits.kinds.is_default();
    let mut sink = Sink {
        kinds: kinds.clone(),
        aggregation: new_aggregation(),
        conditional: shows_more.then(|| Conditional::new(new_aggregation())),
    };
    let detail = sink.aggregation.detail();
    let select = |trace: &TraceInput| {
        let range = arguments.waits.range.of(trace)?;
        Ok(arguments.waits.filter.selection(range, &arguments.library))
    };
    let analyzed = input::analyze_with(traces, arguments.threads, detail, select, &mut sink)?;
    let Sink {
        aggregation,
        conditional,
        ..
    } = sink;
    let mut waits = WaitTally::default();
    for summary in &analyzed.summaries {
        waits.merge(&summary.waits);
    }
    let entities = &analyzed.entities;
    let main = Part {
        kinds,
        totals: aggregation.totals(),
        rows: aggregation.rows(arguments.limits(), entities),
    };
    let conditional = conditional
        .map(|Conditional { aggregation, .. }| Part {
            kinds: KindArguments::only(WaitKind::Conditional),
            totals: aggregation.totals(),
            rows: aggregation.rows(arguments.limits_beside(), entities),
        })
        .filter(|part| part.totals.all.duration_ns > main.totals.all.duration_ns);
    let report = Report {
        summaries: &analyzed.summaries,
        aspects: &arguments.by,
        waits,
        main,
        conditional,
        entities,
    };
    match arguments.format {
        ReportFormat::Table => {
            let width = output::terminal_width();
            output::print(&table::render(&report, width, arguments.full_chains))?;
        }
        ReportFormat::Json => json::write(&report, output::machine())?,
        ReportFormat::Csv => csv::write(&report, output::machine())?,
    }
    Ok(problem::complain(&analyzed.summaries))
}
