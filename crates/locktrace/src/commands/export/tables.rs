//! Tables in Parquet files: a run for each trace.

use std::path::Path;

use trace_analysis::{Detail, TraceInput, TraceSummary};
use trace_export::tables::{Coverage, Extent, Place, RunTables};

use crate::arguments::origin::OriginArguments;
use crate::arguments::waits::WaitArguments;
use crate::commands::export::arguments::ExportArguments;
use crate::files::destination::Destination;
use crate::outcome::{self, Outcome};
use crate::redaction::Redaction;
use crate::{input, problem};

pub(super) fn run(waits: &WaitArguments, arguments: &ExportArguments) -> outcome::Result<Outcome> {
    let output = arguments.output.as_deref().unwrap_or(Path::new("."));
    let destination = Destination::new(output)?;
    let redaction = arguments.redact.redaction()?;
    let traces = input::open(&arguments.traces, arguments.follow)?.into_iter();
    let origin = &arguments.origin;
    let summaries = traces.map(|trace| {
        write(trace, waits, &redaction, &destination, origin, |_, _| {
            Ok(true)
        })
    });
    let summaries: Vec<_> = summaries.collect::<outcome::Result<_>>()?;
    let summaries: Vec<_> = summaries.into_iter().flatten().collect();
    Ok(problem::complain(&summaries))
}

/// Writes the tables of a trace, by an analysis of its own, so that what is in them does not depend
/// on other traces. `may_replace` says whether they may take the place of those that are there, by the
/// name of the table `runs` and how much of the run they have; `None` if not.
pub(crate) fn write(
    trace: TraceInput,
    waits: &WaitArguments,
    redaction: &Redaction,
    destination: &Destination,
    origin: &OriginArguments,
    may_replace: impl FnOnce(&Path, Coverage) -> outcome::Result<bool>,
) -> outcome::Result<Option<TraceSummary>> {
    let extent = Extent {
        kinds: waits.kinds.or_contention().kinds(),
        is_filtered: !(waits.range.is_all() && waits.filter.is_all()),
        has_nestings: origin.nestings,
    };
    let header = trace.header();
    let staged = destination.stage()?;
    let place = Place {
        directory: staged.directory().to_owned(),
        temporary_prefix: destination.temporary_prefix().to_owned(),
        host: origin.host(),
        release: origin.release.clone(),
        start_unix_ns: header.start_unix_ns,
        pid: header.pid,
    };
    let name = place.name_of_run();
    let mut tables = RunTables::create(place, extent)?;
    let detail = if origin.nestings {
        Detail::CONTENTIONS.with_roots()
    } else {
        Detail::OWNERS
    };
    let select = |trace: &TraceInput| waits.selection(trace);
    let mut analyzed = redaction.analyze(vec![trace], detail, select, |wait, entities| {
        tables.add(wait, entities)
    })?;
    let summary = analyzed.summaries.pop().expect("one of each trace");
    if !may_replace(&name, tables.coverage(&summary))? {
        return Ok(None);
    }
    let files = tables.finish(&summary, &analyzed.entities)?;
    staged.publish(&files)?;
    Ok(Some(summary))
}
