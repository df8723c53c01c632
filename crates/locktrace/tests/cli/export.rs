//! What other tools make of exports, compared with the report.

mod firefox;
mod fleet;
mod hosts;
mod jfr;
mod nestings;
mod object_stores;
mod openmetrics;
mod otlp;
mod perfetto;
mod redaction;
mod tables;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::matrix::{self, Version};
use crate::node::node;
use crate::sample::{HASHTABLE_GET, HASHTABLE_PUT, Sample};
use crate::{directory_with, locktrace, succeed};

const TRACE: &str = "demo.lct";
const STACKS: [&str; 3] = ["owners", "waiters", "chain-graph"];

/// What is selected of the trace: everything, and parts.
const SELECTIONS: [&str; 4] = [
    "",
    "--kind all",
    "--from 5ms --to 20ms",
    "--thread worker-1 --exclude lock-class=Queue",
];

fn demo() -> TempDir {
    let mut sample = Sample::demo();
    sample.wait_for_condition(2, 3, 250);
    directory_with(&sample, TRACE)
}

/// A wait for a lock whose class is called `name`, as is the thread.
fn named(name: &'static str) -> Sample {
    let mut sample = Sample::new(&["main", name]);
    sample.rename_class("java.util.Hashtable", name);
    sample.enter(2, 1, 10, HASHTABLE_GET);
    sample.exit(1, 1, 20, HASHTABLE_PUT);
    sample.entered(2, 1, 21, 0);
    sample
}

/// Puts the first part of a trace in the place of the whole one.
fn tear(directory: &Path) {
    let bytes = Sample::demo().bytes();
    fs::write(directory.join(TRACE), &bytes[..bytes.len() - 40]).expect("writable");
}

/// Saves the trace of another process, `other.lct`.
fn save_other(directory: &Path, mut sample: Sample) {
    sample.written_until(12, 10_000);
    sample.save(directory, "other.lct");
}

fn report_json(directory: &Path, options: &str) -> Value {
    let report = succeed(
        directory,
        &format!("report {TRACE} --format json {options}"),
    );
    serde_json::from_str(&report).expect("JSON")
}

/// The totals of a report on a selection.
fn totals(directory: &Path, selection: &str) -> Value {
    report_json(directory, &format!("--by kind {selection}"))["totals"].clone()
}

/// Durations of a report's rows by what they are called.
fn report_labels(directory: &Path, by: &str, selection: &str) -> BTreeMap<String, u64> {
    let report = report_json(directory, &format!("--all --by {by} {selection}"));
    let mut sums = BTreeMap::new();
    for row in report["tree"].as_array().expect("rows") {
        let label = row["label"].as_str().expect("a label").to_owned();
        *sums.entry(label).or_default() += number(&row["duration_ns"]);
    }
    sums
}

