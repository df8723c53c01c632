//! `locktrace metrics`: the sums of a trace for monitoring systems.

pub(crate) mod arguments;
mod exposition;
pub(crate) mod label;
mod series;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use trace_analysis::{Aggregation, Aspect, RowLimits, TraceInput, TraceSummary};

use crate::arguments::waits::WaitArguments;
use crate::commands::metrics::arguments::{MetricsArguments, MetricsFormat};
use crate::commands::metrics::exposition::{Exposition, Family, Kind};
use crate::commands::metrics::label::Label;
use crate::commands::metrics::series::{Series, SeriesValues};
use crate::jvm::target::Target;
use crate::outcome::{self, Outcome};
use crate::redaction::Redaction;
use crate::{input, output, problem};

/// How metrics are written.
pub(crate) struct Form<'a> {
    pub(crate) format: MetricsFormat,
    /// The series of a family that are not added up as others.
    pub(crate) max_series: usize,
    /// The user's labels of every series.
    pub(crate) labels: &'a [Label],
    /// The traced processes.
    pub(crate) pids: BTreeSet<u32>,
}

pub(crate) fn run(arguments: &MetricsArguments) -> outcome::Result<Outcome> {
    let target = Target::of(&arguments.target);
    let trace = input::open_one(&target.trace()?, false)?;
    let pid = match target {
        // In a container it has another number, which others have, too.
        Target::Process(pid) => pid,
        Target::Trace(_) => trace.header().pid,
    };
    let form = Form {
        format: arguments.format,
        max_series: arguments.series,
        labels: &arguments.labels,
        pids: [pid].into(),
    };
    let output = arguments.output.as_deref();
    let redaction = Redaction::new(&[], None)?;
    write(vec![trace], &arguments.waits, &form, &redaction, output)
}

/// Writes the sums of all `traces` together.
pub(crate) fn write(
    traces: Vec<TraceInput>,
    waits: &WaitArguments,
    form: &Form<'_>,
    redaction: &Redaction,
    output: Option<&Path>,
) -> outcome::Result<Outcome> {
    let labels = label::common(form.labels, &form.pids)?;
    let aspects = [Aspect::Kind, Aspect::LockClass, Aspect::OwnerMethod];
    let mut aggregation = Aggregation::new(aspects);
    let detail = aggregation.detail();
    let select = |trace: &TraceInput| waits.selection(trace);
    let analyzed = input::analyze(traces, detail, select, |wait, entities| {
        aggregation.add(wait, entities);
        Ok(())
    })?;
    let entities = redaction.rename(analyzed.entities);
    let rows = aggregation.rows(RowLimits::default(), &entities);
    let series = Series::of(&rows, form.max_series, &entities);
    let mut exposition = Exposition::new(form.format, &labels);
    add_series(&mut exposition, &series);
    add_traces(&mut exposition, &analyzed.summaries);
    let text = exposition.finish();
    output::write_to(output, |out| out.write_all(text.as_bytes()))?;
    Ok(problem::complain(&analyzed.summaries))
}

fn add_series(exposition: &mut Exposition<'_>, series: &Series) {
    let labels = ["kind", "lock_class", "owner_method"];
    let by_owner = |value: fn(&SeriesValues) -> u64| {
        let sums = series.by_owner.iter();
        sums.map(move |(names, sums)| (names.each_ref().map(String::as_str), value(sums)))
    };
    let by_lock_class = |value: fn(&SeriesValues) -> u64| {
        let sums = series.by_lock_class.iter();
        sums.map(move |(names, sums)| (names.each_ref().map(String::as_str), value(sums)))
    };
    let blocked = Family {
        name: "locktrace_blocked_seconds",
        kind: Kind::CounterOfSeconds,
        help: "Time for which threads waited, by the lock's class and the method that held it.",
    };
    exposition.add(&blocked, labels, by_owner(|sums| sums.duration_ns));
    let waits = Family {
        name: "locktrace_owner_waits",
        kind: Kind::Counter,
        help: "Waits in which the method held the lock for some time; \
               a wait with several owners counts for each.",
    };
    exposition.add(&waits, labels, by_owner(|sums| sums.waits));
    let labels = ["kind", "lock_class"];
    let waits = Family {
        name: "locktrace_waits",
        kind: Kind::Counter,
        help: "Waits, each once.",
    };
    exposition.add(&waits, labels, by_lock_class(|sums| sums.waits));
    let longest = Family {
        name: "locktrace_longest_wait_seconds",
        kind: Kind::GaugeOfSeconds,
        help: "The longest wait.",
    };
    exposition.add(&longest, labels, by_lock_class(|sums| sums.longest_ns));
}

/// Adds the families about the traces themselves.
fn add_traces(exposition: &mut Exposition<'_>, traces: &[TraceSummary]) {
    let sum =
        |value: fn(&TraceSummary) -> u64| traces.iter().map(value).fold(0, u64::saturating_add);
    let families = [
        (
            "locktrace_threads_blocked",
            Kind::Gauge,
            "Threads that waited for a lock when the trace ended, or as far as it is written.",
            sum(|trace| trace.still_blocked.threads().len() as u64),
        ),
        (
            "locktrace_deadlocks",
            Kind::Gauge,
            "Cycles of threads that wait for each other.",
            sum(|trace| trace.still_blocked.deadlocks().len() as u64),
        ),
        (
            "locktrace_trace_duration_seconds",
            Kind::GaugeOfSeconds,
            "From the trace's start to its end, or as far as it is written.",
            sum(|trace| trace.duration_ns),
        ),
        (
            "locktrace_trace_complete",
            Kind::Gauge,
            "1 if the trace lacks nothing; 0 also while it is being written.",
            u64::from(traces.iter().all(TraceSummary::is_complete)),
        ),
        (
            "locktrace_lost_events",
            Kind::Counter,
            "Events that the tracer had to drop.",
            sum(TraceSummary::lost_events),
        ),
    ];
    for (name, kind, help, value) in families {
        exposition.add(&Family { name, kind, help }, [], [([], value)]);
    }
    let start = Family {
        name: "locktrace_trace_start_time_seconds",
        kind: Kind::GaugeOfSeconds,
        help: "When the trace began, since 1970: all counters began there at 0.",
    };
    let starts = starts(traces);
    let series = starts
        .iter()
        .map(|((jvm, pid), &start_unix_ns)| ([*jvm, pid.as_str()], start_unix_ns));
    exposition.add(&start, ["jvm", "process"], series);
}

/// When the first trace of each process began, in nanoseconds since 1970. In containers, many
/// processes have the same number.
fn starts(traces: &[TraceSummary]) -> BTreeMap<(&str, String), u64> {
    let mut starts = BTreeMap::new();
    for trace in traces {
        let header = trace.file.header();
        let process = (header.jvm.as_str(), header.pid.to_string());
        let start_unix_ns = starts.entry(process).or_insert(header.start_unix_ns);
        *start_unix_ns = header.start_unix_ns.min(*start_unix_ns);
    }
    starts
}
