//! Threads that leave `Object.wait` in crowds, and threads that are suspended.

use std::collections::BTreeMap;

use jvm_tests::{
    CompileMode, Contention, Run, Wait, check_chain, check_compiled, check_contend, check_program,
    waits_on,
};

/// The rounds of both storms.
const ROUNDS: usize = 10;

/// Each thread is interrupted in each round while main holds the lock.
#[test]
fn interrupts() {
    check_program(&["scenarios.InterruptStorm"], &[], |mode, run| {
        let blocked = blocked_by_main(run, "InterruptStorm", "interrupt", mode);
        let expected = (0..16).map(|number| (format!("waiter-{number}"), ROUNDS));
        assert_eq!(blocked, expected.collect());
    });
}

/// Threads whose wait has timed out are blocked; those that are notified sleep
/// on, and are not.
#[test]
fn notifications_and_time_limits() {
    check_program(&["scenarios.NotifyStorm"], &[], |mode, run| {
        let blocked = blocked_by_main(run, "NotifyStorm", "storm", mode);
        let expected = (0..8).map(|number| (format!("timed-{number}"), ROUNDS));
        assert_eq!(blocked, expected.collect());
    });
}

/// How many waits of each thread main was the owner in. All begin in
/// `Object.wait`, and main's call chain is that of `method`.
fn blocked_by_main(
    run: &Run,
    scenario: &str,
    method: &str,
    mode: CompileMode,
) -> BTreeMap<String, usize> {
    let mut blocked = BTreeMap::new();
    for wait in waits_on(&run.trace(), &format!("scenarios.{scenario}")) {
        let Some(part) = part_of(&wait, "main") else {
            continue;
        };
        assert_eq!(part.kind, "reenter-after-wait", "{wait}");
        assert_eq!(part.chain[0].name(), "java.lang.Object.wait", "{wait}");
        check_chain(
            &[
                (&format!("scenarios.{scenario}.{method}"), "leave|enter"),
                (&format!("scenarios.{scenario}.run"), "storm"),
                (&format!("scenarios.{scenario}.main"), "-"),
            ],
            part.owner_frames(),
            mode,
        );
        *blocked.entry(wait.thread().to_owned()).or_default() += 1;
    }
    blocked
}

#[test]
fn suspended_owner() {
    check_contend("SuspendedOwner", |mode, run| {
        check_compiled("SuspendedOwner", mode, run);
    });
}

/// A suspended thread gives back the lock that it was given: that is no exit,
/// and its wait goes on.
#[test]
fn suspended_waiter() {
    check_program(&["scenarios.SuspendedWaiter"], &[], |mode, run| {
        let mut waits = waits_on(&run.trace(), "java.lang.Object");
        waits.retain(|wait| wait.thread() == "waiter");
        let rounds: Vec<_> = run.lines_of("wait").collect();
        assert_eq!(waits.len(), 5);
        assert_eq!(rounds.len(), 5);
        let mut by_main = 0;
        for (wait, round) in waits.iter().zip(rounds) {
            let time = |index: usize| round[index].parse::<u64>().expect("nanoseconds");
            assert!(wait.duration_ns <= time(2) - time(1), "{wait}");

            let by_owner = part_of(wait, "owner").expect("blocked by the owner first");
            assert!(by_owner.duration_ns >= 20_000_000, "{wait}");
            let innermost = by_owner.owner_frames().get(..1).unwrap_or_default();
            check_chain(&[("scenarios.SuspendedWaiter.own", "own")], innermost, mode);
            if let Some(part) = part_of(wait, "main") {
                by_main += 1;
                check_chain(
                    &[
                        ("scenarios.SuspendedWaiter.hold", "leave"),
                        ("scenarios.SuspendedWaiter.run", "hold"),
                        ("scenarios.SuspendedWaiter.main", "-"),
                    ],
                    part.owner_frames(),
                    mode,
                );
            }
            let owners = wait.parts.iter().filter_map(Contention::owner_name);
            assert!(
                owners.clone().all(|name| name == "owner" || name == "main"),
                "blocked by itself: {wait}"
            );
        }
        assert!(by_main >= 3, "blocked by main in {by_main} of 5 rounds");
    });
}

fn part_of<'a>(wait: &'a Wait, owner: &str) -> Option<&'a Contention> {
    let mut parts = wait.parts.iter();
    parts.find(|part| part.owner_name() == Some(owner))
}
