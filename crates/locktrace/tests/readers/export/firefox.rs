//! What is in a profile for the Firefox Profiler, compared with the report.
//!
//! The profiler's own program for terminals loads profiles as its page does. The format's rules are checked here, too:
//! all columns of a table are as long as it says, and whatever refers to another table refers to something there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{SELECTIONS, TRACE, demo, named, number, printed, report, save_other, tear, totals};
use crate::matrix::{self, Version};
use crate::node::node;
use crate::sample::Sample;
use crate::{directory_with, locktrace, succeed};

/// The version of the format that is written.
const FORMAT_VERSION: u64 = 55;

fn profile(directory: &Path, file: &str) -> Value {
    let text = fs::read_to_string(directory.join(file)).expect("readable");
    let profile: Value = serde_json::from_str(&text).expect("JSON");
    check(&profile);
    profile
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// All columns of a table have as many rows as it says.
fn check_table<'a>(thread: &'a Value, name: &str) -> (&'a Value, usize) {
    let table = &thread[name];
    let length = number(&table["length"]) as usize;
    for (column, values) in table.as_object().expect("a table") {
        if let Some(values) = values.as_array() {
            assert_eq!(values.len(), length, "{name}.{column}");
        }
    }
    (table, length)
}

/// A column refers to rows of a table of this length.
fn check_references(column: &Value, rows_there: usize) {
    for reference in rows(column) {
        let reference = reference.as_u64();
        assert!(reference.is_none_or(|row| (row as usize) < rows_there));
    }
}

fn check(profile: &Value) {
    let meta = &profile["meta"];
    assert_eq!(number(&meta["preprocessedProfileVersion"]), FORMAT_VERSION);
    let categories = rows(&meta["categories"]).len();
    for thread in rows(&profile["threads"]) {
        let strings = match rows(&thread["stringArray"]) {
            [] => rows(&profile["shared"]["stringArray"]).len(),
            strings => strings.len(),
        };
        let (functions, function_count) = check_table(thread, "funcTable");
        check_references(&functions["name"], strings);
        let (frames, frame_count) = check_table(thread, "frameTable");
        check_references(&frames["func"], function_count);
        let (stacks, stack_count) = check_table(thread, "stackTable");
        check_references(&stacks["frame"], frame_count);
        for (row, prefix) in rows(&stacks["prefix"]).iter().enumerate() {
            assert!(prefix.as_u64().is_none_or(|prefix| (prefix as usize) < row));
        }
        let (samples, _) = check_table(thread, "samples");
        check_references(&samples["stack"], stack_count);
        assert_eq!(samples["weightType"], "samples");
        let (markers, _) = check_table(thread, "markers");
        check_references(&markers["name"], strings);
        check_references(&markers["category"], categories);
    }
}

fn strings<'a>(profile: &'a Value, thread: &'a Value) -> &'a [Value] {
    match rows(&thread["stringArray"]) {
        [] => rows(&profile["shared"]["stringArray"]),
        strings => strings,
    }
}

/// Durations of markers by their name.
fn durations_ns(profile: &Value) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for thread in rows(&profile["threads"]) {
        let markers = &thread["markers"];
        let times = rows(&markers["startTime"])
            .iter()
            .zip(rows(&markers["endTime"]));
        for (name, (start, end)) in rows(&markers["name"]).iter().zip(times) {
            let name = strings(profile, thread)[number(name) as usize].as_str();
            let [start, end] = [start, end].map(|time| time.as_f64().expect("a time"));
            let sum: &mut u64 = sums.entry(name.expect("text").to_owned()).or_default();
            *sum += ((end - start) * 1e6).round() as u64;
        }
    }
    sums
}

/// Sums of the weights of samples by the thread's name.
fn weights(profile: &Value) -> BTreeMap<String, u64> {
    let threads = rows(&profile["threads"]).iter();
    let sums = threads.map(|thread| {
        let weights = rows(&thread["samples"]["weight"]).iter().map(number);
        let name = thread["name"].as_str().expect("text").to_owned();
        (name, weights.sum::<u64>())
    });
    sums.filter(|&(_, sum)| sum > 0).collect()
}

