//! A survey as a page of tables in Markdown.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use comfy_table::Table;

use crate::survey::agent::OfAgent;
use crate::survey::analysis::Reports;
use crate::survey::holds::Compared;
use crate::survey::hooks::HookCosts;
use crate::survey::overhead::{Costs, Ratios};
use crate::survey::plan::Part;
use crate::survey::results::Survey;
use crate::survey::section::Section;
use crate::survey::stress::Stressed;
use crate::tables::{interval, new_table, nothing, one_line};

/// The whole page.
pub(crate) fn render(survey: &Survey) -> String {
    let mut text = subject(survey);
    add(
        &mut text,
        survey,
        Part::Overhead,
        survey.overhead.as_ref(),
        |costs| costs.iter().map(costs_table).collect(),
    );
    add(
        &mut text,
        survey,
        Part::Holds,
        survey.holds.as_ref(),
        |compared| vec![holds(compared)],
    );
    add(
        &mut text,
        survey,
        Part::Stress,
        survey.stress.as_ref(),
        |stressed| vec![stress(stressed)],
    );
    add(
        &mut text,
        survey,
        Part::Hooks,
        survey.hooks.as_ref(),
        |costs| vec![hooks(costs)],
    );
    add(
        &mut text,
        survey,
        Part::Analysis,
        survey.analysis.as_ref(),
        |reports| vec![analysis(reports)],
    );
    add(&mut text, survey, Part::Agent, survey.agent.as_ref(), agent);
    text
}

fn subject(survey: &Survey) -> String {
    let machine = &survey.machine;
    let memory_gib = machine.memory_bytes as f64 / f64::from(1 << 30);
    format!(
        "# Survey of {}\n\n{}, {} of {} processors, {memory_gib:.1} GiB, Linux {}, frequency governor {}, load {:.2} at the start. \
         {}, {:.1} of {} minutes. locktrace {}; {}.\n\n",
        machine.host,
        machine.cpu_model,
        survey.processors.len(),
        machine.processors,
        machine.kernel,
        machine.frequency_governor,
        survey.load_average_at_start,
        survey.started,
        survey.took_s / 60.0,
        survey.minutes,
        survey.locktrace,
        one_line(&survey.jdk_traced),
    )
}

/// Adds a part: its title, what the figures mean, its tables, and what is missing or wrong.
fn add<T>(
    text: &mut String,
    survey: &Survey,
    part: Part,
    section: Option<&Section<T>>,
    tables: impl FnOnce(&T) -> Vec<(String, Table)>,
) {
    let _ = writeln!(text, "## {}\n", title(part));
    let Some(section) = section else {
        let reason = match survey.parts.contains(&part) {
            true => "its turn has not come",
            false => "left out by --only",
        };
        let _ = writeln!(text, "- **not run**: {part}: {reason}\n");
        return;
    };
    for (explanation, table) in tables(&section.figures) {
        let _ = writeln!(text, "{explanation}\n\n{table}\n");
    }
    for missing in &section.not_run {
        let _ = writeln!(text, "- **not run**: {missing}");
    }
    for failure in &section.failures {
        let _ = writeln!(text, "- **failed**: {}", one_line(failure));
    }
    if !section.not_run.is_empty() || !section.failures.is_empty() {
        text.push('\n');
    }
}

fn title(part: Part) -> &'static str {
    match part {
        Part::Overhead => "Overhead",
        Part::Holds => "Owners, by the programs' clocks",
        Part::Stress => "Stress, with verified return barriers",
        Part::Hooks => "Cycles in the hooks",
        Part::Analysis => "Reports",
        Part::Agent => "The agent",
    }
}

fn costs_table(costs: &Costs) -> (String, Table) {
    let mut header = vec![
        "Workload".to_owned(),
        "Rounds".to_owned(),
        costs.baseline.to_string(),
    ];
    for configuration in &costs.compared {
        header.push(format!("{configuration}, time"));
        header.push(format!("{configuration}, processor time"));
    }
    let mut table = new_table(header);
    let ratios = |ratios: &BTreeMap<_, Ratios>| {
        let mut cells = Vec::new();
        for configuration in &costs.compared {
            let ratios = ratios.get(configuration);
            cells.push(interval(ratios.and_then(|ratios| ratios.time)));
            cells.push(interval(ratios.and_then(|ratios| ratios.cpu)));
        }
        cells
    };
    for workload in costs.workloads.iter().filter(|it| it.rounds > 0) {
        let time = workload
            .time_ns
            .map_or_else(nothing, |ns| format!("{:.0} ms", ns / 1e6));
        let mut row = vec![workload.name.clone(), workload.rounds.to_string(), time];
        row.extend(ratios(&workload.ratios));
        table.add_row(row);
    }
    let mut row = vec![
        "**Mean of applications**".to_owned(),
        String::new(),
        String::new(),
    ];
    row.extend(ratios(&costs.mean));
    table.add_row(row);
    let explanation = format!(
        "{} threads, size {}: over {} in the same round, with a 95 % interval (a bootstrap of rounds and their iterations).",
        costs.threads,
        costs.size.name(),
        costs.baseline,
    );
    (explanation, table)
}