/// Durations and numbers of waits of a report's rows, by key.
fn report(directory: &Path, by: &str, selection: &str) -> BTreeMap<String, (u64, u64)> {
    let report = report_json(directory, &format!("--all --by {by} {selection}"));
    let rows = report["tree"].as_array().expect("rows").iter();
    rows.map(|row| {
        let key = row["key"].as_str().expect("a key").to_owned();
        (key, (number(&row["duration_ns"]), number(&row["waits"])))
    })
    .collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// What a program of another tool prints.
pub(crate) fn printed(command: &mut Command) -> String {
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn inferno_draws_the_blocked_time() {
    let directory = demo();
    let directory = directory.path();
    for selection in SELECTIONS {
        let blocked_ns = number(&totals(directory, selection)["duration_ns"]);
        for stacks in STACKS {
            for lines in ["", "--lines"] {
                let collapsed = succeed(
                    directory,
                    &format!("export --to collapsed {TRACE} --stacks {stacks} {lines} {selection}"),
                );
                let mut svg = Vec::new();
                let mut options = inferno::flamegraph::Options::default();
                options.count_name = "ns".to_owned();
                inferno::flamegraph::from_lines(&mut options, collapsed.lines(), &mut svg)
                    .expect("inferno reads it");
                let svg = String::from_utf8(svg).expect("UTF-8");
                let all = format!("all ({} ns, 100%)", with_commas(blocked_ns));
                assert!(svg.contains(&all), "{all} is not in the graph of {stacks}");
                let has = |name: &str| svg.contains(name);
                let owners = has("org.apache.xml.dtm.DTMManager.addDTM");
                assert_eq!(owners, stacks != "waiters", "{stacks}, {selection}");
                assert_eq!(has("[java.util.Hashtable]"), stacks == "chain-graph");
                assert_eq!(has("java.lang.Thread.run:745"), !lines.is_empty());
            }
        }
    }
    let inferno = Version::pinned("Cargo.lock", "name = \"inferno\"");
    matrix::opened("collapsed", "inferno", &inferno, "sums");
}

fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// What `go tool pprof -raw` tells of a profile: the values of each sample, and all lines.
struct Profile {
    samples: Vec<[u64; 2]>,
    text: String,
}

fn pprof(path: &Path) -> Profile {
    let text = printed(Command::new("go").args(["tool", "pprof", "-raw"]).arg(path));
    let samples: Vec<_> = text
        .lines()
        .filter_map(|line| {
            let (values, _locations) = line.split_once(':')?;
            let mut values = values.split_whitespace().map(str::parse);
            match (values.next(), values.next(), values.next()) {
                (Some(Ok(count)), Some(Ok(delay_ns)), None) => Some([count, delay_ns]),
                _ => None,
            }
        })
        .collect();
    Profile { samples, text }
}

#[test]
fn pprof_counts_contentions_and_delays() {
    let directory = demo();
    let directory = directory.path();
    for selection in SELECTIONS {
        let totals = totals(directory, selection);
        for stacks in STACKS {
            succeed(
                directory,
                &format!("export --to pprof {TRACE} --stacks {stacks} {selection} -o demo.pb.gz"),
            );
            let profile = pprof(&directory.join("demo.pb.gz"));
            let sum = |value: usize| {
                profile
                    .samples
                    .iter()
                    .map(|sample| sample[value])
                    .sum::<u64>()
            };
            assert_eq!(
                sum(1),
                number(&totals["duration_ns"]),
                "{stacks}, {selection}"
            );
            if stacks == "waiters" {
                assert_eq!(sum(0), number(&totals["waits"]), "{selection}");
            }
            let thread = match stacks {
                "waiters" => "thread:[worker-1 #11]",
                _ => "thread:[main #10]",
            };
            for expected in [
                "contentions/count delay/nanoseconds[dflt]",
                "lock_class:[java.util.Hashtable]",
                thread,
                "kind:[contention]",
                "OpenJDK 64-Bit Server VM (25.45-b02), process 4711",
            ] {
                let found = profile.text.contains(expected);
                assert!(found, "{expected} is not in {}", profile.text);
            }
        }
    }
    succeed(
        directory,
        &format!("export --to pprof {TRACE} -o demo.pb.gz"),
    );
    let top = printed(
        Command::new("go")
            .args(["tool", "pprof", "-top", "-lines"])
            .arg(directory.join("demo.pb.gz")),
    );
    for expected in [
        "Type: delay",
        "java.util.Hashtable.put Hashtable.java:459",
        "<owner unknown: hand-off>",
    ] {
        assert!(top.contains(expected), "{expected} is not in {top}");
    }
    let go = Version::asked(Command::new("go").arg("version"));
    matrix::opened("pprof", "`go tool pprof`", &go, "sums, labels, lines");
}

/// What is on top of each stack, and how long, as speedscope tells of a profile.
fn tops(profile: &Value) -> BTreeMap<String, u64> {
    let frames = profile["shared"]["frames"].as_array().expect("frames");
    let [profile] = profile["profiles"].as_array().expect("profiles").as_slice() else {
        panic!("one profile is expected");
    };
    let (mut tops, mut stack, mut since) = (BTreeMap::new(), Vec::new(), 0);
    for event in profile["events"].as_array().expect("events") {
        let at = number(&event["at"]);
        if let Some(&top) = stack.last() {
            let name = frames[top as usize]["name"].as_str().expect("a name");
            *tops.entry(name.to_owned()).or_default() += at - since;
        }
        since = at;
        if event["type"] == "O" {
            stack.push(number(&event["frame"]));
        } else {
            stack.pop();
        }
    }
    assert_eq!(since, number(&profile["endValue"]));
    tops.retain(|_, duration_ns| *duration_ns > 0);
    tops
}

#[test]
fn speedscope_finds_the_same_times() {
    let directory = demo();
    let directory = directory.path();
    let exports: Vec<_> = ["pprof", "collapsed"]
        .into_iter()
        .flat_map(|format| ["owners", "waiters"].map(|stacks| (format, stacks)))
        .flat_map(|(format, stacks)| SELECTIONS.map(|selection| (format, stacks, selection)))
        .collect();
    let mut speedscope = node("crates/locktrace/tests/node/speedscope.mjs");
    for (at, (format, stacks, selection)) in exports.iter().enumerate() {
        let file = format!("{at}.{format}");
        succeed(
            directory,
            &format!("export --to {format} --stacks {stacks} {TRACE} {selection} -o {file}"),
        );
        speedscope.arg(directory.join(file));
    }
    let profiles: Vec<Value> = serde_json::from_str(&printed(&mut speedscope)).expect("JSON");
    assert_eq!(profiles.len(), exports.len());
    for ((format, stacks, selection), profile) in exports.into_iter().zip(profiles) {
        let tops = tops(&profile);
        let blocked_ns = number(&totals(directory, selection)["duration_ns"]);
        assert_eq!(tops.values().sum::<u64>(), blocked_ns, "{selection}");
        // Who waits in Object.wait or wakes somebody is called in a report by a method further out.
        if stacks == "owners" && selection != "--kind all" {
            let expected = report_labels(directory, "owner-method", selection);
            assert_eq!(tops, expected, "{format}, {selection}");
        }
        let unit = match format {
            "pprof" => "nanoseconds",
            _ => "none",
        };
        assert_eq!(profile["profiles"][0]["unit"], unit);
    }
}

#[test]
fn threads_make_no_difference() {
    let directory = demo();
    let directory = directory.path();
    let [one, eight] = ["1", "8"].map(|threads| {
        ["collapsed", "pprof", "otlp"].map(|format| {
            let file = format!("{format}-{threads}");
            succeed(
                directory,
                &format!("export --to {format} {TRACE} --threads {threads} -o {file}"),
            );
            fs::read(directory.join(file)).expect("readable")
        })
    });
    assert!(one == eight);
}

#[test]
fn names_cannot_make_frames_or_lines() {
    let directory = directory_with(&named("evil;class 7\n#"), TRACE);
    let collapsed = succeed(
        directory.path(),
        &format!("export --to collapsed {TRACE} --stacks chain-graph"),
    );
    for line in collapsed.lines() {
        let (_, duration_ns) = line.rsplit_once(' ').expect("a duration");
        assert!(duration_ns.parse::<u64>().is_ok(), "{line}");
    }
}

#[test]
fn what_does_not_fit_together_is_wrong_usage() {
    let directory = demo();
    let directory = directory.path();
    let run = locktrace(directory, &format!("export {TRACE} --to pprof --lines"));
    assert_eq!(run.code, Some(2));
    assert_eq!(run.stderr, "locktrace: --lines is for --to collapsed\n");
    assert_eq!(run.stdout, "");
}

#[test]
fn to_is_a_format_and_perhaps_a_time() {
    let directory = demo();
    let directory = directory.path();
    let whole = succeed(directory, &format!("export --to collapsed {TRACE}"));
    for part in ["--to collapsed --to -30ms", "--to 20ms --to collapsed"] {
        let part = succeed(directory, &format!("export {part} {TRACE}"));
        assert!(!part.is_empty() && part != whole);
    }
    for wrong in [
        "",
        "--to 20ms",
        "--to collapsed --to pprof",
        "--to collapsed --to 1ms --to 2ms",
        "--to nothing",
    ] {
        let run = locktrace(directory, &format!("export {wrong} {TRACE}"));
        assert_eq!(run.code, Some(2), "{wrong}: {}", run.stderr);
    }
}

#[test]
fn an_output_that_cannot_be_written_is_named() {
    let directory = demo();
    let directory = directory.path();
    File::create(directory.join("file")).expect("writable");
    let run = locktrace(directory, &format!("export {TRACE} --to pprof -o none/x"));
    assert_eq!(run.code, Some(4));
    assert!(
        run.stderr.starts_with("locktrace: none/x: "),
        "{}",
        run.stderr
    );
    let run = locktrace(directory, "export --to collapsed file");
    assert_eq!(run.code, Some(3), "no trace: {}", run.stderr);
}
