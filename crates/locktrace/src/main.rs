//! `locktrace`: shows who blocks whom on which lock in a Java application.

#![forbid(unsafe_code)]

mod agent;
mod agent_losses;
mod attach;
mod cli;
mod collect;
mod contentions;
mod convoys;
mod destination;
mod diff;
mod dump;
mod event_fields;
mod export;
mod figures;
mod human;
mod input;
mod labelled;
mod lock_order;
mod longest_waits;
mod manual;
mod metrics;
mod output;
mod overhead;
mod paths;
mod problem;
mod process;
mod redaction;
mod report;
mod selection;
mod started_trace;
mod stat;
mod target;
mod top;
mod view;
mod what_if;
mod whole_file;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use trace_analysis::TraceError;

use crate::agent::{AgentError, OptionError};
use crate::attach::CommandError;
use crate::cli::{Cli, Command};
use crate::destination::DestinationError;
use crate::diff::NoWork;
use crate::process::ProcessError;
use crate::redaction::KeyError;
use crate::view::{AnswerError, UsageError};
use crate::what_if::NoSuchLock;

/// What a command that did not fail has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Complete,
    /// The traces lack something, and so does the result.
    Incomplete,
    /// There is more waiting than the user allows.
    Regressed,
    /// Some traces cannot be read; the result is about the others.
    Unreadable,
}

// Documented in `cli::EXIT_CODES`. Of wrong usage clap says so itself, as far as it sees it.
const INCOMPLETE: u8 = 1;
const WRONG_USAGE: u8 = 2;
const UNREADABLE: u8 = 3;
const NO_OUTPUT: u8 = 4;
const REGRESSED: u8 = 5;

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(Outcome::Complete) => ExitCode::SUCCESS,
        Ok(Outcome::Incomplete) => ExitCode::from(INCOMPLETE),
        Ok(Outcome::Regressed) => ExitCode::from(REGRESSED),
        Ok(Outcome::Unreadable) => ExitCode::from(UNREADABLE),
        Err(error) => {
            output::complain(&error);
            let is_unreadable = error.is::<TraceError>()
                || error.is::<ProcessError>()
                || error.is::<CommandError>()
                || error.is::<AgentError>();
            ExitCode::from(if is_unreadable {
                UNREADABLE
            } else if error.is::<AnswerError>()
                || error.is::<UsageError>()
                || error.is::<DestinationError>()
                || error.is::<OptionError>()
                || error.is::<NoWork>()
                || error.is::<NoSuchLock>()
                || error.is::<KeyError>()
            {
                WRONG_USAGE
            } else {
                NO_OUTPUT
            })
        }
    }
}

fn run(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Report(arguments) => report::run(&arguments),
        Command::Contentions(arguments) => contentions::run(&arguments),
        Command::Locks(arguments) => figures::locks(&arguments.figures, &arguments.sort),
        Command::Threads(arguments) => figures::threads(&arguments.figures, &arguments.sort),
        Command::LockOrder(arguments) => lock_order::run(&arguments),
        Command::Convoys(arguments) => convoys::run(&arguments),
        Command::WhatIf(arguments) => what_if::run(&arguments),
        Command::Stat(arguments) => stat::run(&arguments),
        Command::Dump(arguments) => dump::run(&arguments),
        Command::Summary(arguments) => view::summarize(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::View(arguments) => view::view(&arguments),
        Command::Query(arguments) => view::query(&arguments),
        Command::Top(arguments) => top::run(&arguments),
        Command::Metrics(arguments) => metrics::run(&arguments),
        Command::Attach(arguments) => agent::attach(&arguments),
        Command::Detach(arguments) => agent::detach(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Collect(arguments) => collect::run(&arguments),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "locktrace", &mut script);
            let mut out = output::machine();
            out.write_all(&script)?;
            out.flush()?;
            Ok(Outcome::Complete)
        }
        Command::Man { folder } => manual::write(&folder),
    }
}
