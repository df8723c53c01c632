//! Sums for monitoring systems: those of `locktrace metrics`, over several traces.

use crate::arguments::waits::WaitArguments;
use crate::commands::export::arguments::ExportArguments;
use crate::commands::metrics::arguments::{DEFAULT_SERIES, MetricsFormat};
use crate::commands::metrics::{self, Form};
use crate::input;
use crate::outcome::{self, Outcome};

pub(super) fn run(
    format: MetricsFormat,
    waits: &WaitArguments,
    arguments: &ExportArguments,
) -> outcome::Result<Outcome> {
    let traces = input::open(&arguments.traces, arguments.follow)?;
    let form = Form {
        format,
        max_series: arguments.series.unwrap_or(DEFAULT_SERIES),
        labels: &arguments.labels,
        pids: traces.iter().map(|trace| trace.header().pid).collect(),
    };
    let redaction = arguments.redact.redaction()?;
    let output = arguments.output.as_deref();
    metrics::write(traces, waits, &form, &redaction, output)
}
