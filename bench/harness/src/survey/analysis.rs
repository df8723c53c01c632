//! The speed of `locktrace report` on one big trace, by its number of threads.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use jvm_tests::{Jvm, ReturnBarriers, analyze, locktrace_program};
use magnify::{Length, magnify};
use serde::Serialize;
use trace_format::Counter;

use crate::jvm::{self, Finished};
use crate::statistics::median;
use crate::survey::Setup;
use crate::survey::plan::Budget;
use crate::survey::section::Section;

/// Megabytes of the trace for each second of the part.
const MEGABYTES_PER_SECOND: f64 = 2.5;

/// A report that takes longer hangs.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// The reports on the trace.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Reports {
    pub(crate) trace_bytes: u64,
    pub(crate) events: u64,
    pub(crate) by_threads: Vec<ReportSpeed>,
}

/// The reports with some number of threads.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportSpeed {
    pub(crate) threads: usize,
    pub(crate) reports: usize,
    /// The median.
    pub(crate) time_ns: f64,
    /// The median.
    pub(crate) cpu_ns: f64,
    /// The most.
    pub(crate) peak_rss_bytes: u64,
}

/// Traces threads that block each other, makes a long trace of that, and reports on it in turns.
pub(crate) fn run(setup: &Setup, mut budget: Budget) -> anyhow::Result<Section<Reports>> {
    let mut section = Section::<Reports>::new();
    let long = setup.output.join("long.lct");
    let time = budget.all();
    let name = "tracing, and repeating the trace";
    let Some(events) = section.step(&mut budget, name, || trace(&long, time)) else {
        return Ok(section);
    };
    section.figures.events = events;
    section.figures.trace_bytes = fs::metadata(&long)?.len();
    let counts = thread_counts(setup.processors.len());
    // The time of reports is another one.
    let mut budget = Budget::of(budget.left());
    let mut finished: BTreeMap<usize, Vec<Finished>> = BTreeMap::new();
    for count in counts.iter().cycle() {
        if !budget.has_time() {
            break;
        }
        let name = format!("report with {count} threads");
        let report = budget.step(&name, || report(&long, *count, &setup.output))?;
        finished.entry(*count).or_default().push(report);
    }
    check_same(finished.values().flatten(), &mut section);
    for count in counts {
        match finished.get(&count) {
            Some(reports) => section.figures.by_threads.push(speed(count, reports)),
            None => section.no_time_for(format!("reports with {count} threads")),
        }
    }
    fs::remove_file(&long)?;
    Ok(section)
}

/// All reports have the same content.
fn check_same<'a>(reports: impl Iterator<Item = &'a Finished>, section: &mut Section<Reports>) {
    let texts: BTreeSet<&str> = reports.map(|report| &*report.stdout).collect();
    if texts.len() > 1 {
        let failure = format!("{} different reports on the same trace", texts.len());
        section.failures.push(failure);
    }
}

/// 1, 2, 4, 8 and as many as processors.
fn thread_counts(processors: usize) -> Vec<usize> {
    let mut counts = vec![1, 2, 4, 8, processors];
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// Makes a long trace for some time of reports; returns how many events it has. Panics if anything fails.
fn trace(long: &Path, time: Duration) -> u64 {
    let run = Jvm::traced(&["scenarios.LockHammer", "8", "2", "100000"])
        .flags(ReturnBarriers::On.flags())
        .run();
    let megabytes = (time.as_secs_f64() * MEGABYTES_PER_SECOND).clamp(10.0, 1_000.0);
    let length = Length::Bytes((megabytes * 1e6) as u64);
    let copies = magnify(&run.trace(), long, length, None);
    let copies = copies.unwrap_or_else(|error| panic!("{error:#}"));
    let summary = analyze(&run.trace(), |_, _| {}).expect("a trace");
    copies * summary.tracer_value(Counter::Events).unwrap_or(0)
}

fn report(trace: &Path, threads: usize, output: &Path) -> anyhow::Result<Finished> {
    let folder = tempfile::tempdir_in(output)?;
    let mut arguments = ["report", "--threads", &threads.to_string()]
        .map(OsString::from)
        .to_vec();
    arguments.push(trace.into());
    let finished = jvm::run(locktrace_program(), &arguments, folder.path(), TIME_LIMIT)?;
    if let Some(failure) = finished.failure() {
        bail!(
            "locktrace report: {failure}: {}",
            finished.last_complaints()
        );
    }
    Ok(finished)
}

fn speed(threads: usize, reports: &[Finished]) -> ReportSpeed {
    let times_ns = reports.iter().map(|it| it.duration.as_nanos() as f64);
    let cpu_ns = reports.iter().map(|it| it.cpu_ns as f64);
    let memory = reports.iter().map(|it| it.peak_rss_bytes);
    ReportSpeed {
        threads,
        reports: reports.len(),
        time_ns: median(times_ns).unwrap_or(0.0),
        cpu_ns: median(cpu_ns).unwrap_or(0.0),
        peak_rss_bytes: memory.max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_of_threads_once() {
        assert_eq!(thread_counts(2), [1, 2, 4, 8]);
        assert_eq!(thread_counts(6), [1, 2, 4, 6, 8]);
        assert_eq!(thread_counts(64), [1, 2, 4, 8, 64]);
    }
}
