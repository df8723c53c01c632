//! The JMH suite in its quick setting, in nightly tests the short one, and the JMH profiler as its
//! users see it. `test/jmh/README.md` says what both check.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use jvm_tests::{Jdk, alone, is_nightly, locktrace_program, repository, scratch_directory};
use serde_json::Value;

/// The benchmarks of the suite, each in at least one case of either setting.
const SHAPES: [&str; 6] = [
    "SharedLocks",
    "ReadersAndWriters",
    "InlinedLocks",
    "NestedLocks",
    "Mailbox",
    "TimedWaits",
];

#[test]
fn every_case_of_the_setting_is_within_its_tolerances() {
    let _processor = alone();
    let output = script(if is_nightly() { "short" } else { "quick" });
    let stdout = String::from_utf8_lossy(&output.stdout);
    println!("{stdout}");
    assert!(output.status.success(), "{}", complaint(&output));

    let passed = |shape: &&str| stdout.contains(&format!("ok     {shape} "));
    let missing: Vec<_> = SHAPES.iter().filter(|shape| !passed(shape)).collect();
    assert!(missing.is_empty(), "not run: {missing:?}");
}

#[test]
fn the_profiler_says_how_long_an_operation_is_blocked_and_by_whom() {
    let _processor = alone();
    // The fair lock is handed over each time, as the monitor mostly is.
    is_profiled("BLOCK", "IntrinsicGuards$Block.locked");
    is_profiled("FAIR_REENTRANT_LOCK", "ConcurrentGuards$Reentrant.release");
}

fn is_profiled(kind: &str, owner: &str) {
    let directory = scratch_directory("jmh");
    let results = directory.path().join("results.json");
    let output = jmh(
        Jdk::traced(),
        &format!("dir={}", directory.path().display()),
    )
    .args(["-p", &format!("kind={kind}"), "-rf", "json", "-rff"])
    .arg(&results)
    .output()
    .expect("java can be started");
    assert!(output.status.success(), "{}", complaint(&output));

    let results = std::fs::read_to_string(results).expect("JMH has written it");
    let results: Value = serde_json::from_str(&results).expect("JSON");
    let result = |name: &str, unit: &str| {
        let metric = &results[0]["secondaryMetrics"][name];
        assert_eq!(metric["scoreUnit"], unit, "{name} in {results:#}");
        metric["score"].as_f64().expect("a number")
    };
    // Two threads that do nothing but hold a lock for a millisecond: each waits
    // while the other holds it.
    let blocked_ns = result("locktrace.blocked", "ns/op");
    assert!(blocked_ns > 500_000.0, "{blocked_ns} ns/op");
    assert!(result("locktrace.waits", "waits/op") > 0.0);
    let by_owner = format!("locktrace.blocked.by.tools.locktrace.suite.shapes.{owner}");
    let by_owner_ns = result(&by_owner, "ns/op");
    assert!(by_owner_ns <= blocked_ns, "{by_owner_ns} of {blocked_ns}");
    assert!(
        by_owner_ns > 0.5 * blocked_ns,
        "{by_owner_ns} of {blocked_ns}"
    );

    let report = String::from_utf8_lossy(&output.stdout);
    assert!(report.contains("held by "), "no report in {report}");
    let entries = std::fs::read_dir(directory.path()).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").path());
    let traces: Vec<_> = names
        .filter(|path| path.extension() == Some("lct".as_ref()))
        .collect();
    assert_eq!(traces.len(), 1, "{traces:?}");
}

#[test]
fn the_profiler_complains_about_a_jvm_that_cannot_trace() {
    let _processor = alone();
    let complaint = failure(&mut jmh(Jdk::stock(), "top=1"));
    let expected =
        "java cannot trace lock contention: Unrecognized VM option 'TraceLockContention'";
    assert!(complaint.contains(expected), "{complaint}");
}

#[test]
fn the_profiler_complains_about_its_options() {
    let _processor = alone();
    for (option, expected) in [
        (
            "locktrace=/no/locktrace",
            "Cannot run program \"/no/locktrace\"",
        ),
        ("dir=/proc/none", "dir: cannot create /proc/none"),
        ("top=many", "Cannot parse argument 'many' of option top"),
        ("top=-1", "top: -1 is less than 0"),
        ("tpo=1", "tpo is not a recognized option"),
    ] {
        let complaint = failure(&mut jmh(Jdk::traced(), option));
        assert!(complaint.contains(expected), "{option}: {complaint}");
    }
}

/// JMH with a benchmark for a second and our profiler, added as a user does it:
/// one more jar on the class path.
fn jmh(jdk: &Jdk, profiler_option: &str) -> Command {
    let jars = jars();
    let class_path = [jars.join("benchmarks.jar"), jars.join("locktrace-jmh.jar")];
    let mut command = Command::new(jdk.tool("java"));
    command
        .env("LOCKTRACE_BIN", locktrace_program())
        // Another JMH of the same machine may run; this one measures no speed.
        .args(["-Djmh.ignoreLock=true", "-cp"])
        .arg(std::env::join_paths(class_path).expect("no path has a colon"))
        .args(["org.openjdk.jmh.Main", "SharedLocks", "-t", "2", "-f", "1"])
        .args(["-wi", "1", "-w", "100ms", "-i", "1", "-r", "1"])
        .args(["-prof", &format!("locktrace:{profiler_option}")]);
    command
}

/// Returns the output of a failed run of JMH, which exits with 0 if a profiler is not available.
fn failure(jmh: &mut Command) -> String {
    let output = jmh.output().expect("java can be started");
    let complaint = complaint(&output);
    assert!(!complaint.contains("Run complete"), "{complaint}");
    complaint
}

fn complaint(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    format!("{}\n{}", output.status, String::from_utf8_lossy(&text))
}

/// The directory of the built jars.
fn jars() -> &'static Path {
    static JARS: OnceLock<PathBuf> = OnceLock::new();
    JARS.get_or_init(|| {
        let output = script("build");
        assert!(output.status.success(), "{}", complaint(&output));
        repository().join("test/jmh/target")
    })
}

/// Runs `scripts/jmh.sh` with the programs under test.
fn script(argument: &str) -> Output {
    Command::new(repository().join("scripts/jmh.sh"))
        .arg(argument)
        .env("LOCKTRACE_JDK", Jdk::traced().home())
        .env("LOCKTRACE_JDK_STOCK", Jdk::stock().home())
        .env("LOCKTRACE_BIN", locktrace_program())
        .output()
        .expect("a script of the repository can be started")
}