/// Durations of waits by the lock's class, as a report has them.
fn reported_durations_ns(directory: &Path, selection: &str) -> BTreeMap<String, u64> {
    let rows = report(directory, "lock-class", selection).into_iter();
    rows.map(|(key, (duration_ns, _))| (key, duration_ns))
        .collect()
}

/// What threads made others wait, in whole microseconds, as a report has it.
fn reported_weights(directory: &Path, selection: &str) -> BTreeMap<String, u64> {
    // A report calls threads by number and name, and says why it is missing.
    let mut sums_ns = BTreeMap::<_, u64>::new();
    for (key, (duration_ns, _)) in report(directory, "owner-thread", selection) {
        let name = match key.split_once(':') {
            Some((java_id, name)) => format!("{name} #{java_id}"),
            None => "<no owner known>".to_owned(),
        };
        *sums_ns.entry(name).or_default() += duration_ns;
    }
    let sums_us = sums_ns.into_iter().map(|(name, ns)| (name, ns / 1_000));
    sums_us.filter(|&(_, us)| us > 0).collect()
}

#[test]
fn markers_and_samples_add_up_to_the_report() {
    let directory = demo();
    let directory = directory.path();
    for selection in SELECTIONS {
        succeed(
            directory,
            &format!("export --to firefox {TRACE} {selection} -o demo.json"),
        );
        let profile = profile(directory, "demo.json");
        let expected = reported_durations_ns(directory, selection);
        assert_eq!(durations_ns(&profile), expected, "{selection}");
        let expected = reported_weights(directory, selection);
        assert_eq!(weights(&profile), expected, "{selection}");
    }
}

/// The profiler's program for terminals, which has loaded a profile. It asks a process of its own, which ends with
/// this.
struct Profiler<'a> {
    directory: &'a Path,
}

impl<'a> Profiler<'a> {
    fn load(directory: &'a Path, profile: &str) -> Self {
        let profiler = Self { directory };
        let load = profiler.command().args(["load", profile]).output();
        let load = load.expect("node runs");
        if !load.status.success() {
            // Its daemon goes on, if it was not ready within the half second that it is given.
            let said = String::from_utf8_lossy(&load.stderr);
            assert!(said.contains("did not become ready within"), "{said}");
            profiler.await_ready();
        }
        profiler
    }

    fn await_ready(&self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut list = self.command();
        list.args(["thread", "list"]);
        while !list.output().is_ok_and(|list| list.status.success()) {
            assert!(Instant::now() < deadline, "the profiler does not answer");
            thread::sleep(Duration::from_millis(200));
        }
    }

    fn command(&self) -> Command {
        let mut profiler = node("build/test-node/profiler-cli/dist/profiler-cli.js");
        profiler
            .current_dir(self.directory)
            .env("PROFILER_CLI_SESSION_DIR", self.directory);
        profiler
    }

    fn ask(&self, question: &str) -> Value {
        let mut profiler = self.command();
        profiler.args(question.split(' ')).arg("--json");
        serde_json::from_str(&printed(&mut profiler)).expect("JSON")
    }
}

impl Drop for Profiler<'_> {
    fn drop(&mut self) {
        // What went wrong before is what a test should tell.
        let _ = self.command().arg("stop").output();
    }
}

