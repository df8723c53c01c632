//! Crowds of threads: each of them is in the trace, once, with its name.

use std::collections::BTreeMap;
use std::path::Path;

use jvm_tests::{Jvm, analyze, check_program, check_sound, is_nightly, report};
use trace_analysis::TraceSummary;
use trace_format::Counter;

/// Each was blocked by all that came before it: too many owners to remember
/// them all, so the analysis may collapse some.
#[test]
fn two_thousand_at_once() {
    let program = ["scenarios.ThreadCrowd", "2000", "2000"];
    check_program(&program, &["-Xss256k"], |_, run| {
        check_crowd(&run.trace(), 2_000);
    });
}

/// The memory kept for a thread that has recorded little, on a stack of two hundred frames, is
/// bounded and counted. Memory that busy threads borrow is not for threads like these.
#[test]
fn idle_threads_take_little_memory() {
    const THREADS: usize = 2_000;
    const MAX_BYTES: u64 = 8 << 10;
    let program = ["scenarios.ThreadCrowd", "2000", "2000", "200"];
    check_program(&program, &["-Xss512k"], |_, run| {
        let summary = check_crowd(&run.trace(), THREADS);
        let peak_bytes = summary.tracer_value(Counter::PeakThreadBytes);
        let bytes = peak_bytes.expect("counted") / THREADS as u64;
        // A key and a return address for each frame, at least.
        assert!((2 * 8 * 200..=MAX_BYTES).contains(&bytes), "{bytes}");
    });
}

#[test]
fn thousands_of_short_lived() {
    let threads = if is_nightly() { 100_000 } else { 5_000 };
    let program = ["scenarios.ThreadCrowd", &threads.to_string(), "16"];
    check_program(&program, &["-Xss256k"], |_, run| {
        check_sound(&check_crowd(&run.trace(), threads));
    });
}

#[test]
fn many_more_short_lived() {
    let threads = if is_nightly() { 100_000 } else { 30_000 };
    let run = Jvm::traced(&["scenarios.ThreadCrowd", &threads.to_string(), "64"])
        .flags(["-Xss256k"])
        .run();
    check_sound(&check_crowd(&run.trace(), threads));
}

/// Each thread of a crowd waited once, and the report has a node for each.
fn check_crowd(trace: &Path, threads: usize) -> TraceSummary {
    let mut waits_by_thread: BTreeMap<String, usize> = BTreeMap::new();
    let summary = analyze(trace, |wait, entities| {
        let class = entities.lock_class(wait.lock);
        if class.map(|class| entities.class_name(class)) == Some("scenarios.ThreadCrowd") {
            let thread = entities.thread(wait.thread).name.to_string();
            *waits_by_thread.entry(thread).or_default() += 1;
        }
    });
    let summary = summary.unwrap_or_else(|error| panic!("{error}"));
    assert!(summary.is_complete(), "{:?}", summary.damage);
    assert_eq!(summary.lost_events(), 0);
    let expected = (0..threads).map(|number| (format!("crowd-{number}"), 1));
    assert_eq!(waits_by_thread, expected.collect());

    let report = report(trace, "lock-class,thread");
    assert_eq!(report.node("scenarios.ThreadCrowd").children.len(), threads);
    summary
}
