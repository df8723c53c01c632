//! Threads that park and unpark each other: that the trace has all of it, and
//! which unpark ended which park.

mod permits;

use std::collections::BTreeMap;

use jvm_tests::{
    Blocker, CompileMode, Frame, ParkAction, ParkEvent, ParkLog, ParkingThread, Run, Timeout,
    analyze, check_innermost, check_program, check_sound,
};

/// One park of a thread of `ParkEndings`.
struct Expected {
    /// The thread's name.
    thread: &'static str,
    timeout: Timeout,
    has_blocker: bool,
    /// For each park of the thread: the reason of its end, and the giver of the permit for that.
    ends: &'static [(&'static str, Giver)],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Giver {
    /// There was no permit, or the JVM itself gave it, which writes no event.
    Nobody,
    /// The thread itself, which could not be seen to park yet.
    Itself,
    /// Another thread, when this one was parked.
    Thread(&'static str),
}

use Giver::{Itself, Nobody, Thread};

const HOUR: Timeout = Timeout::After(3_600_000_000_000);
const BRIEFLY: Timeout = Timeout::After(2_000_000);

#[rustfmt::skip]
const ENDINGS: [Expected; 17] = [
    expect("unparked", &[("unparked", Thread("main"))]),
    expect("unparked-in-time", &[("unparked", Thread("main"))]).at_most(HOUR),
    expect("permit-available", &[("permit-available", Itself)]),
    expect("second-permit", &[("permit-available", Itself)]),
    expect("unparked-then-interrupted", &[("permit-available", Itself)]),
    expect("interrupted", &[("interrupted", Thread("main"))]),
    expect("interrupted-before", &[("interrupted", Itself), ("interrupted", Nobody)]),
    expect("interrupted-then-unparked", &[("interrupted", Itself)]),
    expect("stopped", &[("interrupted", Nobody)]),
    expect("timed-out", &[("timed-out", Nobody)]).at_most(BRIEFLY),
    expect("deadline", &[("timed-out", Nobody)]),
    expect("deadline-over", &[("timed-out", Nobody)]).at_most(Timeout::At(1)),
    expect("deadline-zero", &[("timed-out", Nobody)]).at_most(Timeout::At(0)),
    expect("without-blocker", &[("unparked", Thread("main"))]).without_blocker(),
    expect("without-blocker-timed-out", &[("timed-out", Nobody)]).without_blocker().at_most(BRIEFLY),
    expect("unparked-by-native", &[("unparked", Thread("native-unparker"))]),
    expect("native-parker", &[("permit-available", Itself)]),
];

const fn expect(thread: &'static str, ends: &'static [(&'static str, Giver)]) -> Expected {
    Expected {
        thread,
        timeout: Timeout::None,
        has_blocker: true,
        ends,
    }
}

impl Expected {
    const fn at_most(self, timeout: Timeout) -> Self {
        Self { timeout, ..self }
    }

    const fn without_blocker(self) -> Self {
        Self {
            has_blocker: false,
            ..self
        }
    }
}

#[test]
fn every_way_to_end() {
    check_program(&["scenarios.ParkEndings"], &[], |mode, run| {
        let log = ParkLog::read(&run.trace());
        permits::check(&log);
        let deadline = run.lines_of("deadline").next().expect("a deadline");
        let deadline = Timeout::At(number(deadline[0]));
        let printed: BTreeMap<_, _> = run
            .lines_of("thread")
            .map(|words| (words[0], (number(words[1]), number(words[2]))))
            .collect();
        assert_eq!(printed.len(), ENDINGS.len());
        for expected in &ENDINGS {
            let thread = log.thread(expected.thread);
            let (id, blocker_hash) = printed[expected.thread];
            assert_eq!(thread.java_id, id, "{}", expected.thread);
            let blocker = expected.has_blocker.then(|| Blocker {
                classes: ["Blocker", "Place"]
                    .map(|class| format!("scenarios.ParkEndings${class}"))
                    .to_vec(),
                hash: blocker_hash,
            });
            let timeout = if expected.thread == "deadline" {
                deadline
            } else {
                expected.timeout
            };
            check_parks(&log, thread, expected.ends, &blocker, timeout);
        }
        check_chains(&log, mode);
        check_second_permits(&log);
    });
}

fn check_parks(
    log: &ParkLog,
    thread: &ParkingThread,
    ends: &[(&str, Giver)],
    expected_blocker: &Option<Blocker>,
    expected_timeout: Timeout,
) {
    let parks = thread.parks();
    assert_eq!(parks.len(), ends.len(), "{thread}");
    for ([begin, end], expected) in parks.into_iter().zip(ends) {
        let ParkAction::Begin {
            blocker,
            timeout,
            continued,
            ..
        } = &begin.action
        else {
            panic!("not a begin: {begin}");
        };
        assert_eq!(blocker, expected_blocker, "{thread}");
        assert_eq!(*timeout, expected_timeout, "{thread}");
        assert!(!continued, "there is no queue: {thread}");
        assert_eq!([begin.owner, end.owner], [0, 0], "{thread}");
        assert_eq!(begin.domain, end.domain, "{thread}");

        let ParkAction::End { reason, permit, .. } = &end.action else {
            panic!("not an end: {end}");
        };
        let giver = giver(log, thread, *permit, expected_blocker);
        assert_eq!((reason.as_str(), giver), *expected, "{thread}");
        if let ("timed-out", Timeout::After(ns)) = (reason.as_str(), timeout) {
            assert!(end.time_ns - begin.time_ns >= *ns, "too early: {thread}");
        }
    }
}

/// Returns the thread that gave a permit to a thread. Where it was parked then, the unpark names
/// the blocker; an interrupt never does.
fn giver(
    log: &ParkLog,
    thread: &ParkingThread,
    consumed: u64,
    parked_on: &Option<Blocker>,
) -> Giver {
    if consumed == 0 {
        return Nobody;
    }
    let given = log
        .unparks()
        .find_map(|(writer, event)| match &event.action {
            ParkAction::Unpark {
                target,
                permit,
                blocker,
                interrupt,
                ..
            } if (*target, *permit) == (thread.java_id, consumed) => {
                Some((writer, blocker, interrupt))
            }
            _ => None,
        });
    let Some((writer, blocker, interrupt)) = given else {
        panic!("nobody gave permit {consumed}: {thread}");
    };
    let names_blocker = writer.java_id != thread.java_id && !interrupt;
    let expected = parked_on.as_ref().filter(|_| names_blocker);
    assert_eq!(blocker.as_ref(), expected, "{thread}");
    let known = ["main", "native-unparker"];
    match known.into_iter().find(|name| *name == writer.name) {
        Some(name) => Thread(name),
        None => {
            assert_eq!(writer.java_id, thread.java_id, "{thread}");
            Itself
        }
    }
}

/// A thread that has a permit is given no other one.
fn check_second_permits(log: &ParkLog) {
    let permits_given = |name: &str| -> Vec<_> {
        let events = log.thread(name).events.iter();
        let unparks = events.filter_map(|event| match event.action {
            ParkAction::Unpark {
                permit, interrupt, ..
            } => Some((permit > 0, interrupt)),
            _ => None,
        });
        unparks.collect()
    };
    let (unpark, interrupt) = (false, true);
    for (thread, first, second) in [
        ("second-permit", unpark, unpark),
        ("unparked-then-interrupted", unpark, interrupt),
        ("interrupted-then-unparked", interrupt, unpark),
    ] {
        assert_eq!(
            permits_given(thread),
            [(true, first), (false, second)],
            "{thread}"
        );
    }
}

fn check_chains(log: &ParkLog, mode: CompileMode) {
    let park = [
        ("sun.misc.Unsafe.park", "-"),
        ("java.util.concurrent.locks.LockSupport.park", "-"),
        ("scenarios.ParkEndings.park", "park"),
    ];
    let unpark = [
        ("sun.misc.Unsafe.unpark", "-"),
        ("java.util.concurrent.locks.LockSupport.unpark", "-"),
        ("scenarios.ParkEndings.run", "wake"),
    ];
    let check = |chain: &[Frame], expected: &[(&str, &str)]| {
        check_innermost(expected, chain, mode);
    };
    let parked = log.thread("unparked");
    let [begin, _] = parked.parks()[0];
    if let ParkAction::Begin { chain, .. } = &begin.action {
        check(chain, &park);
    }
    let by_main = log.thread("main").events.iter();
    let mut chains = by_main.filter_map(|event| match &event.action {
        ParkAction::Unpark { target, chain, .. } if *target == parked.java_id => Some(chain),
        _ => None,
    });
    check(chains.next_back().expect("an unpark"), &unpark);
}

#[test]
fn in_a_queue() {
    check_program(&["scenarios.QueuedParks"], &[], |_, run| {
        let log = ParkLog::read(&run.trace());
        permits::check(&log);
        let main = run.lines_of("main").next().expect("the main thread's id");
        let main = number(main[0]);
        let waiter = log.thread("waiter");

        check_calls(run, waiter, main);
        check_unparks_without_owner(&log, waiter.java_id);
        check_superclasses(waiter);
    });
}

/// The parks of the waiter are those of its calls, and all but the first of each
/// are continued.
fn check_calls(run: &Run, waiter: &ParkingThread, main: u64) {
    let mut expected = expected_parks(run).into_iter();
    let mut was_interrupted = false;
    for [begin, end] in waiter.parks() {
        let ParkAction::Begin {
            blocker: Some(blocker),
            continued,
            ..
        } = &begin.action
        else {
            continue;
        };
        check_owners(blocker.class(), main, begin, end);
        let (class, is_first) = expected.next().expect("a park of a call");
        assert_eq!(blocker.class(), class, "{begin} in {waiter}");
        // The event does not distinguish a thread that gave up from one that went on.
        assert!(
            *continued != is_first || was_interrupted,
            "{begin} in {waiter}"
        );
        was_interrupted =
            matches!(&end.action, ParkAction::End { reason, .. } if reason == "interrupted");
    }
    assert_eq!(expected.next(), None, "{waiter}");
}

/// For each park: the class parked on, and whether it is the first of its call.
fn expected_parks(run: &Run) -> Vec<(&str, bool)> {
    let calls = run
        .lines_of("call")
        .map(|words| (words[0], number(words[1])));
    let parks = calls.flat_map(|(class, parks)| (0..parks).map(move |park| (class, park == 0)));
    parks.collect()
}

/// The waiter parks while the main thread has the lock. It has the lock still, or
/// again, when the waiter gives up, and perhaps when that is woken, be it before it
/// parked.
fn check_owners(class: &str, main: u64, begin: &ParkEvent, end: &ParkEvent) {
    let owners = [begin.owner, end.owner];
    if class.ends_with("ConditionObject") {
        assert_eq!(owners, [0, 0], "a condition has no owner: {begin}");
        return;
    }
    assert_eq!(begin.owner, main, "{begin}");
    assert!([0, main].contains(&end.owner), "{end}");
    if let ParkAction::End { reason, .. } = &end.action
        && !["unparked", "permit-available"].contains(&reason.as_str())
    {
        assert_eq!(end.owner, main, "{end}");
    }
}

/// The thread that wakes the waiter has just released the lock.
fn check_unparks_without_owner(log: &ParkLog, waiter: u64) {
    let mut unparks = 0;
    for (_, event) in log.unparks() {
        if let ParkAction::Unpark {
            target, interrupt, ..
        } = event.action
            && target == waiter
            && !interrupt
        {
            assert_eq!(event.owner, 0, "{event}");
            unparks += 1;
        }
    }
    assert!(unparks > 0, "nobody unparked the waiter");
}

fn check_superclasses(waiter: &ParkingThread) {
    let blockers = waiter.parks().into_iter().filter_map(|[begin, _]| {
        let ParkAction::Begin { blocker, .. } = &begin.action else {
            return None;
        };
        blocker.clone()
    });
    let classes: BTreeMap<_, _> = blockers
        .map(|blocker| (blocker.class().to_owned(), blocker.classes))
        .collect();
    let locks = "java.util.concurrent.locks";
    assert_eq!(
        classes[&format!("{locks}.ReentrantLock$NonfairSync")][1..],
        [
            "ReentrantLock$Sync",
            "AbstractQueuedSynchronizer",
            "AbstractOwnableSynchronizer"
        ]
        .map(|class| format!("{locks}.{class}"))
    );
}

#[test]
fn at_random() {
    check_program(&["scenarios.ParkStorm"], &[], |_, run| {
        let log = ParkLog::read(&run.trace());
        permits::check(&log);
        for words in run.lines_of("thread") {
            let thread = log.thread(words[0]);
            let counted = [number(words[2]), number(words[3]), number(words[4])];
            assert_eq!(
                counts(thread),
                counted,
                "parks, unparks, interrupts of {}",
                words[0]
            );
        }
    });
}

/// A permit that was given to another thread, which has ended, wakes a thread for no
/// reason of its own: no unpark of it is missing.
#[test]
fn with_permits_of_ended_threads() {
    check_program(&["scenarios.StrayPermits"], &[], |_, run| {
        let log = ParkLog::read(&run.trace());
        permits::check(&log);
        let mut early = 0;
        for words in run.lines_of("early") {
            let thread = log.thread(words[0]);
            let [_, end] = thread.parks()[0];
            let is_spurious = matches!(
                &end.action,
                ParkAction::End { reason, permit: 0, .. } if reason == "spurious"
            );
            assert!(is_spurious, "{end} of {}", thread.name);
            early += 1;
        }
        assert!(early > 0, "no thread found a permit");
    });
}

/// The tracer changes nothing in who gets which lock, or whether at all: the program
/// ends, and none of what it counted is lost.
#[test]
fn with_locks_in_every_way() {
    check_program(&["scenarios.SynchronizerStorm"], &[], |_, run| {
        let counted = run.lines_of("counted").next().expect("a count");
        assert_eq!(counted[0], counted[1], "two threads had a lock at once");
        permits::check(&ParkLog::read(&run.trace()));
        let mut waits = 0;
        let summary = analyze(&run.trace(), |_, _| waits += 1);
        check_sound(&summary.unwrap_or_else(|error| panic!("{error}")));
        assert!(waits > 1_000, "{waits} waits");
    });
}

/// Parks, unparks and interrupts of a thread.
fn counts(thread: &ParkingThread) -> [u64; 3] {
    let mut counts = [thread.parks().len() as u64, 0, 0];
    for event in &thread.events {
        if let ParkAction::Unpark { interrupt, .. } = event.action {
            counts[1 + usize::from(interrupt)] += 1;
        }
    }
    counts
}

fn number(text: &str) -> u64 {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}
