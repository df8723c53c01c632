//! Suites of workloads, and the command lines that run them.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::callback::Callback;
use crate::java::{Jdk, build_applications, succeed};

/// Kinds of workloads, for means and targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A multi-threaded application.
    Multi,
    /// A single-threaded application.
    Single,
    /// A program that does little but contend.
    Synthetic,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Multi, Self::Single, Self::Synthetic];

    /// The name in results and of the bundled applications' list.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Multi => "multi",
            Self::Single => "single",
            Self::Synthetic => "synthetic",
        }
    }
}

/// Amounts of work of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Size {
    /// To try things out
    Small,
    /// About a second with the bundled applications
    Default,
    /// Several seconds
    Large,
}

impl Size {
    /// The name on the command line, which the suites share.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Default => "default",
            Self::Large => "large",
        }
    }
}

/// Something to run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Workload {
    pub(crate) suite: Origin,
    /// Unique in the suite.
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.suite {
            Origin::Bundled => f.pad(&self.name),
            suite => f.pad(&format!("{}:{}", suite.name(), self.name)),
        }
    }
}

/// The origins of workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Origin {
    Bundled,
    Dacapo,
    Scalabench,
    Renaissance,
}

impl Origin {
    /// The name in results, and the option that takes its jar.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bundled => "bundled",
            Self::Dacapo => "dacapo",
            Self::Scalabench => "scalabench",
            Self::Renaissance => "renaissance",
        }
    }

    /// Returns the publisher of the jar.
    fn publisher(self) -> &'static str {
        match self {
            Self::Bundled => "this repository",
            Self::Dacapo => {
                "the DaCapo project (releases of the GitHub repository dacapobench/dacapobench)"
            }
            Self::Scalabench => "the Scala Benchmarking Project (scalabench.org)",
            Self::Renaissance => {
                "the Renaissance project (releases of the GitHub repository renaissance-benchmarks/renaissance)"
            }
        }
    }
}

/// Benchmarks of the suites of which the paper or their own documentation says
/// that they are single-threaded.
const SINGLE_THREADED: [&str; 20] = [
    "batik",
    "biojava",
    "chart",
    "dotty",
    "factorie",
    "fop",
    "jme",
    "jython",
    "kiama",
    "luindex",
    "mnemonics",
    "rx-scrabble",
    "scala-doku",
    "scala-kmeans",
    "scalac",
    "scaladoc",
    "scalap",
    "scalariform",
    "scalaxb",
    "zxing",
];

/// The work of an iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) iterations: u32,
    pub(crate) threads: u32,
    pub(crate) size: Size,
}

/// Workloads that share a class path.
#[derive(Debug)]
pub(crate) struct Suite {
    origin: Origin,
    class_path: OsString,
    /// The callback compiled for the suite.
    callback: Option<Callback>,
    /// In the suite's own order.
    workloads: Vec<Workload>,
}

