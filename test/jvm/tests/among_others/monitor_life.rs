//! The life of a monitor: inflated with a hash code or without, biased before,
//! entered many times over, deflated and used for another object.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use jvm_tests::{
    Jvm, Run, Wait, check_chain, check_contend, check_program, locktrace, waits, waits_on,
};
use serde_json::Value;

#[test]
fn recursion() {
    check_contend("Recursive", |_, _| {});
}

#[test]
fn wait_in_recursion() {
    check_contend("RecursiveWait", |_, _| {});
}

/// Taken before, while and after the monitor is inflated, the program's hash
/// code is the trace's.
#[test]
fn hash_codes() {
    check_program(&["scenarios.HashCodes"], &[], |_, run| {
        check_locks(run, "scenarios.HashCodes", 18);
    });
}

#[test]
fn reuse_for_another_object() {
    check_program(&["scenarios.MonitorReuse"], &[], |_, run| {
        check_locks(run, "scenarios.MonitorReuse$", 30);
        assert!(reused_monitors(run) > 0, "no monitor served both classes");
    });
}

/// The JVM's log shows that it did revoke the bias of all objects at once.
#[test]
fn bulk_revocation_of_biases() {
    let biased = [
        "-XX:+UseBiasedLocking",
        "-XX:BiasedLockingStartupDelay=0",
        "-XX:+TraceBiasedLocking",
        "-XX:+DisplayVMOutputToStderr",
    ];
    check_program(&["scenarios.BiasRevocation"], &biased, |mode, run| {
        for kind in ["rebias", "revoke"] {
            let message = format!("bulk revocation (kind == {kind})");
            assert!(run.stderr.contains(&message), "no {message}");
        }
        for wait in check_locks(run, "scenarios.BiasRevocation$Lock", 20) {
            assert_eq!(wait.thread(), "thief", "{wait}");
            let longest = wait.longest_part();
            assert_eq!(longest.owner_name(), Some("main"), "{wait}");
            check_chain(
                &[
                    ("scenarios.BiasRevocation.hold", "leave"),
                    ("scenarios.BiasRevocation.beRobbed", "-"),
                    ("scenarios.BiasRevocation.run", "-"),
                    ("scenarios.BiasRevocation.main", "-"),
                ],
                longest.owner_frames(),
                mode,
            );
        }
    });
}

/// The name ends with a number that the tracer reads but must not compute.
#[test]
fn vm_anonymous_class() {
    let run = Jvm::traced(&["scenarios.AnonymousClass"]).run();
    let classes: Vec<_> = run.lines_of("class").collect();
    assert_eq!(classes.len(), 1, "{}", run.describe());
    let name = classes[0][0];
    assert!(name.contains("$$Lambda$1/"), "{name}");
    assert_eq!(waits_on(&run.trace(), name).len(), 1, "{name}");
}

/// One wait for each lock that the program prints, in the same order.
fn check_locks(run: &Run, class_prefix: &str, expected: usize) -> Vec<Wait> {
    let printed = run
        .lines_of("lock")
        .map(|words| format!("{}@{}", words[1], words[0]));
    let printed: Vec<_> = printed.collect();
    assert_eq!(printed.len(), expected, "{}", run.describe());

    let mut waits = waits(&run.trace());
    waits.retain(|wait| wait.common().lock_class.starts_with(class_prefix));
    let traced: Vec<_> = waits
        .iter()
        .map(|wait| wait.common().lock_id.clone())
        .collect();
    assert_eq!(traced, printed);
    waits
}

/// Returns how many monitors, by their address, were locks of several classes.
fn reused_monitors(run: &Run) -> usize {
    let dump = locktrace([
        "dump".into(),
        "--format".into(),
        "jsonl".into(),
        OsString::from(run.trace()),
    ]);
    let mut classes_of_monitor: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for line in dump.stdout.lines() {
        let event: Value = serde_json::from_str(line).expect("the events are JSON");
        if event["event"] == "LockDescription" {
            let number = |field: &str| event[field].as_u64().expect("a number");
            let classes = classes_of_monitor.entry(number("monitor_address"));
            classes.or_default().insert(number("class"));
        }
    }
    classes_of_monitor
        .values()
        .filter(|classes| classes.len() > 1)
        .count()
}
