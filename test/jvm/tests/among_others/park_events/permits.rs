//! Properties of the park events of any program.

use std::collections::{BTreeMap, BTreeSet};

use jvm_tests::{ParkAction, ParkEvent, ParkLog};

/// A thread, by its `Thread.getId()`, and one of the permits that it was given.
type Permit = (u64, u64);

/// Panics unless
///
/// - the numbers of each domain are 1, 2, ... without a gap, and those of a thread
///   come in order;
/// - each permit is given once and consumed once at most, by the thread that it was
///   given to, after it was given, and before that thread is given another one;
/// - a park ends with a permit if and only if its reason says so, which distinguishes an
///   interrupt from an unpark;
/// - the end says whether the unpark saw no blocker, and so has no place in the
///   order of the blocker.
pub(crate) fn check(log: &ParkLog) {
    check_numbers(log);
    let (given, consumed) = (given(log), consumed(log));
    for (permit, end) in &consumed {
        let Some(giver) = given.get(permit) else {
            panic!("nobody gave it: {}", end.event);
        };
        let both = format!("{} {}", giver.event, end.event);
        assert_eq!(giver.interrupt, end.reason == "interrupted", "{both}");
        assert!(giver.event.time_ns <= end.event.time_ns, "{both}");
        if giver.event.domain == end.event.domain {
            assert!(giver.event.sequence < end.event.sequence, "{both}");
        } else {
            assert_eq!(end.unpark_elsewhere, giver.saw_nothing, "{both}");
        }
    }
    let mut left = BTreeSet::new();
    for permit in given.keys().filter(|permit| !consumed.contains_key(permit)) {
        assert!(left.insert(permit.0), "two permits are left: {permit:?}");
        let latest = given.range(..=(permit.0, u64::MAX)).next_back();
        let latest = latest.map(|(latest, _)| latest);
        assert_eq!(latest, Some(permit), "not the latest");
    }
}

fn check_numbers(log: &ParkLog) {
    let mut domains: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for &(domain, number) in &log.numbers_of_waits {
        domains.entry(domain).or_default().push(number);
    }
    for thread in &log.threads {
        let mut last: BTreeMap<u64, u64> = BTreeMap::new();
        for event in &thread.events {
            domains
                .entry(event.domain)
                .or_default()
                .push(event.sequence);
            let before = last.insert(event.domain, event.sequence);
            assert!(before < Some(event.sequence), "{}: {event}", thread.name);
        }
    }
    for (domain, mut numbers) in domains {
        numbers.sort_unstable();
        let expected: Vec<_> = (1..=numbers.len() as u64).collect();
        assert_eq!(numbers, expected, "domain {domain}");
    }
}

/// The unpark that gave a permit.
struct Giver<'a> {
    event: &'a ParkEvent,
    interrupt: bool,
    /// The target parked on nothing yet.
    saw_nothing: bool,
}

/// Returns the unpark that gave each permit.
fn given(log: &ParkLog) -> BTreeMap<Permit, Giver<'_>> {
    let mut given = BTreeMap::new();
    for (_, event) in log.unparks() {
        if let ParkAction::Unpark {
            target,
            permit: permit @ 1..,
            blocker,
            interrupt,
            ..
        } = &event.action
        {
            let giver = Giver {
                event,
                interrupt: *interrupt,
                saw_nothing: blocker.is_none(),
            };
            let before = given.insert((*target, *permit), giver);
            assert!(before.is_none(), "given twice: {event}");
        }
    }
    given
}

/// The end of a park that consumed a permit.
struct Consumer<'a> {
    event: &'a ParkEvent,
    reason: &'a str,
    unpark_elsewhere: bool,
}

/// Returns the end of the park that consumed each permit.
fn consumed(log: &ParkLog) -> BTreeMap<Permit, Consumer<'_>> {
    let mut consumed = BTreeMap::new();
    for thread in &log.threads {
        for [_, event] in thread.parks() {
            let ParkAction::End {
                reason,
                permit,
                unpark_elsewhere,
            } = &event.action
            else {
                continue;
            };
            match (reason.as_str(), *permit) {
                // The JVM itself interrupts and writes nothing.
                ("timed-out" | "spurious" | "interrupted", 0) => {}
                ("unparked" | "permit-available" | "interrupted", permit @ 1..) => {
                    let consumer = Consumer {
                        event,
                        reason,
                        unpark_elsewhere: *unpark_elsewhere,
                    };
                    let before = consumed.insert((thread.java_id, permit), consumer);
                    assert!(before.is_none(), "consumed twice: {event}");
                }
                _ => panic!("{}: {event}", thread.name),
            }
        }
    }
    consumed
}
