//! The events of the JVM's Flight Recorder about monitors and parks.

use std::path::Path;
use std::process::Command;

use jvm_tests::{CompileMode, Frame, Jdk, Jvm, NEVER_INLINED, Run, source_directory};
use serde_json::Value;

/// The events about the program under test.
#[derive(Debug)]
pub(crate) struct Recording {
    /// `jdk.JavaMonitorEnter`, by start: a thread was blocked when it entered.
    pub(crate) enters: Vec<Enter>,
    /// `jdk.JavaMonitorWait`: a thread was in `Object.wait`.
    pub(crate) waits: Vec<ObjectWait>,
    /// `jdk.ThreadPark`, of all threads, by start.
    pub(crate) parks: Vec<Park>,
}

#[derive(Debug)]
pub(crate) struct Enter {
    pub(crate) thread: String,
    pub(crate) class: String,
    pub(crate) duration_ns: u64,
    pub(crate) previous_owner: Option<String>,
    /// Innermost frame first; of source files the recording says nothing.
    pub(crate) chain: Vec<Frame>,
    /// The innermost frame is one of the interpreter.
    pub(crate) is_interpreted: bool,
}

#[derive(Debug)]
pub(crate) struct ObjectWait {
    pub(crate) thread: String,
    pub(crate) was_notified: bool,
}

#[derive(Debug)]
pub(crate) struct Park {
    pub(crate) thread: String,
    /// The blocker's class.
    pub(crate) class: Option<String>,
    /// Innermost frame first; of source files the recording says nothing.
    pub(crate) chain: Vec<Frame>,
}

/// Runs a scenario with both tracing and recording on, the latter with settings in
/// this directory.
pub(crate) fn record(scenario: &str, settings: &str, mode: CompileMode) -> (Run, Recording) {
    let settings = source_directory().join("tests/alone/jfr").join(settings);
    let recorder = format!(
        "-XX:StartFlightRecording=settings={},filename=recording.jfr,dumponexit=true",
        settings.display()
    );
    let run = Jvm::traced(&[scenario])
        .flags([&recorder])
        .flags(NEVER_INLINED)
        .flags(mode.flags())
        .run();
    let recording = Recording::read(&run.directory().join("recording.jfr"));
    (run, recording)
}

/// Returns the part of a frame that both know. A native method, and a synchronized method that is
/// about to acquire its monitor, have no position: it is written as 0 or -1.
pub(crate) fn position(frame: &Frame) -> (String, Option<i32>, Option<i32>) {
    (frame.name(), frame.bci.map(|bci| bci.max(0)), frame.line)
}

impl Recording {
    fn read(path: &Path) -> Recording {
        let mut events = print(path);
        events.sort_by_cached_key(start);
        let of_type = |name: &'static str| {
            let events = events.iter().filter(move |event| event["type"] == name);
            events.map(|event| &event["values"])
        };
        let of_program = |name: &'static str| {
            of_type(name).filter(|event| class(&event["monitorClass"]).starts_with("scenarios."))
        };
        Recording {
            enters: of_program("jdk.JavaMonitorEnter").map(Enter::of).collect(),
            waits: of_program("jdk.JavaMonitorWait")
                .map(ObjectWait::of)
                .collect(),
            parks: of_type("jdk.ThreadPark").map(Park::of).collect(),
        }
    }
}

impl Enter {
    fn of(event: &Value) -> Enter {
        Enter {
            thread: text(&event["eventThread"]["javaName"]),
            class: class(&event["monitorClass"]),
            duration_ns: duration_ns(&text(&event["duration"])),
            previous_owner: event["previousOwner"]["javaName"]
                .as_str()
                .map(str::to_owned),
            chain: chain(event),
            is_interpreted: event["stackTrace"]["frames"][0]["type"] == "Interpreted",
        }
    }
}

impl ObjectWait {
    fn of(event: &Value) -> ObjectWait {
        ObjectWait {
            thread: text(&event["eventThread"]["javaName"]),
            was_notified: !event["notifier"].is_null(),
        }
    }
}

impl Park {
    fn of(event: &Value) -> Park {
        let parked_class = &event["parkedClass"];
        Park {
            thread: text(&event["eventThread"]["javaName"]),
            class: (!parked_class.is_null()).then(|| class(parked_class)),
            chain: chain(event),
        }
    }
}

/// All events of a recording.
fn print(recording: &Path) -> Vec<Value> {
    let mut jfr = Command::new(Jdk::traced().tool("jfr"));
    jfr.args(["print", "--json", "--stack-depth", "64"]);
    let output = jfr.arg(recording).output().expect("jfr can be started");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{jfr:?}: {stderr}");
    let mut printed: Value = serde_json::from_slice(&output.stdout).expect("jfr prints JSON");
    match printed["recording"]["events"].take() {
        Value::Array(events) => events,
        other => panic!("{jfr:?} prints no events: {other}"),
    }
}

/// Returns the begin of an event, in a form that sorts by time. A time like
/// `2026-01-31T23:59:59.123456789Z` is printed without zeros at its end.
fn start(event: &Value) -> String {
    let time = text(&event["values"]["startTime"]);
    let (seconds, fraction) = time
        .trim_end_matches('Z')
        .split_once('.')
        .unwrap_or((&time, ""));
    format!("{}.{fraction:0<9}", seconds.trim_end_matches('Z'))
}

/// Reads a duration of less than a minute, like `PT0.012345678S`.
fn duration_ns(duration: &str) -> u64 {
    let seconds = duration
        .strip_prefix("PT")
        .and_then(|rest| rest.strip_suffix('S'));
    let seconds: f64 = seconds
        .and_then(|seconds| seconds.parse().ok())
        .expect(duration);
    (seconds * 1e9).round() as u64
}

fn chain(event: &Value) -> Vec<Frame> {
    let frames = event["stackTrace"]["frames"].as_array();
    frames.into_iter().flatten().map(frame).collect()
}

fn frame(frame: &Value) -> Frame {
    let number = |name| i32::try_from(frame[name].as_i64()?).ok();
    Frame {
        class: class(&frame["method"]["type"]),
        method: text(&frame["method"]["name"]),
        bci: number("bytecodeIndex"),
        line: number("lineNumber"),
        file: None,
    }
}

fn class(class: &Value) -> String {
    text(&class["name"]).replace('/', ".")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
