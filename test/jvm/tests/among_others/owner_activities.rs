//! The activity of the owner of a lock while another thread waited for it, compared with the
//! program's clock.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use jvm_tests::{ReportNode, check_program, report};

/// The program's clock and the tracer's are read apart, and may differ a little in their speed.
const TOLERANCE_NS: u64 = 100_000;

/// All threads stand still, whatever they did.
const STOPS: [&str; 2] = ["running to a safepoint", "stopped at a safepoint"];

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
        let is_stop = |node: &&ReportNode| STOPS.contains(&node.label.as_str());
        let stops = lock.children.iter().filter(is_stop);
        // The program cannot say which activity they took their time from.
        let stopped_ns: u64 = stops.map(|node| node.duration_ns).sum();
        for (name, label) in [
            ("running", "running, or not traced as waiting"),
            ("blocked", "blocked by another lock"),
            ("waiting", "waiting for another thread"),
            ("asleep", "parked for some time"),
        ] {
            let activity = lock.children.iter().find(|node| node.label == label);
            let activity = activity.unwrap_or_else(|| panic!("{mode:?}: {label}: {lock:#?}"));
            let (least_ns, most_ns) = did[name].clone().into_inner();
            assert!(
                tolerated(least_ns.saturating_sub(stopped_ns), most_ns)
                    .contains(&activity.duration_ns),
                "{mode:?}: {name} for {least_ns} to {most_ns} ns: {lock:#?}"
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
        let (least_ns, most_ns) = did["anything"].clone().into_inner();
        assert!(
            tolerated(least_ns, most_ns).contains(&parts_ns),
            "{mode:?}: {least_ns} to {most_ns} ns: {lock:#?}"
        );
    });
}

fn tolerated(least_ns: u64, most_ns: u64) -> RangeInclusive<u64> {
    least_ns.saturating_sub(TOLERANCE_NS)..=most_ns + TOLERANCE_NS
}
