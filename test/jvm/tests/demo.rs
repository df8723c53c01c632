//! The demonstration shows what it is meant to show.

use jvm_tests::{Jvm, alone, analyze, check_sound, report};

#[test]
fn the_report_names_the_culprits() {
    let _processor = alone();
    let run = Jvm::traced(&["demo.Demo"]).run();
    assert_eq!(
        run.stdout,
        "480 orders, 320 returns, 20 reports: the books balance\n"
    );
    assert_eq!(run.stderr, "");
    check_sound(&analyze(&run.trace(), |_, _| {}).expect("a trace"));

    let report = report(&run.trace(), "lock-class,owner-method,method");
    // The two locks make up nearly everything; what the class library and the
    // start of the threads contribute is a matter of chance.
    let audit_log = report.node("demo.AuditLog");
    let balances = report.node("java.util.Hashtable");
    assert!(audit_log.share + balances.share > 0.95, "{report:#?}");

    // Known owners; the rest is the time between two owners.
    for (lock, owner) in [
        (audit_log, "AuditLog.append"),
        (balances, "Ledger.formatStatement"),
    ] {
        let owned: u64 = lock
            .children
            .iter()
            .filter(|node| node.label.contains(owner))
            .map(|node| node.duration_ns)
            .sum();
        assert!(
            owned as f64 > 0.9 * lock.duration_ns as f64,
            "{owner}: {lock:#?}"
        );
    }
}