/// The worst of all locks in each setting.
fn holds(compared: &[Compared]) -> (String, Table) {
    let mut table = new_table([
        "Holds", "Threads", "Hogs", "Locks", "Waits", "Missed", "Wrong", "Verdict",
    ]);
    let mut settings: BTreeMap<_, Vec<&Compared>> = BTreeMap::new();
    for run in compared {
        let setting = (run.threads, run.hogs, run.holds);
        settings.entry(setting).or_default().push(run);
    }
    for ((threads, hogs, holds), runs) in settings {
        let locks: BTreeSet<&str> = runs.iter().map(|run| run.lock).collect();
        let locks: Vec<&str> = locks.into_iter().collect();
        let most =
            |value: fn(&Compared) -> f64| runs.iter().map(|run| value(run)).fold(0.0, f64::max);
        let is_right = runs.iter().all(|run| run.faults.is_empty());
        table.add_row([
            holds.to_owned(),
            threads.to_string(),
            hogs.to_string(),
            locks.join(", "),
            runs.iter().map(|run| run.waits).sum::<usize>().to_string(),
            share(most(|run| run.missed)),
            share(most(|run| run.wrong)),
            if is_right { "right" } else { "**wrong**" }.to_owned(),
        ]);
    }
    let explanation = "Missed: the most of the holds that a trace has nobody for, or another thread; wrong: the most of its \
                       blame that contradicts the program's clock. Both at the same times; at most 0.5 % is tolerated.";
    (explanation.to_owned(), table)
}

fn share(part: f64) -> String {
    format!("{:.2} %", 100.0 * part)
}

fn stress(stressed: &[Stressed]) -> (String, Table) {
    let mut table = new_table(["Collector", "Runs", "Failed", "Events", "Frames saved"]);
    for of_collector in stressed {
        table.add_row([
            of_collector.collector.to_owned(),
            of_collector.runs.to_string(),
            of_collector.failed.to_string(),
            of_collector.events.to_string(),
            of_collector.frames_saved.to_string(),
        ]);
    }
    let explanation = "The JVM compares each call chain with a walk of the whole stack. A run fails if it differs, the JVM \
                       crashes, a wait is not where the program says, or the trace lacks anything.";
    (explanation.to_owned(), table)
}

/// A row for each hook, a column for each number of processors.
fn hooks(costs: &[HookCosts]) -> (String, Table) {
    let counts: BTreeSet<usize> = costs.iter().map(|cost| cost.processors).collect();
    let mut header = vec!["Hook".to_owned()];
    header.extend(counts.iter().map(ToString::to_string));
    let mut table = new_table(header);
    let mut hooks: Vec<&str> = costs.iter().map(|cost| cost.hook).collect();
    hooks.sort_unstable();
    hooks.dedup();
    for hook in hooks {
        let mut row = vec![hook.to_owned()];
        row.extend(counts.iter().map(|&count| {
            let cost = costs
                .iter()
                .find(|cost| cost.hook == hook && cost.processors == count);
            cost.map_or_else(nothing, |cost| {
                let HookCosts {
                    sampled,
                    p50_cycles,
                    p90_cycles,
                    p99_cycles,
                    ..
                } = cost;
                format!("{p50_cycles:.0}, {p90_cycles:.0}, {p99_cycles:.0} ({sampled})")
            })
        }));
        table.add_row(row);
    }
    let explanation = "Half, 90 % and 99 % of the hooks take at most these cycles (number of hooks in the sample), by the \
                       number of processors that contend, with two threads for each.";
    (explanation.to_owned(), table)
}

fn analysis(reports: &Reports) -> (String, Table) {
    let mut table = new_table([
        "Threads",
        "Reports",
        "Million events/s",
        "Speedup",
        "Processor time",
        "Peak memory",
    ]);
    let one = reports.by_threads.iter().find(|speed| speed.threads == 1);
    for speed in &reports.by_threads {
        let speedup = one.map(|one| one.time_ns / speed.time_ns);
        table.add_row([
            speed.threads.to_string(),
            speed.reports.to_string(),
            format!("{:.1}", reports.events as f64 * 1e3 / speed.time_ns),
            speedup.map_or_else(nothing, |speedup| format!("{speedup:.2}")),
            format!("{:.2} s", speed.cpu_ns / 1e9),
            format!(
                "{:.0} MiB",
                speed.peak_rss_bytes as f64 / f64::from(1 << 20)
            ),
        ]);
    }
    let explanation = format!(
        "`locktrace report` on a trace of {:.0} MB, {:.1} million events; medians.",
        reports.trace_bytes as f64 / 1e6,
        reports.events as f64 / 1e6,
    );
    (explanation, table)
}

