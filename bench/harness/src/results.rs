//! The file of results: everything that was measured, and on what.
//! `bench/README.md` documents its fields.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::configuration::{Configuration, Unavailable};
use crate::machine::Machine;
use crate::protocol::Iteration;
use crate::suite::{Size, Workload};
use crate::trace::Traced;

/// The value of [`Results::schema`].
const SCHEMA: &str = "locktrace-bench";
/// The version of the fields. Changes when a reader of older files would be wrong.
const VERSION: u32 = 1;
/// The file's name in a folder of results.
pub(crate) const FILE: &str = "results.json";

/// Everything that was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Results {
    schema: String,
    version: u32,
    /// The start, by the wall clock (RFC 3339).
    pub(crate) started: String,
    /// Load average over a minute before the first JVM; of several results the
    /// highest.
    pub(crate) load_average_at_start: f64,
    pub(crate) subject: Subject,
    pub(crate) rounds: u32,
    /// Those that were measured, in the order of columns.
    pub(crate) configurations: Vec<Configuration>,
    pub(crate) unavailable: Vec<Unavailable>,
    pub(crate) workloads: Vec<Workload>,
    /// In the order in which they ran.
    pub(crate) jvms: Vec<JvmRun>,
}

/// The properties that must be equal in results that are merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Subject {
    pub(crate) machine: Machine,
    pub(crate) locktrace: String,
    /// The output of `java -version`; `None` if it was not to be measured.
    pub(crate) jdk_stock: Option<String>,
    pub(crate) jdk_traced: String,
    pub(crate) settings: Settings,
}

/// The settings of all runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Settings {
    /// Iterations in each JVM.
    pub(crate) iterations: u32,
    /// The number of these, at the end, that are measured.
    pub(crate) keep: u32,
    pub(crate) threads: u32,
    pub(crate) size: Size,
    pub(crate) reinitialize: Reinitialize,
    /// Size of the Java heap, from start to end.
    pub(crate) heap: String,
    /// Further flags of all JVMs.
    pub(crate) jvm_options: Vec<String>,
}

/// The lifetimes of a tracer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reinitialize {
    /// For all iterations of a JVM
    Jvm,
    /// For one measured iteration: each has a JVM of its own, with the same warm-up
    Iteration,
}

impl Settings {
    /// The iterations of one JVM, and how many of them are measured.
    pub(crate) fn in_each_jvm(&self) -> (u32, u32) {
        match self.reinitialize {
            Reinitialize::Jvm => (self.iterations, self.keep),
            Reinitialize::Iteration => (self.iterations - self.keep + 1, 1),
        }
    }

    /// The JVMs of a workload and configuration in each round.
    pub(crate) fn jvms_in_each_round(&self) -> u32 {
        match self.reinitialize {
            Reinitialize::Jvm => 1,
            Reinitialize::Iteration => self.keep,
        }
    }
}

/// One JVM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JvmRun {
    /// From 0.
    pub(crate) round: u32,
    pub(crate) workload: Workload,
    pub(crate) configuration: Configuration,
    /// From start to end.
    pub(crate) duration_ns: u64,
    pub(crate) peak_rss_bytes: u64,
    /// Processor time, from start to end. Older results do not have it: 0.
    #[serde(default)]
    pub(crate) cpu_ns: u64,
    /// The same of the tracer's threads, by name, without their last moment.
    #[serde(default)]
    pub(crate) tracer_cpu_ns: BTreeMap<String, u64>,
    pub(crate) outcome: Outcome,
}

/// The outcome of a JVM.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// All iterations, each with the right result.
    Passed {
        /// Also those that are not measured.
        iterations: Vec<Iteration>,
        /// `None` where there was no trace.
        traced: Option<Traced>,
    },
    /// Nothing that could be used.
    Failed {
        reason: String,
        /// The last lines on standard error.
        stderr: String,
    },
}

