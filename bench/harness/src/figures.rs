//! Figures from the measurements of all JVMs.

use std::collections::BTreeMap;

use serde::Serialize;
use trace_analysis::EVENT_TYPES;
use trace_format::Counter;

use crate::configuration::Configuration;
use crate::protocol::Iteration;
use crate::results::{JvmRun, Outcome, Results};
use crate::statistics::{Estimate, Pair, Quartiles, RatiosByRound, mean_ratio, median};
use crate::suite::{Kind, Workload};
use crate::trace::{Measured, Traced};

/// The part of the median that the quartiles of the baseline's times may lie
/// apart; beyond it a workload is called noisy.
pub(crate) const NOISY_SPREAD: f64 = 0.05;

/// Everything that tables and plots show.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figures {
    /// The denominator of all ratios.
    pub(crate) baseline: Configuration,
    pub(crate) workloads: Vec<WorkloadFigures>,
    pub(crate) means: Vec<MeanFigures>,
}

/// One workload.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct WorkloadFigures {
    pub(crate) workload: Workload,
    /// Spread of the baseline's iteration times; `None` if no JVM passed.
    pub(crate) baseline_spread: Option<f64>,
    pub(crate) configurations: BTreeMap<Configuration, ConfigurationFigures>,
}

/// One workload in one configuration.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ConfigurationFigures {
    pub(crate) jvms_passed: u32,
    pub(crate) jvms_failed: u32,
    /// Over the measured iterations of all rounds, in nanoseconds.
    pub(crate) time_ns: Option<Quartiles>,
    pub(crate) cpu_ns: Option<Quartiles>,
    /// The same, each iteration divided by the median of the baseline's iterations
    /// in the same round.
    pub(crate) time_ratio: Option<Quartiles>,
    pub(crate) cpu_ratio: Option<Quartiles>,
    /// The median over JVMs.
    pub(crate) peak_rss_bytes: Option<f64>,
    /// The part of the JVMs' processor time that the tracer's threads took, by name.
    pub(crate) tracer_threads: BTreeMap<String, f64>,
    pub(crate) trace: Option<TraceFigures>,
}

/// Figures from the traces of a workload.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct TraceFigures {
    /// In the measured iterations, without metadata.
    pub(crate) events_per_second: f64,
    pub(crate) events_per_second_by_type: BTreeMap<String, f64>,
    /// Megabytes (10⁶), metadata included.
    pub(crate) raw_mb_per_second: f64,
    pub(crate) stored_mb_per_second: f64,
    /// All bytes, those of metadata included, by the events that are not metadata.
    pub(crate) raw_bytes_per_event: Option<f64>,
    pub(crate) stored_bytes_per_event: Option<f64>,
    /// In the whole run of a JVM; the most of all JVMs.
    pub(crate) peak_buffers: u64,
    pub(crate) peak_buffer_bytes: u64,
    pub(crate) lost_events: u64,
    /// The part of the call chains recorded that were known already.
    pub(crate) chain_reuse: Option<f64>,
    /// The part of the stack frames that were not visited.
    pub(crate) frames_saved: Option<f64>,
    /// Time in hooks, added up over all threads, by the time of the trace: 1 is one
    /// processor all the time.
    pub(crate) hooks: Option<f64>,
    /// Processor time of the drainer in the same unit.
    pub(crate) drainer: Option<f64>,
}

/// The mean over the workloads of one kind.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MeanFigures {
    /// `None` of the multi- and single-threaded applications together.
    pub(crate) kind: Option<Kind>,
    pub(crate) configuration: Configuration,
    pub(crate) workloads: usize,
    pub(crate) time_ratio: Option<Estimate>,
    pub(crate) cpu_ratio: Option<Estimate>,
}

