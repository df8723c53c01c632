//! `locktrace export`: lock contention in the formats of other tools.

pub(crate) mod arguments;
mod firefox;
mod jfr;
mod openmetrics;
mod otlp;
mod perfetto;
mod stacks;
pub(crate) mod tables;

use std::io::{self, IsTerminal};

use crate::commands::export::arguments::{ExportArguments, ExportFormat};
use crate::commands::metrics::arguments::MetricsFormat;
use crate::files::destination;
use crate::outcome::{self, Outcome, UsageError};

pub(crate) fn run(arguments: &ExportArguments) -> outcome::Result<Outcome> {
    let (format, waits) = arguments.format_and_waits()?;
    check(format, arguments)?;
    match format {
        ExportFormat::Collapsed | ExportFormat::Pprof => stacks::run(format, &waits, arguments),
        ExportFormat::Firefox => firefox::run(&waits, arguments),
        ExportFormat::Jfr => jfr::run(&waits, arguments),
        ExportFormat::Openmetrics => {
            openmetrics::run(MetricsFormat::Openmetrics, &waits, arguments)
        }
        ExportFormat::Otlp => otlp::run(&waits, arguments),
        ExportFormat::Prometheus => openmetrics::run(MetricsFormat::Prometheus, &waits, arguments),
        ExportFormat::Perfetto => perfetto::run(&waits, arguments),
        ExportFormat::Parquet => tables::run(&waits, arguments),
    }
}

/// Options that do not fit the format would be a mistake of the user.
fn check(format: ExportFormat, arguments: &ExportArguments) -> Result<(), UsageError> {
    let is_of_stacks = matches!(
        format,
        ExportFormat::Collapsed | ExportFormat::Pprof | ExportFormat::Otlp
    );
    if arguments.stacks.is_some() && !is_of_stacks {
        return Err(UsageError(
            "--stacks is for --to collapsed, --to pprof and --to otlp",
        ));
    }
    if arguments.lines && format != ExportFormat::Collapsed {
        return Err(UsageError("--lines is for --to collapsed"));
    }
    if arguments.origin.is_given() && format != ExportFormat::Parquet {
        return Err(UsageError(
            "--host, --release and --nestings are for --to parquet",
        ));
    }
    let is_of_metrics = matches!(format, ExportFormat::Openmetrics | ExportFormat::Prometheus);
    if (arguments.series.is_some() || !arguments.labels.is_empty()) && !is_of_metrics {
        return Err(UsageError(
            "--series and --label are for --to openmetrics and --to prometheus",
        ));
    }
    let is_url = arguments.output.as_deref().is_some_and(destination::is_url);
    if is_url && format != ExportFormat::Parquet {
        return Err(UsageError("URLs are for --to parquet: use --output FILE"));
    }
    match (format, &arguments.output) {
        (_, Some(_)) | (ExportFormat::Collapsed | ExportFormat::Firefox, None) => Ok(()),
        _ if is_of_metrics => Ok(()),
        (ExportFormat::Parquet, None) => Err(UsageError(
            "tables go to a directory or an object store: use --output DIRECTORY|URL",
        )),
        _ if io::stdout().is_terminal() => Err(UsageError(
            "this format is not for a terminal: use --output",
        )),
        _ => Ok(()),
    }
}
