//! The command line.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{bail, ensure};
use clap::builder::RangedU64ValueParser;
use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::configuration::Configuration;
use crate::java::{Jdk, Jdks};
use crate::measure::Plan;
use crate::paths;
use crate::results::{Reinitialize, Settings};
use crate::suite::{Origin, Size};
use crate::survey;

/// Measures what tracing costs on real applications, against its peers.
///
/// Runs each workload in all configurations, one after the other, in JVMs of their own, round by
/// round. Writes results.json, tables.md and plots.
#[derive(Debug, Parser)]
#[command(name = "run", bin_name = "bench/run", version, max_term_width = 100, after_help = EXIT_CODES,
    args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    /// Bundled applications, those of --list, or all [default: all; none if a jar is given]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    apps: Option<Vec<String>>,

    /// DaCapo, 9.12 or Chopin
    #[arg(long, value_name = "JAR")]
    dacapo: Option<PathBuf>,

    /// The Scala Benchmarking Project's suite
    #[arg(long, value_name = "JAR")]
    scalabench: Option<PathBuf>,

    /// Renaissance; its benchmarks choose their own number of threads
    #[arg(long, value_name = "JAR")]
    renaissance: Option<PathBuf>,

    /// Benchmarks of the jars [default: all that they list]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    benchmarks: Vec<String>,

    /// Configurations; ratios are to `stock`, or without it to the first [default: all but
    /// `agent` for which there is a JDK]
    #[arg(long, value_enum, value_name = "NAME,...", value_delimiter = ',')]
    configurations: Vec<Configuration>,

    /// Number of times that everything runs [default: 10, quick: 2]
    #[arg(long, value_name = "N", value_parser = positive())]
    rounds: Option<u32>,

    /// Iterations in each JVM [default: 45, quick: 5]
    #[arg(long, value_name = "N", value_parser = positive())]
    iterations: Option<u32>,

    /// Number of these, at the end, that are measured [default: 10, quick: 3]
    #[arg(long, value_name = "N", value_parser = positive())]
    keep: Option<u32>,

    /// Threads of a workload that lets them be chosen
    #[arg(long, value_name = "N", default_value = "8", value_parser = positive())]
    threads: u32,

    /// Work of an iteration
    #[arg(long, value_enum, default_value_t = Size::Default)]
    size: Size,

    /// Lifetime of a tracer
    #[arg(long, value_enum, default_value_t = Reinitialize::Jvm)]
    reinitialize: Reinitialize,

    /// Size of the Java heap
    #[arg(long, value_name = "SIZE", default_value = "1g")]
    heap: String,

    /// Further flag of all JVMs
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    jvm_option: Vec<String>,

    /// Longest time of a JVM before it is killed and counts as failed
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = humantime::parse_duration)]
    timeout: Duration,

    /// Folder of results [default: build/bench/results; of --report its first folder]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Keep the traces in the folder of results
    #[arg(long)]
    keep_traces: bool,

    /// A few applications, and what is called quick above: under 15 minutes on 2 processors
    #[arg(long)]
    quick: bool,

    /// List what could be run
    #[arg(long)]
    list: bool,

    /// Measure nothing, but make tables and plots again of the results in some folders, put
    /// together
    #[arg(
        long,
        value_name = "DIR",
        num_args = 1..,
        conflicts_with_all = ["apps", "dacapo", "scalabench", "renaissance", "quick", "list"],
    )]
    report: Vec<PathBuf>,

    /// Fail if a target is missed
    #[arg(long)]
    check_targets: bool,

    /// The patched JDK [default: build/jdk]
    #[arg(long, value_name = "DIR", env = "LOCKTRACE_JDK")]
    jdk: Option<PathBuf>,

    /// The same JDK without patches, for `stock` and `agent` [default: build/jdk-stock]. For these
    /// two alone it may be any, also a runtime
    #[arg(long, value_name = "DIR", env = "LOCKTRACE_JDK_STOCK")]
    jdk_stock: Option<PathBuf>,

    /// Another patched JDK, for `other-off` and `other-compressed`: for example of an earlier
    /// version
    #[arg(long, value_name = "DIR")]
    other_jdk: Option<PathBuf>,

    /// Print a completion script for a shell
    #[arg(long, value_name = "SHELL")]
    completions: Option<Shell>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Survey(Box<survey::Options>),
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done; JVMs that failed are in the results
  1  a target was missed, with --check-targets
  2  wrong usage, or nothing could be measured";

