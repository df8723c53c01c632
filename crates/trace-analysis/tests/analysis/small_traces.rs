//! Small traces and the waits that the analysis must find in them.

use trace_analysis::{Counter, Counters, Limits};
use trace_format::{Capabilities, Event, LockDescription, ThreadId};

use crate::{found, script};

/// Analyzes `script` and compares the waits, one a line.
#[track_caller]
fn check(script: &str, expected: &str) -> Counters {
    let (waits, counters) = analyze(&script::parse(script));
    let expected: Vec<&str> = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(waits, expected);
    counters
}

fn analyze(events: &[(ThreadId, Event<'_>)]) -> (Vec<String>, Counters) {
    let analyzed = found::analyze(events, Limits::default());
    (
        analyzed.waits.iter().map(ToString::to_string).collect(),
        analyzed.counters,
    )
}

/// As [`check`], where exits say for how long the lock was held. Behind each wait the
/// number of holds that barged in.
#[track_caller]
fn check_holds(script: &str, expected: &str) -> Counters {
    let events = script::parse(script);
    let analyzed = found::analyze_guaranteed(&events, Limits::default(), Capabilities::HOLDS);
    let waits = analyzed.waits.iter();
    let waits: Vec<_> = waits
        .map(|wait| format!("{wait}; {}", wait.barging_holds))
        .collect();
    let expected = expected.lines().map(str::trim);
    let expected: Vec<_> = expected.filter(|line| !line.is_empty()).collect();
    assert_eq!(waits, expected);
    analyzed.counters
}

/// T2 is woken and does not run yet; T3 and T4 have the lock for a moment each.
#[test]
fn owners_are_blamed_for_their_holds_only() {
    let counters = check_holds(
        "
        10 T2 enter b
        50 T1 exit a held:long
        55 T5 enter e
        70 T3 exit c held:5
        90 T4 exit d held:10
        95 T2 entered
        99 T2 exit b held:4
        110 T5 entered
        ",
        "
        T2 enter b on Lock@1: 10-50 T1 a, 50-65 <free>, 65-70 T3 c, 70-80 <free>, 80-90 T4 d, 90-95 <free>; 2
        T5 enter e on Lock@1: 55-65 <free>, 65-70 T3 c, 70-80 <free>, 80-90 T4 d, 90-95 <free>, 95-99 T2 b, 99-110 <free>; 2
        ",
    );
    assert_eq!(counters.value(Counter::BargingHolds), 2);
}

/// Nobody waited when the lock was released without an event: it was held at first.
#[test]
fn what_came_before_an_acquisition_is_unknown_to_the_first_in_the_queue() {
    check_holds(
        "
        10 T2 enter b
        70 T3 exit c held:5
        95 T2 entered
        ",
        "T2 enter b on Lock@1: 10-65 <no-exit>, 65-70 T3 c, 70-95 <free>; 1",
    );
}

#[test]
fn a_hold_is_reported_in_spite_of_losses() {
    check_holds(
        "
        10 T2 enter b
        20 T1 exit a held:long
        60 T9 lost
        70 T3 exit c held:5
        95 T2 entered
        ",
        "T2 enter b on Lock@1: 10-20 T1 a, 20-65 <lost>, 65-70 T3 c, 70-95 <free>; 0",
    );
}

/// The pauses between them come first, then the holds. Those of T3 barge in; the first one
/// of T2 was waited for.
#[test]
fn several_holds_in_one_event_are_right_in_sum() {
    let counters = check_holds(
        "
        10 T2 enter b
        20 T4 enter d
        50 T1 exit a held:long
        70 T3 exit c held:12/4
        75 T2 entered
        95 T2 exit b held:11/3
        99 T4 entered
        ",
        "
        T2 enter b on Lock@1: 10-50 T1 a, 50-58 <free>, 58-70 T3 c, 70-75 <free>; 4
        T4 enter d on Lock@1: 20-50 T1 a, 50-58 <free>, 58-70 T3 c, 70-75 <free>, 75-84 <free>, 84-95 T2 b, 95-99 <free>; 6
        ",
    );
    assert_eq!(counters.value(Counter::BargingHolds), 4 + 2);
}

/// A hold cannot have begun before the release that preceded it, whatever clocks say.
#[test]
fn a_hold_ends_what_came_before_it_at_most() {
    check_holds(
        "
        10 T2 enter b
        50 T1 exit a held:long
        60 T3 exit c held:30
        65 T2 entered
        ",
        "T2 enter b on Lock@1: 10-50 T1 a, 50-60 T3 c, 60-65 <free>; 1",
    );
}

/// Where one exit does not report since when, the lock may have been free.
#[test]
fn a_hold_that_is_not_known_is_inferred() {
    check_holds(
        "
        10 T2 enter b
        50 T1 exit a
        60 T3 exit c
        65 T2 entered
        ",
        "T2 enter b on Lock@1: 10-50 T1 a, 50-60 T3 c, 60-65 <free>; 0",
    );
}

#[test]
fn paper_figure_3() {
    let counters = check(
        "
        10 T2 enter b
        20 T3 enter c
        50 T1 exit a
        55 T2 entered
        80 T2 exit b
        90 T3 entered
        ",
        "
        T2 enter b on Lock@1: 10-50 T1 a, 50-55 <handoff>
        T3 enter c on Lock@1: 20-50 T1 a, 50-55 <handoff>, 55-80 T2 b, 80-90 <handoff>
        ",
    );
    assert_eq!(counters, Counters::default());
}

#[test]
fn thread_that_barges_in_is_blamed_from_the_exit_before() {
    check(
        "
        10 T2 enter b
        20 T1 exit a
        30 T3 exit c
        40 T4 exit d
        45 T2 entered
        ",
        "T2 enter b on Lock@1: 10-20 T1 a, 20-30 T3 c, 30-40 T4 d, 40-45 <handoff>",
    );
}

#[test]
fn earlier_owner_is_not_blamed_for_a_later_wait() {
    check(
        "
        10 T2 enter b
        20 T1 exit a
        25 T2 entered
        70 T4 enter d
        90 T3 exit c
        95 T4 entered
        ",
        "
        T2 enter b on Lock@1: 10-20 T1 a, 20-25 <handoff>
        T4 enter d on Lock@1: 70-90 T3 c, 90-95 <handoff>
        ",
    );
}

#[test]
fn owner_that_saw_nobody_queued_is_unknown() {
    check(
        "
        10 T2 enter b
        30 T2 entered
        ",
        "T2 enter b on Lock@1: 10-30 <no-exit>",
    );
}

#[test]
fn next_owner_is_not_blamed_for_the_one_that_saw_nobody_queued() {
    // T3 enters, T2's release is not seen, and T4 is the next to release.
    let counters = check(
        "
        10 T2 enter b
        11 T3 enter c
        20 T1 exit a
        25 T2 entered
        30 T5 enter e
        60 T4 exit d
        65 T3 entered
        70 T5 entered
        ",
        "
        T2 enter b on Lock@1: 10-20 T1 a, 20-25 <handoff>
        T3 enter c on Lock@1: 11-20 T1 a, 20-25 <handoff>, 25-60 <no-exit>, 60-65 <handoff>
        T5 enter e on Lock@1: 30-60 T4 d, 60-65 <handoff>, 65-70 <no-exit>
        ",
    );
    assert_eq!(counters.value(Counter::UnexpectedExits), 1);
}

#[test]
fn conditional_wait_blames_the_method_that_acquired_the_lock() {
    // Figure 1: dequeue (d) holds the lock and waits; enqueue (e) notifies it.
    let counters = check(
        "
        10 T2 enter e
        20 T1 exit ->7
        22 T2 entered
        30 T1 reenter w
        40 T2 exit e
        43 T1 entered
        50 T3 enter e
        60 T1 exit ->7
        70 T3 entered
        75 T1 resolve 7 d
        ",
        "
        T1 reenter-after-wait w on Lock@1: 30-40 T2 e, 40-43 <handoff>
        T2 enter e on Lock@1: 10-20 T1 d, 20-22 <handoff>
        T3 enter e on Lock@1: 50-60 T1 d, 60-70 <handoff>
        ",
    );
    assert_eq!(counters.value(Counter::ForwardRefsUnresolved), 0);
}

#[test]
fn owner_still_inside_its_method_at_the_end_has_no_chain() {
    let counters = check(
        "
        10 T2 enter e
        20 T1 exit ->7
        22 T2 entered
        ",
        "T2 enter e on Lock@1: 10-20 T1 ?, 20-22 <handoff>",
    );
    assert_eq!(counters.value(Counter::ForwardRefsUnresolved), 1);
}

#[test]
fn locks_do_not_mix() {
    check(
        "
        10 T2 enter b on L1
        11 T3 enter c on L2
        20 T1 exit a on L1
        21 T4 exit d on L2
        25 T2 entered on L1
        26 T3 entered on L2
        ",
        "
        T2 enter b on Lock@1: 10-20 T1 a, 20-25 <handoff>
        T3 enter c on Lock@2: 11-21 T4 d, 21-26 <handoff>
        ",
    );
}

#[test]
fn lost_exit_leaves_the_owner_unknown_only_for_those_who_waited() {
    for loss in ["lost", script::MISSING] {
        let counters = check(
            &format!(
                "
                10 T2 enter b
                20 -- {loss}
                30 T3 enter c
                40 T4 exit d
                45 T2 entered
                60 T2 exit b
                65 T3 entered
                ",
            ),
            "
            T2 enter b on Lock@1: 10-40 <lost>, 40-45 <handoff>
            T3 enter c on Lock@1: 30-40 T4 d, 40-45 <handoff>, 45-60 T2 b, 60-65 <handoff>
            ",
        );
        assert_eq!(
            counters.value(Counter::LostNumbers),
            u64::from(loss == "lost")
        );
        assert_eq!(
            counters.value(Counter::GapsSkipped),
            u64::from(loss != "lost")
        );
    }
}

#[test]
fn lost_entered_drops_the_wait() {
    let counters = check(
        "
        10 T2 enter b
        20 T1 exit a
        25 -- lost
        30 T2 exit b
        40 T2 enter b
        50 T1 exit a
        55 T2 entered
        ",
        "T2 enter b on Lock@1: 40-50 T1 a, 50-55 <handoff>",
    );
    assert_eq!(counters.value(Counter::WaitsWithoutEntered), 1);
}

#[test]
fn thread_is_never_blamed_for_its_own_wait() {
    let counters = check(
        "
        10 T2 enter b
        25 -- lost
        30 T2 exit b
        35 -- lost
        40 T2 entered
        ",
        "",
    );
    assert_eq!(counters.value(Counter::WaitsWithoutEntered), 1);
    assert_eq!(counters.value(Counter::EnteredWithoutEnter), 1);
}

#[test]
fn thread_that_lost_the_end_of_its_wait_does_not_go_on_waiting() {
    // Between its two waits T2 holds the lock, and nobody made it wait.
    let counters = check(
        "
        10 T2 enter b
        20 T1 exit a
        25 T2 lost
        40 T2 lost
        50 T3 exit c
        55 T2 entered
        ",
        "",
    );
    assert_eq!(counters.value(Counter::WaitsWithoutEntered), 1);
    assert_eq!(counters.value(Counter::EnteredWithoutEnter), 1);
}

#[test]
fn nobody_is_blamed_while_a_thread_may_not_have_waited() {
    // One lost event cannot be the end of a wait and the start of the next.
    check(
        "
        10 T2 enter b
        20 T1 exit a
        25 -- missing
        40 T3 exit c
        50 T4 exit d
        55 T2 entered
        ",
        "T2 enter b on Lock@1: 10-20 T1 a, 20-40 <lost>, 40-50 T4 d, 50-55 <handoff>",
    );
    check(
        "
        10 T2 enter b
        20 T1 exit a
        25 -- missing
        40 T3 exit c
        50 T4 exit d
        52 -- missing
        60 T3 exit c
        70 T4 exit d
        75 T2 entered
        ",
        "T2 enter b on Lock@1: 10-20 T1 a, 20-40 <lost>, 40-50 <lost>, 50-60 <lost>, \
         60-70 T4 d, 70-75 <handoff>",
    );
}

/// It may have begun to wait again within the hold whose release comes next, but not later.
#[test]
fn nobody_is_blamed_for_a_hold_within_which_a_wait_may_have_begun() {
    check_holds(
        "
        10 T2 enter b
        11 T5 enter e
        20 T1 exit a held:long
        25 -- missing
        30 T4 exit d held:5
        40 -- missing
        60 T3 exit c held:25
        70 T4 exit d held:5
        75 T2 entered
        ",
        "T2 enter b on Lock@1: 10-20 T1 a, 20-25 <lost>, 25-30 <lost>, 30-35 <lost>, 35-60 <lost>, \
         60-65 <free>, 65-70 T4 d, 70-75 <free>; 1",
    );
}

#[test]
fn lost_enter_leaves_an_entered_that_still_names_the_owner() {
    let counters = check(
        "
        10 -- lost
        12 T3 enter c
        20 T1 exit a
        25 T2 entered
        40 T2 exit b
        45 T3 entered
        ",
        "T3 enter c on Lock@1: 12-20 T1 a, 20-25 <handoff>, 25-40 T2 b, 40-45 <handoff>",
    );
    assert_eq!(counters.value(Counter::EnteredWithoutEnter), 1);
}

#[test]
fn second_enter_replaces_a_wait_that_never_ended() {
    let counters = check(
        "
        10 T2 enter b
        30 T2 enter c
        40 T1 exit a
        45 T2 entered
        ",
        "T2 enter c on Lock@1: 30-40 T1 a, 40-45 <handoff>",
    );
    assert_eq!(counters.value(Counter::WaitsWithoutEntered), 1);
}

#[test]
fn retired_lock_is_forgotten_and_its_object_recognized() {
    let mut events = script::parse(
        "
        10 T2 enter b on L1
        20 T1 exit a on L1
        25 T2 entered on L1
        40 -- retire on L1
        50 T2 enter b on L2
        60 T2 entered on L2
        ",
    );
    // The same object is inflated again.
    for (_, event) in &mut events {
        if let Event::LockDescription(LockDescription { identity_hash, .. }) = event {
            *identity_hash = 1;
        }
    }
    let (waits, counters) = analyze(&events);
    assert_eq!(
        waits,
        [
            "T2 enter b on Lock@1: 10-20 T1 a, 20-25 <handoff>",
            "T2 enter b on Lock@1: 50-60 <no-exit>",
        ]
    );
    assert_eq!(counters, Counters::default());
}

#[test]
fn clocks_that_disagree_never_unbalance_a_wait() {
    let counters = check(
        "
        30 T2 enter b
        25 T1 exit a
        28 T3 enter c
        40 T2 entered
        35 T2 exit b
        34 T3 entered
        50 T4 enter d
        45 T4 entered
        ",
        "
        T2 enter b on Lock@1: 30-40 <handoff>
        T3 enter c on Lock@1: 28-34 <no-exit>
        T4 enter d on Lock@1: 50-50 <no-exit>
        ",
    );
    assert_eq!(counters.value(Counter::UnbalancedWaits), 0);
}

#[test]
fn trace_read_from_the_middle_still_names_owners() {
    let events = script::parse(
        "
        10 T2 enter b
        20 T1 exit a
        25 T2 entered
        30 T3 enter c
        40 T2 exit b
        45 T3 entered
        ",
    );
    let (waits, counters) = analyze(&events[3..]);
    assert_eq!(
        waits,
        ["T3 enter c on <lock #257 not described>: 30-40 T2 b, 40-45 <handoff>"]
    );
    assert_eq!(counters.value(Counter::LocksNotDescribed), 1);
    assert_eq!(counters.value(Counter::NumbersSkipped), 3);
    assert_eq!(counters.value(Counter::EnteredWithoutEnter), 1);
}
