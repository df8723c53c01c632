//! Sums over call chains, for flame graphs and *pprof*.

use trace_analysis::{Detail, TraceInput, TraceSummary};
use trace_export::{GroupBy, Period, StackSums, Stacks, collapsed, pprof};

use crate::arguments::waits::WaitArguments;
use crate::commands::export::arguments::{ExportArguments, ExportFormat, ExportStacks};
use crate::outcome::{self, Outcome};
use crate::text::human;
use crate::{input, output, problem};

pub(super) fn run(
    format: ExportFormat,
    waits: &WaitArguments,
    arguments: &ExportArguments,
) -> outcome::Result<Outcome> {
    let redaction = arguments.redact.redaction()?;
    let traces = input::open(&arguments.traces, arguments.follow)?;
    let select = |trace: &TraceInput| waits.selection(trace);
    let is_profile = format == ExportFormat::Pprof;
    let group_by = if is_profile {
        GroupBy::ThreadsAndKind
    } else {
        GroupBy::Code
    };
    let mut sums = StackSums::new(wanted(arguments), group_by);
    let analyzed =
        input::analyze_with(traces, arguments.threads, Detail::OWNERS, select, &mut sums)?;
    let entities = &redaction.rename(analyzed.entities);
    let summaries = &analyzed.summaries;
    output::write_to(arguments.output.as_deref(), |out| {
        if is_profile {
            let comments: Vec<_> = summaries.iter().map(comment).collect();
            pprof::write(out, &sums, entities, period(summaries), &comments)
        } else {
            collapsed::write(out, &sums, entities, arguments.lines)
        }
    })?;
    complain(sums.other_ns(), sums.of_any_threads_ns());
    Ok(problem::complain(summaries))
}

/// Whose call chains the user wants.
pub(super) fn wanted(arguments: &ExportArguments) -> Stacks {
    match arguments.stacks.unwrap_or(ExportStacks::Owners) {
        ExportStacks::Owners => Stacks::Owners,
        ExportStacks::Waiters => Stacks::Waiters,
        ExportStacks::ChainGraph => Stacks::ChainGraph,
    }
}

/// Says how much is divided neither by call chain nor by thread, and how much by call chain only, both in
/// nanoseconds.
pub(super) fn complain(other_ns: u64, of_any_threads_ns: u64) {
    if other_ns > 0 {
        let other = human::duration(other_ns);
        output::complain(&format_args!(
            "{other} are <other>: there were more call chains than can be distinguished"
        ));
    }
    if of_any_threads_ns > 0 {
        let of_any = human::duration(of_any_threads_ns);
        output::complain(&format_args!(
            "{of_any} name no threads: there were more pairs of threads than can be distinguished"
        ));
    }
}

/// From the start of the first trace, as long as all took together.
fn period(summaries: &[TraceSummary]) -> Period {
    let headers = summaries.iter().map(|summary| summary.file.header());
    let durations = summaries.iter().map(|summary| summary.duration_ns);
    Period {
        start_unix_ns: headers
            .map(|header| header.start_unix_ns)
            .min()
            .unwrap_or(0),
        duration_ns: durations.fold(0, u64::saturating_add),
    }
}

fn comment(summary: &TraceSummary) -> String {
    let header = summary.file.header();
    format!("{}, process {}", header.jvm, header.pid)
}
