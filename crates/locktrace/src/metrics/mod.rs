//! `locktrace metrics`: the sums of a trace for monitoring systems.

mod exposition;
mod series;

use trace_analysis::{Aggregation, Aspect, RowLimits, TraceInput, TraceSummary};
use trace_format::FileHeader;

use crate::Outcome;
use crate::cli::MetricsArguments;
use crate::metrics::exposition::{Exposition, Family, Kind};
use crate::metrics::series::{Series, Sums};
use crate::target::Target;
use crate::{input, output, problem};

pub(crate) fn run(arguments: &MetricsArguments) -> anyhow::Result<Outcome> {
    let path = Target::of(&arguments.target).trace()?;
    let traces = vec![input::open_one(&path, false)?];
    let aspects = [Aspect::Kind, Aspect::LockClass, Aspect::OwnerMethod];
    let mut aggregation = Aggregation::new(aspects);
    let detail = aggregation.detail();
    let select = |trace: &TraceInput| arguments.waits.selection(trace);
    let analyzed = input::analyze(traces, detail, select, |wait, entities| {
        aggregation.add(wait, entities);
        Ok(())
    })?;
    let rows = aggregation.rows(RowLimits::default(), &analyzed.entities);
    let series = Series::of(&rows, arguments.series);
    let mut exposition = Exposition::default();
    add_series(&mut exposition, &series);
    for summary in &analyzed.summaries {
        add_trace(&mut exposition, summary);
    }
    let text = exposition.finish();
    output::write_to(arguments.output.as_deref(), |out| {
        out.write_all(text.as_bytes())
    })?;
    Ok(problem::complain(&analyzed.summaries))
}

fn add_series(exposition: &mut Exposition, series: &Series) {
    let labels = ["kind", "lock_class", "owner_method"];
    let by_owner = |value: fn(&Sums) -> u64| {
        let sums = series.by_owner.iter();
        sums.map(move |(names, sums)| (names.each_ref().map(String::as_str), value(sums)))
    };
    let by_lock_class = |value: fn(&Sums) -> u64| {
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

/// Adds what there is to say about the trace itself.
fn add_trace(exposition: &mut Exposition, summary: &TraceSummary) {
    let FileHeader {
        pid,
        jvm,
        start_unix_ns,
        ..
    } = summary.file.header();
    let deadlocks = summary.still_blocked.deadlocks().len() as u64;
    let families = [
        (
            "locktrace_threads_blocked",
            Kind::Gauge,
            "Threads that waited for a lock when the trace ended, or as far as it is written.",
            summary.still_blocked.threads().len() as u64,
        ),
        (
            "locktrace_deadlocks",
            Kind::Gauge,
            "Cycles of threads that wait for each other.",
            deadlocks,
        ),
        (
            "locktrace_trace_duration_seconds",
            Kind::GaugeOfSeconds,
            "From the trace's start to its end, or as far as it is written.",
            summary.duration_ns,
        ),
        (
            "locktrace_trace_complete",
            Kind::Gauge,
            "1 if the trace lacks nothing; 0 also while it is being written.",
            u64::from(summary.is_complete()),
        ),
        (
            "locktrace_lost_events",
            Kind::Counter,
            "Events that the tracer had to drop.",
            summary.lost_events(),
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
    let pid = pid.to_string();
    exposition.add(&start, ["jvm", "pid"], [([jvm, &*pid], *start_unix_ns)]);
}
