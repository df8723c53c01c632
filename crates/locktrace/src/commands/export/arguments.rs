//! The arguments of `locktrace export`.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::arguments::filter::{FilterArguments, PATTERNS};
use crate::arguments::origin::OriginArguments;
use crate::arguments::range::{RangeArguments, Time, parse_time};
use crate::arguments::threads::ThreadArguments;
use crate::arguments::waits::{KindArguments, WaitArguments};
use crate::commands::metrics::label::Label;
use crate::outcome::UsageError;
use crate::redaction::RedactArguments;

const EXPORT_NOTES: &str = "\
Formats:
  collapsed  a line for each call chain, outermost frame first, and the nanoseconds that threads
             waited: for inferno, speedscope and other tools for flame graphs
  pprof      a profile, compressed: go tool pprof, speedscope. Each sample counts contentions and
             has their delay; its labels are thread.name, lock.class, lock.owner_thread,
             lock.waiting_thread and lock.wait_kind
  parquet    tables for DuckDB, Spark, pandas: waits, blame (what each owner had of each wait),
             threads, locks, chains, methods, runs. -o is a directory, for the runs of many hosts
  perfetto   a trace for Perfetto's page and trace processor: the waits on tracks of threads, who
             had the locks on tracks of locks, and arrows from owners to those who waited
  firefox    a profile for the Firefox Profiler, as JSON: of each thread its waits as markers, and
             as samples the code with which it made others wait, in microseconds
  jfr        a recording for JDK Mission Control and jfr: waits as jdk.JavaMonitorEnter and
             jdk.ThreadPark, and locktrace.Blame for each part of a wait, with the owner's stack
  otlp       profiles for OpenTelemetry, as the message ProfilesData of v1development: of each trace
             one of delays and one of contentions
  openmetrics
             the families of locktrace metrics, over all traces together, as text for Prometheus
  prometheus
             the same in the older text format, for node_exporter's textfile collector

  locktrace export --to collapsed trace.lct | inferno-flamegraph --countname ns > owners.svg
  locktrace export --to pprof trace.lct -o owners.pb.gz && go tool pprof -top owners.pb.gz
  locktrace export --to parquet --kind all trace.lct -o runs
  locktrace export --to perfetto --from 10s --to 20s trace.lct -o trace.pftrace
  duckdb -c \"select owner_method, sum(duration_ns) from 'runs/blame/*/*/*/*.parquet' group by all\"

Of owners, the call chain is the one at the release of the lock, and the sum is what report calls
Blocked. Where no owner is known, a frame in angle brackets says why. In Go's terms, owners are a
profile of mutexes, waiters one of blocking.";

#[derive(Args, Debug)]
#[command(after_long_help = format!("{EXPORT_NOTES}\n\n{PATTERNS}"))]
pub(crate) struct ExportArguments {
    /// Trace files, pipes, or - for standard input; several are added up, or a run each in tables
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,

    /// Format of the output. Given once more, the time until which to export, as in other
    /// commands: --to pprof --from 10s --to 20s
    #[arg(
        long,
        required = true,
        allow_hyphen_values = true,
        value_name = "FORMAT|TIME",
        value_parser = ExportToParser,
    )]
    to: Vec<ExportTo>,

    /// Begin at a time since the trace's start (10s, 1m30s), before its end (-5s), or of the
    /// clock in UTC (2026-11-22 17:00:00)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    from: Option<Time>,

    /// Call chains to show in collapsed, pprof and otlp [default: owners]
    #[arg(long, value_enum)]
    pub(crate) stacks: Option<ExportStacks>,

    /// Distinguish the lines of a method in collapsed call chains; pprof and otlp always do
    #[arg(long)]
    pub(crate) lines: bool,

    #[command(flatten)]
    pub(crate) origin: OriginArguments,

    /// At most N series of a family in openmetrics and prometheus, those with the longest times;
    /// the others are added up [default: 100]
    #[arg(long, value_name = "N")]
    pub(crate) series: Option<usize>,

    /// Add a label to every series of openmetrics and prometheus; may be repeated. Every series has the label pid, the
    /// processes: --label pid=VALUE replaces it, and --label pid= leaves it out
    #[arg(long = "label", value_name = "NAME=VALUE")]
    pub(crate) labels: Vec<Label>,

    #[command(flatten)]
    pub(crate) kinds: KindArguments,

    #[command(flatten)]
    pub(crate) filter: FilterArguments,

    #[command(flatten)]
    pub(crate) redact: RedactArguments,

    /// Write to a file, in one step, instead of to standard output; tables to a directory, or to an
    /// object store: s3://BUCKET/PREFIX, with the environment's credentials (AWS_ACCESS_KEY_ID, ...)
    #[arg(short, long, value_name = "FILE|DIRECTORY|URL")]
    pub(crate) output: Option<PathBuf>,

    /// Read on while the file grows, until the trace ends or the JVM does
    #[arg(long)]
    pub(crate) follow: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,
}

impl ExportArguments {
    /// The format, and which waits to export.
    pub(crate) fn format_and_waits(&self) -> Result<(ExportFormat, WaitArguments), UsageError> {
        let (mut format, mut until) = (None, None);
        for to in &self.to {
            let is_first = match *to {
                ExportTo::Format(given) => format.replace(given).is_none(),
                ExportTo::Time(given) => until.replace(given).is_none(),
            };
            if !is_first {
                return Err(UsageError("--to takes one format and at most one time"));
            }
        }
        let format = format.ok_or(UsageError("--to FORMAT is missing: --to TIME is the end"))?;
        let waits = WaitArguments {
            kinds: self.kinds.clone(),
            range: RangeArguments::new(self.from, until),
            filter: self.filter.clone(),
        };
        Ok((format, waits))
    }
}

/// What `--to` means in an export. No format is called like a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExportTo {
    Format(ExportFormat),
    Time(Time),
}

/// Reads [`ExportTo`], and tells completion scripts the formats.
#[derive(Clone, Debug)]
struct ExportToParser;

impl TypedValueParser for ExportToParser {
    type Value = ExportTo;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<ExportTo, clap::Error> {
        let text = value.to_string_lossy();
        if let Ok(time) = parse_time(&text) {
            return Ok(ExportTo::Time(time));
        }
        let format = EnumValueParser::new().parse_ref(command, argument, value)?;
        Ok(ExportTo::Format(format))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let formats = ExportFormat::value_variants().iter();
        Some(Box::new(formats.filter_map(ValueEnum::to_possible_value)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Text for flame graphs
    Collapsed,
    /// A profile for Go's pprof
    Pprof,
    /// Tables for DuckDB, Spark, pandas
    Parquet,
    /// A trace for Perfetto
    Perfetto,
    /// A profile for the Firefox Profiler
    Firefox,
    /// A recording for JDK Mission Control and jfr
    Jfr,
    /// Sums for Prometheus, as text
    Openmetrics,
    /// The same in the older format, for node_exporter
    Prometheus,
    /// Profiles for OpenTelemetry
    Otlp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportStacks {
    /// Chains of the code that held the locks
    Owners,
    /// Chains of the code that waited
    Waiters,
    /// The owner's chain, the lock, and the waiter's chain reversed
    ChainGraph,
}
