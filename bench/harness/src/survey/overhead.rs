//! What tracing and the recorder cost applications: configurations in turns, with as many threads as processors and
//! with four times as many.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::configuration::Configuration;
use crate::figures::{CPU, TIME, Value, pairs};
use crate::java::Jdks;
use crate::measure::{self, Plan};
use crate::results::{Outcome, Reinitialize, Results, Settings};
use crate::statistics::{Estimate, Pair, median, paired_ratio};
use crate::suite::{Kind, Size, Suite, Workload};
use crate::survey::Setup;
use crate::survey::plan::Budget;
use crate::survey::section::Section;

/// Synthetic programs that are measured, too.
const HAMMERS: [&str; 2] = ["hammer-monitor", "hammer-lock"];

/// The most that the bundled applications can be given.
const MOST_THREADS: u32 = 1_000;

/// More rounds than anyone has time for.
const MOST_ROUNDS: u32 = 1_000;

/// A JVM that takes longer hangs.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// The costs with some number of threads.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Costs {
    pub(crate) threads: u32,
    pub(crate) size: Size,
    /// All others are compared with it.
    pub(crate) baseline: Configuration,
    /// The others.
    pub(crate) compared: Vec<Configuration>,
    pub(crate) workloads: Vec<WorkloadCosts>,
    /// The geometric means of the multi-threaded applications.
    pub(crate) mean: BTreeMap<Configuration, Ratios>,
}

/// The costs of a workload.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct WorkloadCosts {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Rounds in which all passed.
    pub(crate) rounds: usize,
    /// The baseline's median.
    pub(crate) time_ns: Option<f64>,
    pub(crate) ratios: BTreeMap<Configuration, Ratios>,
}

/// Ratios to the baseline in the same round.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Ratios {
    pub(crate) time: Option<Estimate>,
    pub(crate) cpu: Option<Estimate>,
}

/// Measures all multi-threaded applications and the hammers.
pub(crate) fn run(setup: &Setup, budget: Budget) -> anyhow::Result<Section<Vec<Costs>>> {
    let bundled = Suite::bundled(setup.jdks.tools())?;
    let wanted =
        |workload: &&Workload| workload.kind == Kind::Multi || HAMMERS.contains(&&*workload.name);
    let names: Vec<String> = bundled
        .workloads()
        .iter()
        .filter(wanted)
        .map(|workload| workload.name.clone())
        .collect();
    let counts = [setup.threads(), (4 * setup.threads()).min(MOST_THREADS)];
    let jvms = names.len() * setup.configurations.len() * counts.len();
    let each = budget.left() / jvms as u32;
    let mut section = Section::<Vec<Costs>>::new();
    for (at, threads) in counts.into_iter().enumerate() {
        let until = Instant::now() + budget.left() / (counts.len() - at) as u32;
        let wanted = Wanted {
            jdks: setup.jdks.clone(),
            configurations: setup.configurations.clone(),
            names: names.clone(),
            threads,
            each,
        };
        let costs = measure(setup, wanted, until, &mut section)?;
        section.figures.push(costs);
    }
    Ok(section)
}

/// What is to be measured.
pub(crate) struct Wanted {
    pub(crate) jdks: Jdks,
    pub(crate) configurations: Vec<Configuration>,
    /// Of workloads.
    pub(crate) names: Vec<String>,
    pub(crate) threads: u32,
    /// The time for a JVM, if each is to run once.
    pub(crate) each: Duration,
}

