//! `locktrace export`: lock contention in the formats of other tools.

use std::io::{self, IsTerminal};

use trace_analysis::{Detail, TraceInput, TraceSummary};
use trace_export::pprof::Period;
use trace_export::{StackSums, Stacks, Told, collapsed, pprof};

use crate::Outcome;
use crate::cli::{ExportArguments, ExportFormat, ExportStacks};
use crate::view::UsageError;
use crate::{human, input, output, problem};

pub(crate) fn run(arguments: &ExportArguments) -> anyhow::Result<Outcome> {
    check(arguments)?;
    let traces = input::open(&arguments.traces, arguments.follow)?;
    let select = |trace: &TraceInput| arguments.waits.selection(trace);
    let told = match arguments.format {
        ExportFormat::Collapsed => Told::ByCode,
        ExportFormat::Pprof => Told::ByThreadAndKind,
    };
    let mut sums = StackSums::new(stacks(arguments.stacks), told);
    let analyzed =
        input::analyze_with(traces, arguments.threads, Detail::Owners, select, &mut sums)?;
    let (entities, summaries) = (&analyzed.entities, &analyzed.summaries);
    output::write_to(arguments.output.as_deref(), |out| match arguments.format {
        ExportFormat::Collapsed => collapsed::write(out, &sums, entities, arguments.lines),
        ExportFormat::Pprof => {
            let comments: Vec<_> = summaries.iter().map(comment).collect();
            pprof::write(out, &sums, entities, period(summaries), &comments)
        }
    })?;
    if sums.other_ns() > 0 {
        let other = human::duration(sums.other_ns());
        output::complain(&format_args!(
            "{other} are <other>: there were more call chains than can be told apart"
        ));
    }
    Ok(problem::complain(summaries))
}

/// Options that do not fit the format would be a mistake of the user.
fn check(arguments: &ExportArguments) -> Result<(), UsageError> {
    if arguments.format != ExportFormat::Pprof {
        return Ok(());
    }
    if arguments.lines {
        return Err(UsageError("--lines is for --format collapsed"));
    }
    if arguments.output.is_none() && io::stdout().is_terminal() {
        return Err(UsageError("a profile is not for a terminal: use --output"));
    }
    Ok(())
}

fn stacks(wanted: ExportStacks) -> Stacks {
    match wanted {
        ExportStacks::Owners => Stacks::Owners,
        ExportStacks::Waiters => Stacks::Waiters,
        ExportStacks::ChainGraph => Stacks::ChainGraph,
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
