//! Measuring: from the plan to results.

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, ensure};
use indicatif::{ProgressBar, ProgressStyle};

use crate::configuration::{Configuration, TRACE_FILE, Unavailable};
use crate::java::{Jdk, Jdks, fetch_profiler};
use crate::machine::{Machine, load_average};
use crate::output::write_json;
use crate::results::{JvmRun, Outcome, Results, Settings, Subject};
use crate::schedule::{Pace, Turn, turns};
use crate::suite::{Origin, Suite, Work, Workload};
use crate::{jvm, protocol, trace};

/// The plan of a measurement.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) jdks: Jdks,
    /// Bundled applications by name, all if empty; `None` for none of them.
    pub(crate) applications: Option<Vec<String>>,
    /// The jars of other suites.
    pub(crate) jars: Vec<(Origin, PathBuf)>,
    /// Benchmarks of these jars by name, all if empty.
    pub(crate) benchmarks: Vec<String>,
    pub(crate) configurations: Vec<Configuration>,
    /// At most.
    pub(crate) rounds: u32,
    /// No workload begins another round that would not end by then.
    pub(crate) until: Option<Instant>,
    pub(crate) settings: Settings,
    /// For each JVM.
    pub(crate) time_limit: Duration,
    pub(crate) output: PathBuf,
    pub(crate) keep_traces: bool,
    pub(crate) check_targets: bool,
}

impl Plan {
    fn suites(&self) -> anyhow::Result<Vec<Suite>> {
        let jdk = self.jdks.tools();
        let mut suites = Vec::new();
        if self.applications.is_some() {
            suites.push(Suite::bundled(jdk)?);
        }
        for (origin, jar) in &self.jars {
            suites.push(Suite::of_jar(jdk, *origin, jar)?);
        }
        Ok(suites)
    }

    fn workloads(&self, suites: &[Suite]) -> anyhow::Result<Vec<Workload>> {
        let mut workloads = Vec::new();
        for suite in suites {
            workloads.extend(match &self.applications {
                Some(names) if suite.is(Origin::Bundled) => suite.select(names)?,
                _ => suite.select(&self.benchmarks)?,
            });
        }
        Ok(workloads)
    }
}

/// Prints all workloads that could be run.
pub(crate) fn list(plan: &Plan) -> anyhow::Result<()> {
    for suite in plan.suites()? {
        for workload in suite.workloads() {
            println!("{workload}\t{}", workload.kind.name());
        }
    }
    Ok(())
}

/// Measures. The results so far are in the output folder all the time.
pub(crate) fn run(plan: &Plan) -> anyhow::Result<Results> {
    fs::create_dir_all(&plan.output).with_context(|| plan.output.display().to_string())?;
    let suites = plan.suites()?;
    let workloads = plan.workloads(&suites)?;
    let mut bench = Bench {
        plan,
        suites,
        profiler: None,
    };
    let (configurations, unavailable) = bench.available_configurations()?;
    let settings = &plan.settings;
    let turns = turns(
        plan.rounds,
        workloads.len(),
        &configurations,
        settings.jvms_in_each_round(),
    );
    if plan.until.is_none() {
        announce(turns.len(), settings);
    }
    let mut results = Results::new(
        humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        load_average(),
        plan.subject()?,
        plan.rounds,
        configurations,
        unavailable,
        workloads,
    );
    let progress = Progress::new(turns.len() as u64);
    let mut pace = Pace::until(plan.until);
    let place = |turn: &Turn| (turn.round, turn.workload);
    for in_round in turns.chunk_by(|one, next| place(one) == place(next)) {
        let workload = in_round[0].workload;
        if !pace.has_time_for(workload) {
            continue;
        }
        let begin = Instant::now();
        for &turn in in_round {
            let workload = results.workloads[turn.workload].clone();
            progress.begin(&workload, turn);
            let run = bench.run(&workload, turn, results.jvms.len())?;
            progress.end(&run);
            results.rounds = turn.round + 1;
            results.jvms.push(run);
            write_json(&plan.output, &results)?;
        }
        pace.took(workload, begin.elapsed());
    }
    progress.finish();
    Ok(results)
}

/// Says how long it will take, if an iteration takes as long as those of the
/// bundled applications.
fn announce(jvms: usize, settings: &Settings) {
    const ITERATION: Duration = Duration::from_millis(900);
    const START: Duration = Duration::from_secs(1);
    let (iterations, _) = settings.in_each_jvm();
    let each = START + ITERATION * iterations;
    let minutes = (each * jvms as u32).as_secs().div_ceil(60);
    eprintln!("{jvms} JVMs with {iterations} iterations each: about {minutes} min");
}

impl Plan {
    fn subject(&self) -> anyhow::Result<Subject> {
        Ok(Subject {
            machine: Machine::this(),
            locktrace: env!("CARGO_PKG_VERSION").to_owned(),
            jdk_stock: self.jdks.stock.as_ref().map(Jdk::version).transpose()?,
            jdk_traced: self.jdks.traced.version()?,
            settings: self.settings.clone(),
        })
    }
}

struct Bench<'a> {
    plan: &'a Plan,
    suites: Vec<Suite>,
    /// The agent of async-profiler, if it is needed and there.
    profiler: Option<PathBuf>,
}

