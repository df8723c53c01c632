//! The main acceptance test: how much each method is blamed for equals what
//! the program's own clock says.

use std::collections::BTreeMap;

use jvm_tests::{
    Bounds, CompileMode, Contention, Jvm, NEVER_INLINED, Run, Setting, Turn, Wait, alone, blame,
    check_each, contentions,
};

const OWNERS: [&str; 4] = ["ownerA", "ownerB", "ownerC", "ownerD"];

/// How long `ownerA` holds the lock; the others twice, four and eight times as
/// long.
const SHORTEST_HOLD_US: &str = "1000";

/// How far a method's blame may be from the truth, relative to that of all methods.
///
/// The program reads its clock some microseconds away from where the lock changes hands.
const SHARE_TOLERANCE: f64 = 0.03;

/// How far the sum of all blame may be from the truth, relative to it; for the
/// same reasons.
const TOTAL_TOLERANCE: f64 = 0.05;

#[test]
fn with_every_compiler_collector_and_way_of_locking() {
    let _processor = alone();
    check_each(Setting::all(), |setting| check("Block", &setting.flags()));
}

#[test]
fn with_every_kind_of_monitor() {
    let _processor = alone();
    let mut cases = Vec::new();
    for kind in [
        "Method",
        "StaticMethod",
        "NativeMethod",
        "Jni",
        "UnsafeMethods",
    ] {
        cases.extend(CompileMode::ALL.map(|mode| (kind, mode)));
    }
    check_each(cases, |(kind, mode)| check(kind, mode.flags()));
}

/// Runs `OwnerShares` and compares the blame.
fn check(kind: &str, flags: &[&str]) {
    let run = Jvm::traced(&["scenarios.OwnerShares", kind, SHORTEST_HOLD_US, "40"])
        .flags(NEVER_INLINED)
        // Collects garbage some times in a run.
        .flags(["-Xmx48m"])
        .flags(flags)
        .run();
    let truth = true_blame(&run);
    let traced = traced_blame(contentions(&run.trace()));

    let total = truth.values().fold(Bounds::default(), |mut sum, bounds| {
        sum.add(*bounds);
        sum
    });
    let traced_ns: u64 = traced.values().sum();
    println!("{kind} {flags:?}: {total:?} in truth, {traced_ns} ns in the trace");
    assert!(
        is_within(traced_ns, total, TOTAL_TOLERANCE * total.least_ns as f64),
        "{traced_ns} ns, not {total:?}"
    );
    for owner in OWNERS {
        let bounds = truth[owner];
        let traced_ns = traced.get(owner).copied().unwrap_or(0);
        println!("  {owner} {bounds:?} in truth, {traced_ns} ns in the trace");
        assert!(
            is_within(traced_ns, bounds, SHARE_TOLERANCE * total.least_ns as f64),
            "{owner}"
        );
    }
}

fn is_within(found_ns: u64, bounds: Bounds, tolerance_ns: f64) -> bool {
    let Bounds { least_ns, most_ns } = bounds;
    (least_ns as f64 - tolerance_ns..=most_ns as f64 + tolerance_ns).contains(&(found_ns as f64))
}

fn true_blame(run: &Run) -> BTreeMap<String, Bounds> {
    let turns: Vec<_> = run
        .lines_of("turn")
        .map(|words| Turn::parse(&words))
        .collect();
    assert_eq!(turns.len(), 4 * 40, "{}", run.describe());
    blame(&turns)
}

/// Sums the records by the owner method; what has no owner is left out.
fn traced_blame(contentions: Vec<Contention>) -> BTreeMap<String, u64> {
    let mut blame = BTreeMap::new();
    for wait in Wait::group(contentions)
        .iter()
        .filter(|wait| wait.thread().starts_with("owner-"))
    {
        for part in &wait.parts {
            if let Some(owner) = owner_method(part) {
                *blame.entry(owner).or_default() += part.duration_ns;
            }
        }
    }
    blame
}

/// The first frame of the owner's chain that is one of the four methods; below
/// it there may be the native method that it locks with.
fn owner_method(contention: &Contention) -> Option<String> {
    let mut methods = contention
        .owner_chain
        .iter()
        .flatten()
        .map(|frame| &frame.method);
    methods
        .find(|method| OWNERS.contains(&method.as_str()))
        .cloned()
}
