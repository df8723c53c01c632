//! Sums for monitoring systems: those of `locktrace metrics`, over several traces.

use crate::cli::{DEFAULT_SERIES, ExportArguments, WaitArguments};
use crate::{Outcome, input, metrics};

pub(super) fn run(waits: &WaitArguments, arguments: &ExportArguments) -> anyhow::Result<Outcome> {
    let traces = input::open(&arguments.traces, arguments.follow)?;
    let max_series = arguments.series.unwrap_or(DEFAULT_SERIES);
    let redaction = arguments.redact.redaction()?;
    let output = arguments.output.as_deref();
    metrics::write(traces, waits, max_series, &redaction, output)
}