impl Figures {
    /// Computes them from the measurements.
    pub(crate) fn of(results: &Results) -> Self {
        let samples = Samples { results };
        let workloads = results.workloads.iter();
        let mut workloads: Vec<WorkloadFigures> = workloads
            .map(|workload| samples.workload(workload))
            .collect();
        workloads.sort_by_key(|figures| figures.workload.kind);
        let mut means = Vec::new();
        for kind in Kind::ALL.map(Some).into_iter().chain([None]) {
            for &configuration in &results.configurations {
                means.push(samples.mean(kind, configuration));
            }
        }
        means.retain(|mean| mean.time_ratio.is_some());
        Self {
            baseline: results.baseline(),
            workloads,
            means,
        }
    }

    /// The mean of a kind, or of both kinds of applications.
    pub(crate) fn mean(
        &self,
        kind: Option<Kind>,
        configuration: Configuration,
    ) -> Option<&MeanFigures> {
        let mut means = self.means.iter();
        means.find(|mean| mean.kind == kind && mean.configuration == configuration)
    }

    /// The same, if the stock JDK is what ratios are to.
    pub(crate) fn mean_over_stock(
        &self,
        kind: Option<Kind>,
        configuration: Configuration,
    ) -> Option<&MeanFigures> {
        let mean = self.mean(kind, configuration);
        mean.filter(|_| self.baseline == Configuration::Stock)
    }

    /// The workloads whose baseline times vary too much.
    pub(crate) fn noisy(&self) -> impl Iterator<Item = &WorkloadFigures> {
        self.workloads.iter().filter(|figures| figures.is_noisy())
    }
}

impl WorkloadFigures {
    /// The baseline's times vary more than [`NOISY_SPREAD`].
    pub(crate) fn is_noisy(&self) -> bool {
        self.baseline_spread
            .is_some_and(|spread| spread > NOISY_SPREAD)
    }

    /// The name, with a mark if it is noisy.
    pub(crate) fn label(&self) -> String {
        let mark = if self.is_noisy() { " *" } else { "" };
        format!("{}{mark}", self.workload)
    }

    /// `None` if the configuration was not measured, or no JVM passed.
    pub(crate) fn time_ratio(&self, configuration: Configuration) -> Option<Quartiles> {
        self.configurations.get(&configuration)?.time_ratio
    }

    /// `None` if the configuration writes no trace, or no JVM passed.
    pub(crate) fn trace(&self, configuration: Configuration) -> Option<&TraceFigures> {
        self.configurations.get(&configuration)?.trace.as_ref()
    }
}

/// The iterations of a workload in a configuration and in the baseline, by round; rounds in which either failed are
/// left out.
pub(crate) fn pairs(
    results: &Results,
    workload: &Workload,
    configuration: Configuration,
    of: Value,
) -> Vec<Pair> {
    let samples = Samples { results };
    let values = samples.values(workload, configuration, of);
    let baseline = samples.values(workload, results.baseline(), of);
    let pairs = values.into_iter().zip(baseline);
    pairs
        .map(|(values, baseline)| Pair { values, baseline })
        .filter(|pair| !pair.values.is_empty() && !pair.baseline.is_empty())
        .collect()
}

/// The measurements, by what they are of.
struct Samples<'a> {
    results: &'a Results,
}

/// A value of an iteration.
pub(crate) type Value = fn(&Iteration) -> u64;

/// Its duration.
pub(crate) const TIME: Value = |iteration| iteration.time_ns;
/// Its processor time.
pub(crate) const CPU: Value = |iteration| iteration.cpu_ns;

