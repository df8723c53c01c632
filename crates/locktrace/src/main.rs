//! `locktrace`: shows who blocks whom on which lock in a Java application.

#![forbid(unsafe_code)]

mod cli;
mod contentions;
mod dump;
mod event_fields;
mod facts;
mod human;
mod input;
mod name;
mod output;
mod overhead;
mod problem;
mod record;
mod report;
mod stat;

use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::cli::{Cli, Command};

/// What a command that did not fail has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Everything could be read.
    Complete,
    /// The result lacks what could not be read.
    Partial,
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(Outcome::Complete) => ExitCode::SUCCESS,
        Ok(Outcome::Partial) => ExitCode::from(1),
        // Whoever read the output has seen enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&error);
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Report(arguments) => report::run(&arguments),
        Command::Contentions(arguments) => contentions::run(&arguments),
        Command::Stat(arguments) => stat::run(&arguments),
        Command::Dump(arguments) => dump::run(&arguments),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "locktrace", &mut script);
            io::Write::write_all(&mut io::stdout(), &script)?;
            Ok(Outcome::Complete)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe)
    })
}
