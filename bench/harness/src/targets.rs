//! Targets for the costs of tracing, and whether they are met.

use serde::Serialize;

use crate::configuration::Configuration;
use crate::figures::{Figures, WorkloadFigures};
use crate::suite::Kind;

/// The workloads that wait and notify more than anything else.
const WAIT_NOTIFY: [&str; 3] = ["producer-consumer", "lock-step", "avrora"];

/// A demand and how it turned out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Target {
    pub(crate) number: u32,
    /// The demand.
    pub(crate) demand: String,
    /// The result.
    pub(crate) found: String,
    pub(crate) verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Met,
    Missed,
    /// The difference is smaller than the variation of the baseline.
    WithinNoise,
    /// The necessary figures were not measured.
    NotMeasured,
}

impl Verdict {
    fn of(is_met: bool) -> Self {
        if is_met { Self::Met } else { Self::Missed }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::WithinNoise => "within the noise",
            Self::NotMeasured => "not measured",
        }
    }
}

/// All targets, in order.
pub(crate) fn evaluate(figures: &Figures) -> Vec<Target> {
    let mut targets = vec![
        off(figures),
        mean(figures, Kind::Multi, 0.02),
        mean(figures, Kind::Single, 0.005),
        each_application(figures),
    ];
    targets.extend(against_jfr(figures));
    targets.extend(event_sizes(figures));
    targets.push(buffers(figures));
    targets
}

/// Tracing off against stock.
fn off(figures: &Figures) -> Target {
    const BOUND: f64 = 0.01;
    let mean = figures.mean_over_stock(None, Configuration::Off);
    let estimate = mean.and_then(|mean| mean.time_ratio);
    Target {
        number: 1,
        demand: "off: within 1 % of stock, geometric mean over applications".to_owned(),
        found: estimate.map_or_else(nothing, |ratio| {
            format!(
                "{} ({} to {})",
                overhead(ratio.value),
                overhead(ratio.low),
                overhead(ratio.high)
            )
        }),
        verdict: estimate.map_or(Verdict::NotMeasured, |ratio| {
            Verdict::of((ratio.value - 1.0).abs() <= BOUND)
        }),
    }
}

/// The mean over applications of one kind.
fn mean(figures: &Figures, kind: Kind, bound: f64) -> Target {
    let mean = figures.mean_over_stock(Some(kind), Configuration::Compressed);
    let estimate = mean.and_then(|mean| mean.time_ratio);
    Target {
        number: 2,
        demand: format!(
            "compressed: at most {} over stock, geometric mean over {}-threaded applications",
            percent(bound),
            kind.name()
        ),
        found: estimate.map_or_else(nothing, |ratio| {
            format!(
                "{} ({} to {})",
                overhead(ratio.value),
                overhead(ratio.low),
                overhead(ratio.high)
            )
        }),
        verdict: estimate.map_or(Verdict::NotMeasured, |ratio| {
            Verdict::of(ratio.value <= 1.0 + bound)
        }),
    }
}

/// The application with the highest overhead.
fn each_application(figures: &Figures) -> Target {
    const BOUND: f64 = 0.10;
    let applications = figures.workloads.iter();
    let worst = applications
        .filter(|_| figures.baseline == Configuration::Stock)
        .filter(|figures| figures.workload.kind != Kind::Synthetic)
        .filter_map(|figures| {
            Some((
                figures.label(),
                figures.time_ratio(Configuration::Compressed)?.median,
            ))
        })
        .max_by(|(_, one), (_, other)| one.total_cmp(other));
    Target {
        number: 2,
        demand: "compressed: no application above 10 %".to_owned(),
        found: worst.as_ref().map_or_else(nothing, |(label, ratio)| {
            format!("highest: {label} with {}", overhead(*ratio))
        }),
        verdict: worst.map_or(Verdict::NotMeasured, |(_, ratio)| {
            Verdict::of(ratio <= 1.0 + BOUND)
        }),
    }
}

/// Each workload with many events, against the Flight Recorder.
fn against_jfr(figures: &Figures) -> Vec<Target> {
    const MANY_EVENTS_PER_SECOND: f64 = 1_000.0;
    let targets: Vec<Target> = figures
        .workloads
        .iter()
        .filter(|figures| {
            let trace = figures.trace(Configuration::Compressed);
            trace.is_some_and(|trace| trace.events_per_second > MANY_EVENTS_PER_SECOND)
        })
        .map(less_than_jfr)
        .collect();
    at_least_one(
        targets,
        3,
        "compressed: at most half of jfr's overhead above 1,000 events/s",
    )
}

