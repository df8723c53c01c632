//! What is missing from traces, on standard error and as an outcome.

use trace_analysis::TraceSummary;
use trace_report::problem;

use crate::Outcome;
use crate::output;

/// Says on standard error what each trace lacks.
pub(crate) fn complain(summaries: &[TraceSummary]) -> Outcome {
    for summary in summaries {
        for line in problem::lines(summary) {
            output::complain(&format_args!("{}: {line}", summary.file.path().display()));
        }
    }
    if summaries.iter().all(TraceSummary::is_complete) {
        Outcome::Complete
    } else {
        Outcome::Incomplete
    }
}
