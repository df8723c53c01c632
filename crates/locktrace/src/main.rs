//! `locktrace`: shows who blocks whom on which lock in a Java application.

#![forbid(unsafe_code)]

mod arguments;
mod cli;
mod commands;
mod files;
mod input;
mod jvm;
mod outcome;
mod output;
mod problem;
mod redaction;
mod text;
mod top;
mod view;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let result = cli::Cli::parse().command.run();
    if let Err(failure) = &result {
        output::complain(failure);
    }
    outcome::exit_code(&result)
}
