//! What the JDK's `jfr` and Mission Control find in a recording, compared with the report.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{SELECTIONS, TRACE, demo, named, number, printed, report, save_other, tear, totals};
use crate::sample::Sample;
use crate::{directory_with, locktrace, succeed};

const MONITOR_ENTER: &str = "jdk.JavaMonitorEnter";
const THREAD_PARK: &str = "jdk.ThreadPark";
const BLAME: &str = "locktrace.Blame";

/// How many events there are, and the sum of their durations in nanoseconds.
type Sum = (u64, u64);

/// Sums by key.
type Sums = BTreeMap<String, Sum>;

fn add(sums: &mut Sums, key: &str, (count, duration_ns): Sum) {
    let sum = sums.entry(key.to_owned()).or_default();
    *sum = (sum.0 + count, sum.1 + duration_ns);
}

fn durations(sums: Sums) -> BTreeMap<String, u64> {
    sums.into_iter().map(|(key, (_, ns))| (key, ns)).collect()
}

/// What Mission Control finds in a recording.
struct MissionControl(BTreeMap<String, Sums>);

impl MissionControl {
    /// The program and the packages that `scripts/install-test-packages.sh` installs.
    fn open(recording: &Path) -> Self {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut java = Command::new("java");
        java.arg("-cp")
            .arg(package.join("../../build/test-jmc/*"))
            .arg(package.join("tests/jmc/MissionControl.java"))
            .arg(recording);
        let mut found = BTreeMap::<String, Sums>::new();
        for line in printed(&mut java).lines() {
            let cells: Vec<_> = line.split('\t').collect();
            let [of, key, count, duration_ns] = cells[..] else {
                panic!("{line}");
            };
            let sum = [count, duration_ns].map(|number| number.parse().expect("a number"));
            add(found.entry(of.to_owned()).or_default(), key, sum.into());
        }
        Self(found)
    }

    /// Of these events, or an aspect of them.
    fn sums(&self, of: &str) -> Sums {
        self.0.get(of).cloned().unwrap_or_default()
    }

    /// Of waits, whichever the mechanism.
    fn waits(&self, aspect: &str) -> Sums {
        let mut sums = self.sums(&format!("{MONITOR_ENTER}{aspect}"));
        for (key, sum) in self.sums(&format!("{THREAD_PARK}{aspect}")) {
            add(&mut sums, &key, sum);
        }
        sums
    }
}

/// The events that `jfr print` finds: type and values.
fn events(recording: &Path) -> Vec<(String, Value)> {
    let types = [MONITOR_ENTER, THREAD_PARK, BLAME].join(",");
    let mut jfr = Command::new("jfr");
    let print = ["print", "--json", "--stack-depth", "64", "--events"];
    jfr.args(print).arg(types).arg(recording);
    let recording: Value = serde_json::from_str(&printed(&mut jfr)).expect("JSON");
    let events = recording["recording"]["events"].as_array().expect("events");
    let events = events.iter().cloned();
    events
        .map(|mut event| (text(&event["type"]).to_owned(), event["values"].take()))
        .collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

/// A duration below a minute, as `PT0.000007S`, in nanoseconds.
fn nanoseconds(duration: &Value) -> u64 {
    let seconds = text(duration).strip_prefix("PT").expect("a duration");
    let seconds = seconds.strip_suffix('S').expect("seconds");
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, ""));
    format!("{whole}{part:0<9}").parse().expect("a number")
}

/// A line that begins so of what `jfr summary` prints, without its begin.
fn summary(recording: &Path, begin: &str) -> String {
    let summary = printed(Command::new("jfr").arg("summary").arg(recording));
    let mut lines = summary.lines();
    let rest = lines.find_map(|line| line.trim_start().strip_prefix(begin));
    rest.unwrap_or_else(|| panic!("no {begin} in {summary}"))
        .trim()
        .to_owned()
}

/// How many events of a type `jfr summary` finds.
fn count(recording: &Path, event: &str) -> u64 {
    let counts = summary(recording, &format!("{event} "));
    let first = counts.split_whitespace().next().expect("a count");
    first.parse().expect("a number")
}

/// The parts of waits, as `contentions` lists them.
fn contentions(directory: &Path, selection: &str) -> Vec<Value> {
    let lines = succeed(directory, &format!("contentions {TRACE} {selection}"));
    let lines = lines.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("JSON")
}

