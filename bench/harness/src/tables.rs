//! The results as tables in Markdown.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};

use crate::figures::{
    ConfigurationFigures, Figures, MeanFigures, NOISY_SPREAD, TraceFigures, WorkloadFigures,
};
use crate::results::{Outcome, Reinitialize, Results};
use crate::statistics::{Estimate, Quartiles, geometric_mean};
use crate::suite::Kind;
use crate::targets::{Target, overhead, percent};

/// The whole document.
pub(crate) fn render(results: &Results, figures: &Figures, targets: &[Target]) -> String {
    let mut text = String::from("# What tracing costs\n\n");
    add_subject(&mut text, results);
    add_remarks(&mut text, results, figures);
    let time = |figures: &ConfigurationFigures| figures.time_ratio;
    let cpu = |figures: &ConfigurationFigures| figures.cpu_ratio;
    add_section(
        &mut text,
        "Iteration time",
        &format!(
            "Median over the measured iterations, and what it is above {0}: each iteration is \
             divided by the median of those of {0} in the same round; in parentheses the \
             quartiles. Means are geometric, with a 95 % confidence interval: a bootstrap that \
             draws workloads, and for each of them rounds.",
            figures.baseline
        ),
        &ratios(
            results,
            figures,
            |f| f.time_ns,
            time,
            |mean| mean.time_ratio,
        ),
    );
    add_section(
        &mut text,
        "Processor time",
        "The same for the processor time of the whole process.",
        &ratios(results, figures, |f| f.cpu_ns, cpu, |mean| mean.cpu_ratio),
    );
    add_section(
        &mut text,
        "Processor time of the tracer's threads",
        "As a share of the whole JVM's, from its start to its end: the threads that write the trace, and \
         analyze events in the JVM. Hooks run in the application's threads and are not \
         among them. This is exact where whole processes are noisy.",
        &tracer_threads(results, figures),
    );
    add_traces(&mut text, results, figures);
    add_section(
        &mut text,
        "Peak memory",
        "Resident set of the JVM in MiB, median over JVMs.",
        &memory(results, figures),
    );
    add_targets(&mut text, targets);
    text
}

fn add_subject(text: &mut String, results: &Results) {
    let subject = &results.subject;
    let (machine, settings) = (&subject.machine, &subject.settings);
    let memory_gib = machine.memory_bytes as f64 / f64::from(1 << 30);
    let mut table = new_table(["", ""]);
    let mut row = |name: &str, value: String| {
        table.add_row([name, &value]);
    };
    row("Started", results.started.clone());
    row(
        "Machine",
        format!(
            "{}, {} processors, {memory_gib:.1} GiB, frequency governor {}",
            machine.cpu_model, machine.processors, machine.frequency_governor
        ),
    );
    row("Kernel", machine.kernel.clone());
    row(
        "Load at the start",
        format!("{:.2}", results.load_average_at_start),
    );
    row("locktrace", subject.locktrace.clone());
    if let Some(stock) = &subject.jdk_stock {
        row("Stock JDK", one_line(stock));
    }
    row("Patched JDK", one_line(&subject.jdk_traced));
    row(
        "Each JVM",
        format!(
            "{} iterations, the last {} measured; tracing starts with each {}",
            settings.iterations,
            settings.keep,
            match settings.reinitialize {
                Reinitialize::Jvm => "JVM",
                Reinitialize::Iteration => "measured iteration, which has a JVM of its own",
            }
        ),
    );
    row("Rounds", results.rounds.to_string());
    row(
        "Workloads",
        format!(
            "{} threads, size {}",
            settings.threads,
            settings.size.name()
        ),
    );
    let flags = settings.jvm_options.join(" ");
    row(
        "JVM flags",
        format!("-Xms{0} -Xmx{0} {flags}", settings.heap)
            .trim_end()
            .to_owned(),
    );
    for &configuration in &results.configurations {
        row(configuration.name(), configuration.description().to_owned());
    }
    let _ = writeln!(text, "{}\n", left_aligned(table));
}

