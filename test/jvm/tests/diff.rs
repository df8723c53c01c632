//! What `locktrace diff` tells of two runs is what the program's own clock tells of them.

use std::path::Path;

use jvm_tests::{Jvm, Run, alone, locktrace};
use serde_json::Value;

/// Orders of each of the program's four threads.
const ORDERS: &str = "400";
/// The program reads its clock some microseconds away from where it is blocked.
const TOLERANCE: f64 = 0.03;

/// A run in which locks are held for so many microseconds.
fn orders(reserve_us: &str, book_us: &str) -> Run {
    Jvm::traced(&["scenarios.Orders", ORDERS, reserve_us, book_us]).run()
}

/// How long the program says its threads were blocked, in nanoseconds.
fn blocked_ns(run: &Run, lock: &str) -> f64 {
    let line = run.lines_of("blocked").find(|words| words[0] == lock);
    line.expect("the program's own figure")[1]
        .parse()
        .expect("nanoseconds")
}

fn diff(before: &Path, after: &Path, options: &[&str]) -> (Option<i32>, Value) {
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
fn a_shorter_hold_is_found_by_time_and_by_work() {
    let _processor = alone();
    let (before, after) = (orders("900", "600"), orders("300", "600"));
    let options = [
        "--by",
        "lock-class",
        "--per",
        "waits-of=scenarios.Orders$Books.book",
    ];
    for options in [
        &options[..2],
        &options[..],
        &["--by", "lock-class", "--work", "1600"],
    ] {
        let (_, diff) = diff(&before.trace(), &after.trace(), options);
        let stock = row(&diff, "scenarios.Orders$Stock");
        assert_eq!(stock["verdict"], "less", "{options:?}: {diff:#}");
        assert!(
            stock["change_share"].as_f64().expect("a share") < -0.3,
            "{diff:#}"
        );
    }
    let (_, diff) = diff(
        &before.trace(),
        &after.trace(),
        &["--by", "lock-class", "--work", "1600"],
    );
    for lock in ["Stock", "Books"] {
        let truth = blocked_ns(&after, lock) / blocked_ns(&before, lock) - 1.0;
        let found = &row(&diff, &format!("scenarios.Orders${lock}"))["change_share"];
        let found = found.as_f64().expect("a share");
        println!("{lock}: {truth} in truth, {found} found");
        assert!(
            (found - truth).abs() <= TOLERANCE * (1.0 + truth),
            "{lock}: {diff:#}"
        );
    }
}

#[test]
fn only_growth_fails_a_build() {
    let _processor = alone();
    let runs = [
        orders("400", "400"),
        orders("400", "400"),
        orders("900", "400"),
    ];
    let [first, second, slower] = runs.each_ref().map(|run| run.trace());
    let limit = ["--fail-above", "40%"];
    assert_eq!(diff(&first, &second, &limit).0, Some(0), "the same again");
    assert_eq!(
        diff(&first, &slower, &limit).0,
        Some(5),
        "held twice as long"
    );
    assert_eq!(
        diff(&slower, &first, &limit).0,
        Some(0),
        "held half as long"
    );
}
