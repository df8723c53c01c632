//! A profile for the Firefox Profiler: a process for each trace.

use trace_analysis::{Detail, TraceInput};
use trace_export::firefox::ProfileBuilder;

use crate::arguments::waits::WaitArguments;
use crate::commands::export::arguments::ExportArguments;
use crate::outcome::{self, Outcome};
use crate::{input, output, problem};

pub(super) fn run(waits: &WaitArguments, arguments: &ExportArguments) -> outcome::Result<Outcome> {
    let traces = input::open(&arguments.traces, arguments.follow)?;
    let starts = traces.iter().map(|trace| trace.header().start_unix_ns);
    let mut builder = ProfileBuilder::new(starts.min().unwrap_or(0));
    let redaction = arguments.redact.redaction()?;
    let mut summaries = Vec::new();
    for trace in traces {
        let header = trace.header();
        let mut run = builder.run(header.start_unix_ns, header.pid);
        let select = |trace: &TraceInput| waits.selection(trace);
        let analyzed =
            redaction.analyze(vec![trace], Detail::OWNERS, select, |wait, entities| {
                run.add(wait, entities);
                Ok(())
            })?;
        run.finish(&analyzed.entities);
        summaries.extend(analyzed.summaries);
    }
    output::write_to(arguments.output.as_deref(), |out| builder.write(out))?;
    if builder.left_out() > 0 {
        output::complain(&format_args!(
            "{} waits have no marker, only samples: there are more than a profile can show; --from and --to select some",
            builder.left_out()
        ));
    }
    Ok(problem::complain(&summaries))
}
