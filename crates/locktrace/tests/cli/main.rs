//! The commands as users run them.

#[allow(dead_code, reason = "other tests use it")]
#[path = "../support/command.rs"]
mod command;
#[allow(dead_code, reason = "other tests use it")]
#[path = "../support/sample.rs"]
mod sample;

mod broken_input;
mod commands;
mod diff;
mod exit_codes;
mod filters;
mod freezes;
mod index;
mod inputs;
mod live;
mod server;
mod viewer;
mod what_if;

use command::{Run, directory_with, locktrace, succeed, succeed_with};
