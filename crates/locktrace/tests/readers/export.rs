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

/// Names that mean something in some format, as far as a class file allows them: no method is called nothing, or
/// has a semicolon in its name.
const AWKWARD: [&str; 10] = [
    "adds 2",
    "adds 2 1.5 ",
    "  # 7",
    "\"quoted\" 'so' \\n",
    "a=b,c{d}",
    "two\nlines\r\n",
    "größer 😀 \u{202e}\u{2028}",
    "\u{1}\u{7f}\t",
    "-- 0x7f",
    "<init>",
];

/// A wait for a lock whose class is called `name`, as are the method that held it and the thread that waited.
fn named(name: &'static str) -> Sample {
    let mut sample = Sample::new(&["main", name]);
    sample.rename_class("java.util.Hashtable", name);
    sample.rename_method("put", name);
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

/// A trace for each awkward name, the first of them [`TRACE`].
fn awkward() -> TempDir {
    let directory = directory_with(&named(AWKWARD[0]), TRACE);
    for (name, file) in AWKWARD[1..].iter().zip(1..) {
        named(name).save(directory.path(), &format!("{file}.lct"));
    }
    directory
}

const AWKWARD_TRACES: &str = "demo.lct 1.lct 2.lct 3.lct 4.lct 5.lct 6.lct 7.lct 8.lct 9.lct";

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
                let svg = drawn_by_inferno(&collapsed);
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

fn drawn_by_inferno(collapsed: &str) -> String {
    let mut svg = Vec::new();
    let mut options = inferno::flamegraph::Options::default();
    options.count_name = "ns".to_owned();
    inferno::flamegraph::from_lines(&mut options, collapsed.lines(), &mut svg)
        .expect("inferno reads it");
    String::from_utf8(svg).expect("UTF-8")
}

fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// Reads a profile from the output of `go tool pprof -raw`: the values of each sample and its labels, and all lines.
struct Profile {
    samples: Vec<([u64; 2], String)>,
    text: String,
}

impl Profile {
    /// The sums of a value by the text of a label; what has none is called nothing.
    fn sums(&self, value: usize, label: &str) -> BTreeMap<String, u64> {
        let mut sums = BTreeMap::new();
        for (values, labels) in &self.samples {
            let of = labels.split_once(&format!(" {label}:["));
            let of = of.map_or("", |(_, rest)| rest.split(']').next().expect("an end"));
            *sums.entry(of.to_owned()).or_default() += values[value];
        }
        sums
    }

    fn sum(&self, value: usize) -> u64 {
        self.samples.iter().map(|(values, _)| values[value]).sum()
    }
}

fn pprof(path: &Path) -> Profile {
    let text = printed(Command::new("go").args(["tool", "pprof", "-raw"]).arg(path));
    let mut samples = Vec::new();
    for line in text.lines() {
        let numbers = line.split_once(':').map(|(values, _locations)| {
            let values = values.split_whitespace().map(str::parse);
            values.collect::<Result<Vec<u64>, _>>()
        });
        match (numbers, samples.last_mut()) {
            (Some(Ok(values)), _) if values.len() == 2 => {
                samples.push(([values[0], values[1]], String::new()));
            }
            (_, Some((_, labels))) if line.contains(":[") => {
                labels.push(' ');
                labels.push_str(line.trim());
            }
            _ => {}
        }
    }
    Profile { samples, text }
}

/// Labels of profiles, and the aspects of a report that they stand for.
const LABELS: [(&str, &str); 4] = [
    ("lock.class", "lock-class"),
    ("lock.owner_thread", "owner-thread"),
    ("lock.waiting_thread", "thread"),
    ("lock.wait_kind", "kind"),
];

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
            assert_eq!(
                profile.sum(1),
                number(&totals["duration_ns"]),
                "{stacks}, {selection}"
            );
            if stacks == "waiters" {
                assert_eq!(profile.sum(0), number(&totals["waits"]), "{selection}");
            }
            for (label, aspect) in LABELS {
                let expected = report_labels(directory, aspect, selection);
                assert_eq!(profile.sums(1, label), expected, "{stacks}, {selection}");
            }
            for expected in [
                "contentions/count delay/nanoseconds[dflt]",
                "OpenJDK 64-Bit Server VM (25.45-b02), process 4711",
            ] {
                let found = profile.text.contains(expected);
                assert!(found, "{expected} is not in {}", profile.text);
            }
            // The thread whose call chain it is.
            let (of_thread, id) = match stacks {
                "waiters" => ("lock.waiting_thread", "lock.waiting_thread_id"),
                _ => ("lock.owner_thread", "lock.owner_thread_id"),
            };
            let mut threads = profile.sums(1, of_thread);
            let unknown = threads.extract_if(.., |name, _| name.starts_with('<'));
            let unknown_ns: u64 = unknown.map(|(_, duration_ns)| duration_ns).sum();
            if unknown_ns > 0 {
                threads.insert(String::new(), unknown_ns);
            }
            assert_eq!(profile.sums(1, "thread.name"), threads);
            assert_eq!(profile.sums(1, "thread.id"), profile.sums(1, id));
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

#[test]
fn pprof_has_all_names() {
    let directory = awkward();
    let directory = directory.path();
    succeed(
        directory,
        &format!("export --to pprof {AWKWARD_TRACES} -o names.pb.gz"),
    );
    let profile = pprof(&directory.join("names.pb.gz"));
    for name in AWKWARD {
        for expected in [
            format!("lock.class:[{name}]"),
            format!("lock.waiting_thread:[{name}]"),
            format!(" {name}.{name} Hashtable.java:459"),
        ] {
            assert!(
                profile.text.contains(&expected),
                "{expected:?} is not in {}",
                profile.text
            );
        }
    }
    let go = Version::asked(Command::new("go").arg("version"));
    matrix::opened("pprof", "`go tool pprof`", &go, "names");
    // A thread may be called nothing. A label without a text would be the number 0.
    let directory = directory_with(&named(""), TRACE);
    let directory = directory.path();
    succeed(
        directory,
        &format!("export --to pprof {TRACE} -o names.pb.gz"),
    );
    let profile = pprof(&directory.join("names.pb.gz"));
    assert!(profile.text.contains("lock.waiting_thread_id:[11]"));
    assert!(!profile.text.contains("lock.waiting_thread:"));
}

/// Reads from speedscope the top of each stack, and how long it is there.
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
    let awkward = awkward();
    let named = awkward.path().join("names.collapsed");
    succeed(
        awkward.path(),
        &format!("export --to collapsed {AWKWARD_TRACES} -o names.collapsed"),
    );
    speedscope.arg(&named);
    let mut profiles: Vec<Value> = serde_json::from_str(&printed(&mut speedscope)).expect("JSON");
    let mut expected = BTreeMap::new();
    for line in fs::read_to_string(named).expect("readable").lines() {
        let (stack, duration_ns) = line.rsplit_once(' ').expect("a duration");
        let top = stack.rsplit(';').next().unwrap_or(stack).to_owned();
        *expected.entry(top).or_default() += duration_ns.parse::<u64>().expect("a number");
    }
    assert_eq!(
        tops(&profiles.pop().expect("the profile by names")),
        expected
    );
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
    let version = Version::pinned("scripts/test-node-packages.txt", "speedscope");
    matrix::opened("pprof", "speedscope", &version, "sums by innermost frame");
    let compared = "sums by innermost frame, names";
    matrix::opened("collapsed", "speedscope", &version, compared);
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

/// What inferno finds in collapsed stacks, by what it makes of two profiles, here the same: the durations of both.
fn durations_by_inferno(collapsed: &str) -> BTreeMap<String, [u64; 2]> {
    let mut both = Vec::new();
    let options = inferno::differential::Options::default();
    inferno::differential::from_readers(
        options,
        collapsed.as_bytes(),
        collapsed.as_bytes(),
        &mut both,
    )
    .expect("inferno reads it");
    let both = String::from_utf8(both).expect("UTF-8");
    let lines = both.lines().map(|line| {
        let mut columns = line.rsplitn(3, ' ');
        let mut number = || columns.next().expect("a column").parse().expect("a number");
        let durations_ns = [number(), number()];
        (columns.next().expect("a stack").to_owned(), durations_ns)
    });
    lines.collect()
}

/// The same by its graph of one profile: the duration of each title.
fn titles_by_inferno(collapsed: &str) -> BTreeMap<String, u64> {
    let svg = drawn_by_inferno(collapsed);
    let titles = svg.split("<title>").skip(1).map(|title| {
        let title = title.split_once("</title>").expect("an end").0;
        let (name, rest) = title.rsplit_once(" (").expect("a duration");
        assert!(!rest.contains(';'), "{title} has no second value");
        let (duration_ns, _) = rest.split_once(" ns, ").expect("a unit");
        let duration_ns = duration_ns.replace(',', "").parse().expect("a number");
        (name.to_owned(), duration_ns)
    });
    titles.collect()
}

#[test]
fn names_cannot_make_frames_or_lines() {
    let directory = awkward();
    let directory = directory.path();
    for stacks in STACKS {
        let arguments = format!("{AWKWARD_TRACES} --stacks {stacks}");
        let collapsed = succeed(directory, &format!("export --to collapsed {arguments}"));
        let lines = collapsed.split_terminator('\n').map(|line| {
            let (stack, duration_ns) = line.rsplit_once(' ').expect("a duration");
            (stack.to_owned(), duration_ns.parse().expect("a number"))
        });
        let stacks_ns: BTreeMap<String, u64> = lines.collect();
        let both = stacks_ns.iter();
        let both = both.map(|(stack, &duration_ns)| (stack.clone(), [duration_ns; 2]));
        assert_eq!(durations_by_inferno(&collapsed), both.collect());
        let all_ns: u64 = stacks_ns.values().sum();
        assert_eq!(titles_by_inferno(&collapsed)["all"], all_ns);
        assert_eq!(
            all_ns,
            AWKWARD.len() as u64 * number(&totals(directory, "")["duration_ns"])
        );
        if stacks == "owners" {
            let innermost = |stack: &String| stack.rsplit(';').next().unwrap_or(stack).to_owned();
            let frames: Vec<_> = stacks_ns.keys().map(innermost).collect();
            for name in AWKWARD {
                // Only what was escaped is another character.
                let is_same = |(found, expected)| found == expected || found == '\u{fffd}';
                let name = format!("{name}.{name}");
                let found = frames.iter().filter(|frame| {
                    frame.chars().count() == name.chars().count()
                        && frame.chars().zip(name.chars()).all(is_same)
                });
                assert_eq!(found.count(), 1, "{name:?}: {frames:?}");
            }
        }
    }
    let inferno = Version::pinned("Cargo.lock", "name = \"inferno\"");
    matrix::opened(
        "collapsed",
        "inferno",
        &inferno,
        "names, also as differences",
    );
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
