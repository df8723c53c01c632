//! Blame is conserved: what the owners of a wait are blamed for adds up to the
//! wait, to the nanosecond, some hundred thousand times; in nightly tests a million times.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use jvm_tests::{Jvm, analyze, check_sound, for_each_event, is_nightly, report};
use trace_analysis::{Mechanism, WaitKind};
use trace_format::{ContendedEnter, ContendedEntered, Event, LockId, ThreadId};

const LOCK_CLASS: &str = "scenarios.LockHammer$Anvil";

#[test]
fn each_wait_adds_up() {
    let least = if is_nightly() { 1_000_000 } else { 200_000 };
    let run = Jvm::traced(&["scenarios.LockHammer", "8", "2", &least.to_string()]).run();
    let trace = run.trace();

    let mut pending = waits_by_length(&trace);
    let mut waits_of_hammers: BTreeMap<String, u64> = BTreeMap::new();
    let mut total_ns = 0;
    let summary = analyze(&trace, |wait, entities| {
        if wait.mechanism != Mechanism::Monitor || wait.kind != WaitKind::Contention {
            return;
        }
        let count = pending.get_mut(&wait.duration_ns);
        let count = count.unwrap_or_else(|| panic!("no events are {} ns apart", wait.duration_ns));
        *count = count.checked_sub(1).expect("a wait was reported twice");

        let mut end_ns = wait.start_ns;
        for part in &wait.contentions {
            assert_eq!(part.start_ns, end_ns, "gap or overlap in {wait:?}");
            end_ns += part.duration_ns;
        }
        assert_eq!(end_ns, wait.start_ns + wait.duration_ns, "{wait:?}");

        let class = entities.lock_class(wait.lock).expect("a class of the lock");
        let class = entities.class_name(class);
        if class == LOCK_CLASS {
            total_ns += wait.duration_ns;
        }
        if entities.thread(wait.thread).name.starts_with("hammer-") {
            *waits_of_hammers.entry(class.to_owned()).or_default() += 1;
        }
    });
    check_sound(&summary.expect("a trace"));
    assert!(
        pending.values().all(|&count| count == 0),
        "waits that were not reported: {pending:?}"
    );

    let blocked = run.lines_of("blocked").next().expect("the program counts");
    let blocked: u64 = blocked[0].parse().expect("a count");
    let waits = waits_of_hammers.values().sum::<u64>();
    assert_eq!(
        waits, blocked,
        "the JVM's own count of blocked threads, against {waits_of_hammers:?}"
    );
    assert!(waits >= least, "only {waits} waits");
    assert!(
        waits_of_hammers[LOCK_CLASS] > least - 1_000,
        "nearly all of them are at the anvils: {waits_of_hammers:?}"
    );

    let report = report(&trace, "lock-class");
    assert_eq!(
        report.node(LOCK_CLASS).duration_ns,
        total_ns,
        "the report's sum"
    );
    assert_eq!(
        report.tree.iter().map(|node| node.duration_ns).sum::<u64>(),
        report.totals.duration_ns
    );
}

/// Returns the number of waits of each length that the trace must contain: the time from a thread's
/// contended enter to its contended entered.
fn waits_by_length(trace: &Path) -> HashMap<u64, u64> {
    let mut entered_at: HashMap<(ThreadId, LockId), u64> = HashMap::new();
    let mut lengths = HashMap::new();
    for_each_event(trace, |thread, event| match *event {
        Event::ContendedEnter(ContendedEnter { lock, time_ns, .. }) => {
            entered_at.insert((thread, lock), time_ns);
        }
        Event::ContendedEntered(ContendedEntered { lock, time_ns, .. }) => {
            let start_ns = entered_at.remove(&(thread, lock));
            let start_ns = start_ns.expect("a thread enters before it has entered");
            *lengths.entry(time_ns - start_ns).or_default() += 1;
        }
        _ => {}
    });
    lengths
}
