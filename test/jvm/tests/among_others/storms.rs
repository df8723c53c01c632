//! Threads that leave `Object.wait` in crowds, and threads that are suspended.

use std::collections::BTreeMap;
use std::path::Path;

use jvm_tests::{
    CompileMode, Contention, Run, Wait, check_chain, check_compiled, check_contend, check_program,
    for_each_event, waits_on,
};
use trace_format::{ContendedEnter, ContendedEntered, ContendedExit, Event, LockId};

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

/// A release is an event while somebody is blocked, not while notified threads sleep
/// in the lock's queue.
#[test]
fn releases_among_notified_threads() {
    check_program(&["scenarios.BoundedBuffer"], &[], |_, run| {
        let [enters, needless_exits] = enters_and_needless_exits(&run.trace());
        assert!(enters > 0, "the lock is known");
        // A releasing thread may see a thread that has not yet taken the number of its enter.
        assert!(
            needless_exits <= enters,
            "{needless_exits} needless exits, {enters} enters"
        );
    });
}

/// Counts the contended enters, and the exits while nobody is between contended
/// enter and entered.
fn enters_and_needless_exits(trace: &Path) -> [usize; 2] {
    let mut events: Vec<(LockId, u64, Step)> = Vec::new();
    for_each_event(trace, |_, event| match *event {
        Event::ContendedEnter(ContendedEnter { lock, sequence, .. }) => {
            events.push((lock, sequence, Step::Enter))
        }
        Event::ContendedEntered(ContendedEntered { lock, sequence, .. }) => {
            events.push((lock, sequence, Step::Entered));
        }
        Event::ContendedExit(ContendedExit { lock, sequence, .. }) => {
            events.push((lock, sequence, Step::Exit))
        }
        _ => {}
    });
    events.sort_unstable();
    let [mut enters, mut needless_exits] = [0, 0];
    for of_lock in events.chunk_by(|(one, ..), (next, ..)| one == next) {
        let mut contenders = 0;
        for (.., step) in of_lock {
            match step {
                Step::Enter => {
                    enters += 1;
                    contenders += 1;
                }
                Step::Entered => contenders -= 1,
                Step::Exit if contenders == 0 => needless_exits += 1,
                Step::Exit => {}
            }
        }
    }
    [enters, needless_exits]
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Enter,
    Entered,
    Exit,
}

/// Returns the number of waits of each thread in which main was the owner. All begin in
/// `Object.wait`, and main's call chain is in `method`.
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
        assert!(part.after_wait, "{wait}");
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
