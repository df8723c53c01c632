//! The main acceptance test: how much each method is blamed for equals what
//! the program's own clock says.

use std::collections::BTreeMap;

use jvm_tests::{
    CompileMode, Contention, Jvm, NEVER_INLINED, Run, Setting, Turn, Wait, alone, blame,
    check_each, contentions,
};

const OWNERS: [&str; 4] = ["ownerA", "ownerB", "ownerC", "ownerD"];

/// How long `ownerA` holds the lock; the others twice, four and eight times as
/// long.
const SHORTEST_HOLD_US: &str = "1000";

/// How far a method's share may be from the truth, in percentage points.
///
/// The program reads its clock some microseconds away from where the lock
/// changes hands, and the time from one owner's release to the next one's
/// acquisition, some 0.1 ms on a busy machine, has no owner. A hold takes 1 to
/// 8 ms.
const SHARE_TOLERANCE: f64 = 3.0;

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

    let total_ns = |blame: &BTreeMap<String, u64>| blame.values().sum::<u64>() as f64;
    let (true_ns, traced_ns) = (total_ns(&truth), total_ns(&traced));
    println!("{kind} {flags:?}: {true_ns} ns in truth, {traced_ns} ns in the trace");
    assert!(
        (traced_ns / true_ns - 1.0).abs() <= TOTAL_TOLERANCE,
        "{true_ns} or {traced_ns} ns"
    );

    for owner in OWNERS {
        let percentage = |blame: &BTreeMap<String, u64>| {
            100.0 * blame.get(owner).copied().unwrap_or(0) as f64 / total_ns(blame)
        };
        let (true_share, traced_share) = (percentage(&truth), percentage(&traced));
        println!("  {owner} {true_share:6.2} % in truth, {traced_share:6.2} % in the trace");
        assert!(
            (true_share - traced_share).abs() <= SHARE_TOLERANCE,
            "{owner}"
        );
    }
}

fn true_blame(run: &Run) -> BTreeMap<String, u64> {
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
