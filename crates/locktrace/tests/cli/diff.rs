//! Two traces compared.

use serde_json::Value;

use crate::sample::{HASHTABLE_GET, HASHTABLE_PUT, Sample};
use crate::{directory_with, locktrace, succeed};

/// A thread is blocked once every 120 microseconds for this number of microseconds, and a little longer
/// or shorter now and then.
fn steady(blocked_us: u64) -> Sample {
    let mut sample = Sample::new(&["main", "worker-1"]);
    for turn in 0..400 {
        let start_us = turn * 120 + 10;
        let end_us = start_us + blocked_us + turn * 7 % 5;
        sample.enter(2, 1, start_us, HASHTABLE_GET);
        sample.exit(1, 1, end_us, HASHTABLE_PUT);
        sample.entered(2, 1, end_us + 1, 0);
    }
    sample
}

fn diff_of(before: &Sample, after: &Sample, options: &str) -> (tempfile::TempDir, String) {
    let directory = directory_with(before, "before.lct");
    after.save(directory.path(), "after.lct");
    let arguments = format!("diff before.lct after.lct {options}");
    let output = succeed(directory.path(), &arguments);
    (directory, output)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn growth_is_reported() {
    let (_, text) = diff_of(&steady(40), &steady(60), "");
    insta::assert_snapshot!(text);
}

#[test]
fn as_markdown() {
    let (_, text) = diff_of(&steady(40), &steady(60), "--format markdown");
    insta::assert_snapshot!(text);
}

#[test]
fn each_side_is_what_its_report_says() {
    let (directory, text) = diff_of(&Sample::demo(), &steady(60), "--format json --top 0");
    let diff = json(&text);
    for (side, file) in [("before", "before.lct"), ("after", "after.lct")] {
        let report = succeed(
            directory.path(),
            &format!("report {file} --format json --by lock-class,owner-method"),
        );
        let report = json(&report);
        let total = &diff["total"][side];
        assert_eq!(total["duration_ns"], report["totals"]["duration_ns"]);
        assert_eq!(total["waits"], report["totals"]["waits"]);
        let mut rows = 0;
        for class in report["tree"].as_array().expect("rows") {
            for method in class["children"].as_array().expect("rows") {
                let keys = [&class["key"], &method["key"]];
                let found = diff["rows"]
                    .as_array()
                    .expect("rows")
                    .iter()
                    .find(|row| [&row["values"][0]["key"], &row["values"][1]["key"]] == keys);
                let found = &found.expect("the row")[side];
                assert_eq!(found["duration_ns"], method["duration_ns"], "{keys:?}");
                assert_eq!(found["waits"], method["waits"], "{keys:?}");
                rows += 1;
            }
        }
        assert!(rows > 0, "{file}");
    }
}

#[test]
fn rates_are_by_time_or_by_work() {
    let (directory, text) = diff_of(&steady(40), &steady(60), "--format json");
    let seconds = |diff: &Value, side: &str| diff[side]["duration_ns"].as_f64().expect("ns") / 1e9;
    let rate = |diff: &Value, side: &str| diff["total"][side]["rate_ns"].as_f64().expect("ns");
    let blocked = |diff: &Value, side: &str| {
        let total = &diff["total"][side];
        total["duration_ns"].as_f64().expect("ns")
    };
    let nearly = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-9;
    let by_time = json(&text);
    let run = |options: &str| {
        let arguments = format!("diff before.lct after.lct --format json {options}");
        json(&succeed(directory.path(), &arguments))
    };
    let by_work = run("--work 400,800");
    let by_waits = run("--per waits-of=java.util.Hashtable.get");
    for (side, units) in [("before", 400.0), ("after", 800.0)] {
        let expected = blocked(&by_time, side) / seconds(&by_time, side);
        assert!(nearly(rate(&by_time, side), expected), "{side}");
        assert!(
            nearly(rate(&by_work, side), blocked(&by_work, side) / units),
            "{side}"
        );
        assert!(
            nearly(rate(&by_waits, side), blocked(&by_waits, side) / 400.0),
            "{side}"
        );
        assert_eq!(by_waits[side]["units"], 400.0);
    }
}

#[test]
fn growth_above_the_limit_fails() {
    let directory = directory_with(&steady(40), "before.lct");
    steady(60).save(directory.path(), "after.lct");
    let run = |arguments: &str| locktrace(directory.path(), arguments);
    let grown = run("diff before.lct after.lct --fail-above 20%");
    assert_eq!(grown.code, Some(5), "{}", grown.stderr);
    assert!(
        grown.stderr.contains("blocked time: +4"),
        "{}",
        grown.stderr
    );
    assert_eq!(
        run("diff before.lct after.lct --fail-above 100%").code,
        Some(0)
    );
    assert_eq!(
        run("diff after.lct before.lct --fail-above 20%").code,
        Some(0)
    );
    assert_eq!(
        run("diff before.lct before.lct --fail-above 0").code,
        Some(0)
    );
}

#[test]
fn several_runs_are_one_side() {
    let directory = directory_with(&steady(40), "1.lct");
    steady(44).save(directory.path(), "2.lct");
    steady(42).save(directory.path(), "3.lct");
    let arguments = "diff 1.lct 3.lct --before 2.lct --after 3.lct --format json";
    let diff = json(&succeed(directory.path(), arguments));
    assert_eq!(diff["before"]["files"].as_array().map(Vec::len), Some(2));
    assert_eq!(diff["total"]["before"]["waits"], 800);
    // 42 lies between the runs before.
    assert_eq!(diff["total"]["verdict"], "unclear");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let directory = directory_with(&steady(40), "before.lct");
    steady(60).save(directory.path(), "after.lct");
    for (options, message) in [
        (
            "--per waits-of=no.such.Method",
            "before.lct: no wait matches --per",
        ),
        ("--per method", "expected waits-of=PATTERN"),
        ("--work 0", "expected a number above 0"),
        ("--work 1,2,3", "--work takes one number, or BEFORE,AFTER"),
        ("--work 1 --per waits-of=a", "cannot be used with"),
        ("--fail-above many", "expected a percentage"),
        (
            "--from 1h",
            "before.lct: nothing of it is between --from and --to",
        ),
    ] {
        let run = locktrace(
            directory.path(),
            &format!("diff before.lct after.lct {options}"),
        );
        assert_eq!(run.code, Some(2), "{options}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{options}: {}", run.stderr);
    }
    let missing = locktrace(directory.path(), "diff before.lct none.lct");
    assert_eq!(missing.code, Some(3));
    assert!(missing.stderr.contains("none.lct"), "{}", missing.stderr);
}
