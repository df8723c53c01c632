//! `locktrace diff` of two runs agrees with the program's own clock.

use std::path::Path;

use jvm_tests::{Jvm, Run, locktrace};
use serde_json::Value;

/// Orders of each of the program's four threads.
const ORDERS: &str = "400";
/// Those of all of them.
const UNITS: &str = "1600";
/// The program reads its clock some microseconds away from where it is blocked.
const TOLERANCE: f64 = 0.03;

/// Runs the program with locks held for this number of microseconds.
fn orders(reserve_us: &str, book_us: &str) -> Run {
    Jvm::traced(&["scenarios.Orders", ORDERS, reserve_us, book_us]).run()
}

/// Returns how long the program says its threads were blocked, in nanoseconds.
fn blocked_ns(run: &Run, lock: &str) -> f64 {
    let line = run.lines_of("blocked").find(|words| words[0] == lock);
    line.expect("the program's own figure")[1]
        .parse()
        .expect("nanoseconds")
}

fn diff(before: &Path, after: &Path, options: &[&str]) -> (i32, Value) {
    let files = [before.as_os_str(), after.as_os_str()];
    let arguments = [
        "diff".as_ref(),
        files[0],
        files[1],
        "--format".as_ref(),
        "json".as_ref(),
    ];
    let options = options.iter().map(|option| std::ffi::OsStr::new(*option));
    let finished = locktrace(arguments.into_iter().chain(options));
    let json = serde_json::from_str(&finished.stdout).expect("JSON");
    (finished.code, json)
}

fn row<'d>(diff: &'d Value, class: &str) -> &'d Value {
    let rows = diff["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["values"][0]["label"] == class);
    row.unwrap_or_else(|| panic!("{class} is not in {diff:#}"))
}

#[test]
fn where_contention_goes_is_found_by_time_and_by_work() {
    // Threads queue for the lock that is held longest: first for one, then for the other.
    let (before, after) = (orders("900", "600"), orders("300", "600"));
    let by_time: &[&str] = &["--by", "lock-class"];
    let per_waits = "waits-of=scenarios.Held.nanos";
    for options in [
        by_time,
        &["--by", "lock-class", "--work", UNITS],
        &["--by", "lock-class", "--per", per_waits],
    ] {
        let (_, diff) = diff(&before.trace(), &after.trace(), options);
        for (lock, verdict) in [("Stock", "less"), ("Books", "more")] {
            let row = row(&diff, &format!("scenarios.Orders${lock}"));
            assert_eq!(row["verdict"], verdict, "{lock}, {options:?}: {diff:#}");
        }
    }
    let (_, diff) = diff(
        &before.trace(),
        &after.trace(),
        &["--by", "lock-class", "--work", UNITS],
    );
    let units: f64 = UNITS.parse().expect("a number");
    let all_ns = blocked_ns(&before, "Stock") + blocked_ns(&after, "Books");
    for lock in ["Stock", "Books"] {
        let truth_ns = blocked_ns(&after, lock) - blocked_ns(&before, lock);
        let found = &row(&diff, &format!("scenarios.Orders${lock}"))["change_ns"];
        let found_ns = found.as_f64().expect("nanoseconds") * units;
        println!("{lock}: {truth_ns} ns in truth, {found_ns} ns found");
        assert!(
            (found_ns - truth_ns).abs() <= TOLERANCE * all_ns,
            "{lock}: {diff:#}"
        );
    }
}

#[test]
fn only_growth_fails_a_build() {
    // Threads queue for the same lock all the time: by the time, nothing would change.
    let runs = [
        orders("400", "100"),
        orders("400", "100"),
        // Far more than what other programs on the machine make of the same.
        orders("1600", "100"),
    ];
    let [first, second, slower] = runs.each_ref().map(|run| run.trace());
    let limit = ["--work", UNITS, "--fail-above", "60%"];
    assert_eq!(diff(&first, &second, &limit).0, 0, "the same again");
    assert_eq!(
        diff(&first, &slower, &limit).0,
        5,
        "held four times as long"
    );
    assert_eq!(diff(&slower, &first, &limit).0, 0, "held a quarter as long");
}
