//! What is missing from traces, on standard error and as an outcome.

use std::path::Path;

use trace_analysis::TraceSummary;
use trace_report::problem;

use crate::outcome::Outcome;
use crate::output;

/// Says on standard error what a trace lacks.
pub(crate) fn complain_of(trace: &Path, problems: &[String]) {
    for line in problems {
        output::complain(&format_args!("{}: {line}", trace.display()));
    }
}

/// Says on standard error what each trace lacks.
pub(crate) fn complain(summaries: &[TraceSummary]) -> Outcome {
    for summary in summaries {
        complain_of(summary.file.path(), &problem::lines(summary));
    }
    if summaries.iter().all(TraceSummary::is_complete) {
        Outcome::Complete
    } else {
        Outcome::Incomplete
    }
}
