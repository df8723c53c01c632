//! `locktrace report`: the aggregation tree.

mod csv;
mod json;
mod table;
mod tree;

use trace_analysis::{Aggregation, Aspect, Entities, Rows, Totals, TraceSummary, WaitTally};

use crate::Outcome;
use crate::cli::{KindArguments, ReportArguments, ReportFormat};
use crate::{input, output, problem};

/// What there is to show.
struct Report<'a> {
    summaries: &'a [TraceSummary],
    aspects: &'a [Aspect],
    /// What is shown.
    kinds: &'a KindArguments,
    /// The waits of all kinds.
    waits: WaitTally,
    totals: Totals,
    rows: Rows,
    entities: &'a Entities,
}

impl Report<'_> {
    /// Durations of all traces together, in nanoseconds.
    fn duration_ns(&self) -> u64 {
        self.summaries
            .iter()
            .map(|summary| summary.duration_ns)
            .fold(0, u64::saturating_add)
    }
}

pub(crate) fn run(arguments: &ReportArguments) -> anyhow::Result<Outcome> {
    let traces = input::open(&arguments.traces)?;
    let mut aggregation = Aggregation::new(arguments.by.as_slice());
    let analyzed = input::analyze(&traces, |wait, entities| {
        if arguments.kinds.contains(wait.kind) {
            aggregation.add(wait, entities);
        }
        Ok(())
    })?;
    let mut waits = WaitTally::default();
    for summary in &analyzed.summaries {
        waits.merge(&summary.waits);
    }
    let report = Report {
        summaries: &analyzed.summaries,
        aspects: &arguments.by,
        kinds: &arguments.kinds,
        waits,
        totals: aggregation.totals(),
        rows: aggregation.rows(arguments.selection(), &analyzed.entities),
        entities: &analyzed.entities,
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
