//! `locktrace report`: the aggregation tree.

pub(crate) mod arguments;
mod csv;

use trace_analysis::{Aggregation, TraceInput};
use trace_report::{Kinds, Report, ReportSums};

use crate::commands::report::arguments::{ReportArguments, ReportFormat};
use crate::input::{self, Wanted};
use crate::outcome::{self, Outcome};
use crate::{output, problem};

pub(crate) fn run(arguments: &ReportArguments) -> outcome::Result<Outcome> {
    let traces = input::open(&arguments.traces, arguments.follow)?;
    let aggregation =
        Aggregation::with_libraries(arguments.by.as_slice(), arguments.library.clone());
    let kinds = Kinds::new(arguments.waits.kinds.or_contention().kinds());
    let mut sums = ReportSums::new(kinds, aggregation);
    if arguments.format == ReportFormat::Table && arguments.waits.kinds.is_default() {
        sums = sums.with_conditional();
    }
    let wanted = Wanted {
        detail: sums.detail(),
        owner_times: arguments.activity,
    };
    let select = |trace: &TraceInput| {
        let range = arguments.waits.range.of(trace)?;
        Ok(arguments.waits.filter.selection(range, &arguments.library))
    };
    let analyzed = input::analyze_with(traces, arguments.threads, wanted, select, &mut sums)?;
    let report = Report::new(
        &sums,
        &arguments.by,
        arguments.limits(),
        arguments.limits_beside(),
        &analyzed.summaries,
        &analyzed.entities,
    );
    match arguments.format {
        ReportFormat::Table => {
            let width = output::terminal_width();
            output::print(&report.text(width, arguments.full_chains))?;
        }
        ReportFormat::Json => report.write_json(output::machine())?,
        ReportFormat::Csv => csv::write(&report, output::machine())?,
    }
    Ok(problem::complain(&analyzed.summaries))
}
