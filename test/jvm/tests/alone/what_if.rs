//! Programs of which one lock is really changed: what that does to the waiting lies within the bounds that
//! were predicted from a trace of the program as it was. In nightly tests only: whatever else runs on the
//! machine during one of the runs is another change.

use jvm_tests::{Jvm, Run, alone, is_nightly, locktrace};
use serde_json::Value;

/// More than the processors that there are.
const THREADS: &str = "6";
const TURNS: &str = "200";

/// The time that threads take to get locks, and the time that they wait according to the trace, differ by the time to
/// acquire a free lock, and to read the clock: for these acquisitions a microsecond each.
const UNCONTENDED_NS: f64 = 6.0 * 200.0 * 2.0 * 1_000.0;

/// A thread reads the clock some microseconds away from where it is blocked.
const CLOCKS: f64 = 0.03;

/// The number of runs of each, of which the shortest waiting counts: other programs that take the processors only ever
/// make threads wait longer.
const RUNS: usize = 4;

/// A run of the program `name`, and how long its threads took to get the locks, by its own clock, in
/// nanoseconds.
fn run(name: &str, phase: &str) -> (Run, f64) {
    let arguments = ["scenarios.WhatIf", name, phase, THREADS, TURNS, "sleep"];
    let runs = (0..RUNS).map(|_| {
        let run = Jvm::traced(&arguments).run();
        let line = run.lines_of("blocked").next().expect("its own figure");
        let blocked_ns: f64 = line[0].parse().expect("nanoseconds");
        (run, blocked_ns)
    });
    let least = runs.min_by(|(_, one), (_, other)| one.total_cmp(other));
    least.expect("a run")
}

fn predict(run: &Run, change: &str, options: &[&str]) -> Value {
    let trace = run.trace();
    let arguments = ["what-if", "--format", "json", "--change", change];
    let arguments = arguments.iter().chain(options).map(|it| (*it).as_ref());
    let found = locktrace(arguments.chain([trace.as_os_str()]));
    assert_eq!(found.code, 0, "{}", found.stderr);
    serde_json::from_str(&found.stdout).expect("JSON")
}

/// Runs a program before and after its change, and compares.
fn check(name: &str, change: &str, options: &[&str]) {
    if !is_nightly() {
        return;
    }
    let _processor = alone();
    let ((before, before_ns), (_, after_ns)) = (run(name, "before"), run(name, "after"));
    let prediction = predict(&before, change, options);
    let ns = |key: &str| prediction[key].as_f64().expect("nanoseconds");
    let traced_ns = ns("before_ns");
    let percent = |share: f64| (share - 1.0) * 100.0;
    let predicted = |key: &str| ns(key) / traced_ns;
    let (least, most) = (predicted("after_least_ns"), predicted("after_most_ns"));
    let measured = after_ns / before_ns;
    println!(
        "| `{name}` | `{change}` | {:.1} % ({:.1} % to {:.1} %) | {:.1} % | {:.2} s to {:.2} s |",
        percent(predicted("after_ns")),
        percent(least),
        percent(most),
        percent(measured),
        before_ns / 1e9,
        after_ns / 1e9,
    );
    assert!(
        (traced_ns - before_ns).abs() < UNCONTENDED_NS + CLOCKS * before_ns,
        "{traced_ns} ns in the trace, {before_ns} by the program's clock"
    );
    let clock = UNCONTENDED_NS / before_ns;
    assert!(
        (least - clock..=most + clock).contains(&measured),
        "{name}: {measured} is not {least} to {most}: {prediction:#}"
    );
    assert_eq!(prediction["replays"][0]["forced"], 0);
}

#[test]
fn a_lock_is_removed() {
    let format = ["--lock-class", "scenarios.WhatIf$Format"];
    check("removed", "removed", &format);
}

#[test]
fn holds_are_halved() {
    check(
        "holds",
        "holds=0.5",
        &["--lock-class", "scenarios.WhatIf$Count"],
    );
}

#[test]
fn a_lock_is_split_by_key() {
    check(
        "split",
        "split=4",
        &["--lock-class", "scenarios.WhatIf$Account"],
    );
}

#[test]
fn a_fair_lock_is_unfair() {
    check(
        "unfair",
        "unfair",
        &["--lock-class", "*ReentrantLock$FairSync"],
    );
}

#[test]
fn an_unfair_lock_is_fair() {
    check(
        "fair",
        "fair",
        &["--lock-class", "*ReentrantLock$NonfairSync"],
    );
}

#[test]
fn readers_share_a_lock() {
    let readers = ["--readers", "scenarios.WhatIf$Catalog.find"];
    let lock = ["--lock-class", "*ReentrantLock$NonfairSync"];
    check("read-write", "read-write", &[readers, lock].concat());
}

#[test]
fn waits_move_to_the_next_lock() {
    check(
        "next-lock",
        "holds=0.5",
        &["--lock-class", "scenarios.WhatIf$Cart"],
    );
}