/// Adds remarks that must not be overlooked.
fn add_remarks(text: &mut String, results: &Results, figures: &Figures) {
    for missing in &results.unavailable {
        let _ = writeln!(
            text,
            "- **Not measured**: {}: {}",
            missing.configuration, missing.reason
        );
    }
    for noisy in figures.noisy() {
        let spread = percent(noisy.baseline_spread.unwrap_or(0.0));
        let bound = percent(NOISY_SPREAD);
        let _ = writeln!(
            text,
            "- **Noisy** (\\*): {}: the quartiles of {} are {spread} apart, more than {bound}",
            noisy.workload, figures.baseline
        );
    }
    for run in &results.jvms {
        let place = format!(
            "{}, {}, round {}",
            run.workload,
            run.configuration,
            run.round + 1
        );
        match &run.outcome {
            Outcome::Failed { reason, stderr } => {
                let _ = writeln!(text, "- **Failed**: {place}: {reason}");
                for line in stderr.lines() {
                    let _ = writeln!(text, "      {line}");
                }
            }
            Outcome::Passed { .. } => {}
        }
    }
    text.push('\n');
}

fn ratios(
    results: &Results,
    figures: &Figures,
    value_ns: fn(&ConfigurationFigures) -> Option<Quartiles>,
    ratio: fn(&ConfigurationFigures) -> Option<Quartiles>,
    mean_ratio: fn(&MeanFigures) -> Option<Estimate>,
) -> Table {
    let compared = results.configurations.iter().copied();
    let compared: Vec<_> = compared.filter(|&it| it != figures.baseline).collect();
    let mut header = vec![
        "Workload".to_owned(),
        "Kind".to_owned(),
        figures.baseline.to_string(),
    ];
    header.extend(compared.iter().map(ToString::to_string));
    let mut table = new_table(header);
    for workload in &figures.workloads {
        let of = |configuration| workload.configurations.get(&configuration);
        let baseline = of(figures.baseline).and_then(value_ns);
        let mut row = vec![
            workload.label(),
            workload.workload.kind.name().to_owned(),
            baseline.map_or_else(nothing, |time| format!("{:.0} ms", time.median / 1e6)),
        ];
        row.extend(compared.iter().map(|&configuration| {
            let ratio = of(configuration).and_then(ratio);
            ratio.map_or_else(
                nothing,
                |Quartiles {
                     first,
                     median,
                     third,
                 }| {
                    format!(
                        "{} ({} to {})",
                        overhead(median),
                        overhead(first),
                        overhead(third)
                    )
                },
            )
        }));
        table.add_row(row);
    }
    for (kind, name) in [
        (Some(Kind::Multi), "Mean of multi-threaded"),
        (Some(Kind::Single), "Mean of single-threaded"),
        (None, "Mean of applications"),
        (Some(Kind::Synthetic), "Mean of synthetic"),
    ] {
        let estimates = compared
            .iter()
            .map(|&configuration| figures.mean(kind, configuration).and_then(mean_ratio));
        let estimates: Vec<_> = estimates.collect();
        if estimates.iter().all(Option::is_none) {
            continue;
        }
        let mut row = vec![format!("**{name}**"), String::new(), String::new()];
        row.extend(estimates.into_iter().map(interval));
        table.add_row(row);
    }
    table
}

fn add_traces(text: &mut String, results: &Results, figures: &Figures) {
    let tracing = results.configurations.iter().filter(|it| it.traces());
    for &configuration in tracing {
        let traces: Vec<_> = figures
            .workloads
            .iter()
            .filter_map(|figures| Some((figures, figures.trace(configuration)?)))
            .collect();
        add_section(
            text,
            &format!("Traces: {configuration}"),
            "Events, megabytes (10⁶ bytes) and bytes in the measured iterations; bytes of an event \
             include those of metadata, events do not. The rest is of the whole run of the JVMs: \
             the most buffers at once; call chains that were known already; stack frames that were \
             not visited; time in hooks of all threads and processor time of the drainer, by the \
             length of the trace (100 % is one processor).",
            &sizes(&traces),
        );
        add_section(
            text,
            &format!("Events per second: {configuration}"),
            "In the measured iterations, by type.",
            &event_types(&traces),
        );
    }
}

fn sizes(traces: &[(&WorkloadFigures, &TraceFigures)]) -> Table {
    let mut table = new_table([
        "Workload",
        "Events/s",
        "MB/s raw",
        "MB/s stored",
        "B/event raw",
        "B/event stored",
        "Buffers",
        "KiB in buffers",
        "Chains known",
        "Frames saved",
        "Hooks",
        "Drainer",
        "Lost events",
    ]);
    let some = |part: Option<f64>| part.map_or_else(nothing, percent);
    let bytes = |bytes: Option<f64>| bytes.map_or_else(nothing, |bytes| format!("{bytes:.1}"));
    for (figures, trace) in traces {
        table.add_row([
            figures.label(),
            format!("{:.0}", trace.events_per_second),
            format!("{:.3}", trace.raw_mb_per_second),
            format!("{:.3}", trace.stored_mb_per_second),
            bytes(trace.raw_bytes_per_event),
            bytes(trace.stored_bytes_per_event),
            trace.peak_buffers.to_string(),
            format!("{:.0}", trace.peak_buffer_bytes as f64 / 1024.0),
            some(trace.chain_reuse),
            some(trace.frames_saved),
            some(trace.hooks),
            some(trace.drainer),
            trace.lost_events.to_string(),
        ]);
    }
    table
}