fn agent(agent: &OfAgent) -> Vec<(String, Table)> {
    let Some(costs) = &agent.costs else {
        return Vec::new();
    };
    let (explanation, table) = costs_table(costs);
    let right = match &agent.compared[..] {
        [] => "none".to_owned(),
        locks => locks.join(", "),
    };
    let jdk = one_line(&agent.jdk);
    vec![(
        format!("{jdk}. {explanation} Locks whose blame is right within 3 %: {right}."),
        table,
    )]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::configuration::Configuration;
    use crate::machine::Machine;
    use crate::statistics::Estimate;
    use crate::suite::{Kind, Size};
    use crate::survey::overhead::WorkloadCosts;

    fn survey(parts: &[Part]) -> Survey {
        let jdk = "openjdk version 8\nServer VM".to_owned();
        Survey::begin(Machine::this(), vec![0, 1], jdk, 8, parts)
    }

    #[test]
    fn each_part_has_a_section_whatever_became_of_it() {
        let mut survey = survey(&[Part::Holds, Part::Stress]);
        let mut holds = Section::<Vec<Compared>>::new();
        holds.no_time_for("fair, all settings");
        holds
            .failures
            .push("monitor: 2 ms\ninstead of 1".to_owned());
        survey.holds = Some(holds.ended(Duration::from_secs(3)));
        let page = render(&survey);
        assert_eq!(page.matches("\n## ").count(), 6, "{page}");
        for line in [
            "openjdk version 8; Server VM",
            "- **not run**: overhead: left out by --only",
            "- **not run**: stress: its turn has not come",
            "- **not run**: fair, all settings: no time",
            "- **failed**: monitor: 2 ms; instead of 1",
        ] {
            assert!(page.contains(line), "{line} is not in\n{page}");
        }
    }

    #[test]
    fn costs_have_intervals() {
        let estimate = |value| Estimate {
            value,
            low: value - 0.1,
            high: value + 0.1,
        };
        let ratios = BTreeMap::from([(
            Configuration::Jfr,
            Ratios {
                time: Some(estimate(1.25)),
                cpu: None,
            },
        )]);
        let workload = |name: &str, rounds| WorkloadCosts {
            name: name.to_owned(),
            kind: Kind::Multi,
            rounds,
            time_ns: Some(2e6),
            ratios: ratios.clone(),
        };
        let (explanation, table) = costs_table(&Costs {
            threads: 8,
            size: Size::Small,
            baseline: Configuration::Off,
            compared: vec![Configuration::Jfr],
            workloads: vec![workload("h2", 3), workload("batik", 0)],
            mean: ratios.clone(),
        });
        assert!(explanation.starts_with("8 threads, size small: over off"));
        let table = table.to_string();
        assert!(table.contains("2 ms"), "{table}");
        assert_eq!(
            table.matches("+25.0 % (+15.0 % to +35.0 %)").count(),
            2,
            "{table}"
        );
        assert!(!table.contains("batik"), "it never ran: {table}");
    }

    #[test]
    fn holds_show_the_worst_lock() {
        let run = |lock, missed, faults: &[&str]| Compared {
            holds: "1–5 ms",
            lock,
            threads: 8,
            hogs: 0,
            duration_ms: 1_000,
            waits: 10,
            missed,
            wrong: 0.0,
            faults: faults.iter().map(ToString::to_string).collect(),
        };
        let (_, table) = holds(&[run("monitor", 0.001, &[]), run("fair", 0.02, &["missed"])]);
        let table = table.to_string();
        for cell in ["fair, monitor", "20", "2.00 %", "**wrong**"] {
            assert!(table.contains(cell), "{cell} is not in\n{table}");
        }
    }

    #[test]
    fn hooks_have_a_column_for_each_number_of_processors() {
        let cost = |hook, processors| HookCosts {
            hook,
            processors,
            sampled: 100,
            p50_cycles: 200.4,
            p90_cycles: 300.0,
            p99_cycles: 400.0,
        };
        let (_, table) = hooks(&[cost("enter", 1), cost("enter", 2), cost("exit", 2)]);
        let table = table.to_string();
        assert_eq!(table.matches("200, 300, 400 (100)").count(), 3, "{table}");
        assert_eq!(table.lines().count(), 4, "{table}");
    }
}
