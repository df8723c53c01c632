//! What is exported, opened by the programs that people read it with. `make test-packages` installs these.

#[allow(dead_code, reason = "other tests use it")]
#[path = "../support/command.rs"]
mod command;
#[allow(dead_code, reason = "other tests use it")]
#[path = "../support/sample.rs"]
mod sample;

mod collect;
mod export;
mod go;
mod matrix;
mod node;
mod python;

use command::{Run, directory_with, locktrace, locktrace_with, succeed, succeed_with};
