//! Findings name the known causes.

use trace_model::{Finding, Limits};

use crate::support::{demo, load, traces, without_parts};

fn findings(path: &std::path::Path, limits: Limits) -> Vec<Finding> {
    let mut loaded = load(path, limits);
    let still_blocked = std::iter::once(&loaded.summary.still_blocked);
    loaded
        .model
        .findings(still_blocked, &loaded.entities)
        .unwrap()
}

/// Workers wait for the audit log, which one of them writes to, and for the ledger, which is
/// formatted under its lock.
#[test]
fn the_demo_has_two_causes() {
    let folded = Limits {
        waits: 100,
        shares: 300,
        ..without_parts()
    };
    for limits in [Limits::default(), without_parts(), folded] {
        let found = findings(&demo(), limits);
        let owners: Vec<&str> = found
            .iter()
            .map(|finding| {
                finding
                    .owner
                    .as_ref()
                    .map_or("", |owner| owner.label.as_str())
            })
            .collect();
        assert_eq!(
            owners,
            ["demo.AuditLog.append", "demo.Ledger.formatStatement"]
        );
        assert!(found.iter().all(|finding| finding.pattern == "long-hold"));
        assert_eq!(found[1].lock_class.key, "java.util.Hashtable");
        assert_eq!(found[1].waiters[0].code.label, "java.util.Hashtable.merge");
        let frame = &found[1].owner.as_ref().unwrap().frame;
        assert!(
            frame.starts_with("demo.Ledger.formatStatement(Ledger.java:"),
            "{frame}"
        );
        assert!(found[0].share > found[1].share);
        assert!(found[0].mean_waiters > 1.0 && found[0].wall_share <= 1.0);
    }
}

#[test]
fn a_finding_s_selection_has_its_time() {
    for path in traces() {
        let found = findings(&path, Limits::default());
        assert!(found.len() <= 5);
        let mut loaded = load(&path, Limits::default());
        for finding in found.iter().filter(|finding| finding.pattern != "deadlock") {
            let group = loaded.query(&finding.selection, &[]).groups[0].clone();
            assert_eq!(group.duration_ns, finding.duration_ns, "{}", finding.title);
            assert_eq!(group.waits, finding.waits, "{}", finding.title);
        }
    }
}
