//! Threads that attach, change their names, come in crowds, and run code that
//! is unloaded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jvm_tests::{
    CompileMode, ExpectedFrame, Jvm, NEVER_INLINED, among_others, analyze, check_each, check_sound,
    report, waits_on,
};
use trace_analysis::TraceSummary;

#[test]
fn native_threads_attach_and_detach() {
    let _processor = among_others();
    let run = Jvm::traced(&["scenarios.Attached"])
        .flags(NEVER_INLINED)
        .run();
    let waits = waits_on(&run.trace(), "scenarios.Attached");
    let blocked: Vec<_> = waits
        .iter()
        .map(|wait| (wait.thread(), wait.longest_part().owner_name()))
        .collect();
    let expected = [
        ("native-waiter", Some("main")),
        ("waiter", Some("native-owner")),
        ("waiter", Some("native-leaver")),
    ];
    assert_eq!(blocked, expected);

    let native_waiter = &waits[0];
    assert!(
        native_waiter.common().chain.is_empty(),
        "{native_waiter:#?}"
    );
    let owner_chain = native_waiter
        .longest_part()
        .owner_chain
        .as_deref()
        .unwrap_or_default();
    let methods: Vec<_> = owner_chain.iter().map(|frame| frame.name()).collect();
    assert_eq!(
        methods,
        ["scenarios.Attached.block", "scenarios.Attached.main"]
    );
    for wait in &waits[1..] {
        let owner_chain = wait
            .longest_part()
            .owner_chain
            .as_deref()
            .unwrap_or_default();
        assert!(owner_chain.is_empty(), "{wait}");
    }
}

#[test]
fn renamed() {
    let _processor = among_others();
    let run = Jvm::traced(&["scenarios.Renamed"])
        .flags(NEVER_INLINED)
        .run();
    let waits = waits_on(&run.trace(), "scenarios.Renamed");
    assert_eq!(waits.len(), 3, "{waits:#?}");
    let ids: BTreeSet<_> = waits.iter().map(|wait| wait.common().thread.id).collect();
    assert_eq!(ids.len(), 1, "one thread: {waits:#?}");
    assert_eq!(waits[2].thread(), "renamed by another");

    let report = report(&run.trace(), "thread");
    assert_eq!(report.tree.len(), 1, "one thread: {report:#?}");
    assert!(
        report.tree[0].label.contains("renamed by another"),
        "{report:#?}"
    );
}

/// Each was blocked by all that came before it: too many owners to remember
/// them all, so the analysis may collapse some.
#[test]
fn two_thousand_threads_at_once() {
    let _processor = among_others();
    let run = Jvm::traced(&["scenarios.ThreadCrowd", "2000", "2000"])
        .flags(["-Xss256k"])
        .run();
    check_crowd(&run.trace(), 2_000);
}

#[test]
fn ten_thousand_short_lived_threads() {
    let _processor = among_others();
    let run = Jvm::traced(&["scenarios.ThreadCrowd", "10000", "8"]).run();
    check_sound(&check_crowd(&run.trace(), 10_000));
}

/// Each thread of a crowd waited once, and the report has a node for each.
fn check_crowd(trace: &Path, threads: usize) -> TraceSummary {
    let mut waits_by_thread: BTreeMap<String, usize> = BTreeMap::new();
    let summary = analyze(trace, |wait, entities| {
        let class = entities
            .lock_class(wait.lock)
            .map(|class| entities.class_name(class));
        if class == Some("scenarios.ThreadCrowd") {
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

#[test]
fn unloaded_classes() {
    let _processor = among_others();
    let collectors = ["-XX:+UseParallelGC", "-XX:+UseG1GC"];
    let cases = CompileMode::ALL
        .iter()
        .flat_map(|mode| collectors.map(|collector| (*mode, collector)));
    check_each(cases, |&(mode, collector)| {
        let run = Jvm::traced(&["scenarios.Unloading"])
            .flags(NEVER_INLINED)
            .flags(mode.flags())
            .flags([collector])
            .run();
        let unloaded = run.lines_of("unloaded").next().expect("the program counts");
        let unloaded: usize = unloaded[0].parse().expect("a count");
        assert!(unloaded > 20, "only {unloaded} of 30 classes unloaded");

        let waits = waits_on(&run.trace(), "scenarios.Plugin");
        assert_eq!(waits.len(), 30);
        let accept = [ExpectedFrame::new("scenarios.Plugin.accept", "leave|enter")];
        for wait in waits {
            let owner_chain = wait
                .longest_part()
                .owner_chain
                .as_deref()
                .unwrap_or_default();
            let innermost = &owner_chain[..owner_chain.len().min(1)];
            if let Err(difference) = ExpectedFrame::compare(&accept, innermost, mode) {
                panic!("{difference}");
            }
        }
    });
}
