//! What the owner of a lock did while another thread waited for it, against the program's clock.

use std::collections::BTreeMap;

use jvm_tests::{check_program, report};

/// A thread is seen blocked before it takes the time of that, and may be interrupted in between.
const TOLERANCE_NS: u64 = 10_000_000;

#[test]
fn each_activity_has_its_time_and_its_root_owner() {
    check_program(&["scenarios.OwnerActivities"], &[], |mode, run| {
        let nanoseconds = |word: &str| word.parse::<u64>().expect("nanoseconds");
        let did: BTreeMap<_, _> = run
            .lines_of("did")
            .map(|words| (words[0], nanoseconds(words[1])..=nanoseconds(words[2])))
            .collect();
        let activities = report(&run.trace(), "lock-class,owner-activity,root-owner-thread");
        let lock = activities.node("scenarios.OwnerActivities$Lock");
        for (name, label) in [
            ("running", "running, or not traced as waiting"),
            ("blocked", "blocked by another lock"),
            ("waiting", "waiting for another thread"),
            ("asleep", "parked for some time"),
        ] {
            let activity = lock.children.iter().find(|node| node.label == label);
            let activity = activity.unwrap_or_else(|| panic!("{mode:?}: {label}: {lock:#?}"));
            let (least_ns, most_ns) = did[name].clone().into_inner();
            let tolerated_ns = least_ns.saturating_sub(TOLERANCE_NS)..=most_ns + TOLERANCE_NS;
            assert!(
                tolerated_ns.contains(&activity.duration_ns),
                "{mode:?}: {name} for {least_ns} to {most_ns} ns: {activity:#?}"
            );
            let root = activity
                .children
                .iter()
                .max_by_key(|node| node.duration_ns)
                .expect("a root owner");
            let expected = if name == "blocked" { "holder" } else { "owner" };
            assert_eq!(root.label, expected, "{mode:?}: {name}");
        }
        let parts_ns: u64 = lock.children.iter().map(|node| node.duration_ns).sum();
        assert_eq!(parts_ns, lock.duration_ns, "conserved");
    });
}
