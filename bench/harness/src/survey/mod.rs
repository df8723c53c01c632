//! A survey of a machine: what tracing costs there, and whether its results are right, in a given time.

mod agent;
mod analysis;
mod holds;
mod hooks;
mod overhead;
mod plan;
mod processors;
mod results;
mod section;
mod stress;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::{Args, ValueEnum};

use crate::cli::positive;
use crate::configuration::Configuration;
use crate::java::{Jdk, Jdks};
use crate::machine::Machine;
use crate::output::write_json;
use crate::paths;
use crate::survey::plan::{Budget, Part, share};
use crate::survey::results::Survey;
use crate::survey::section::{Section, attempt};

/// Measures a machine in a given time: costs, and whether results are right there
///
/// Writes results.json, and results.md, a page of tables. All parts share the time; the results say what did not
/// fit into it.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Options {
    /// Time of all parts together
    #[arg(long, value_name = "N", default_value = "8", value_parser = positive())]
    minutes: u32,

    /// Parts to run [default: all]
    #[arg(long, value_enum, value_name = "PART,...", value_delimiter = ',')]
    only: Vec<Part>,

    /// Processors to use [default: all that this process may use]
    #[arg(long, value_name = "N")]
    processors: Option<usize>,

    /// Configurations of the part `overhead`; ratios are to `stock`, or without it to the first
    #[arg(
        long,
        value_enum,
        value_name = "NAME,...",
        value_delimiter = ',',
        default_value = "off,compressed,jfr"
    )]
    configurations: Vec<Configuration>,

    /// A JDK or runtime without patches, of any version from 8 on, for the agent [default: the one of JDK 8]
    #[arg(long, value_name = "DIR")]
    agent_jdk: Option<PathBuf>,

    /// Size of the Java heap of applications
    #[arg(long, value_name = "SIZE", default_value = "1g")]
    heap: String,

    /// Folder of results [default: build/bench/survey]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// The patched JDK [default: build/jdk]
    #[arg(env = "LOCKTRACE_JDK", long, value_name = "DIR", hide = true)]
    jdk: Option<PathBuf>,

    /// The same JDK without patches [default: build/jdk-stock]
    #[arg(env = "LOCKTRACE_JDK_STOCK", long, value_name = "DIR", hide = true)]
    jdk_stock: Option<PathBuf>,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done, and nothing was wrong
  1  something was wrong: a result, a trace, or a JVM failed
  2  wrong usage, or nothing could be measured";

/// What all parts need.
#[derive(Debug)]
pub(crate) struct Setup {
    jdks: Jdks,
    /// For the agent.
    agent_jdk: Option<Jdk>,
    configurations: Vec<Configuration>,
    /// Those that are used.
    processors: Vec<usize>,
    heap: String,
    output: PathBuf,
}

impl Setup {
    /// One thread for each processor.
    fn threads(&self) -> u32 {
        self.processors.len() as u32
    }
}

/// Runs a survey. The results so far are in the output folder all the time.
pub(crate) fn run(options: Options) -> anyhow::Result<ExitCode> {
    // With all processors, also if only some of them are used.
    let machine = Machine::this();
    let setup = options.setup()?;
    let mut parts = match options.only {
        only if only.is_empty() => Part::value_variants().to_vec(),
        only => only,
    };
    parts.sort_unstable();
    parts.dedup();
    let all = Duration::from_secs(60) * options.minutes;
    let mut survey = Survey::begin(
        machine,
        setup.processors.clone(),
        setup.jdks.traced.version()?,
        options.minutes,
        &parts,
    );
    let begin = Instant::now();
    for at in 0..parts.len() {
        let time = share(all.saturating_sub(begin.elapsed()), &parts[at..]);
        let part = parts[at];
        eprintln!("{part}: {} s", time.as_secs());
        survey.run(part, &setup, Budget::of(time));
        survey.took_s = begin.elapsed().as_secs_f64();
        write(&survey, &setup.output)?;
    }
    let failures: Vec<String> = survey.failures().collect();
    for failure in &failures {
        println!("failed: {failure}");
    }
    println!("{}", setup.output.join(TABLES).display());
    Ok(ExitCode::from(u8::from(!failures.is_empty())))
}

/// The name of the page of tables.
const TABLES: &str = "results.md";

fn write(survey: &Survey, output: &Path) -> anyhow::Result<()> {
    write_json(output, survey)?;
    let page = output.join(TABLES);
    fs::write(&page, tables::render(survey)).with_context(|| page.display().to_string())
}

impl Options {
    fn setup(&self) -> anyhow::Result<Setup> {
        let output = self.output.clone();
        let output = output.unwrap_or_else(|| paths::build().join("survey"));
        fs::create_dir_all(&output).with_context(|| output.display().to_string())?;
        let built = |named: &Option<PathBuf>, name| {
            named
                .clone()
                .unwrap_or_else(|| paths::repository().join("build").join(name))
        };
        let stock = Jdk::find(&built(&self.jdk_stock, "jdk-stock"), "LOCKTRACE_JDK_STOCK");
        let agent_jdk = match &self.agent_jdk {
            Some(named) => Some(Jdk::find(named, "--agent-jdk")?),
            None => stock.as_ref().ok().cloned(),
        };
        let needs_stock = self.configurations.contains(&Configuration::Stock);
        Ok(Setup {
            jdks: Jdks {
                traced: Jdk::find(&built(&self.jdk, "jdk"), "LOCKTRACE_JDK")?,
                stock: needs_stock.then_some(stock).transpose()?,
                other: None,
            },
            agent_jdk,
            configurations: self.configurations.clone(),
            processors: processors::restrict(self.processors)?,
            heap: self.heap.clone(),
            output: std::path::absolute(output)?,
        })
    }
}

impl Survey {
    /// Runs a part. What keeps it from running is among its failures.
    fn run(&mut self, part: Part, setup: &Setup, budget: Budget) {
        match part {
            Part::Overhead => self.overhead = Some(section(|| overhead::run(setup, budget))),
            Part::Holds => self.holds = Some(section(|| Ok(holds::run(setup, budget)))),
            Part::Stress => self.stress = Some(section(|| Ok(stress::run(setup, budget)))),
            Part::Hooks => self.hooks = Some(section(|| Ok(hooks::run(setup, budget)))),
            Part::Analysis => self.analysis = Some(section(|| analysis::run(setup, budget))),
            Part::Agent => self.agent = Some(section(|| agent::run(setup, budget))),
        }
    }
}

fn section<T: Default>(part: impl FnOnce() -> anyhow::Result<Section<T>>) -> Section<T> {
    let begin = Instant::now();
    let result = attempt(part);
    let result = result.and_then(|result| result.map_err(|error| format!("{error:#}")));
    let section = result.unwrap_or_else(|reason| {
        let mut section = Section::new();
        section.failures.push(reason);
        section
    });
    section.ended(begin.elapsed())
}