impl Suite {
    /// The bundled applications, built if they are not.
    pub(crate) fn bundled(jdk: &Jdk) -> anyhow::Result<Self> {
        let class_path = join(&build_applications(jdk)?)?;
        let mut list = Command::new(jdk.tool("java"));
        list.arg("-cp")
            .arg(&class_path)
            .args(["bench.Driver", "--list"]);
        let workloads = succeed(&mut list)?
            .lines()
            .map(bundled)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            origin: Origin::Bundled,
            class_path,
            callback: None,
            workloads,
        })
    }

    /// The benchmarks of a suite's jar.
    pub(crate) fn of_jar(jdk: &Jdk, origin: Origin, jar: &Path) -> anyhow::Result<Self> {
        ensure!(
            jar.is_file(),
            "no jar {}: {} publishes it; name it with --{}",
            jar.display(),
            origin.publisher(),
            origin.name()
        );
        let jar = std::path::absolute(jar)?;
        let (sources, list): (&str, &[&str]) = match origin {
            Origin::Renaissance => ("renaissance", &["--raw-list"]),
            _ => ("dacapo", &["Harness", "-l"]),
        };
        let callback =
            Callback::compile(jdk, &jar, sources).with_context(|| jar.display().to_string())?;
        let mut java = Command::new(jdk.tool("java"));
        if origin == Origin::Renaissance {
            java.arg("-jar");
        } else {
            java.arg("-cp");
        }
        let names = succeed(java.arg(&jar).args(list).current_dir(callback.folder()))?;
        let workloads: Vec<Workload> = names
            .split_whitespace()
            .map(|name| Workload {
                suite: origin,
                name: name.to_owned(),
                kind: if SINGLE_THREADED.contains(&name) {
                    Kind::Single
                } else {
                    Kind::Multi
                },
            })
            .collect();
        ensure!(
            !workloads.is_empty(),
            "{} lists no benchmark",
            jar.display()
        );
        let class_path = match origin {
            Origin::Renaissance => jar.into_os_string(),
            _ => join(&callback.class_path(jar))?,
        };
        Ok(Self {
            origin,
            class_path,
            callback: Some(callback),
            workloads,
        })
    }

    /// Everything that it can run.
    pub(crate) fn workloads(&self) -> &[Workload] {
        &self.workloads
    }

    /// The workloads with these names; all if there are none.
    pub(crate) fn select(&self, names: &[String]) -> anyhow::Result<Vec<Workload>> {
        if names.is_empty() {
            return Ok(self.workloads.clone());
        }
        let known: BTreeSet<&str> = self
            .workloads
            .iter()
            .map(|workload| &*workload.name)
            .collect();
        if let Some(unknown) = names.iter().find(|name| !known.contains(name.as_str())) {
            let known: Vec<&str> = known.into_iter().collect();
            let origin = self.origin.name();
            bail!(
                "unknown {origin} benchmark {unknown}, expected one of {}",
                known.join(", ")
            );
        }
        let wanted = |workload: &&Workload| names.contains(&workload.name);
        Ok(self.workloads.iter().filter(wanted).cloned().collect())
    }

    /// Returns whether its workloads name this origin.
    pub(crate) fn is(&self, origin: Origin) -> bool {
        self.origin == origin
    }

    /// Returns the arguments after the JVM's flags on the command line.
    pub(crate) fn arguments(&self, name: &str, work: Work) -> Vec<OsString> {
        let Work {
            iterations,
            threads,
            size,
        } = work;
        let size = match (self.origin, size) {
            (Origin::Renaissance, Size::Small) => "test",
            (Origin::Renaissance, _) => "default",
            (_, size) => size.name(),
        };
        let (iterations, threads) = (iterations.to_string(), threads.to_string());
        let mut arguments: Vec<OsString> = Vec::new();
        let rest: Vec<&str> = match self.origin {
            Origin::Bundled => {
                arguments.extend(["-cp".into(), self.class_path.clone()]);
                vec![
                    "bench.Driver",
                    name,
                    "--iterations",
                    &iterations,
                    "--threads",
                    &threads,
                    "--size",
                    size,
                ]
            }
            Origin::Dacapo | Origin::Scalabench => {
                arguments.extend(["-cp".into(), self.class_path.clone()]);
                vec![
                    "Harness",
                    "-c",
                    "bench.DacapoCallback",
                    "-n",
                    &iterations,
                    "-t",
                    &threads,
                    "-s",
                    size,
                    name,
                ]
            }
            Origin::Renaissance => {
                let mut plugin = self
                    .callback
                    .as_ref()
                    .map(|callback| callback.classes().into_os_string())
                    .unwrap_or_default();
                plugin.push("!bench.RenaissancePlugin");
                arguments.extend([
                    "-jar".into(),
                    self.class_path.clone(),
                    "--plugin".into(),
                    plugin,
                ]);
                vec!["-r", &iterations, "-c", size, name]
            }
        };
        arguments.extend(rest.into_iter().map(OsString::from));
        arguments
    }
}

/// Parses a line of the bundled applications' list.
fn bundled(line: &str) -> anyhow::Result<Workload> {
    let mut fields = line.split('\t');
    let (Some(name), Some(kind)) = (fields.next(), fields.next()) else {
        bail!("bench.Driver --list: expected a name and a kind, found {line:?}");
    };
    let kind = Kind::ALL
        .into_iter()
        .find(|known| known.name() == kind)
        .with_context(|| format!("bench.Driver --list: unknown kind {kind} of {name}"))?;
    Ok(Workload {
        suite: Origin::Bundled,
        name: name.to_owned(),
        kind,
    })
}

fn join(paths: &[PathBuf]) -> anyhow::Result<OsString> {
    env::join_paths(paths).context("class path")
}
