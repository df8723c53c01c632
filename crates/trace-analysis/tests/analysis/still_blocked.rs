//! Small traces that end while threads wait.

use trace_analysis::{Counter, Limits};
use trace_format::{Event, ThreadId};

use crate::found::{self, Analyzed};
use crate::{park, script};

/// The waits that had not ended, one a line.
fn open(analyzed: &Analyzed) -> Vec<String> {
    analyzed.open.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check(script: &str, expected: &[&str]) -> Analyzed {
    let analyzed = found::analyze(&script::parse(script), Limits::default());
    assert_eq!(open(&analyzed), expected);
    analyzed
}

#[test]
fn the_owner_that_was_seen_has_the_lock() {
    let script = "
        10 T2 enter b by:T1
        20 T3 enter c by:s1
        50 T9 enter a on L2
        ";
    let expected = [
        "T2 enter b on Lock@1: 10-50 T1 ?; held by T1",
        "T3 enter c on Lock@1: 20-50 T1 ?; held by T1",
        "T9 enter a on Lock@2: 50-50 <trace-ended>",
    ];
    let analyzed = check(script, &expected);
    assert_eq!(analyzed.counters.value(Counter::OpenWaits), 3);
    assert_eq!(analyzed.counters.value(Counter::OpenWaitsNs), 40 + 30);
}

/// Only then the tracer saw who released it, and where.
#[test]
fn a_thread_that_released_the_lock_does_not_have_it() {
    let script = "
        10 T2 enter b by:T1
        20 T1 exit a
        50 T9 enter a on L2
        ";
    let open_on_2 = "T9 enter a on Lock@2: 50-50 <trace-ended>";
    check(
        script,
        &[
            "T2 enter b on Lock@1: 10-20 T1 a, 20-50 <trace-ended>",
            open_on_2,
        ],
    );
}

/// T3 had to wait for the lock, so it is known where it acquired it.
#[test]
fn a_thread_that_entered_has_the_lock() {
    check(
        "
        10 T2 enter b by:T1
        12 T3 enter c by:T1
        20 T1 exit a
        25 T3 entered
        50 T4 enter d by:T3
        ",
        &[
            "T2 enter b on Lock@1: 10-20 T1 a, 20-25 <handoff>, 25-50 T3 c; held by T3",
            "T4 enter d on Lock@1: 50-50 T3 c; held by T3",
        ],
    );
}

/// It had not yet released the lock that T2 saw it have when it took the next number.
#[test]
fn an_owner_may_be_seen_after_a_later_release() {
    check(
        "
        10 T2 enter b by:T3
        20 T1 exit a
        50 T4 enter d
        ",
        &[
            "T2 enter b on Lock@1: 10-20 T1 a, 20-50 T3 ?; held by T3",
            "T4 enter d on Lock@1: 50-50 T3 ?; held by T3",
        ],
    );
}

#[test]
fn a_thread_that_went_on_is_not_blocked() {
    let analyzed = check(
        "
        10 T2 enter b by:T1
        20 T2 exit b on L2
        ",
        &[],
    );
    assert_eq!(analyzed.counters.value(Counter::WaitsWithoutEntered), 1);
}

/// The event that is lost may be the end of the wait.
#[test]
fn a_thread_that_may_have_gone_on_is_not_shown() {
    let analyzed = check(
        "
        10 T2 enter b by:T1
        15 -- missing
        20 T3 exit c
        ",
        &[],
    );
    assert_eq!(analyzed.counters.value(Counter::OpenWaits), 1);
}

#[test]
fn deadlock_of_monitors() {
    let analyzed = check(
        "
        10 T2 enter b by:s1 on L1
        20 T1 enter a by:s2 on L2
        ",
        &[
            "T2 enter b on Lock@1: 10-20 T1 ?; held by T1",
            "T1 enter a on Lock@2: 20-20 T2 ?; held by T2",
        ],
    );
    assert_eq!(analyzed.deadlocks, [["T2", "T1"]]);
}

/// T2 releases its lock, so what looked like a deadlock was not one.
#[test]
fn a_release_ends_what_looked_like_a_deadlock() {
    let analyzed = found::analyze(
        &script::parse(
            "
            10 T2 enter b by:T1 on L1
            20 T1 exit a on L1
            21 T2 entered on L1
            30 T1 enter a by:T2 on L2
            ",
        ),
        Limits::default(),
    );
    assert!(analyzed.deadlocks.is_empty());
}

fn analyze_parks(script: &str) -> Analyzed {
    let mut analyzed = found::analyze(&park::script::parse(script), Limits::default());
    analyzed.open.sort_by_key(|wait| wait.start_ns);
    analyzed
}

/// The parts of the waits that had not ended.
#[track_caller]
fn check_parks(script: &str, expected: &[&str]) -> Analyzed {
    let analyzed = analyze_parks(script);
    let found = analyzed.open.iter().map(|wait| {
        let wait = wait.to_string();
        let (before, parts) = wait.split_once(" on ").expect("a lock");
        let (_, parts) = parts.split_once(": ").expect("parts");
        format!("{before}: {parts}")
    });
    let found: Vec<_> = found.collect();
    assert_eq!(found, expected);
    analyzed
}

#[test]
fn parked_threads_are_blocked_by_the_owner() {
    check_parks(
        "
        ReentrantLock
        10 T2 park b owner T1
        20 T3 park c owner T1
        ",
        &[
            "T2 enter b: 10-20 T1 ?; held by T1",
            "T3 enter c: 20-20 T1 ?; held by T1",
        ],
    );
}

/// T2 waited for it, so it is known where it acquired the lock.
#[test]
fn a_thread_that_was_woken_and_did_not_park_again_has_the_lock() {
    check_parks(
        "
        ReentrantLock
        10 T2 park b owner T1
        20 T3 park c owner T1
        50 T1 unpark T2 a
        55 T2 woken
        60 T4 park d owner T2
        ",
        &[
            "T3 enter c: 20-50 T1 a, 50-55 <handoff>, 55-60 T2 b; held by T2",
            "T4 enter d: 60-60 T2 b; held by T2",
        ],
    );
}

#[test]
fn a_thread_that_waits_for_something_else_is_not_blocked() {
    let analyzed = check_parks(
        "
        Latch
        10 T2 park b
        50 T3 park c
        ",
        &[
            "T2 conditional b: 10-50 <trace-ended>",
            "T3 conditional c: 50-50 <trace-ended>",
        ],
    );
    assert_eq!(analyzed.counters.value(Counter::OpenWaits), 2);
    assert_eq!(analyzed.counters.value(Counter::OpenWaitsNs), 40);
    assert!(analyzed.still_blocked.threads().is_empty());
    let others = analyzed.still_blocked.others().iter();
    assert!(others.map(|wait| wait.duration_ns).eq([40, 0]));
}

/// T1 has the monitor and waits for the other lock, which T2 has.
#[test]
fn deadlock_of_a_monitor_and_another_lock() {
    let mut events: Vec<(ThreadId, Event<'_>)> = script::parse("10 T2 enter b by:T1");
    events.extend(park::script::parse(
        "
        ReentrantLock
        20 T1 park a owner T2
        ",
    ));
    let analyzed = found::analyze(&events, Limits::default());
    assert_eq!(analyzed.deadlocks, [["T2", "T1"]]);
}
