//! What the exit code says: whether the traces are complete, whatever the command, the
//! form of the output, and who reads how much of it.

use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use assert_cmd::cargo::CommandCargoExt;
use serde_json::Value;

use crate::sample::{HASHTABLE_GET, HASHTABLE_PUT, Sample};
use crate::{directory_with, locktrace};

/// All that read a trace.
const COMMANDS: [&str; 9] = [
    "report trace.lct",
    "report trace.lct --format json",
    "report trace.lct --format csv",
    "contentions trace.lct",
    "contentions trace.lct --format csv",
    "stat trace.lct",
    "stat trace.lct --format json",
    "dump trace.lct",
    "dump trace.lct --format jsonl",
];

/// One thread waits for another one. `happens` happens meanwhile.
fn sample(happens: impl FnOnce(&mut Sample)) -> Sample {
    let mut sample = Sample::new(&["main", "worker-1"]);
    sample.enter(2, 1, 10, HASHTABLE_GET);
    happens(&mut sample);
    sample.exit(1, 1, 50, HASHTABLE_PUT);
    sample.entered(2, 1, 53, 0);
    sample
}

/// Traces that could be read to the end, and what is wrong with them.
fn incomplete() -> [(Sample, &'static str); 4] {
    [
        (
            sample(|sample| sample.lose(1, 1)),
            "events dropped by the tracer: 1",
        ),
        (
            sample(|sample| sample.count_lost(7)),
            "events dropped by the tracer: 7",
        ),
        (sample(|sample| sample.skip(1)), "events that never came: 1"),
        (
            sample(|sample| {
                sample.retire(1, HASHTABLE_GET);
                for time_us in [20, 22] {
                    sample.enter(1, 2, time_us, HASHTABLE_GET);
                    sample.entered(1, 2, time_us + 1, 0);
                }
            }),
            "references to call chains, methods or classes that had ended: 2",
        ),
    ]
}

#[test]
fn every_command_says_that_a_trace_is_incomplete() {
    for (sample, problem) in incomplete() {
        let directory = directory_with(&sample, "trace.lct");
        for command in COMMANDS {
            let run = locktrace(directory.path(), command);
            assert_eq!(run.code, Some(1), "{command}: {problem}");
            let complaint = format!("locktrace: trace.lct: {problem}\n");
            assert_eq!(run.stderr, complaint, "{command}");
        }
        let output = |command| locktrace(directory.path(), command).stdout;
        let json = |command| -> Value { serde_json::from_str(&output(command)).expect("JSON") };
        let stat = &json("stat trace.lct --format json")["traces"][0];
        assert_eq!(stat["complete"], false, "{problem}");
        assert_eq!(stat["problems"][0], problem);
        let report = json("report trace.lct --format json");
        assert_eq!(report["trace"]["complete"], false, "{problem}");
        for command in ["report trace.lct", "stat trace.lct"] {
            let fact = format!("Incomplete  {problem}\n");
            assert!(output(command).contains(&fact), "{command}: {problem}");
        }
    }
}

#[test]
fn one_incomplete_trace_of_several_is_enough() {
    let directory = directory_with(&Sample::demo(), "sound.lct");
    sample(|sample| sample.lose(1, 1)).save(directory.path(), "lossy.lct");
    for command in ["report", "contentions", "stat"] {
        for traces in ["sound.lct lossy.lct", "lossy.lct sound.lct"] {
            let run = locktrace(directory.path(), &format!("{command} {traces}"));
            assert_eq!(run.code, Some(1), "{command} {traces}");
        }
    }
}

/// Runs `locktrace` with standard output to `stdout`.
fn locktrace_to(stdout: Stdio, directory: &Path, arguments: &str) -> Output {
    let mut child = Command::cargo_bin("locktrace")
        .expect("built by cargo")
        .current_dir(directory)
        .args(arguments.split(' '))
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .expect("can be started");
    // Nobody reads it.
    drop(child.stdout.take());
    child.wait_with_output().expect("ends")
}

#[test]
fn reader_that_has_seen_enough_changes_nothing() {
    let sound = (Sample::demo(), None);
    let lossy = incomplete().map(|(sample, problem)| (sample, Some(problem)));
    for (sample, problem) in [sound].into_iter().chain(lossy) {
        let directory = directory_with(&sample, "trace.lct");
        for command in COMMANDS {
            let run = locktrace_to(Stdio::piped(), directory.path(), command);
            let code = i32::from(problem.is_some());
            assert_eq!(run.status.code(), Some(code), "{command}: {problem:?}");
            let read = locktrace(directory.path(), command);
            let stderr = String::from_utf8(run.stderr).expect("UTF-8");
            assert_eq!(stderr, read.stderr, "{command}");
        }
        let run = locktrace_to(Stdio::piped(), directory.path(), "completions bash");
        assert_eq!((run.status.code(), run.stderr), (Some(0), Vec::new()));
    }
}

#[test]
fn output_that_cannot_be_written_is_named() {
    let directory = directory_with(&Sample::demo(), "trace.lct");
    for command in COMMANDS.into_iter().chain(["completions bash"]) {
        let full = OpenOptions::new().write(true).open("/dev/full");
        let full = full.expect("a device of Linux");
        let run = locktrace_to(full.into(), directory.path(), command);
        assert_eq!(run.status.code(), Some(4), "{command}");
        let stderr = String::from_utf8(run.stderr).expect("UTF-8");
        let complaint = "locktrace: standard output: No space left on device (os error 28)\n";
        assert_eq!(stderr, complaint, "{command}");
    }
}

#[test]
fn complaints_that_cannot_be_written_do_no_harm() {
    let directory = directory_with(&sample(|sample| sample.lose(1, 1)), "trace.lct");
    let full = OpenOptions::new().write(true).open("/dev/full");
    let status = Command::cargo_bin("locktrace")
        .expect("built by cargo")
        .current_dir(directory.path())
        .args(["report", "trace.lct"])
        .stdout(Stdio::null())
        .stderr(full.expect("a device of Linux"))
        .status();
    assert_eq!(status.expect("can be started").code(), Some(1));
}

#[test]
fn help_lists_the_exit_codes() {
    let directory = directory_with(&Sample::demo(), "trace.lct");
    let help = locktrace(directory.path(), "--help").stdout;
    for code in 0..=4 {
        assert!(help.contains(&format!("\n  {code}  ")), "{help}");
    }
}