impl Samples<'_> {
    fn workload(&self, workload: &Workload) -> WorkloadFigures {
        let baseline = self.values(workload, self.results.baseline(), TIME);
        let configurations = self.results.configurations.iter();
        WorkloadFigures {
            workload: workload.clone(),
            baseline_spread: Quartiles::of(baseline.into_iter().flatten())
                .map(|quartiles| quartiles.spread()),
            configurations: configurations
                .map(|&configuration| (configuration, self.configuration(workload, configuration)))
                .collect(),
        }
    }

    fn configuration(
        &self,
        workload: &Workload,
        configuration: Configuration,
    ) -> ConfigurationFigures {
        let quartiles = |values: Vec<Vec<f64>>| Quartiles::of(values.into_iter().flatten());
        let passed: Vec<&JvmRun> = self.passed(workload, configuration).collect();
        let failed = self.jvms(workload, configuration).count() - passed.len();
        ConfigurationFigures {
            jvms_passed: passed.len() as u32,
            jvms_failed: failed as u32,
            time_ns: quartiles(self.values(workload, configuration, TIME)),
            cpu_ns: quartiles(self.values(workload, configuration, CPU)),
            time_ratio: quartiles(self.ratios(workload, configuration, TIME)),
            cpu_ratio: quartiles(self.ratios(workload, configuration, CPU)),
            peak_rss_bytes: median(passed.iter().map(|run| run.peak_rss_bytes as f64)),
            tracer_threads: tracer_threads(&passed),
            trace: TraceFigures::of(passed.iter().filter_map(|run| run.traced())),
        }
    }

    fn mean(&self, kind: Option<Kind>, configuration: Configuration) -> MeanFigures {
        let is_wanted = |workload: &&Workload| match kind {
            Some(kind) => workload.kind == kind,
            None => workload.kind != Kind::Synthetic,
        };
        let ratios = |value| -> Vec<RatiosByRound> {
            let workloads = self.results.workloads.iter().filter(is_wanted);
            let ratios = workloads.map(|workload| self.ratios(workload, configuration, value));
            // A workload that always failed has no part in the mean.
            ratios.filter(|rounds| !rounds.is_empty()).collect()
        };
        let (time, cpu) = (ratios(TIME), ratios(CPU));
        MeanFigures {
            kind,
            configuration,
            workloads: time.len(),
            time_ratio: mean_ratio(&time),
            cpu_ratio: mean_ratio(&cpu),
        }
    }

    fn jvms(
        &self,
        workload: &Workload,
        configuration: Configuration,
    ) -> impl Iterator<Item = &JvmRun> {
        let jvms = self.results.jvms.iter();
        jvms.filter(move |run| run.workload == *workload && run.configuration == configuration)
    }

    fn passed(
        &self,
        workload: &Workload,
        configuration: Configuration,
    ) -> impl Iterator<Item = &JvmRun> {
        self.jvms(workload, configuration)
            .filter(|run| matches!(run.outcome, Outcome::Passed { .. }))
    }

    /// The values of the measured iterations by round. A round in which a JVM failed
    /// is empty.
    fn values(
        &self,
        workload: &Workload,
        configuration: Configuration,
        of: Value,
    ) -> Vec<Vec<f64>> {
        let (_, keep) = self.results.subject.settings.in_each_jvm();
        let rounds = 0..self.results.rounds;
        let values = rounds.map(|round| {
            let jvms = self.jvms(workload, configuration);
            let mut values = Vec::new();
            for run in jvms.filter(|run| run.round == round) {
                let Outcome::Passed { iterations, .. } = &run.outcome else {
                    return Vec::new();
                };
                let measured = &iterations[iterations.len().saturating_sub(keep as usize)..];
                values.extend(measured.iter().map(|iteration| of(iteration) as f64));
            }
            values
        });
        values.collect()
    }

    /// The same, divided by the median of the baseline in the same round; rounds in
    /// which either failed are left out.
    fn ratios(
        &self,
        workload: &Workload,
        configuration: Configuration,
        of: Value,
    ) -> RatiosByRound {
        let pairs = pairs(self.results, workload, configuration, of).into_iter();
        pairs
            .filter_map(|Pair { values, baseline }| {
                let baseline = median(baseline)?;
                Some(values.into_iter().map(|value| value / baseline).collect())
            })
            .collect()
    }
}

/// Returns the processor time of the tracer's threads in some JVMs, divided by the JVMs' own.
fn tracer_threads(jvms: &[&JvmRun]) -> BTreeMap<String, f64> {
    let cpu_ns: u64 = jvms.iter().map(|run| run.cpu_ns).sum();
    let mut sums = BTreeMap::<&str, u64>::new();
    for (name, cpu_ns) in jvms.iter().flat_map(|run| &run.tracer_cpu_ns) {
        *sums.entry(name).or_default() += cpu_ns;
    }
    sums.into_iter()
        .filter_map(|(name, sum)| Some((name.to_owned(), part(sum, cpu_ns)?)))
        .collect()
}

