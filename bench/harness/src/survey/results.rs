//! The file of results of a survey; `bench/README.md` documents its fields.

use std::time::SystemTime;

use serde::Serialize;

use crate::machine::{Machine, load_average};
use crate::survey::agent::OfAgent;
use crate::survey::analysis::Reports;
use crate::survey::holds::Compared;
use crate::survey::hooks::HookCosts;
use crate::survey::overhead::Costs;
use crate::survey::plan::Part;
use crate::survey::section::Section;
use crate::survey::stress::Stressed;

/// Everything that a survey found.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Survey {
    schema: &'static str,
    version: u32,
    /// The start, by the wall clock (RFC 3339).
    pub(crate) started: String,
    /// Load average over a minute before the first JVM.
    pub(crate) load_average_at_start: f64,
    pub(crate) machine: Machine,
    /// The processors that were used.
    pub(crate) processors: Vec<usize>,
    pub(crate) locktrace: &'static str,
    /// The output of `java -version`.
    pub(crate) jdk_traced: String,
    pub(crate) minutes: u32,
    pub(crate) took_s: f64,
    /// The parts to run.
    pub(crate) parts: Vec<Part>,
    /// These are `None` if they were not to run, or have not ended yet.
    pub(crate) overhead: Option<Section<Vec<Costs>>>,
    pub(crate) holds: Option<Section<Vec<Compared>>>,
    pub(crate) stress: Option<Section<Vec<Stressed>>>,
    pub(crate) hooks: Option<Section<Vec<HookCosts>>>,
    pub(crate) analysis: Option<Section<Reports>>,
    pub(crate) agent: Option<Section<OfAgent>>,
}

impl Survey {
    /// Nothing found yet by some parts, on some processors of a machine.
    pub(crate) fn begin(
        machine: Machine,
        processors: Vec<usize>,
        jdk_traced: String,
        minutes: u32,
        parts: &[Part],
    ) -> Self {
        Self {
            schema: "locktrace-survey",
            version: 1,
            started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            load_average_at_start: load_average(),
            machine,
            processors,
            locktrace: env!("CARGO_PKG_VERSION"),
            jdk_traced,
            minutes,
            took_s: 0.0,
            parts: parts.to_vec(),
            overhead: None,
            holds: None,
            stress: None,
            hooks: None,
            analysis: None,
            agent: None,
        }
    }

    /// Returns everything that was wrong, each with its part.
    pub(crate) fn failures(&self) -> impl Iterator<Item = String> {
        fn of<T>(part: Part, section: Option<&Section<T>>) -> Vec<String> {
            let failures = section.map_or(&[][..], |section| &section.failures).iter();
            failures
                .map(|failure| format!("{part}: {failure}"))
                .collect()
        }
        let all = [
            of(Part::Overhead, self.overhead.as_ref()),
            of(Part::Holds, self.holds.as_ref()),
            of(Part::Stress, self.stress.as_ref()),
            of(Part::Hooks, self.hooks.as_ref()),
            of(Part::Analysis, self.analysis.as_ref()),
            of(Part::Agent, self.agent.as_ref()),
        ];
        all.into_iter().flatten()
    }
}