fn thread(of: &Value) -> String {
    match of {
        Value::Null => String::new(),
        thread => format!("{}:{}", thread["id"], text(&thread["name"])),
    }
}

/// The recording of what is selected.
fn export(directory: &Path, selection: &str) -> PathBuf {
    let export = format!("export --to jfr {TRACE} {selection} -o demo.jfr");
    succeed(directory, &export);
    directory.join("demo.jfr")
}

#[test]
fn events_add_up_to_the_report() {
    let directory = demo();
    let directory = directory.path();
    for selection in SELECTIONS {
        let found = MissionControl::open(&export(directory, selection));
        let totals = totals(directory, selection);
        let (waits, blocked_ns) = (number(&totals["waits"]), number(&totals["duration_ns"]));
        assert_eq!(
            found.waits("").remove(""),
            Some((waits, blocked_ns)),
            "{selection}"
        );
        let by_thread = report(directory, "thread", selection).into_iter();
        let by_thread: Sums = by_thread
            .map(|(key, (ns, waits))| (key, (waits, ns)))
            .collect();
        assert_eq!(found.waits(" thread"), by_thread, "{selection}");

        let (mut owners, mut frames, mut parts) = (Sums::new(), Sums::new(), Sums::new());
        let mut previous = BTreeMap::new();
        let mut monitors = BTreeMap::<String, u64>::new();
        for part in contentions(directory, selection) {
            let sum = (1, number(&part["duration_ns"]));
            add(&mut parts, "", sum);
            add(&mut owners, &thread(&part["owner"]), sum);
            let top = match &part["owner_chain"] {
                Value::Null => String::new(),
                frames => {
                    let frame = &frames[0];
                    let [class, method] = ["class", "method"].map(|key| text(&frame[key]));
                    format!("{class}.{method}:{}", frame["line"])
                }
            };
            add(&mut frames, &top, sum);
            if part["mechanism"] == "monitor" {
                let id = text(&part["wait_id"]).to_owned();
                *monitors.entry(id.clone()).or_default() += sum.1;
                let last = previous.entry(id).or_insert_with(String::new);
                if !part["owner"].is_null() {
                    *last = thread(&part["owner"]);
                }
            }
        }
        assert_eq!(found.sums(BLAME), parts, "{selection}");
        assert_eq!(
            found.sums(&format!("{BLAME} thread")),
            owners,
            "{selection}"
        );
        assert_eq!(found.sums(&format!("{BLAME} frame")), frames, "{selection}");
        let mut expected = Sums::new();
        for (wait, owner) in previous {
            add(&mut expected, &owner, (1, monitors[&wait]));
        }
        let found_owners = found.sums(&format!("{MONITOR_ENTER} previous owner"));
        assert_eq!(found_owners, expected, "{selection}");
    }
}

#[test]
fn jfr_prints_classes_and_owners_methods() {
    let directory = demo();
    let directory = directory.path();
    for selection in SELECTIONS {
        let recording = export(directory, selection);
        let (mut classes, mut methods, mut kinds) = (Sums::new(), Sums::new(), Sums::new());
        for (event, values) in events(&recording) {
            let sum = (1, nanoseconds(&values["duration"]));
            let class = match event.as_str() {
                MONITOR_ENTER => &values["monitorClass"],
                THREAD_PARK => &values["parkedClass"],
                _ => {
                    add(&mut methods, text(&values["ownerMethod"]), sum);
                    add(&mut kinds, text(&values["kind"]), sum);
                    continue;
                }
            };
            add(&mut classes, &text(&class["name"]).replace('/', "."), sum);
        }
        let mut expected = Sums::new();
        for (key, (ns, waits)) in report(directory, "lock-class", selection) {
            let class = if key.starts_with("Class of ") {
                "java.lang.Class"
            } else {
                &key
            };
            add(&mut expected, class, (waits, ns));
        }
        assert_eq!(classes, expected, "{selection}");
        let rows = report(directory, "kind", selection).into_iter();
        let expected: BTreeMap<_, _> = rows.map(|(key, (ns, _))| (key, ns)).collect();
        assert_eq!(durations(kinds), expected, "{selection}");
        let rows = super::report_json(directory, &format!("--all --by owner-method {selection}"));
        let rows = rows["tree"].as_array().expect("rows").iter();
        let expected: BTreeMap<_, _> = rows
            .map(|row| (text(&row["label"]).to_owned(), number(&row["duration_ns"])))
            .collect();
        assert_eq!(durations(methods), expected, "{selection}");
    }
}

