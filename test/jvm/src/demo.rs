//! The check of the demonstration program: its report names the culprits.

use std::path::Path;

use crate::locktrace::report;

/// Checks a trace of `demo.Demo`. `nobody` is what the report calls the time between a release and
/// the next acquisition.
///
/// Panics if the report names others.
pub fn check_demo(trace: &Path, nobody: &str) {
    let report = report(trace, "lock-class,owner-method,method");
    // The two locks make up nearly everything: `Ledger` has linked its code before the workers
    // start, and what else the class library contributes is a matter of chance.
    let audit_log = report.node("demo.AuditLog");
    let balances = report.node("java.util.Hashtable");
    assert!(audit_log.share + balances.share > 0.95, "{report:#?}");

    // The owners of the locks. The time without an owner depends on the machine: a thread that was
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
        let not_free_ns = blocked_ns(&|label| label != nobody);
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