/// Applications of the quick setting: those where many threads contend, one with a single thread,
/// and programs that do nothing but wait or park.
const QUICK_APPS: [&str; 8] = [
    "xalan",
    "lusearch",
    "h2",
    "tomcat",
    "log4j",
    "luindex",
    "producer-consumer",
    "park-storm",
];

/// The user's task.
pub(crate) enum Task {
    Completions(Shell),
    List(Plan),
    Measure(Plan),
    Survey(Box<survey::Options>),
    Report {
        folders: Vec<PathBuf>,
        output: PathBuf,
        check_targets: bool,
    },
}

impl Cli {
    /// Checks what the parser cannot.
    pub(crate) fn task(self) -> anyhow::Result<Task> {
        if let Some(Command::Survey(options)) = self.command {
            return Ok(Task::Survey(options));
        }
        if let Some(shell) = self.completions {
            return Ok(Task::Completions(shell));
        }
        if let Some(first) = self.report.first() {
            return Ok(Task::Report {
                output: self.output.unwrap_or_else(|| first.clone()),
                folders: self.report,
                check_targets: self.check_targets,
            });
        }
        let list = self.list;
        let plan = self.plan()?;
        Ok(if list {
            Task::List(plan)
        } else {
            Task::Measure(plan)
        })
    }

    fn plan(self) -> anyhow::Result<Plan> {
        let or_default = |chosen: Option<u32>, full, quick| {
            chosen.unwrap_or(if self.quick { quick } else { full })
        };
        let rounds = or_default(self.rounds, 10, 2);
        let iterations = or_default(self.iterations, 45, 5);
        let keep = or_default(self.keep, 10, 3);
        ensure!(
            keep <= iterations,
            "cannot keep {keep} of {iterations} iterations"
        );
        let jars = [
            (Origin::Dacapo, self.dacapo),
            (Origin::Scalabench, self.scalabench),
            (Origin::Renaissance, self.renaissance),
        ];
        let jars: Vec<_> = jars
            .into_iter()
            .filter_map(|(origin, jar)| Some((origin, jar?)))
            .collect();
        ensure!(
            self.benchmarks.is_empty() || !jars.is_empty(),
            "--benchmarks chooses from a jar: --dacapo, --scalabench or --renaissance names it"
        );
        let applications = match self.apps {
            Some(names) if names == ["all"] => Some(Vec::new()),
            Some(names) => Some(names),
            None if !jars.is_empty() => None,
            None if self.quick => Some(QUICK_APPS.map(str::to_owned).to_vec()),
            None => Some(Vec::new()),
        };
        let mut configurations = self.configurations;
        if configurations.is_empty() {
            configurations = Configuration::value_variants().to_vec();
            configurations.retain(|&configuration| {
                configuration != Configuration::Agent
                    && (self.other_jdk.is_some() || !configuration.is_of_other_jdk())
            });
        }
        let mut seen = BTreeSet::new();
        configurations.retain(|&configuration| seen.insert(configuration));
        let needs_stock = seen
            .iter()
            .any(|configuration| configuration.is_of_stock_jdk());
        let other = seen
            .iter()
            .find(|configuration| configuration.is_of_other_jdk());
        let other = match (other, self.other_jdk) {
            (Some(_), Some(folder)) => Some(Jdk::find(&folder, "--other-jdk")?),
            (Some(other), None) => bail!("{other} needs a JDK: --other-jdk names it"),
            (None, _) => None,
        };
        Ok(Plan {
            jdks: Jdks {
                traced: jdk(self.jdk, "jdk")?,
                stock: needs_stock
                    .then(|| jdk(self.jdk_stock, "jdk-stock"))
                    .transpose()?,
                other,
            },
            applications,
            jars,
            benchmarks: self.benchmarks,
            configurations,
            rounds,
            until: None,
            settings: Settings {
                iterations,
                keep,
                threads: self.threads,
                size: self.size,
                reinitialize: self.reinitialize,
                heap: self.heap,
                jvm_options: self.jvm_option,
            },
            time_limit: self.timeout,
            output: self
                .output
                .unwrap_or_else(|| paths::build().join("results")),
            keep_traces: self.keep_traces,
            check_targets: self.check_targets,
        })
    }
}

pub(crate) fn positive() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(1..)
}

/// The JDK that the user chose, or the one that was built.
fn jdk(chosen: Option<PathBuf>, name: &str) -> anyhow::Result<Jdk> {
    let built = || paths::repository().join("build").join(name);
    Jdk::find(&chosen.unwrap_or_else(built), &format!("--{name}"))
}
