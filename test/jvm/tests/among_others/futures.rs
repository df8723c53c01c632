//! Waits for futures, latches and phasers are shown where the program calls their public method,
//! on every JDK: what the JDK calls in between differs from version to version.

use std::path::Path;

use jvm_tests::{Jdk, Jvm, agent_option, check_each, check_program, locktrace};
use serde_json::Value;

/// The methods of the program that wait, each once.
const METHODS: [&str; 5] = [
    "awaitLatch",
    "awaitPhaser",
    "getFuture",
    "getTask",
    "joinFuture",
];
const PROGRAM: [&str; 1] = ["scenarios.Futures"];

#[test]
fn waits_are_shown_where_the_public_method_is_called() {
    check_program(&PROGRAM, &[], |mode, run| {
        check(&run.trace(), &format!("{mode:?}"));
    });
}

#[test]
fn the_agent_shows_them_there_on_every_version() {
    check_each(Jdk::chosen_stock_versions(), |jdk| {
        let run = Jvm::untraced(jdk, &PROGRAM)
            .flags([agent_option("file=trace.lct")])
            .run();
        check(&run.trace(), &format!("{jdk:?}"));
    });
}

fn check(trace: &Path, context: &str) {
    let report = ["report", "--kind", "conditional", "--by", "thread,method"];
    let report = report.into_iter().chain(["--format", "json"]);
    let report = locktrace(report.map(AsRef::as_ref).chain([trace.as_os_str()]));
    assert_eq!(report.code, 0, "{context}: {}", report.stderr);
    let report: Value = serde_json::from_str(&report.stdout).expect("JSON");
    let mut threads = report["tree"].as_array().expect("rows").iter();
    let main = threads.find(|row| row["label"] == "main");
    let main = main.unwrap_or_else(|| panic!("{context}: {report:#}"));
    let rows = main["children"].as_array().expect("rows").iter();
    let long = rows.filter(|row| row["duration_ns"].as_u64() > Some(100_000_000));
    let keys = long.filter_map(|row| row["key"].as_str());
    let mut methods: Vec<_> = keys.filter_map(|key| key.split('(').next()).collect();
    methods.sort_unstable();
    let expected = METHODS.map(|name| format!("scenarios.Futures.{name}"));
    assert_eq!(methods, expected, "{context}: {report:#}");
}