impl Results {
    /// No results yet.
    pub(crate) fn new(
        started: String,
        load_average_at_start: f64,
        subject: Subject,
        rounds: u32,
        configurations: Vec<Configuration>,
        unavailable: Vec<Unavailable>,
        workloads: Vec<Workload>,
    ) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            started,
            load_average_at_start,
            subject,
            rounds,
            configurations,
            unavailable,
            workloads,
            jvms: Vec::new(),
        }
    }

    /// Returns the configuration that all others are compared with: the stock JDK, or without it
    /// the first configuration.
    pub(crate) fn baseline(&self) -> Configuration {
        let stock = Configuration::Stock;
        let first = self.configurations.first().copied();
        first
            .filter(|_| !self.configurations.contains(&stock))
            .unwrap_or(stock)
    }

    /// Reads the results in `folder`.
    fn read(folder: &Path) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct Version {
            schema: String,
            version: u32,
        }
        let path = folder.join(FILE);
        let in_file = || path.display().to_string();
        let text = fs::read_to_string(&path).with_context(in_file)?;
        let Version { schema, version } = serde_json::from_str(&text).with_context(in_file)?;
        ensure!(
            schema == SCHEMA && version == VERSION,
            "{}: expected {SCHEMA} version {VERSION}, found {schema} version {version}",
            in_file()
        );
        serde_json::from_str(&text).with_context(in_file)
    }

    /// Reads the results in some folders and puts them together. They must be of
    /// the same machine, programs and settings.
    pub(crate) fn merge(folders: &[PathBuf]) -> anyhow::Result<Self> {
        let mut merged: Option<Self> = None;
        for folder in folders {
            let next = Self::read(folder)?;
            match &mut merged {
                None => merged = Some(next),
                Some(merged) => merged.append(next).with_context(|| {
                    let (first, next) = (folders[0].display(), folder.display());
                    format!("{first} and {next} cannot be put together")
                })?,
            }
        }
        merged.context("no results")
    }

    fn append(&mut self, mut other: Self) -> anyhow::Result<()> {
        self.subject.check_same(&other.subject)?;
        let stock = &mut self.subject.jdk_stock;
        *stock = stock.take().or(other.subject.jdk_stock);
        for run in &mut other.jvms {
            run.round += self.rounds;
        }
        self.rounds += other.rounds;
        self.load_average_at_start = self.load_average_at_start.max(other.load_average_at_start);
        self.jvms.append(&mut other.jvms);
        for workload in other.workloads {
            if !self.workloads.contains(&workload) {
                self.workloads.push(workload);
            }
        }
        for configuration in other.configurations {
            if !self.configurations.contains(&configuration) {
                self.configurations.push(configuration);
            }
        }
        self.unavailable.append(&mut other.unavailable);
        self.unavailable
            .sort_by_key(|missing| missing.configuration);
        self.unavailable
            .dedup_by_key(|missing| missing.configuration);
        self.unavailable
            .retain(|missing| !self.configurations.contains(&missing.configuration));
        Ok(())
    }
}

impl Subject {
    fn check_same(&self, other: &Self) -> anyhow::Result<()> {
        let differ = |what, one: &dyn std::fmt::Debug, other: &dyn std::fmt::Debug| {
            anyhow::anyhow!("different {what}:\n{one:?}\n{other:?}")
        };
        if self.machine != other.machine {
            bail!(differ("machines", &self.machine, &other.machine));
        }
        if self.settings != other.settings {
            bail!(differ("settings", &self.settings, &other.settings));
        }
        let programs = |subject: &Self| {
            let Subject {
                locktrace,
                jdk_stock,
                jdk_traced,
                ..
            } = subject.clone();
            (locktrace, jdk_traced, jdk_stock)
        };
        let is_same_stock = match (&self.jdk_stock, &other.jdk_stock) {
            (Some(one), Some(other)) => one == other,
            // Where it was not measured, any will do.
            _ => true,
        };
        if self.locktrace != other.locktrace
            || self.jdk_traced != other.jdk_traced
            || !is_same_stock
        {
            bail!(differ("programs", &programs(self), &programs(other)));
        }
        Ok(())
    }
}
