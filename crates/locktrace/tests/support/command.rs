//! Runs the command line as users do.

use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

use crate::sample::Sample;

/// A directory with a trace.
pub(crate) fn directory_with(sample: &Sample, name: &str) -> TempDir {
    let directory = TempDir::new().expect("a temporary directory");
    sample.save(directory.path(), name);
    directory
}

/// What a run of `locktrace` left.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().expect("can be started");
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

/// Runs `locktrace` with `arguments`, separated by spaces, in `directory`.
pub(crate) fn locktrace(directory: &Path, arguments: &str) -> Run {
    locktrace_with(directory, arguments, &[])
}

/// The same with more arguments, in which spaces may be.
pub(crate) fn locktrace_with(directory: &Path, arguments: &str, more: &[String]) -> Run {
    let mut command = Command::cargo_bin("locktrace").expect("built by cargo");
    command.current_dir(directory);
    command.args(arguments.split_whitespace()).args(more);
    Run::of(&mut command)
}

/// Runs `locktrace`, which must succeed and not complain.
pub(crate) fn succeed(directory: &Path, arguments: &str) -> String {
    succeed_with(directory, arguments, &[])
}

/// The same with more arguments, in which spaces may be.
pub(crate) fn succeed_with(directory: &Path, arguments: &str, more: &[String]) -> String {
    let run = locktrace_with(directory, arguments, more);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    run.stdout
}