impl JvmRun {
    fn traced(&self) -> Option<&Traced> {
        match &self.outcome {
            Outcome::Passed { traced, .. } => traced.as_ref(),
            Outcome::Failed { .. } => None,
        }
    }
}

impl TraceFigures {
    /// Adds up the traces of several JVMs. `None` of no traces.
    fn of<'a>(traces: impl Iterator<Item = &'a Traced>) -> Option<Self> {
        let mut measured = Measured::default();
        let mut sums = BTreeMap::<&str, u64>::new();
        let (mut peak_buffers, mut peak_buffer_bytes, mut duration_ns) = (0, 0, 0);
        for trace in traces {
            measured.add(&trace.measured);
            duration_ns += trace.duration_ns;
            peak_buffers = peak_buffers.max(trace.counter(Counter::PeakBuffers));
            peak_buffer_bytes = peak_buffer_bytes.max(trace.counter(Counter::PeakBufferBytes));
            for (name, value) in &trace.counters {
                *sums.entry(name).or_default() += value;
            }
        }
        if duration_ns == 0 {
            return None;
        }
        let sum = |counter: Counter| sums.get(counter.name()).copied().unwrap_or(0);
        let cycles = HOOK_CYCLES.map(sum).iter().sum();
        let seconds = measured.duration_ns as f64 / 1e9;
        let events = measured.data_events();
        let by_type = measured.events.iter();
        Some(Self {
            events_per_second: events as f64 / seconds,
            events_per_second_by_type: by_type
                .map(|(name, &count)| (name.clone(), count as f64 / seconds))
                .collect(),
            raw_mb_per_second: measured.raw_bytes as f64 / 1e6 / seconds,
            stored_mb_per_second: measured.stored_bytes as f64 / 1e6 / seconds,
            raw_bytes_per_event: part(measured.raw_bytes, events),
            stored_bytes_per_event: part(measured.stored_bytes, events),
            peak_buffers,
            peak_buffer_bytes,
            lost_events: sum(Counter::LostEvents),
            chain_reuse: part(sum(Counter::ChainsFound), sum(Counter::ChainsRecorded)),
            frames_saved: part(
                sum(Counter::FramesSaved),
                sum(Counter::FramesVisited) + sum(Counter::FramesSaved),
            ),
            hooks: part(cycles, sum(Counter::ElapsedCycles)),
            drainer: part(sum(Counter::DrainerCpuNs), duration_ns),
        })
    }
}

const HOOK_CYCLES: [Counter; 7] = [
    Counter::EnterCycles,
    Counter::EnteredCycles,
    Counter::ExitCycles,
    Counter::ParkBeginCycles,
    Counter::ParkEndCycles,
    Counter::UnparkCycles,
    Counter::InterruptedCycles,
];

/// `None` of nothing.
fn part(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl Traced {
    fn counter(&self, counter: Counter) -> u64 {
        self.counters.get(counter.name()).copied().unwrap_or(0)
    }
}

impl Measured {
    fn add(&mut self, other: &Self) {
        self.duration_ns += other.duration_ns;
        self.raw_bytes += other.raw_bytes;
        self.stored_bytes += other.stored_bytes;
        for (name, count) in &other.events {
            *self.events.entry(name.clone()).or_default() += count;
        }
    }

    /// Events that are not metadata.
    fn data_events(&self) -> u64 {
        let events = self.events.iter();
        let data = events.filter(|(name, _)| !is_metadata(name));
        data.map(|(_, &count)| count).sum()
    }
}

/// Events of the type describe what others refer to.
pub(crate) fn is_metadata(event_type: &str) -> bool {
    let mut types = EVENT_TYPES.iter();
    types.any(|known| known.name == event_type && known.metadata)
}
