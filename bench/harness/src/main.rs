//! Measures what tracing costs on real applications, against its peers (paper,
//! sections 5.2 to 5.6). `bench/README.md` says how to run it and how to read what
//! it writes.

#![forbid(unsafe_code)]

mod callback;
mod cli;
mod configuration;
mod figures;
mod java;
mod jvm;
mod machine;
mod measure;
mod output;
mod paths;
mod plots;
mod protocol;
mod results;
mod schedule;
mod statistics;
mod suite;
mod survey;
mod tables;
mod targets;
mod trace;
mod tracer_threads;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::cli::{Cli, Task};
use crate::results::Results;

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("bench/run: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.task()? {
        Task::Completions(shell) => {
            clap_complete::generate(shell, &mut Cli::command(), "run", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
        Task::List(plan) => {
            measure::list(&plan)?;
            Ok(ExitCode::SUCCESS)
        }
        Task::Survey(options) => survey::run(*options),
        Task::Measure(plan) => {
            let results = measure::run(&plan)?;
            report(&results, &plan.output, plan.check_targets)
        }
        Task::Report {
            folders,
            output,
            check_targets,
        } => report(&Results::merge(&folders)?, &output, check_targets),
    }
}

/// Writes what follows from the results, and says what must not be overlooked.
fn report(
    results: &Results,
    output: &std::path::Path,
    check_targets: bool,
) -> anyhow::Result<ExitCode> {
    let written = output::write(results, output)?;
    written.print();
    let missed = check_targets && written.targets_missed();
    Ok(if missed {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}
