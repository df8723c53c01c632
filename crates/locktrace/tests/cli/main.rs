//! The commands as users run them.

mod broken_input;
mod commands;
mod exit_codes;
mod live;
mod sample;
mod server;
mod viewer;

use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

use crate::sample::Sample;

/// A directory with a trace.
fn directory_with(sample: &Sample, name: &str) -> TempDir {
    let directory = TempDir::new().expect("a temporary directory");
    sample.save(directory.path(), name);
    directory
}

/// What a run of `locktrace` left.
struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs `locktrace` with `arguments`, separated by spaces, in `directory`.
fn locktrace(directory: &Path, arguments: &str) -> Run {
    let mut command = Command::cargo_bin("locktrace").expect("built by cargo");
    let output = command
        .current_dir(directory)
        .args(arguments.split_whitespace())
        .output()
        .expect("can be started");
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Runs `locktrace`, which must succeed and not complain.
fn succeed(directory: &Path, arguments: &str) -> String {
    let run = locktrace(directory, arguments);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    run.stdout
}
