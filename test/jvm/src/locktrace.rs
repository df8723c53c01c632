//! The command line under test.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use trace_analysis::TraceFile;

use crate::byte_code::Positions;
use crate::class_path::ClassPath;
use crate::contention::{Contention, Wait};
use crate::jdk::Jdk;
use crate::paths::{repository, target_directory};
use crate::programs::{Programs, run_to_success};

/// The result of a call of `locktrace`.
#[derive(Debug)]
pub struct Finished {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs `locktrace` with some arguments.
pub fn locktrace(arguments: impl IntoIterator<Item: AsRef<OsStr>>) -> Finished {
    let mut command = Command::new(locktrace_program());
    command.args(arguments).stdin(Stdio::null());
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    Finished {
        code: output
            .status
            .code()
            .unwrap_or_else(|| panic!("{command:?}: {}", output.status)),
        stdout: String::from_utf8(output.stdout).expect("locktrace prints UTF-8"),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The records of a complete and sound trace, of contention only.
pub fn contentions(trace: &Path) -> Vec<Contention> {
    contentions_of("contention", trace)
}

fn contentions_of(kinds: &str, trace: &Path) -> Vec<Contention> {
    check_positions(trace);
    let command = ["contentions", "--format", "jsonl", "--kind", kinds];
    parse_contentions(&succeed(command, trace))
}

/// Checks each trace of a scenario that a test looks at by the byte code, too, of the JDK that ran
/// it.
fn check_positions(trace: &Path) {
    thread_local! {
        static SCENARIOS: RefCell<HashMap<PathBuf, ClassPath>> = RefCell::default();
    }
    let file = TraceFile::open(trace).unwrap_or_else(|error| panic!("{error}"));
    let jdk = Jdk::that_wrote(&file.header().jvm);
    SCENARIOS.with_borrow_mut(|scenarios| {
        let class_path = scenarios.entry(jdk.home().to_owned());
        let class_path = class_path
            .or_insert_with(|| ClassPath::new(jdk, Programs::compiled().classes().as_os_str()));
        Positions::of(trace, class_path).check();
    });
}

/// The records in the output of `contentions --format jsonl`.
pub fn parse_contentions(output: &str) -> Vec<Contention> {
    output.lines().map(parse).collect()
}

/// The waits of a complete and sound trace, each checked to be conserved.
///
/// Leaves out those in `Thread.exit`: threads that happen to end together
/// contend for their group's lock, whatever program they ran.
pub fn waits(trace: &Path) -> Vec<Wait> {
    let mut waits = Wait::group(contentions(trace));
    waits.retain(|wait| !wait.is_in_thread_exit());
    waits
}

/// The waits of all kinds of a complete and sound trace.
pub fn waits_of_all_kinds(trace: &Path) -> Vec<Wait> {
    Wait::group(contentions_of("all", trace))
}

/// Those of the [`waits`] that are for the locks of one class.
pub fn waits_on(trace: &Path, lock_class: &str) -> Vec<Wait> {
    let mut waits = waits(trace);
    waits.retain(|wait| wait.common().lock_class == lock_class);
    waits
}

/// The events of a trace that could be read as a whole, one object for each.
pub(crate) fn dump<T: DeserializeOwned>(trace: &Path) -> Vec<T> {
    let lines = succeed(["dump", "--format", "jsonl"], trace);
    lines.lines().map(parse).collect()
}

/// What `summary` says of a complete trace.
pub fn conclusions(trace: &Path) -> Value {
    parse(&succeed(["summary", "--format", "json"], trace))
}

/// The report on a complete trace, aggregated by some aspects.
pub fn report(trace: &Path, by: &str) -> Report {
    let command = ["report", "--format", "json", "--top", "1000000", "--by", by];
    parse(&succeed(command, trace))
}

/// The same for waits of some kinds only.
pub fn report_of_kinds(kinds: &str, trace: &Path, by: &str) -> Report {
    let command = [
        "report", "--format", "json", "--top", "1000000", "--kind", kinds, "--by", by,
    ];
    parse(&succeed(command, trace))
}

/// The output of `report --format json`.
#[derive(Debug, Deserialize)]
pub struct Report {
    /// The subject of the report.
    pub trace: TraceInfo,
    /// Sums over everything.
    pub totals: Totals,
    /// The aggregation tree.
    pub tree: Vec<ReportNode>,
}

/// The trace that a report is about.
#[derive(Debug, Deserialize)]
pub struct TraceInfo {
    /// Its length.
    pub duration_ns: u64,
    /// It could be read to the end that the tracer wrote.
    pub complete: bool,
    /// Events that the tracer had to drop.
    pub lost_events: u64,
}

/// Sums over everything.
#[derive(Debug, Deserialize)]
pub struct Totals {
    /// Number of records.
    pub contentions: u64,
    /// Their duration.
    pub duration_ns: u64,
    /// The part of that without an owner.
    pub unknown_owner_ns: u64,
}

/// A node of the aggregation tree.
#[derive(Debug, Deserialize)]
pub struct ReportNode {
    /// Its aspect.
    pub aspect: String,
    /// The value of that aspect, for people.
    pub label: String,
    /// Number of records.
    pub contentions: u64,
    /// Their duration.
    pub duration_ns: u64,
    /// Their share in the whole.
    pub share: f64,
    /// The frames of a call chain, from the innermost; empty for other aspects.
    #[serde(default)]
    pub frames: Vec<ReportFrame>,
    /// The next level.
    #[serde(default)]
    pub children: Vec<ReportNode>,
}

/// A frame of a call chain in a report.
#[derive(Debug, Deserialize)]
pub struct ReportFrame {
    /// The name of the method's class, with its package.
    pub class: String,
    /// The method's name.
    pub method: String,
}

impl Report {
    /// The node of the first level with a label.
    pub fn node(&self, label: &str) -> &ReportNode {
        let node = self.tree.iter().find(|node| node.label == label);
        node.unwrap_or_else(|| panic!("no {label:?} in {:#?}", self.tree))
    }
}

fn succeed<const N: usize>(arguments: [&str; N], trace: &Path) -> String {
    let arguments = arguments.iter().map(OsString::from).chain([trace.into()]);
    let finished = locktrace(arguments);
    assert_eq!(finished.code, 0, "{}: {}", trace.display(), finished.stderr);
    finished.stdout
}

fn parse<T: DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error} in {json}"))
}

/// The program: the one that the environment names, or built from this
/// repository.
pub fn locktrace_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if let Some(program) = std::env::var_os("LOCKTRACE_BIN") {
            return program.into();
        }
        let target = target_directory();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "build",
            "--quiet",
            "--release",
            "--package",
            "locktrace",
            "--target-dir",
        ]);
        cargo.arg(&target).current_dir(repository());
        run_to_success(&mut cargo);
        target.join("release/locktrace")
    })
}