/// When it was, and that Mission Control's own rule of blocked threads finds its events.
#[test]
fn a_recording_is_as_the_jdk_writes_it() {
    let directory = demo();
    let directory = directory.path();
    let recording = export(directory, "--kind all");
    assert_eq!(summary(&recording, "Version:"), "2.1");
    assert_eq!(summary(&recording, "Chunks:"), "1");
    assert_eq!(summary(&recording, "Start:"), "2016-02-29 23:36:52 (UTC)");
    assert_eq!(count(&recording, "jdk.JVMInformation"), 1);
    let events = events(&recording);
    let (_, wait) = &events[0];
    let start = text(&wait["startTime"]);
    assert!(start.starts_with("2016-02-29T23:36:52.3"), "{start}");
    let parks = events.iter().filter(|(event, _)| event == THREAD_PARK);
    for (_, park) in parks {
        assert!(park["previousOwner"]["javaName"].is_string(), "{park}");
        assert_eq!(park["stackTrace"]["truncated"], json!(false));
    }
    let found = MissionControl::open(&recording);
    let (_, blocked_ns) = found.sums(MONITOR_ENTER)[""];
    assert_eq!(found.sums("rule")["JavaBlocking"], (0, blocked_ns));
}

#[test]
fn several_traces_are_in_chunks_of_their_own() {
    let directory = demo();
    let directory = directory.path();
    save_other(directory, Sample::with_many_waits(3));
    succeed(
        directory,
        &format!("export --to jfr {TRACE} other.lct -o both.jfr"),
    );
    let recording = directory.join("both.jfr");
    assert_eq!(summary(&recording, "Chunks:"), "2");
    assert_eq!(count(&recording, "jdk.JVMInformation"), 2);
    let (waits, _) = MissionControl::open(&recording).waits("")[""];
    assert_eq!(waits, number(&totals(directory, "")["waits"]) + 3);
}

/// Memory does not grow with the recording: it has several chunks, each with what its events refer
/// to.
#[test]
fn long_recordings_have_several_chunks() {
    for sample in [
        Sample::with_many_waits(150_000),
        Sample::with_long_names(100),
    ] {
        let directory = directory_with(&sample, TRACE);
        let directory = directory.path();
        succeed(directory, &format!("export --to jfr {TRACE} -o long.jfr"));
        let recording = directory.join("long.jfr");
        let chunks = summary(&recording, "Chunks:");
        assert!(
            chunks.parse::<u64>().is_ok_and(|chunks| chunks > 1),
            "{chunks}"
        );
        let totals = totals(directory, "");
        let expected = (number(&totals["waits"]), number(&totals["duration_ns"]));
        assert_eq!(MissionControl::open(&recording).waits("")[""], expected);
        assert_eq!(count(&recording, MONITOR_ENTER), expected.0);
    }
}

#[test]
fn what_there_is_not_is_no_event() {
    let directory = directory_with(&Sample::new(&["main"]), TRACE);
    let directory = directory.path();
    succeed(directory, &format!("export --to jfr {TRACE} -o empty.jfr"));
    let recording = directory.join("empty.jfr");
    assert!(events(&recording).is_empty());
    assert_eq!(MissionControl::open(&recording).waits(""), Sums::new());
    tear(directory);
    let run = locktrace(directory, &format!("export --to jfr {TRACE} -o torn.jfr"));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(!events(&directory.join("torn.jfr")).is_empty());
    fs::write(directory.join(TRACE), "foreign").expect("writable");
    let run = locktrace(directory, &format!("export --to jfr {TRACE} -o no.jfr"));
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(!directory.join("no.jfr").exists());
}

#[test]
fn names_are_texts() {
    // Readers take apart what looks like the name of an array.
    for (name, class) in [
        ("evil\n\u{202e}\"}]\u{7};(", "evil\n\u{202e}\"}]\u{7};("),
        ("[", "\u{fffd}"),
        ("[Lx", "\u{fffd}Lx"),
    ] {
        let directory = directory_with(&named(name), TRACE);
        let directory = directory.path();
        let recording = export(directory, "");
        let events = events(&recording);
        let mut waits = events.iter().filter(|(event, _)| event == MONITOR_ENTER);
        let (_, wait) = waits.next().expect("a wait");
        assert_eq!(wait["monitorClass"]["name"], class);
        assert_eq!(wait["eventThread"]["javaName"], name);
        printed(Command::new("jfr").arg("print").arg(&recording));
    }
}
