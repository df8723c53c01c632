//! A trace for Perfetto: a process for each trace.

use trace_analysis::{Detail, TraceInput};
use trace_export::perfetto::TraceWriter;

use crate::arguments::waits::WaitArguments;
use crate::commands::export::arguments::ExportArguments;
use crate::outcome::{self, Outcome};
use crate::{input, output, problem};

pub(super) fn run(waits: &WaitArguments, arguments: &ExportArguments) -> outcome::Result<Outcome> {
    let traces = input::open(&arguments.traces, arguments.follow)?;
    let redaction = arguments.redact.redaction()?;
    let mut summaries = Vec::new();
    output::write_while(arguments.output.as_deref(), |out| {
        let mut writer = TraceWriter::new(out)?;
        for trace in traces {
            let header = trace.header();
            writer.begin_run(header.start_unix_ns, header.pid)?;
            let select = |trace: &TraceInput| waits.selection(trace);
            let analyzed = redaction.analyze(
                vec![trace],
                Detail::CONTENTIONS,
                select,
                |wait, entities| writer.add(wait, entities),
            )?;
            summaries.extend(analyzed.summaries);
        }
        Ok(writer.finish()?)
    })?;
    Ok(problem::complain(&summaries))
}