fn less_than_jfr(figures: &WorkloadFigures) -> Target {
    let waits = WAIT_NOTIFY.contains(&&*figures.workload.name);
    let (share, words) = if waits {
        (1.0 / 3.0, "a third")
    } else {
        (0.5, "half")
    };
    let ratio = |configuration| {
        figures
            .time_ratio(configuration)
            .map(|ratio| ratio.median - 1.0)
    };
    let measured = ratio(Configuration::Compressed).zip(ratio(Configuration::Jfr));
    let noise = figures.baseline_spread.unwrap_or(0.0);
    Target {
        number: 3,
        demand: format!(
            "{}, compressed: at most {words} of jfr's overhead",
            figures.label()
        ),
        found: measured.map_or_else(nothing, |(ours, jfr)| {
            format!(
                "{} against {}, spread of the baseline {}",
                signed(ours),
                signed(jfr),
                percent(noise)
            )
        }),
        verdict: measured.map_or(Verdict::NotMeasured, |(ours, jfr)| {
            if ours.abs().max(jfr.abs()) <= noise {
                Verdict::WithinNoise
            } else {
                // Where the Flight Recorder costs nothing, neither may tracing.
                Verdict::of(ours <= share * jfr.max(0.0))
            }
        }),
    }
}

/// Bytes for each event, of each workload with very many.
fn event_sizes(figures: &Figures) -> Vec<Target> {
    const VERY_MANY_EVENTS_PER_SECOND: f64 = 10_000.0;
    const RAW_BYTES: f64 = 10.0;
    const STORED_BYTES: f64 = 4.0;
    let mut targets = Vec::new();
    for figures in &figures.workloads {
        let Some(trace) = figures.trace(Configuration::Compressed) else {
            continue;
        };
        let (Some(raw), Some(stored)) = (trace.raw_bytes_per_event, trace.stored_bytes_per_event)
        else {
            continue;
        };
        if trace.events_per_second > VERY_MANY_EVENTS_PER_SECOND {
            targets.push(Target {
                number: 4,
                demand: format!(
                    "{}: at most 10 bytes an event raw and 4 compressed",
                    figures.label()
                ),
                found: format!("{raw:.1} and {stored:.1}"),
                verdict: Verdict::of(raw <= RAW_BYTES && stored <= STORED_BYTES),
            });
        }
    }
    at_least_one(
        targets,
        4,
        "at most 10 bytes an event raw and 4 compressed above 10,000 events/s",
    )
}

/// Memory of the buffers.
fn buffers(figures: &Figures) -> Target {
    const BOUND_BYTES: u64 = 2 << 20;
    let workloads = figures.workloads.iter();
    let worst = workloads
        .filter_map(|figures| {
            let trace = figures.trace(Configuration::Compressed)?;
            Some((figures.label(), trace.peak_buffer_bytes, trace.peak_buffers))
        })
        .max_by_key(|&(_, bytes, _)| bytes);
    Target {
        number: 4,
        demand: "at most 2 MiB in buffers at once (demanded for up to 100 threads)".to_owned(),
        found: worst
            .as_ref()
            .map_or_else(nothing, |(label, bytes, buffers)| {
                let kib = *bytes as f64 / 1024.0;
                format!("most: {label} with {kib:.0} KiB in {buffers} buffers")
            }),
        verdict: worst.map_or(Verdict::NotMeasured, |(_, bytes, _)| {
            Verdict::of(bytes <= BOUND_BYTES)
        }),
    }
}

/// Says so if a demand on certain workloads met none.
fn at_least_one(mut targets: Vec<Target>, number: u32, demand: &str) -> Vec<Target> {
    if targets.is_empty() {
        targets.push(Target {
            number,
            demand: demand.to_owned(),
            found: "no such workload".to_owned(),
            verdict: Verdict::NotMeasured,
        });
    }
    targets
}

fn nothing() -> String {
    "-".to_owned()
}

/// A ratio to stock as what it is above 1.
pub(crate) fn overhead(ratio: f64) -> String {
    signed(ratio - 1.0)
}

fn signed(part: f64) -> String {
    format!("{:+.1} %", part * 100.0)
}