#[test]
fn the_profiler_itself_finds_the_same() {
    let directory = demo();
    let directory = directory.path();
    succeed(directory, "export --to firefox demo.lct -o demo.json");
    let profiler = Profiler::load(directory, "demo.json");
    let (mut durations_ns, mut weights) = (BTreeMap::<_, u64>::new(), BTreeMap::<_, u64>::new());
    let threads = profiler.ask("thread list");
    for thread in rows(&threads["threads"]) {
        let [handle, name] = ["threadHandle", "name"].map(|key| thread[key].as_str());
        let of_thread = format!("--thread {}", handle.expect("a handle"));
        let markers = profiler.ask(&format!("thread markers {of_thread}"));
        for of_name in rows(&markers["byType"]) {
            let name = of_name["markerName"].as_str().expect("a name");
            let average_ms = of_name["durationStats"]["avg"].as_f64().expect("a time");
            let sum_ms = average_ms * number(&of_name["count"]) as f64;
            *durations_ns.entry(name.to_owned()).or_default() += (sum_ms * 1e6).round() as u64;
        }
        let samples = profiler.ask(&format!("thread samples {of_thread}"));
        let sum_us = number(&samples["categoryBreakdown"]["totalSamples"]);
        if sum_us > 0 {
            weights.insert(name.expect("a name").to_owned(), sum_us);
        }
    }
    assert_eq!(durations_ns, reported_durations_ns(directory, ""));
    assert_eq!(weights, reported_weights(directory, ""));
    let profiler = Version::pinned("scripts/test-node-packages.txt", "profiler-cli");
    let reader = "npm's `@firefox-devtools/profiler-cli`";
    matrix::opened("firefox", reader, &profiler, "sums of markers and samples");
}

/// The profile of the whole demo.
fn demo_profile() -> Value {
    let directory = demo();
    succeed(
        directory.path(),
        &format!("export --to firefox {TRACE} -o demo.json"),
    );
    profile(directory.path(), "demo.json")
}

#[test]
fn samples_have_the_owners_call_chains() {
    let profile = demo_profile();
    let mut threads = rows(&profile["threads"]).iter();
    let main = threads
        .find(|thread| thread["name"] == "main #10")
        .expect("it owned locks");
    let of = |table: &str, column: &str, row: u64| &main[table][column][row as usize];
    let mut stack = rows(&main["samples"]["stack"])[0].as_u64();
    let mut frames = Vec::new();
    while let Some(row) = stack {
        let function = number(of(
            "frameTable",
            "func",
            number(of("stackTable", "frame", row)),
        ));
        let name = number(of("funcTable", "name", function));
        frames.push(
            strings(&profile, main)[name as usize]
                .as_str()
                .expect("text"),
        );
        stack = of("stackTable", "prefix", row).as_u64();
    }
    assert_eq!(
        frames[..2],
        [
            "[java.util.Hashtable]",
            "java.util.Hashtable.put(Hashtable.java:459)"
        ]
    );
    assert_eq!(
        frames.last(),
        Some(&"java.lang.Thread.run(Thread.java:745)")
    );
}

#[test]
fn a_profile_of_little_or_torn_or_hostile_is_one() {
    const NAME: &str = "evil\n\"}]\u{202e}";
    let directory = directory_with(&Sample::new(&["main"]), "empty.lct");
    let directory = directory.path();
    succeed(directory, "export --to firefox empty.lct -o empty.json");
    assert_eq!(
        durations_ns(&profile(directory, "empty.json")),
        BTreeMap::new()
    );
    named(NAME).save(directory, "hostile.lct");
    succeed(directory, "export --to firefox hostile.lct -o hostile.json");
    let durations = durations_ns(&profile(directory, "hostile.json"));
    assert_eq!(durations.into_keys().collect::<Vec<_>>(), [NAME]);
    tear(directory);
    let run = locktrace(
        directory,
        &format!("export --to firefox {TRACE} -o torn.json"),
    );
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let durations = durations_ns(&profile(directory, "torn.json"));
    let blocked_ns: u64 = durations.into_values().sum();
    assert!(blocked_ns > 0);
}

#[test]
fn several_traces_are_several_processes() {
    let directory = demo();
    let directory = directory.path();
    save_other(directory, Sample::with_many_waits(3));
    succeed(
        directory,
        &format!("export --to firefox {TRACE} other.lct -o both.json"),
    );
    let both = profile(directory, "both.json");
    let threads = rows(&both["threads"]).iter();
    let processes: BTreeSet<_> = threads.map(|thread| thread["pid"].as_str()).collect();
    assert_eq!(processes, BTreeSet::from([Some("12"), Some("4711")]));
    succeed(directory, "export --to firefox other.lct -o other.json");
    let other: u64 = durations_ns(&profile(directory, "other.json"))
        .into_values()
        .sum();
    let sum: u64 = durations_ns(&both).into_values().sum();
    assert_eq!(sum, other + number(&totals(directory, "")["duration_ns"]));
}
