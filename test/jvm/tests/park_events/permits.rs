//! What is true of the park events of any program.

use std::collections::{BTreeMap, BTreeSet};

use jvm_tests::{ParkAction, ParkEvent, ParkLog};

/// A thread, by its `Thread.getId()`, and one of the permits that it was given.
type Permit = (u64, u64);

/// Panics unless
///
/// - the numbers of each domain are 1, 2, ... without a gap, and those of a thread
///   come in order;
/// - each permit is given once and consumed once at most, by the thread that it was
///   given to and after it was given;
/// - a park ends with a permit if and only if its reason says so, which tells an
///   interrupt from an unpark.
pub(crate) fn check(log: &ParkLog) {
    check_numbers(log);
    let given = given(log);
    for (permit, (end, reason)) in &consumed(log) {
        let Some((unpark, interrupt)) = given.get(permit) else {
            assert_eq!(*reason, "interrupted", "nobody gave it: {end}");
            continue;
        };
        assert_eq!(*interrupt, *reason == "interrupted", "{unpark} {end}");
        assert!(unpark.time_ns <= end.time_ns, "{unpark} {end}");
        if unpark.domain == end.domain {
            assert!(unpark.sequence < end.sequence, "{unpark} {end}");
        }
    }
}

/// Panics unless each permit consumed was given by a thread that runs Java code,
/// and at most one of those given to a thread is left.
pub(crate) fn check_all_given_by_java(log: &ParkLog) {
    let (given, consumed) = (given(log), consumed(log));
    let unknown: Vec<_> = consumed
        .iter()
        .filter(|(permit, _)| !given.contains_key(permit))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");

    let mut left = BTreeSet::new();
    for permit in given.keys().filter(|permit| !consumed.contains_key(permit)) {
        assert!(left.insert(permit.0), "two permits are left: {permit:?}");
        let latest = given.range(..=(permit.0, u64::MAX)).next_back();
        assert_eq!(
            latest.map(|(latest, _)| latest),
            Some(permit),
            "not the latest"
        );
    }
}

fn check_numbers(log: &ParkLog) {
    let mut domains: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
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

/// By whom each permit was given, and whether that was an interrupt.
fn given(log: &ParkLog) -> BTreeMap<Permit, (&ParkEvent, bool)> {
    let mut given = BTreeMap::new();
    for (_, event) in log.unparks() {
        if let ParkAction::Unpark {
            target,
            permit: permit @ 1..,
            interrupt,
            ..
        } = event.action
        {
            let before = given.insert((target, permit), (event, interrupt));
            assert!(before.is_none(), "given twice: {before:?} {event}");
        }
    }
    given
}

/// Which end of a park consumed each permit, and the reason that it gives.
fn consumed(log: &ParkLog) -> BTreeMap<Permit, (&ParkEvent, &str)> {
    let mut consumed = BTreeMap::new();
    for thread in &log.threads {
        for [_, end] in thread.parks() {
            let ParkAction::End { reason, permit } = &end.action else {
                continue;
            };
            match (reason.as_str(), *permit) {
                ("timed-out" | "spurious" | "interrupted", 0) => {}
                ("unparked" | "permit-available" | "interrupted", permit @ 1..) => {
                    let permit = (thread.java_id, permit);
                    let before = consumed.insert(permit, (end, reason.as_str()));
                    assert!(before.is_none(), "consumed twice: {before:?} {end}");
                }
                _ => panic!("{}: {end}", thread.name),
            }
        }
    }
    consumed
}
