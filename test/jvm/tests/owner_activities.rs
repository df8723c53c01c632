//! What the owner of a lock did while another thread waited for it, against its own clock.

use std::collections::BTreeMap;

use jvm_tests::{check_program, report};

/// From what the owner's clock says: threads are woken late, and the steps between two readings
/// of the clock can be interrupted.
const TOLERANCE_NS: u64 = 15_000_000;

#[test]
fn each_activity_has_its_time_and_its_root_owner() {
    check_program(&["scenarios.OwnerActivities"], &[], |mode, run| {
        let mut did = BTreeMap::<String, u64>::new();
        for words in run.lines_of("did") {
            let duration_ns: u64 = words[1].parse().expect("nanoseconds");
            *did.entry(words[0].to_owned()).or_default() += duration_ns;
        }
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
            let difference_ns = activity.duration_ns.abs_diff(did[name]);
            assert!(
                difference_ns <= TOLERANCE_NS,
                "{mode:?}: {name} for {} ns: {activity:#?}",
                did[name]
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
