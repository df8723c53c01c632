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

    // Who had the locks. How long nobody had them is up to the machine: a thread that was
    // woken needs a processor.
    for (lock, owner) in [
        (audit_log, "AuditLog.append"),
        (balances, "Ledger.formatStatement"),
    ] {
        let blocked_ns = |is_counted: &dyn Fn(&str) -> bool| -> u64 {
            let nodes = lock.children.iter();
            let counted = nodes.filter(|node| is_counted(&node.label));
            counted.map(|node| node.duration_ns).sum()
        };
        let owned_ns = blocked_ns(&|label| label.contains(owner));
        let not_free_ns = blocked_ns(&|label| label != "<lock was free>");
        assert!(
            owned_ns as f64 > 0.9 * not_free_ns as f64,
            "{owner}: {lock:#?}"
        );
        assert!(
            not_free_ns as f64 > 0.5 * lock.duration_ns as f64,
            "{owner}: {lock:#?}"
        );
    }
}
