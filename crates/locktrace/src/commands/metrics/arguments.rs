//! The arguments of `locktrace metrics`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::arguments::waits::WaitArguments;
use crate::commands::metrics::label::Label;

const METRICS_NOTES: &str = "\
Families, all since tracing began:
  locktrace_blocked_seconds_total      by kind, lock_class and owner_method; the sum is the report's
  locktrace_owner_waits_total          the same; a wait with several owners counts for each
  locktrace_waits_total                by kind and lock_class, each wait once
  locktrace_longest_wait_seconds       by kind and lock_class
  locktrace_threads_blocked            when the trace ended, or as far as it is written
  locktrace_deadlocks                  the same
  locktrace_trace_duration_seconds, locktrace_trace_complete, locktrace_lost_events_total,
  locktrace_trace_start_time_seconds   about the trace

What has no series of its own is called other; sums over all series are those over everything. Every
series has the label pid, so that those of several applications can be in one folder. As
node_exporter's textfile collector reads it:

  locktrace metrics app.lct --format prometheus -o /var/lib/node_exporter/textfile/app.prom";

/// The default of `--series`.
pub(crate) const DEFAULT_SERIES: usize = 100;

#[derive(Args, Debug)]
#[command(after_long_help = METRICS_NOTES)]
pub(crate) struct MetricsArguments {
    /// JVM that writes a trace, trace file, pipe, or - for standard input
    #[arg(value_name = "PID|TRACE")]
    pub(crate) target: PathBuf,

    #[command(flatten)]
    pub(crate) waits: WaitArguments,

    /// Format of the output
    #[arg(long, value_enum, default_value_t = MetricsFormat::Openmetrics)]
    pub(crate) format: MetricsFormat,

    /// Add a label to every series; may be repeated. Every series has the label pid, the process: --label pid=VALUE
    /// replaces it, and --label pid= leaves it out
    #[arg(long = "label", value_name = "NAME=VALUE")]
    pub(crate) labels: Vec<Label>,

    /// At most N series of a family, those with the longest times; the others are added up
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SERIES)]
    pub(crate) series: usize,

    /// Write to a file, in one step: a reader never sees half of it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MetricsFormat {
    /// OpenMetrics text, as Prometheus asks for
    Openmetrics,
    /// The older text format, for node_exporter's textfile collector and promtool
    Prometheus,
}