/// Measures until a time. All that was measured stays in a folder of the output.
pub(crate) fn measure<T>(
    setup: &Setup,
    wanted: Wanted,
    until: Instant,
    section: &mut Section<T>,
) -> anyhow::Result<Costs> {
    let threads = wanted.threads;
    let configurations = wanted.configurations.iter().map(|it| it.name());
    let configurations = configurations.collect::<Vec<_>>().join("-");
    let plan = Plan {
        jdks: wanted.jdks,
        applications: Some(wanted.names),
        jars: Vec::new(),
        benchmarks: Vec::new(),
        configurations: wanted.configurations,
        rounds: MOST_ROUNDS,
        until: Some(until),
        settings: settings(threads, &setup.heap, wanted.each),
        time_limit: TIME_LIMIT,
        output: setup.output.join(format!("{configurations}-{threads}")),
        keep_traces: false,
        check_targets: false,
    };
    let results = measure::run(&plan)?;
    for missing in &results.unavailable {
        let configuration = missing.configuration;
        let reason = &missing.reason;
        section.not_run.push(format!("{configuration}: {reason}"));
    }
    for jvm in &results.jvms {
        if let Outcome::Failed { reason, .. } = &jvm.outcome {
            let (workload, configuration) = (&jvm.workload, jvm.configuration);
            let place = format!("{workload}, {configuration}, {threads} threads");
            section.failures.push(format!("{place}: {reason}"));
        }
    }
    let workloads = results.workloads.iter();
    let never =
        workloads.filter(|&workload| !results.jvms.iter().any(|jvm| jvm.workload == *workload));
    let never: Vec<&str> = never.map(|workload| &*workload.name).collect();
    if !never.is_empty() {
        section.no_time_for(format!("{} with {threads} threads", never.join(", ")));
    }
    Ok(costs(&results))
}

/// Iterations and their size by the time of a JVM: code becomes warm if there is time for it.
fn settings(threads: u32, heap: &str, each: Duration) -> Settings {
    let (size, iterations, keep) = match each.as_secs() {
        0..4 => (Size::Small, 3, 2),
        4..8 => (Size::Small, 6, 4),
        8..30 => (Size::Default, 6, 4),
        _ => (Size::Default, 15, 8),
    };
    Settings {
        iterations,
        keep,
        threads,
        size,
        reinitialize: Reinitialize::Jvm,
        heap: heap.to_owned(),
        jvm_options: Vec::new(),
    }
}

fn costs(results: &Results) -> Costs {
    let baseline = results.baseline();
    let compared = results.configurations.iter().copied();
    let compared: Vec<_> = compared.filter(|&it| it != baseline).collect();
    let by_configuration = |workloads: &[&Workload]| {
        let of = |value: Value, configuration| {
            let all = workloads.iter();
            let all = all.map(|workload| pairs(results, workload, configuration, value));
            let measured: Vec<Vec<Pair>> = all.filter(|pairs| !pairs.is_empty()).collect();
            paired_ratio(&measured)
        };
        let ratios = compared.iter().map(|&configuration| {
            let [time, cpu] = [TIME, CPU].map(|value| of(value, configuration));
            (configuration, Ratios { time, cpu })
        });
        ratios.collect::<BTreeMap<_, _>>()
    };
    let of_workload = |workload: &Workload| {
        let baseline = pairs(results, workload, baseline, TIME);
        let rounds = compared
            .iter()
            .map(|&configuration| pairs(results, workload, configuration, TIME).len());
        WorkloadCosts {
            name: workload.name.clone(),
            kind: workload.kind,
            rounds: rounds.min().unwrap_or(0),
            time_ns: median(baseline.into_iter().flat_map(|pair| pair.values)),
            ratios: by_configuration(&[workload]),
        }
    };
    let workloads = results.workloads.iter();
    let multi: Vec<&Workload> = workloads
        .clone()
        .filter(|workload| workload.kind == Kind::Multi)
        .collect();
    Costs {
        threads: results.subject.settings.threads,
        size: results.subject.settings.size,
        baseline,
        workloads: workloads.map(of_workload).collect(),
        mean: by_configuration(&multi),
        compared,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_time_makes_longer_iterations() {
        let iterations = |seconds| {
            let settings = settings(8, "1g", Duration::from_secs(seconds));
            (settings.size, settings.iterations)
        };
        assert_eq!(iterations(1), (Size::Small, 3));
        assert_eq!(iterations(5), (Size::Small, 6));
        assert_eq!(iterations(10), (Size::Default, 6));
        assert_eq!(iterations(100), (Size::Default, 15));
    }
}
