//! What the JDK's `jfr`, Mission Control and `jfrconv` find in a recording, compared with the report.

mod compatibility;
mod readers;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use self::readers::{Jdk, Jfrconv, MissionControl};
use super::{SELECTIONS, TRACE, demo, number, report, report_labels, save_other, tear, totals};
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
    MissionControl::opened("sums by thread, previous owner, owner's thread and frame");
}

#[test]
fn jfr_prints_classes_and_owners_methods() {
    let directory = demo();
    let directory = directory.path();
    let installed = Jdk::installed();
    let of_installed = SELECTIONS.map(|selection| (&installed, selection));
    let newest = Jdk::stock(25);
    let of_newest = newest.iter().map(|jdk| (jdk, "--kind all"));
    for (jdk, selection) in of_installed.into_iter().chain(of_newest) {
        let recording = export(directory, selection);
        let (mut classes, mut methods, mut kinds) = (Sums::new(), Sums::new(), Sums::new());
        for (event, values) in jdk.events(&recording) {
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
        assert_eq!(classes, lock_classes(directory, selection), "{selection}");
        let rows = report(directory, "kind", selection).into_iter();
        let expected: BTreeMap<_, _> = rows.map(|(key, (ns, _))| (key, ns)).collect();
        assert_eq!(durations(kinds), expected, "{selection}");
        let rows = super::report_json(directory, &format!("--all --by owner-method {selection}"));
        let rows = rows["tree"].as_array().expect("rows").iter();
        let expected: BTreeMap<_, _> = rows
            .map(|row| (text(&row["label"]).to_owned(), number(&row["duration_ns"])))
            .collect();
        assert_eq!(durations(methods), expected, "{selection}");
        jdk.opened("sums by class, owner's method and kind");
    }
}

/// async-profiler's converter knows the fields of the JDK's events by heart.
#[test]
fn jfrconv_adds_up_what_the_report_does() {
    let directory = demo();
    let directory = directory.path();
    for selection in SELECTIONS {
        let recording = export(directory, selection);
        let mut classes = Sums::new();
        for (chain, sum) in Jfrconv::locks(&recording, &[]) {
            let (_, class) = chain.rsplit_once(';').expect("frames and a class");
            add(&mut classes, class.trim_end_matches("_[i]"), sum);
        }
        assert_eq!(classes, lock_classes(directory, selection), "{selection}");
    }
    Jfrconv::opened("sums by class");
}

/// Sums by the classes of locks, as recordings call them.
fn lock_classes(directory: &Path, selection: &str) -> Sums {
    let mut sums = Sums::new();
    for (key, (ns, waits)) in report(directory, "lock-class", selection) {
        let class = if key.starts_with("Class of ") {
            "java.lang.Class"
        } else {
            &key
        };
        add(&mut sums, class, (waits, ns));
    }
    sums
}

/// When it was, and that Mission Control's own rule of blocked threads finds its events.
#[test]
fn a_recording_is_as_the_jdk_writes_it() {
    let directory = demo();
    let directory = directory.path();
    let recording = export(directory, "--kind all");
    let jdk = Jdk::installed();
    for (begin, rest) in [
        ("Version:", "2.1"),
        ("Chunks:", "1"),
        ("Start:", "2016-02-29 23:36:52 (UTC)"),
    ] {
        assert_eq!(jdk.summary(&recording, begin), [rest]);
    }
    assert_eq!(jdk.count(&recording, "jdk.JVMInformation"), 1);
    let events = jdk.events(&recording);
    let (_, wait) = &events[0];
    let start = text(&wait["startTime"]);
    assert!(start.starts_with("2016-02-29T23:36:52.3"), "{start}");
    let parks = events.iter().filter(|(event, _)| event == THREAD_PARK);
    for (_, park) in parks {
        assert_eq!(park["stackTrace"]["truncated"], json!(false));
    }
    let found = MissionControl::open(&recording);
    let (_, blocked_ns) = found.sums(MONITOR_ENTER)[""];
    assert_eq!(found.sums("rule")["JavaBlocking"], (0, blocked_ns));
    MissionControl::opened("the time its rule of blocked threads finds");
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
    let jdk = Jdk::installed();
    assert_eq!(jdk.summary(&recording, "Chunks:"), ["2"]);
    assert_eq!(jdk.count(&recording, "jdk.JVMInformation"), 2);
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
        let jdk = Jdk::installed();
        let chunks = jdk.summary(&recording, "Chunks:").concat();
        assert!(
            chunks.parse::<u64>().is_ok_and(|chunks| chunks > 1),
            "{chunks}"
        );
        let totals = totals(directory, "");
        let expected = (number(&totals["waits"]), number(&totals["duration_ns"]));
        assert_eq!(MissionControl::open(&recording).waits("")[""], expected);
        assert_eq!(jdk.count(&recording, MONITOR_ENTER), expected.0);
    }
}

/// Constants of a chunk are not taken for those of another one.
#[test]
fn each_chunk_has_names_of_its_own() {
    let directory = directory_with(&Sample::with_long_names(100), TRACE);
    let directory = directory.path();
    let recording = export(directory, "");
    let expected = report_labels(directory, "method", "");
    assert_eq!(expected.len(), 100);
    for jdk in Jdk::all() {
        assert_ne!(jdk.summary(&recording, "Chunks:"), ["1"]);
        let mut sums = Sums::new();
        for (event, wait) in jdk.events(&recording) {
            if event == MONITOR_ENTER {
                let method = &wait["stackTrace"]["frames"][0]["method"];
                let class = text(&method["type"]["name"]).replace('/', ".");
                let name = format!("{class}.{}", text(&method["name"]));
                add(&mut sums, &name, (1, nanoseconds(&wait["duration"])));
            }
        }
        assert!(durations(sums) == expected, "sums by method");
        jdk.opened("names of several chunks");
    }
}

#[test]
fn what_there_is_not_is_no_event() {
    let directory = directory_with(&Sample::new(&["main"]), TRACE);
    let directory = directory.path();
    succeed(directory, &format!("export --to jfr {TRACE} -o empty.jfr"));
    let recording = directory.join("empty.jfr");
    let jdk = Jdk::installed();
    assert!(jdk.events(&recording).is_empty());
    assert_eq!(MissionControl::open(&recording).waits(""), Sums::new());
    tear(directory);
    let run = locktrace(directory, &format!("export --to jfr {TRACE} -o torn.jfr"));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(!jdk.events(&directory.join("torn.jfr")).is_empty());
    fs::write(directory.join(TRACE), "foreign").expect("writable");
    let run = locktrace(directory, &format!("export --to jfr {TRACE} -o no.jfr"));
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(!directory.join("no.jfr").exists());
}