/// A part as percents.
pub(crate) fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::figures::{ConfigurationFigures, MeanFigures, TraceFigures};
    use crate::statistics::{Estimate, Quartiles};
    use crate::suite::{Origin, Workload};

    fn configuration(ratio: f64, trace: Option<TraceFigures>) -> ConfigurationFigures {
        ConfigurationFigures {
            jvms_passed: 1,
            jvms_failed: 0,
            time_ns: None,
            cpu_ns: None,
            time_ratio: Quartiles::of([ratio]),
            cpu_ratio: None,
            peak_rss_bytes: None,
            tracer_threads: BTreeMap::new(),
            trace,
        }
    }

    /// A workload with overheads, in which tracing writes events of a size.
    fn workload(
        name: &str,
        compressed: f64,
        jfr: f64,
        events_per_second: f64,
        raw_bytes_per_event: f64,
    ) -> WorkloadFigures {
        let trace = TraceFigures {
            events_per_second,
            raw_bytes_per_event: Some(raw_bytes_per_event),
            stored_bytes_per_event: Some(3.9),
            peak_buffer_bytes: 1 << 20,
            ..TraceFigures::default()
        };
        WorkloadFigures {
            workload: Workload {
                suite: Origin::Bundled,
                name: name.to_owned(),
                kind: Kind::Multi,
            },
            baseline_spread: Some(0.01),
            configurations: BTreeMap::from([
                (
                    Configuration::Compressed,
                    configuration(compressed, Some(trace)),
                ),
                (Configuration::Jfr, configuration(jfr, None)),
            ]),
        }
    }

    fn mean_of(kind: Option<Kind>, configuration: Configuration, value: f64) -> MeanFigures {
        let ratio = Some(Estimate {
            value,
            low: value - 0.01,
            high: value + 0.01,
        });
        MeanFigures {
            kind,
            configuration,
            workloads: 1,
            time_ratio: ratio,
            cpu_ratio: ratio,
        }
    }

    fn verdicts(workloads: Vec<WorkloadFigures>, means: Vec<MeanFigures>) -> Vec<(u32, Verdict)> {
        let targets = evaluate(&Figures {
            baseline: Configuration::Stock,
            workloads,
            means,
        });
        targets
            .into_iter()
            .map(|target| (target.number, target.verdict))
            .collect()
    }

    use Verdict::{Met, Missed, NotMeasured, WithinNoise};

    #[test]
    fn nothing_measured_is_nothing_met() {
        let verdicts = verdicts(Vec::new(), Vec::new());
        let expected = [1, 2, 2, 2, 3, 4, 4].map(|number| (number, NotMeasured));
        assert_eq!(verdicts, expected);
    }

    #[test]
    fn means_and_the_worst_application() {
        let compressed = Configuration::Compressed;
        for (off, multi, single, worst, expected) in [
            (1.009, 1.019, 1.004, 1.09, [Met; 4]),
            (0.991, 0.9, 0.9, 0.9, [Met; 4]),
            (1.011, 1.021, 1.006, 1.11, [Missed; 4]),
            (0.985, 1.019, 1.004, 1.09, [Missed, Met, Met, Met]),
        ] {
            let means = vec![
                mean_of(None, Configuration::Off, off),
                mean_of(Some(Kind::Multi), compressed, multi),
                mean_of(Some(Kind::Single), compressed, single),
            ];
            let workloads = vec![
                workload("calm", 1.0, 1.0, 10.0, 5.0),
                workload("worst", worst, 1.0, 10.0, 5.0),
            ];
            let found: Vec<_> = verdicts(workloads, means).into_iter().take(4).collect();
            let numbered: Vec<_> = [1, 2, 2, 2].into_iter().zip(expected).collect();
            assert_eq!(found, numbered, "{off} {multi} {single} {worst}");
        }
    }

    #[test]
    fn flight_recorder_costs_twice_as_much_or_three_times() {
        for (name, compressed, jfr, events_per_second, expected) in [
            ("xalan", 1.05, 1.11, 2_000.0, Met),
            ("xalan", 1.05, 1.09, 2_000.0, Missed),
            ("xalan", 1.05, 1.09, 900.0, NotMeasured),
            ("xalan", 0.99, 0.98, 2_000.0, Met),
            ("xalan", 1.01, 0.98, 2_000.0, Missed),
            ("xalan", 1.009, 0.991, 2_000.0, WithinNoise),
            ("xalan", 1.004, 1.02, 2_000.0, Met),
            ("xalan", 1.02, 1.004, 2_000.0, Missed),
            ("producer-consumer", 1.05, 1.14, 2_000.0, Missed),
            ("producer-consumer", 1.05, 1.16, 2_000.0, Met),
        ] {
            let workloads = vec![workload(name, compressed, jfr, events_per_second, 5.0)];
            let found = verdicts(workloads, Vec::new());
            assert_eq!(found[4], (3, expected), "{name} {compressed} {jfr}");
        }
    }

    #[test]
    fn sizes_matter_where_there_are_many_events() {
        for (events_per_second, raw, expected) in [
            (20_000.0, 9.9, Met),
            (20_000.0, 10.1, Missed),
            (9_000.0, 10.1, NotMeasured),
        ] {
            let workloads = vec![workload("xalan", 1.0, 1.0, events_per_second, raw)];
            let found = verdicts(workloads, Vec::new());
            assert_eq!(
                found[5..],
                [(4, expected), (4, Met)],
                "{events_per_second} {raw}"
            );
        }
    }
}
