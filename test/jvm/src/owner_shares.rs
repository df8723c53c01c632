//! The check of the scenario `OwnerShares`: each method is blamed for what the program's own clock
//! says.

use std::collections::BTreeMap;

use crate::contention::{Contention, Wait};
use crate::hold_log::Bounds;
use crate::jvm::Run;
use crate::turn::{Turn, blame};

const OWNERS: [&str; 4] = ["ownerA", "ownerB", "ownerC", "ownerD"];

/// The tolerance of a method's blame, relative to the blame of all methods.
///
/// The program reads its clock some microseconds away from where the lock changes hands.
const SHARE_TOLERANCE: f64 = 0.03;

/// The tolerance of the sum of all blame, relative to the truth, for the same reasons.
const TOTAL_TOLERANCE: f64 = 0.05;

/// Compares the blame of each method with what the program's own clock says, where each thread had
/// the lock for `turns`. `setting` is for people.
///
/// Panics if they differ.
pub fn check_owner_shares(setting: &str, run: &Run, turns: usize, contentions: Vec<Contention>) {
    let truth = true_blame(run, turns);
    let traced = traced_blame(contentions);

    let total = truth.values().fold(Bounds::default(), |mut sum, bounds| {
        sum.add(*bounds);
        sum
    });
    let traced_ns: u64 = traced.values().sum();
    println!("{setting}: {total:?} in truth, {traced_ns} ns in the trace");
    assert!(
        is_within(traced_ns, total, TOTAL_TOLERANCE * total.least_ns as f64),
        "{traced_ns} ns, not {total:?}"
    );
    for owner in OWNERS {
        // The last one keeps nobody waiting.
        let bounds = truth.get(owner).copied().unwrap_or_default();
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

fn true_blame(run: &Run, expected_turns: usize) -> BTreeMap<String, Bounds> {
    let turns: Vec<_> = run
        .lines_of("turn")
        .map(|words| Turn::parse(&words))
        .collect();
    let expected_turns = OWNERS.len() * expected_turns;
    assert_eq!(turns.len(), expected_turns, "{}", run.describe());
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
