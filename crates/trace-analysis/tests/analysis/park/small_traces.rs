//! Small traces of parked threads and the waits that the analysis must find in
//! them.

use trace_analysis::{Counter, Counters, Limits};
use trace_format::{Event, JavaThreadId, ThreadId};

use crate::{found, park::script as park_script};

/// Analyzes `script` and compares the waits, one a line, in the order of their
/// begins. The order in which events are found must not matter.
#[track_caller]
fn check(script: &str, expected: &str) -> Counters {
    let events = park_script::parse(script);
    let (waits, counters) = analyze(&events);
    let lines = expected.lines().map(str::trim);
    let expected: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    assert_eq!(waits, expected);

    let backwards: Vec<_> = events.into_iter().rev().collect();
    assert_eq!(analyze(&backwards).0, expected, "backwards");
    counters
}

fn analyze(events: &[(ThreadId, Event<'_>)]) -> (Vec<String>, Counters) {
    let mut analyzed = found::analyze(events, Limits::default());
    analyzed.waits.sort_by_key(|wait| wait.start_ns);
    let waits = analyzed.waits.iter().map(|wait| {
        let wait = wait.to_string();
        let (before, parts) = wait.split_once(" on ").expect("a lock");
        let (_, parts) = parts.split_once(": ").expect("parts");
        format!("{before}: {parts}")
    });
    (waits.collect(), analyzed.counters)
}

/// T1 has the lock, T2 and T4 park. T1 unparks T2, but T3 is quicker, so T2 parks
/// again, until T3 unparks it. T4 stays parked.
#[test]
fn paper_figure_5() {
    let counters = check(
        "
        ReentrantLock
        10 T2 park b owner T1
        20 T4 park d owner T1
        50 T1 unpark T2 a
        55 T2 woken owner T3
        57 T2 park b again owner T3
        90 T3 unpark T2 c
        95 T2 woken
        99 T2 unpark T4 b
        102 T4 woken
        ",
        "
        T2 enter b: 10-50 T1 a, 50-55 <handoff>, 55-90 T3 c, 90-95 <handoff>
        T4 enter d: 20-50 T1 a, 50-55 <handoff>, 55-90 T3 c, 90-95 <handoff>, 95-99 T2 b, 99-102 <handoff>
        ",
    );
    assert_eq!(counters, Counters::default());
}

/// The same with a lock that does not say who owns it.
#[test]
fn paper_figure_5_without_owners() {
    check(
        "
        Custom
        10 T2 park b
        20 T4 park d
        50 T1 unpark T2 a
        55 T2 woken
        57 T2 park b again
        90 T3 unpark T2 c
        95 T2 woken
        99 T2 unpark T4 b
        102 T4 woken
        ",
        "
        T2 enter b: 10-50 T1 a, 50-57 <handoff>, 57-90 T3 c, 90-95 <handoff>
        T4 enter d: 20-50 T1 a, 50-57 <handoff>, 57-90 T3 c, 90-95 <handoff>, 95-99 T2 b, 99-102 <handoff>
        ",
    );
}

#[test]
fn new_call_of_lock_is_a_new_wait() {
    check(
        "
        ReentrantLock
        10 T2 park b owner T1
        50 T1 unpark T2 a
        55 T2 woken
        60 T2 park c owner T1
        80 T1 unpark T2 a
        85 T2 woken
        ",
        "
        T2 enter b: 10-50 T1 a, 50-55 <handoff>
        T2 enter c: 60-80 T1 a, 80-85 <handoff>
        ",
    );
}

/// Between the unpark and the wake-up others can come and go without an event, even
/// if the same owner is seen at both ends.
#[test]
fn owners_during_a_hand_over_are_unknown() {
    check(
        "
        ReentrantLock
        10 T2 park b owner T1
        50 T1 unpark T2 a owner T3
        55 T2 woken owner T3
        56 T2 park b again owner T3
        70 T3 unpark T2 c owner T4
        75 T2 woken owner T5
        76 T2 park b again owner T5
        80 T5 unpark T2 e
        81 T2 woken
        ",
        "T2 enter b: 10-50 T1 a, 50-55 <handoff>, 55-70 T3 c, 70-75 <handoff>, 75-80 T5 e, 80-81 <handoff>",
    );
}

/// T3 is seen to have the lock, but it released it unseen: T2, which was woken, has
/// it and releases it.
#[test]
fn owner_that_releases_unseen_is_not_blamed_for_the_next() {
    check(
        "
        ReentrantLock
        10 T2 park b owner T1
        20 T4 park d owner T1
        50 T1 unpark T2 a
        55 T2 woken owner T3
        80 T2 unpark T4 b
        85 T4 woken
        ",
        "
        T2 enter b: 10-50 T1 a, 50-55 <handoff>
        T4 enter d: 20-50 T1 a, 50-55 <handoff>, 55-80 T2 b, 80-85 <handoff>
        ",
    );
}

#[test]
fn owners_that_contradict_each_other_are_unknown() {
    check(
        "
        ReentrantLock
        10 T2 park b owner T1
        30 T4 park d owner T3
        50 T3 unpark T2 c
        55 T2 woken
        ",
        "T2 enter b: 10-30 <no-exit>, 30-50 T3 c, 50-55 <handoff>",
    );
}

/// The chain of an owner is its chain at the release, also for a wait that ended before.
#[test]
fn wait_that_times_out_has_the_owners_chain() {
    check(
        "
        ReentrantLock
        10 T2 park b timed owner T1
        20 T4 park d owner T1
        30 T2 timeout owner T1
        50 T1 unpark T4 a
        55 T4 woken
        ",
        "
        T2 enter b: 10-30 T1 a
        T4 enter d: 20-50 T1 a, 50-55 <handoff>
        ",
    );
}

#[test]
fn thread_that_gives_up_releases_nothing() {
    check(
        "
        ReentrantLock
        10 T2 park b timed owner T1
        20 T4 park d owner T1
        30 T2 timeout owner T1
        31 T2 unpark T4 cancel/b owner T1
        32 T4 woken owner T1
        33 T4 park d again owner T1
        50 T1 unpark T4 a
        55 T4 woken
        ",
        "
        T2 enter b: 10-30 T1 a
        T4 enter d: 20-50 T1 a, 50-55 <handoff>
        ",
    );
}

/// T1 releases the lock just before T2 parks, so the permit is there already.
#[test]
fn unpark_before_the_park_is_found_in_the_threads_own_order() {
    check(
        "
        ReentrantLock
        10 T4 park d owner T1
        20 T1 unpark T2 unlock/a elsewhere
        21 T2 park b
        22 T2 woken
        40 T2 unpark T4 b
        45 T4 woken
        ",
        "
        T4 enter d: 10-20 T1 a, 20-22 <handoff>, 22-40 T2 b, 40-45 <handoff>
        T2 enter b: 21-22 <handoff>
        ",
    );
}

#[test]
fn after_await_the_lock_is_acquired_again() {
    check(
        "
        ReentrantLock
        10 T2 park await/b owner T1
        50 T1 unpark T2 a
        55 T2 woken
        ",
        "T2 reenter-after-wait b: 10-50 T1 a, 50-55 <handoff>",
    );
}

/// Writer T1 blocks writer T2 and reader T3, which T2 blocks in turn.
#[test]
fn writers_block_readers_and_writers() {
    check(
        "
        ReadWriteLock
        10 T2 park b owner T1
        20 T3 park share/c owner T1
        50 T1 unpark T2 a
        55 T2 woken
        80 T2 unpark T3 b
        85 T3 woken
        ",
        "
        T2 enter b: 10-50 T1 a, 50-55 <handoff>
        T3 enter c: 20-50 T1 a, 50-55 <handoff>, 55-80 T2 b, 80-85 <handoff>
        ",
    );
}

/// The last reader, T1, blocks writer T2, and so reader T3 behind it. T2 has the lock only later.
#[test]
fn readers_inside_block_readers_behind_a_writer() {
    check(
        "
        ReadWriteLock
        10 T2 park b
        20 T3 park share/c
        50 T1 unpark T2 unshare/a
        55 T2 woken
        80 T2 unpark T3 b
        85 T3 woken
        ",
        "
        T2 enter b: 10-50 T1 a, 50-55 <handoff>
        T3 enter c: 20-50 T1 a, 50-55 <handoff>, 55-80 T2 b, 80-85 <handoff>
        ",
    );
}

/// T1 wakes reader T2, which wakes reader T3. T2 is not to blame for that, but
/// writer T4 cannot know which of them.
#[test]
fn readers_that_wake_each_other_release_nothing() {
    check(
        "
        ReadWriteLock
        10 T2 park share/b owner T1
        20 T3 park share/c owner T1
        30 T4 park d owner T1
        50 T1 unpark T2 a
        55 T2 woken
        56 T2 unpark T3 pass/b
        60 T3 woken
        90 T3 unpark T4 unshare/c
        95 T4 woken
        ",
        "
        T2 enter b: 10-50 T1 a, 50-55 <handoff>
        T3 enter c: 20-50 T1 a, 50-60 <handoff>
        T4 enter d: 30-50 T1 a, 50-55 <handoff>, 55-60 <readers>, 60-90 T3 c, 90-95 <handoff>
        ",
    );
}

#[test]
fn readers_before_a_writer_that_barged_in_are_unknown() {
    check(
        "
        ReadWriteLock
        10 T2 park b
        30 T3 park c owner T4
        50 T4 unpark T2 d
        55 T2 woken
        ",
        "T2 enter b: 10-30 <readers>, 30-50 T4 d, 50-55 <handoff>",
    );
}

#[test]
fn who_releases_a_permit_had_it() {
    check(
        "
        Semaphore
        10 T2 park share/b
        20 T3 park share/c
        50 T1 unpark T2 unshare/a
        55 T2 woken
        80 T2 unpark T3 unshare/b
        85 T3 woken
        ",
        "
        T2 enter b: 10-50 T1 a, 50-55 <handoff>
        T3 enter c: 20-50 T1 a, 50-55 <handoff>, 55-80 T2 b, 80-85 <handoff>
        ",
    );
}

#[test]
fn who_never_had_a_permit_gives_a_signal() {
    check(
        "
        Semaphore
        10 T2 park share/b
        20 T3 park share/c
        50 T1 unpark T2 unshare/a signal
        52 T2 woken
        53 T2 unpark T3 pass/b
        54 T2 park share/b
        55 T3 woken
        70 T1 unpark T2 unshare/a elsewhere
        75 T2 woken
        80 T2 park share/b timed
        90 T2 timeout
        95 T3 park share/c
        ",
        "
        T2 conditional b: 10-50 T1 a, 50-52 <handoff>
        T3 conditional c: 20-50 T1 a, 50-55 <handoff>
        T2 conditional b: 54-70 T1 a, 70-75 <handoff>
        T2 conditional b: 80-90 <not-woken>
        ",
    );
}

/// T4 gives up waiting, and never had a permit. T1 had one.
#[test]
fn who_gives_up_waiting_gives_no_signal() {
    check(
        "
        Semaphore
        10 T4 park share/d timed
        20 T2 park share/b
        30 T4 timeout
        31 T4 unpark T2 cancel/d signal
        32 T2 woken
        33 T2 park share/b again
        60 T1 unpark T2 unshare/a
        65 T2 woken
        ",
        "
        T4 enter d: 10-30 <no-exit>
        T2 enter b: 20-32 <no-exit>, 32-33 <handoff>, 33-60 T1 a, 60-65 <handoff>
        ",
    );
}

/// T1 had a permit, T3 none: what T2 waited for in the end was the signal.
#[test]
fn a_wait_that_a_signal_ends_is_whole() {
    check(
        "
        Semaphore
        10 T2 park share/b
        30 T1 unpark T2 unshare/a
        32 T2 woken
        34 T2 park share/b again
        60 T3 unpark T2 unshare/c signal
        65 T2 woken
        70 T2 park share/b
        90 T1 unpark T2 unshare/a
        95 T2 woken
        ",
        "
        T2 conditional b: 10-60 T3 c, 60-65 <handoff>
        T2 enter b: 70-90 T1 a, 90-95 <handoff>
        ",
    );
}

/// T2 is woken by the count-down and wakes T3: the count-down is the reason.
#[test]
fn waker_takes_the_owners_place() {
    check(
        "
        Latch
        10 T2 park share/b
        20 T3 park share/c
        50 T1 unpark T2 unshare/a
        55 T2 woken
        56 T2 unpark T3 pass/b
        60 T3 woken
        ",
        "
        T2 conditional b: 10-50 T1 a, 50-55 <handoff>
        T3 conditional c: 20-50 T1 a, 50-60 <handoff>
        ",
    );
}

#[test]
fn custom_latch_is_no_lock() {
    check(
        "
        Custom
        10 T2 park share/b
        50 T1 unpark T2 unshare/a
        55 T2 woken
        ",
        "T2 conditional b: 10-50 T1 a, 50-55 <handoff>",
    );
}

#[test]
fn the_notifier_takes_the_owners_place() {
    let counters = check(
        "
        Other
        10 T2 wait wait/b
        20 T3 wait wait/c timed
        30 T4 wait wait/d
        40 T1 notify T3 a
        50 T1 notify-all a
        52 T4 notified
        53 T3 notified
        54 T2 notified
        60 T2 wait wait/b timed
        70 T2 waited timeout
        ",
        "
        T2 conditional b: 10-50 T1 a, 50-54 <handoff>
        T3 conditional c: 20-40 T1 a, 40-53 <handoff>
        T4 conditional d: 30-50 T1 a, 50-52 <handoff>
        T2 conditional b: 60-70 <not-woken>
        ",
    );
    assert_eq!(counters, Counters::default());
}

/// Whatever a class means to those who park on its objects.
#[test]
fn a_notification_of_a_synchronizer_is_no_release() {
    check(
        "
        ReentrantLock
        10 T2 wait wait/b
        50 T1 notify T2 a
        55 T2 notified
        ",
        "T2 conditional b: 10-50 T1 a, 50-55 <handoff>",
    );
}

#[test]
fn a_wait_in_a_method_of_the_jdk_is_what_its_caller_waits_for() {
    check(
        "
        Other
        10 T2 wait join/b
        50 T1 notify-all a
        55 T2 notified
        ",
        "T2 join join: 10-50 T1 a, 50-55 <handoff>",
    );
}

#[test]
fn a_wait_whose_notification_is_lost_has_no_waker() {
    check(
        "
        Other
        10 T2 wait wait/b
        50 T1 notify T2 a
        55 T2 notified
        60 T2 wait wait/b
        70 T1 lost
        75 T2 waited interrupted
        ",
        "
        T2 conditional b: 10-50 T1 a, 50-55 <handoff>
        T2 conditional b: 60-75 <no-exit>
        ",
    );
}

#[test]
fn workers_without_work_are_idle() {
    check(
        "
        Condition
        10 T2 park idle/b
        50 T1 unpark T2 a
        55 T2 woken
        ",
        "T2 idle getTask: 10-50 T1 a, 50-55 <handoff>",
    );
    check(
        "
        Pool
        10 T2 park b timed
        50 T2 timeout
        ",
        "T2 idle b: 10-50 <not-woken>",
    );
}

#[test]
fn time_that_passes_is_sleep_unless_somebody_wakes_the_thread() {
    for class in ["-", "Other"] {
        check(
            &format!("{class}\n10 T2 park b timed\n50 T2 timeout"),
            "T2 sleep b: 10-50 <not-woken>",
        );
        check(
            &format!("{class}\n10 T2 park b timed\n50 T1 unpark T2 a\n55 T2 woken"),
            "T2 conditional b: 10-50 T1 a, 50-55 <handoff>",
        );
        check(
            &format!("{class}\n10 T2 park b\n50 T2 spurious"),
            "T2 conditional b: 10-50 <not-woken>",
        );
    }
    check(
        "Latch\n10 T2 park share/b timed\n50 T2 timeout",
        "T2 conditional b: 10-50 <not-woken>",
    );
}

#[test]
fn lost_event_of_a_parked_thread_is_its_end() {
    let counters = check(
        "
        ReentrantLock
        10 T2 park b owner T1
        20 T4 park d owner T1
        50 T1 unpark T2 a
        55 T2 lost
        60 T2 park b owner T3
        80 T3 unpark T2 c
        85 T2 woken
        90 T2 unpark T4 b
        95 T4 woken
        ",
        "
        T4 enter d: 20-50 T1 a, 50-60 <lost>, 60-80 T3 c, 80-85 <handoff>, 85-90 T2 b, 90-95 <handoff>
        T2 enter b: 60-80 T3 c, 80-85 <handoff>
        ",
    );
    assert_eq!(counters.value(Counter::WaitsWithoutEntered), 1);
}

#[test]
fn nobody_is_blamed_where_events_are_missing() {
    let counters = check(
        "
        ReentrantLock
        10 T4 park d owner T1
        50 T1 unpark T4 a
        55 -- missing
        60 -- missing
        80 T3 unpark T4 c
        85 T4 woken
        ",
        "T4 enter d: 10-50 T1 a, 50-80 <lost>, 80-85 <handoff>",
    );
    assert_eq!(counters.value(Counter::NumbersSkipped), 2);
}

/// T5 releases the lock, but the thread that it unparks is not parked yet, and gets
/// the lock without parking. So nothing but T4, which sees the lock free, shows that
/// T6 was not the owner all the time.
#[test]
fn lock_seen_free_had_another_owner_before() {
    check(
        "
        ReentrantLock
        10 T2 park b
        30 T4 park d
        50 T6 unpark T2 a
        55 T2 woken
        ",
        "T2 enter b: 10-55 <handoff>",
    );
}

/// T1 releases the lock, T4 sees it free, and only then T1 unparks T2.
#[test]
fn owner_between_release_and_unpark_is_blamed_until_then() {
    check(
        "
        ReentrantLock
        10 T2 park b owner T1
        30 T4 park d
        31 T1 unpark T2 a
        35 T2 woken
        40 T2 unpark T4 b
        45 T4 woken
        ",
        "
        T2 enter b: 10-30 T1 a, 30-35 <handoff>
        T4 enter d: 30-35 <handoff>, 35-40 T2 b, 40-45 <handoff>
        ",
    );
}

/// T1 released the lock, and loses time before it unparks T2. Meanwhile T3 has it.
/// It may have released it, and got it again, before T2 ran.
#[test]
fn late_unpark_is_no_release() {
    check(
        "
        ReentrantLock
        10 T2 park b owner T3
        20 T1 unpark T2 a owner T3
        25 T2 woken owner T3
        26 T2 park b again owner T3
        50 T3 unpark T2 c
        55 T2 woken
        ",
        "T2 enter b: 10-20 T3 ?, 20-25 <handoff>, 25-50 T3 c, 50-55 <handoff>",
    );
}

#[test]
fn woken_reader_does_not_become_a_writer() {
    check(
        "
        ReadWriteLock
        10 T2 park share/b owner T1
        20 T4 park d owner T1
        50 T1 unpark T2 a
        55 T2 woken
        90 T2 unpark T4 b
        95 T4 woken
        ",
        "
        T2 enter b: 10-50 T1 a, 50-55 <handoff>
        T4 enter d: 20-50 T1 a, 50-55 <handoff>, 55-90 <readers>, 90-95 <handoff>
        ",
    );
}

/// Readers have the lock. Reader T3 waits before writer T2 does, in a fair lock for
/// example.
#[test]
fn a_reader_is_not_blamed_from_before_a_writer_waits() {
    check(
        "
        ReadWriteLock
        10 T3 park share/c
        30 T2 park b
        50 T1 unpark T2 unshare/a
        55 T2 woken
        80 T2 unpark T3 b
        85 T3 woken
        ",
        "
        T3 enter c: 10-30 <handoff>, 30-50 T1 a, 50-55 <handoff>, 55-80 T2 b, 80-85 <handoff>
        T2 enter b: 30-50 T1 a, 50-55 <handoff>
        ",
    );
}

/// T2 had the lock shared meanwhile: that it parks for a new call says nothing about
/// the time before.
#[test]
fn new_call_of_a_woken_thread_is_no_boundary() {
    check(
        "
        StampedLock
        10 T2 park share/b
        20 T4 park d
        50 T1 unpark T2 a
        55 T2 woken
        70 T2 park share/b
        90 T3 unpark T4 unshare/c
        95 T4 woken
        99 T4 unpark T2 d
        100 T2 woken
        ",
        "
        T2 enter b: 10-50 T1 a, 50-55 <handoff>
        T4 enter d: 20-50 T1 a, 50-55 <handoff>, 55-90 T3 c, 90-95 <handoff>
        T2 enter b: 70-90 T3 c, 90-95 <handoff>, 95-99 T4 d, 99-100 <handoff>
        ",
    );
}

/// T1, the last reader, wakes T2, and then T4, for the same release.
#[test]
fn a_second_wake_up_is_not_another_release() {
    check(
        "
        ReadWriteLock
        10 T2 park b
        20 T4 park d
        50 T1 unpark T2 unshare/a
        55 T2 woken
        70 T1 unpark T4 unshare/a owner T2
        75 T4 woken owner T2
        76 T4 park d again owner T2
        90 T2 unpark T4 b
        95 T4 woken
        ",
        "
        T2 enter b: 10-50 T1 a, 50-55 <handoff>
        T4 enter d: 20-50 T1 a, 50-55 <handoff>, 55-70 T2 ?, 70-75 <handoff>, 75-90 T2 b, 90-95 <handoff>
        ",
    );
}

/// T1 unparked T2 for a reason of its own, before T2 wanted the lock.
#[test]
fn permit_left_over_is_no_release() {
    check(
        "
        Custom
        10 T4 park d
        20 T1 unpark T2 a elsewhere
        21 T2 park b
        22 T2 woken
        23 T2 park b again
        40 T3 unpark T4 c
        45 T4 woken
        ",
        "
        T4 enter d: 10-22 <no-exit>, 22-23 <handoff>, 23-40 T3 c, 40-45 <handoff>
        ",
    );
}

/// T1 unparked T2, which was parked on a `ReentrantLock` before.
#[test]
fn an_unpark_for_another_lock_is_not_a_release() {
    check(
        "
        Semaphore
        10 T4 park d
        20 T1 unpark T2 unlock/a elsewhere
        21 T2 park b
        22 T2 woken
        40 T3 unpark T4 c
        45 T4 woken
        ",
        "
        T4 enter d: 10-22 <no-exit>, 22-40 T3 c, 40-45 <handoff>
        T2 enter b: 21-22 <no-exit>
        ",
    );
}

/// T4 saw T3 later than T1 let T2 have the lock: T1 was not the owner until then.
#[test]
fn an_owner_seen_overrides_an_older_release() {
    check(
        "
        ReentrantLock
        10 T4 park d owner T1
        20 T1 unpark T2 release/a elsewhere
        25 T2 park b owner T3
        26 T2 woken owner T3
        40 T3 unpark T4 c
        45 T4 woken
        ",
        "
        T4 enter d: 10-25 <no-exit>, 25-40 T3 c, 40-45 <handoff>
        T2 enter b: 25-26 T3 c
        ",
    );
}

/// T2 has had the lock since it was woken, although it lost time before its unpark,
/// and T3 has the lock then as it had before.
#[test]
fn late_unpark_of_the_woken_thread_is_a_release() {
    check(
        "
        ReentrantLock
        10 T2 park b owner T1
        12 T4 park d owner T1
        20 T1 unpark T2 a
        25 T2 woken owner T3
        40 T2 unpark T4 b owner T3
        45 T4 woken owner T3
        ",
        "
        T2 enter b: 10-20 T1 a, 20-25 <handoff>
        T4 enter d: 12-20 T1 a, 20-25 <handoff>, 25-40 T2 b, 40-45 <handoff>
        ",
    );
}

/// The park that T2 goes on with at 45 is not the one that it was woken from at 25.
#[test]
fn thread_that_is_awake_does_not_wait_on_after_a_loss() {
    check(
        "
        ReentrantLock
        10 T2 park b owner T1
        20 T1 unpark T2 a
        25 T2 woken
        30 T2 lost
        40 T2 spurious owner T3
        45 T2 park c again owner T3
        60 T3 unpark T2 c
        65 T2 woken
        ",
        "
        T2 enter b: 10-20 T1 a, 20-25 <handoff>
        T2 enter c: 45-60 T3 c, 60-65 <handoff>
        ",
    );
}

/// T1 unparks T2, whose time was over before, so that it gives up. T2 does nothing
/// with the lock any more, but T3 and T5 are seen all the same.
#[test]
fn thread_that_gave_up_is_not_waited_for() {
    check(
        "
        ReentrantLock
        10 T2 park b timed owner T1
        20 T2 timeout owner T1
        22 T1 unpark T2 release/a
        30 T4 park d owner T3
        50 T3 unpark T4 release/c
        55 T4 woken owner T5
        56 T4 park d again owner T5
        60 T6 park f owner T5
        80 T5 unpark T4 release/e
        85 T4 woken
        ",
        "
        T2 enter b: 10-20 T1 a
        T4 enter d: 30-50 T3 c, 50-55 <handoff>, 55-80 T5 e, 80-85 <handoff>
        ",
    );
}

/// The same where the next release does not report since when its thread had the lock.
#[test]
fn release_by_a_thread_not_seen_before_may_be_older() {
    check(
        "
        ReentrantLock
        10 T2 park b timed owner T1
        12 T4 park d owner T1
        20 T2 timeout owner T1
        22 T1 unpark T2 release/a
        30 T3 unpark T4 release/c
        35 T4 woken owner T5
        36 T4 park d again owner T5
        40 T6 park f owner T5
        80 T5 unpark T4 release/e
        85 T4 woken
        ",
        "
        T2 enter b: 10-20 T1 a
        T4 enter d: 12-22 T1 a, 22-40 <handoff>, 40-80 T5 e, 80-85 <handoff>
        ",
    );
}

/// T2 waits again for the lock, or has it: it needs no waking.
#[test]
fn thread_that_does_something_is_awake() {
    for event in ["30 T2 park b owner T3", "30 T7 park g owner T2"] {
        check(
            &format!(
                "
                ReentrantLock
                10 T2 park b timed owner T1
                12 T4 park d owner T1
                20 T2 timeout owner T1
                22 T1 unpark T2 release/a
                {event}
                40 T6 park f owner T5
                50 T8 park h owner T5
                80 T5 unpark T4 e
                85 T4 woken
                "
            ),
            "
            T2 enter b: 10-20 T1 a
            T4 enter d: 12-22 T1 a, 22-30 <handoff>, 30-40 <no-exit>, 40-80 T5 e, 80-85 <handoff>
            ",
        );
    }
}

/// T2 gives up, and wakes T4 in its place: until that runs, others come and go.
#[test]
fn thread_that_gives_up_leaves_waking_to_the_next() {
    check(
        "
        ReentrantLock
        10 T2 park b timed owner T1
        12 T4 park d owner T1
        20 T2 timeout owner T1
        22 T1 unpark T2 a
        23 T2 unpark T4 cancel/b owner T3
        35 T4 woken owner T3
        36 T4 park d again owner T3
        40 T6 park f owner T3
        60 T3 unpark T4 c
        65 T4 woken
        ",
        "
        T2 enter b: 10-20 T1 a
        T4 enter d: 12-22 T1 a, 22-35 <handoff>, 35-60 T3 c, 60-65 <handoff>
        ",
    );
}

/// T2 is at work again, with another park. That says nothing about T4.
#[test]
fn thread_that_gave_up_does_not_wake_the_next_by_going_on() {
    check(
        "
        ReentrantLock
        10 T2 park b timed owner T1
        12 T4 park d owner T1
        20 T2 timeout owner T1
        22 T1 unpark T2 a
        23 T2 unpark T4 cancel/b
        30 T2 park b owner T3
        40 T2 spurious owner T3
        50 T4 woken owner T3
        51 T2 park b again owner T3
        60 T3 unpark T2 c
        65 T2 woken
        ",
        "
        T2 enter b: 10-20 T1 a
        T4 enter d: 12-22 T1 a, 22-50 <handoff>
        T2 enter b: 30-50 <handoff>, 50-60 T3 c, 60-65 <handoff>
        ",
    );
}

/// The unpark comes last, and is numbered among the events of its target: a loss long
/// before says nothing about it. T5's is the one that is lost.
#[test]
fn loss_does_not_hide_later_wakers() {
    let events = park_script::parse(
        "
        Latch
        5 T9 lost
        10 T5 park share/e
        15 T1 unpark T5 unshare/a elsewhere
        20 T2 park share/b
        25 T1 unpark T2 unshare/a elsewhere
        30 T2 woken
        35 T5 woken
        ",
    );
    let is_lost = |event: &Event<'_>| matches!(event, Event::Unpark(unpark) if unpark.target == JavaThreadId(5));
    let (unparks, mut others): (Vec<_>, Vec<_>) = events
        .into_iter()
        .filter(|(_, event)| !is_lost(event))
        .partition(|(_, event)| matches!(event, Event::Unpark(_)));
    others.extend(unparks);
    let expected = [
        "T5 conditional e: 10-35 <lost>",
        "T2 conditional b: 20-25 T1 a, 25-30 <handoff>",
    ];
    assert_eq!(analyze(&others).0, expected);
}

/// T1 has the lock when T2 parks. While T2 is being woken, T3 and T4 have it, which
/// unpark nobody; T3 has it twice.
#[test]
fn reported_holds_are_blamed_and_nothing_else_is() {
    let counters = check(
        "
        ReentrantLock
        10 T2 park b owner T1
        50 T1 release a before
        52 T1 unpark T2 a
        60 T3 release c for 5
        70 T4 release d for 8
        80 T3 release e for 10
        85 T2 woken
        90 T2 release b for 3
        ",
        "
        T2 enter b: 10-50 T1 a, 50-55 <free>, 55-60 T3 c, 60-62 <free>, 62-70 T4 d, 70-80 T3 e, 80-85 <free>
        ",
    );
    assert_eq!(counters.value(Counter::BargingHolds), 3);
}

/// The owner that is seen when T2 wakes up in vain has had the lock since it says so.
#[test]
fn a_reported_hold_corrects_what_was_seen() {
    check(
        "
        ReentrantLock
        10 T2 park b owner T1
        50 T1 release a before
        52 T1 unpark T2 a owner T3
        60 T2 woken owner T3
        65 T2 park b again owner T3
        90 T3 release c for 39
        91 T3 unpark T2 c
        95 T2 woken
        99 T2 release b for 3
        ",
        "
        T2 enter b: 10-50 T1 a, 50-51 <free>, 51-90 T3 c, 90-95 <free>
        ",
    );
}

/// T2 gives up and comes back before the owner has released the lock.
#[test]
fn a_reported_hold_counts_for_a_wait_that_ended_before() {
    check(
        "
        ReentrantLock
        10 T2 park b timed owner T1
        20 T1 release a before
        30 T2 timeout owner T3
        40 T2 park b timed owner T3
        60 T3 release c for 35
        65 T2 timeout
        ",
        "
        T2 enter b: 10-20 T1 a, 20-25 <free>, 25-30 T3 c
        T2 enter b: 40-60 T3 c, 60-65 <free>
        ",
    );
}

/// The lock was not of interest any more when T2 released it, nor when T1 acquired it again.
#[test]
fn a_reported_old_hold_is_not_older_than_the_waits_before() {
    check(
        "
        ReentrantLock
        10 T2 park b owner T1
        50 T1 release a before
        52 T1 unpark T2 a
        60 T2 woken
        90 T3 park c owner T1
        100 T1 release d before
        101 T1 unpark T3 d
        105 T3 woken
        ",
        "
        T2 enter b: 10-50 T1 a, 50-60 <free>
        T3 enter c: 90-100 T1 d, 100-105 <free>
        ",
    );
}

/// The hold is known, what was lost is not.
#[test]
fn a_reported_hold_after_a_loss() {
    check(
        "
        ReentrantLock
        10 T2 park b owner T1
        20 T1 release a before
        30 T3 lost
        60 T4 release d for 10
        70 T2 spurious
        ",
        "
        T2 enter b: 10-20 T1 a, 20-50 <lost>, 50-60 T4 d, 60-70 <free>
        ",
    );
}

/// A writer that goes on as a reader keeps out writers.
#[test]
fn reported_release_of_a_writer_that_goes_on_as_a_reader() {
    check(
        "
        ReadWriteLock
        10 T2 park b owner T1
        50 T1 release a before
        51 T1 unpark T2 release/a
        55 T2 woken
        57 T2 park b again
        80 T1 unpark T2 unshare/c
        85 T2 woken
        90 T2 release b for 3
        ",
        "
        T2 enter b: 10-50 T1 a, 50-55 <handoff>, 55-57 <readers>, 57-80 T1 c, 80-85 <handoff>
        ",
    );
}

/// A reader that was woken had the lock until it wakes the writer.
#[test]
fn reported_releases_do_not_belong_to_readers() {
    check(
        "
        StampedLock
        10 T2 park share/b
        20 T4 park d
        50 T1 release a before
        51 T1 unpark T2 a
        55 T2 woken
        90 T2 unpark T4 unshare/c
        95 T4 woken
        99 T4 release d for 3
        ",
        "
        T2 enter b: 10-50 T1 a, 50-55 <handoff>
        T4 enter d: 20-50 T1 a, 50-55 <handoff>, 55-90 T2 c, 90-95 <handoff>
        ",
    );
}
