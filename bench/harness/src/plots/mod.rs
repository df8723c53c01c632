//! The results as plots, in the shape of the paper's figures 9 to 12.

mod chart;
mod render;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::configuration::Configuration;
use crate::figures::{
    ConfigurationFigures, Figures, MeanFigures, TraceFigures, WorkloadFigures, is_metadata,
};
use crate::results::Results;
use crate::statistics::{Estimate, Quartiles};
use crate::suite::Kind;
use chart::{Bar, Chart, Group};

/// Draws all plots for which there are figures into `folder`, each as SVG and as
/// PNG.
pub(crate) fn write(
    results: &Results,
    figures: &Figures,
    folder: &Path,
) -> anyhow::Result<Vec<PathBuf>> {
    let compared = results.configurations.iter().copied();
    let compared: Vec<_> = compared.filter(|&it| it != figures.baseline).collect();
    let call_chains = [Configuration::Raw, Configuration::NoChains];
    let overheads =
        |title, configurations: &[Configuration], of| overheads(figures, title, configurations, of);
    let over = |what| format!("Overhead of {what} over {}", figures.baseline);
    let charts = [
        (
            "figure-09-overhead",
            overheads(&over("iteration time"), &compared, TIME),
        ),
        (
            "figure-09-processor-time",
            overheads(&over("processor time"), &compared, CPU),
        ),
        ("figure-10-data-rate", data_rates(figures)),
        ("figure-10-event-rate", event_rates(figures)),
        ("figure-11-event-types", event_types(figures)),
        (
            "figure-12-call-chains",
            overheads("Overhead with and without call chains", &call_chains, TIME),
        ),
    ];
    let mut files = Vec::new();
    for (name, chart) in charts {
        if chart.has_bars() {
            files.extend(render::write(&chart, folder, name)?);
        }
    }
    Ok(files)
}

/// The ratios of a plot: of workloads and of means.
type Ratios = (
    fn(&ConfigurationFigures) -> Option<Quartiles>,
    fn(&MeanFigures) -> Option<Estimate>,
);

const TIME: Ratios = (|figures| figures.time_ratio, |mean| mean.time_ratio);
const CPU: Ratios = (|figures| figures.cpu_ratio, |mean| mean.cpu_ratio);

/// Bars of overheads by workload with their quartiles, and of the means with their
/// confidence intervals.
fn overheads(
    figures: &Figures,
    title: &str,
    configurations: &[Configuration],
    (of_workload, of_mean): Ratios,
) -> Chart {
    let percents = |value: f64, low: f64, high: f64| Bar {
        value: (value - 1.0) * 100.0,
        whiskers: Some([low, high].map(|ratio| (ratio - 1.0) * 100.0)),
    };
    let mut groups = Vec::new();
    for kind in Kind::ALL {
        let of_kind = figures.workloads.iter();
        for figures in of_kind.filter(|figures| figures.workload.kind == kind) {
            let bars = configurations.iter().map(|configuration| {
                let ratio = figures
                    .configurations
                    .get(configuration)
                    .and_then(of_workload)?;
                Some(percents(ratio.median, ratio.first, ratio.third))
            });
            groups.push(group(figures, bars.collect()));
        }
        let means = configurations.iter().map(|&configuration| {
            let ratio = figures.mean(Some(kind), configuration).and_then(of_mean)?;
            Some(percents(ratio.value, ratio.low, ratio.high))
        });
        groups.push(Group {
            label: format!("G.Mean {}", kind.name()),
            section: kind.name(),
            bars: means.collect(),
        });
    }
    Chart {
        title: title.to_owned(),
        unit: "percent",
        series: configurations
            .iter()
            .map(|&configuration| (configuration.name().to_owned(), configuration as usize))
            .collect(),
        groups: with_bars(groups),
        is_stacked: false,
    }
}

/// Megabytes a second, as they are and compressed.
fn data_rates(figures: &Figures) -> Chart {
    rates(
        figures,
        "Trace data per second",
        "MB/s",
        &["uncompressed", "compressed"],
        |trace| vec![trace.raw_mb_per_second, trace.stored_mb_per_second],
    )
}

fn event_rates(figures: &Figures) -> Chart {
    let thousands = |trace: &TraceFigures| vec![trace.events_per_second / 1e3];
    rates(
        figures,
        "Events per second",
        "thousands/s",
        &["events"],
        thousands,
    )
}

fn rates(
    figures: &Figures,
    title: &str,
    unit: &'static str,
    series: &[&str],
    values: impl Fn(&TraceFigures) -> Vec<f64>,
) -> Chart {
    let bar = |value| {
        let whiskers = None;
        Some(Bar { value, whiskers })
    };
    let groups = traced(figures);
    Chart {
        title: title.to_owned(),
        unit,
        series: series
            .iter()
            .map(|&name| name.to_owned())
            .zip(0..)
            .collect(),
        groups: groups
            .map(|(figures, trace)| group(figures, values(trace).into_iter().map(bar).collect()))
            .collect(),
        is_stacked: false,
    }
}

/// Each type's share in the events; metadata is one type.
fn event_types(figures: &Figures) -> Chart {
    const METADATA: &str = "metadata";
    let shares_by_type = |trace: &TraceFigures| {
        let mut rates = BTreeMap::<String, f64>::new();
        for (name, rate) in &trace.events_per_second_by_type {
            let name = if is_metadata(name) { METADATA } else { name };
            *rates.entry(name.to_owned()).or_default() += rate;
        }
        let all: f64 = rates.values().sum();
        rates.values_mut().for_each(|rate| *rate *= 100.0 / all);
        rates
    };
    let shares: Vec<_> = traced(figures)
        .map(|(figures, trace)| (figures, shares_by_type(trace)))
        .collect();
    let mut names: Vec<&String> = shares
        .iter()
        .flat_map(|(_, shares)| shares.keys())
        .collect();
    names.sort_unstable();
    names.dedup();
    let groups = shares.iter().map(|(figures, shares)| {
        let bars = names.iter().map(|&name| {
            let value = *shares.get(name)?;
            let whiskers = None;
            Some(Bar { value, whiskers })
        });
        group(figures, bars.collect())
    });
    Chart {
        title: "Frequency of events".to_owned(),
        unit: "percent of all events",
        groups: with_bars(groups.collect()),
        series: names.iter().map(|&name| name.clone()).zip(0..).collect(),
        is_stacked: true,
    }
}

/// Returns the traced figures in the usual configuration of tracing, by workload.
fn traced(figures: &Figures) -> impl Iterator<Item = (&WorkloadFigures, &TraceFigures)> {
    let workloads = figures.workloads.iter();
    workloads.filter_map(|figures| Some((figures, figures.trace(Configuration::Compressed)?)))
}

fn group(figures: &WorkloadFigures, bars: Vec<Option<Bar>>) -> Group {
    Group {
        label: figures.label(),
        section: figures.workload.kind.name(),
        bars,
    }
}

fn with_bars(mut groups: Vec<Group>) -> Vec<Group> {
    groups.retain(|group| group.bars.iter().any(Option::is_some));
    groups
}