fn event_types(traces: &[(&WorkloadFigures, &TraceFigures)]) -> Table {
    let types = traces
        .iter()
        .flat_map(|(_, trace)| trace.events_per_second_by_type.keys());
    let types: std::collections::BTreeSet<&String> = types.collect();
    let mut header = vec!["Workload".to_owned()];
    header.extend(types.iter().map(ToString::to_string));
    let mut table = new_table(header);
    for (figures, trace) in traces {
        let mut row = vec![figures.label()];
        row.extend(types.iter().map(|&name| {
            let rate = trace.events_per_second_by_type.get(name);
            rate.map_or_else(nothing, |rate| format!("{rate:.1}"))
        }));
        table.add_row(row);
    }
    table
}

fn tracer_threads(results: &Results, figures: &Figures) -> Table {
    let part_of = |figures: &ConfigurationFigures| {
        let threads = figures.tracer_threads.values();
        (figures.jvms_passed > 0).then(|| threads.fold(0.0, |sum, part| sum + part))
    };
    let precise = |part: f64| format!("{:.2} %", 100.0 * part);
    let mut table = by_configuration(results, figures, |figures| part_of(figures).map(precise));
    let mut row = vec!["**Mean**".to_owned()];
    row.extend(results.configurations.iter().map(|configuration| {
        let workloads = figures.workloads.iter();
        let measured = workloads.filter_map(|figures| figures.configurations.get(configuration));
        let factors = measured.filter_map(part_of).map(|part| 1.0 + part);
        let mean = geometric_mean(&factors.collect::<Vec<_>>());
        mean.map_or_else(nothing, |mean| precise(mean - 1.0))
    }));
    table.add_row(row);
    table
}

fn memory(results: &Results, figures: &Figures) -> Table {
    by_configuration(results, figures, |figures| {
        let bytes = figures.peak_rss_bytes?;
        Some(format!("{:.0}", bytes / f64::from(1 << 20)))
    })
}

/// A row for each workload, a column for each configuration.
fn by_configuration(
    results: &Results,
    figures: &Figures,
    cell: impl Fn(&ConfigurationFigures) -> Option<String>,
) -> Table {
    let mut header = vec!["Workload".to_owned()];
    header.extend(results.configurations.iter().map(ToString::to_string));
    let mut table = new_table(header);
    for figures in &figures.workloads {
        let mut row = vec![figures.label()];
        row.extend(results.configurations.iter().map(|configuration| {
            let of = figures.configurations.get(configuration);
            of.and_then(&cell).unwrap_or_else(nothing)
        }));
        table.add_row(row);
    }
    table
}

fn add_targets(text: &mut String, targets: &[Target]) {
    let mut table = new_table(["", "Target", "Found", "Verdict"]);
    for target in targets {
        let verdict = target.verdict.name();
        table.add_row([
            &target.number.to_string(),
            &target.demand,
            &target.found,
            verdict,
        ]);
    }
    add_section(
        text,
        "Targets",
        "On 2 processors; ratios of medians. Target 3 is neither met nor missed where both \
         overheads are within the spread of the baseline; all others are judged whatever the noise.",
        &left_aligned(table),
    );
}

fn add_section(text: &mut String, title: &str, explanation: &str, table: &Table) {
    let _ = writeln!(text, "## {title}\n\n{explanation}\n\n{table}\n");
}

/// A table whose first column holds names, the others numbers.
pub(crate) fn new_table<T: Into<comfy_table::Row>>(header: T) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn left_aligned(mut table: Table) -> Table {
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Left);
    }
    table
}

/// An overhead with its interval.
pub(crate) fn interval(estimate: Option<Estimate>) -> String {
    estimate.map_or_else(nothing, |Estimate { value, low, high }| {
        format!(
            "{} ({} to {})",
            overhead(value),
            overhead(low),
            overhead(high)
        )
    })
}

/// The cell without a figure.
pub(crate) fn nothing() -> String {
    "-".to_owned()
}

/// Joins the lines of a text.
pub(crate) fn one_line(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join("; ")
}