impl Bench<'_> {
    /// Those of the plan's configurations in which a JVM can start.
    fn available_configurations(
        &mut self,
    ) -> anyhow::Result<(Vec<Configuration>, Vec<Unavailable>)> {
        let (mut available, mut unavailable) = (Vec::new(), Vec::new());
        for &configuration in &self.plan.configurations {
            match self.problem(configuration)? {
                None => available.push(configuration),
                Some(reason) => {
                    eprintln!("{configuration} is left out: {reason}");
                    unavailable.push(Unavailable {
                        configuration,
                        reason,
                    });
                }
            }
        }
        ensure!(!available.is_empty(), "no configuration can be measured");
        Ok((available, unavailable))
    }

    /// Returns the reason why a JVM cannot start; `None` if it can.
    fn problem(&mut self, configuration: Configuration) -> anyhow::Result<Option<String>> {
        if configuration == Configuration::AsyncProfiler {
            match fetch_profiler(self.plan.jdks.tools()) {
                Ok(agent) => self.profiler = Some(agent),
                Err(error) => return Ok(Some(format!("{error:#}"))),
            }
        }
        let folder = tempfile::tempdir()?;
        let mut arguments = self.flags(configuration);
        arguments.push("-version".into());
        let java = configuration.java(&self.plan.jdks);
        let finished = jvm::run(&java, &arguments, folder.path(), self.plan.time_limit)?;
        Ok(finished.failure().map(|failure| {
            let complaints = finished.stdout.lines().chain(finished.stderr.lines());
            complaints
                .take(1)
                .fold(failure, |text, line| format!("{line} ({text})"))
        }))
    }

    fn flags(&self, configuration: Configuration) -> Vec<OsString> {
        let settings = &self.plan.settings;
        let heap = ["-Xms", "-Xmx"].map(|flag| format!("{flag}{}", settings.heap).into());
        let mut flags = Vec::from(heap);
        flags.extend(settings.jvm_options.iter().map(OsString::from));
        flags.extend(configuration.flags(self.profiler.as_deref()));
        flags
    }

    /// Runs the JVM at a position in the schedule.
    fn run(&self, workload: &Workload, turn: Turn, at: usize) -> anyhow::Result<JvmRun> {
        let Plan {
            jdks,
            settings,
            time_limit,
            output,
            ..
        } = self.plan;
        let (iterations, keep) = settings.in_each_jvm();
        let work = Work {
            iterations,
            threads: settings.threads,
            size: settings.size,
        };
        let suite = self.suites.iter().find(|suite| suite.is(workload.suite));
        let suite = suite.expect("a workload comes from a suite");
        let mut arguments = self.flags(turn.configuration);
        arguments.extend(suite.arguments(&workload.name, work));
        let folder = tempfile::Builder::new()
            .prefix("jvm-")
            .tempdir_in(std::path::absolute(output)?)?;
        let java = turn.configuration.java(jdks);
        let finished = jvm::run(&java, &arguments, folder.path(), *time_limit)?;

        let trace = folder.path().join(TRACE_FILE);
        let reported = protocol::parse(&finished.stdout, iterations);
        // The benchmark's message is more telling than the way the JVM ended.
        let passed = match (reported, finished.failure()) {
            (Ok(iterations), None) => Ok(iterations),
            (Err(reason), None) => Err(reason),
            (Err(reason), Some(failure)) => Err(format!("{failure}: {reason}")),
            (Ok(_), Some(failure)) => Err(failure),
        };
        let outcome = passed.and_then(|times| {
            let traced = turn
                .configuration
                .traces()
                .then(|| trace::read(&trace, iterations, keep));
            let traced = traced.transpose().map_err(|error| format!("{error:#}"))?;
            Ok(Outcome::Passed {
                iterations: times,
                traced,
            })
        });
        if self.plan.keep_traces && trace.exists() {
            let kept = format!("{at:04}-{workload}-{}.lct", turn.configuration).replace(':', "-");
            fs::rename(&trace, output.join(kept)).context("keeping a trace")?;
        }
        Ok(JvmRun {
            round: turn.round,
            workload: workload.clone(),
            configuration: turn.configuration,
            duration_ns: finished.duration.as_nanos() as u64,
            peak_rss_bytes: finished.peak_rss_bytes,
            cpu_ns: finished.cpu_ns,
            tracer_cpu_ns: finished.tracer_cpu_ns.clone(),
            outcome: outcome.unwrap_or_else(|reason| Outcome::Failed {
                reason,
                stderr: finished.last_complaints(),
            }),
        })
    }
}

/// Shows the progress: as a bar to a person, as lines in a file.
struct Progress {
    bar: ProgressBar,
    is_seen: bool,
}

impl Progress {
    fn new(jvms: u64) -> Self {
        let is_seen = io::stderr().is_terminal();
        let style = ProgressStyle::with_template("{wide_msg} {bar:30} {pos}/{len}  {eta} left")
            .expect("a valid template");
        let bar = if is_seen {
            ProgressBar::new(jvms)
        } else {
            ProgressBar::hidden()
        };
        Self {
            bar: bar.with_style(style),
            is_seen,
        }
    }

    fn begin(&self, workload: &Workload, turn: Turn) {
        let round = turn.round + 1;
        self.bar
            .set_message(format!("round {round}: {workload}, {}", turn.configuration));
    }

    fn end(&self, run: &JvmRun) {
        self.bar.inc(1);
        let seconds = run.duration_ns as f64 / 1e9;
        let place = format!(
            "round {}: {}, {}: {seconds:.1} s",
            run.round + 1,
            run.workload,
            run.configuration
        );
        match &run.outcome {
            Outcome::Failed { reason, .. } => self.say(&format!("{place}: failed: {reason}")),
            Outcome::Passed { .. } if !self.is_seen => self.say(&place),
            Outcome::Passed { .. } => {}
        }
    }

    fn say(&self, line: &str) {
        self.bar.suspend(|| eprintln!("{line}"));
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
