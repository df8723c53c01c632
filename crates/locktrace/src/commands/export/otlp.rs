//! Profiles for OpenTelemetry: a resource for each trace.

use trace_analysis::{Detail, TraceInput};
use trace_export::otlp::{Process, ProfilesBuilder};
use trace_export::{GroupBy, Period, StackSums};

use crate::arguments::waits::WaitArguments;
use crate::commands::export::arguments::ExportArguments;
use crate::commands::export::stacks;
use crate::outcome::{self, Outcome};
use crate::{input, output, problem};

pub(super) fn run(waits: &WaitArguments, arguments: &ExportArguments) -> outcome::Result<Outcome> {
    let traces = input::open(&arguments.traces, arguments.follow)?;
    let redaction = arguments.redact.redaction()?;
    let mut builder = ProfilesBuilder::default();
    let mut summaries = Vec::new();
    let (mut other_ns, mut of_any_threads_ns) = (0_u64, 0_u64);
    for trace in traces {
        let select = |trace: &TraceInput| waits.selection(trace);
        let mut sums = StackSums::new(stacks::wanted(arguments), GroupBy::ThreadsAndKind);
        let mut analyzed = input::analyze_with(
            vec![trace],
            arguments.threads,
            Detail::OWNERS,
            select,
            &mut sums,
        )?;
        let summary = analyzed.summaries.pop().expect("one of each trace");
        let header = summary.file.header();
        let process = Process {
            pid: header.pid,
            jvm: &header.jvm,
        };
        let period = Period {
            start_unix_ns: header.start_unix_ns,
            duration_ns: summary.duration_ns,
        };
        let entities = redaction.rename(analyzed.entities);
        builder.add(process, period, &sums, &entities);
        other_ns = other_ns.saturating_add(sums.other_ns());
        of_any_threads_ns = of_any_threads_ns.saturating_add(sums.of_any_threads_ns());
        summaries.push(summary);
    }
    output::write_to(arguments.output.as_deref(), |out| builder.write(out))?;
    stacks::complain(other_ns, of_any_threads_ns);
    Ok(problem::complain(&summaries))
}
