//! The agent in a JDK without patches: what it costs, and whether its owners are right.

use std::time::Instant;

use jvm_tests::{HeldLock, Jdk, Jvm, NEVER_INLINED, agent_option, check_shares_of_holds};
use serde::Serialize;

use crate::configuration::Configuration;
use crate::java::Jdks;
use crate::survey::Setup;
use crate::survey::overhead::{Costs, Wanted, measure};
use crate::survey::plan::Budget;
use crate::survey::section::Section;

/// Those whose threads are blocked often.
const WORKLOADS: [&str; 4] = ["h2", "log4j", "hammer-monitor", "hammer-lock"];

/// Holds of milliseconds by four threads, for a second and a half.
const HOLDS: [&str; 6] = ["4", "1000000", "5000000", "12500000", "1500", "0"];

/// The part of the time that costs get.
const COSTS: f64 = 0.75;

/// The agent in a JDK.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct OfAgent {
    /// Its version, as it prints it.
    pub(crate) jdk: String,
    /// Of the agent, over the JDK without it.
    pub(crate) costs: Option<Costs>,
    /// Locks whose holds were compared with the program's own clock.
    pub(crate) compared: Vec<&'static str>,
}

/// Measures costs, and compares holds.
pub(crate) fn run(setup: &Setup, mut budget: Budget) -> anyhow::Result<Section<OfAgent>> {
    let mut section = Section::<OfAgent>::new();
    let Some(jdk) = &setup.agent_jdk else {
        let reason = "no JDK without patches: --agent-jdk names one";
        section.not_run.push(reason.to_owned());
        return Ok(section);
    };
    section.figures.jdk = jdk.version()?;
    let until = Instant::now() + budget.all().mul_f64(COSTS);
    let wanted = Wanted {
        jdks: Jdks {
            stock: Some(jdk.clone()),
            ..setup.jdks.clone()
        },
        configurations: vec![Configuration::Stock, Configuration::Agent],
        names: WORKLOADS.map(str::to_owned).to_vec(),
        threads: setup.threads(),
        each: budget.all().mul_f64(COSTS) / 2 / WORKLOADS.len() as u32,
    };
    section.figures.costs = Some(measure(setup, wanted, until, &mut section)?);

    let jdk = Jdk::at(jdk.home());
    for lock in [HeldLock::Monitor, HeldLock::NonFair, HeldLock::Write] {
        let place = format!("holds of {} by the agent", lock.name());
        let checked = section.step(&mut budget, &place, || check(jdk, lock));
        section
            .figures
            .compared
            .extend(checked.map(|()| lock.name()));
    }
    Ok(section)
}

/// Panics if the agent blames somebody else than the program's own clock.
fn check(jdk: &'static Jdk, lock: HeldLock) {
    let mut program = vec!["scenarios.HoldsOfLocks", lock.name()];
    program.extend(HOLDS);
    let run = Jvm::untraced(jdk, &program)
        .flags([agent_option("file=trace.lct")])
        .flags(NEVER_INLINED)
        .run();
    check_shares_of_holds(lock.name(), lock.class(), jdk, &run);
}
