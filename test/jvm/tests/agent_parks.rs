//! The agent on stock JVMs of each version: who has a lock of `java.util.concurrent` while others
//! wait for it, by the program's own clock.

use jvm_tests::{
    HoldLog, Jdk, Jvm, NEVER_INLINED, TraceClock, agent_option, alone, analyze, check_each,
    check_sound,
};

/// How far a method's blame may be from the truth, relative to all blame. The program notes when it
/// has acquired the lock and when it is about to release it, some microseconds away from that.
const SHARE_TOLERANCE: f64 = 0.03;

/// Holds of milliseconds by four threads, for a second and a half.
const NUMBERS: [&str; 6] = ["4", "1000000", "5000000", "12500000", "1500", "0"];

const LOCKS: [(&str, &str); 3] = [
    (
        "nonfair",
        "java.util.concurrent.locks.ReentrantLock$NonfairSync",
    ),
    ("fair", "java.util.concurrent.locks.ReentrantLock$FairSync"),
    (
        "write",
        "java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync",
    ),
];

#[test]
fn each_method_is_blamed_for_what_its_clock_says() {
    let _processor = alone();
    check_each(Jdk::stock_versions().iter().copied(), |jdk| {
        for (lock, class) in LOCKS {
            check(jdk, lock, class);
        }
    });
}

fn check(jdk: &'static Jdk, lock: &str, class: &str) {
    let mut program = vec!["scenarios.HoldsOfLocks", lock];
    program.extend(NUMBERS);
    let run = Jvm::untraced(jdk, &program)
        .flags([agent_option("file=trace.lct")])
        .flags(["-Xverify:all"])
        .flags(NEVER_INLINED)
        .run();
    check_sound(&analyze(&run.trace(), |_, _| {}).expect("a trace"));
    let compared = HoldLog::of(&run, TraceClock::of(&run)).compare(&run, class);
    let truth = &compared.truth.methods;
    let total_ns: u64 = truth.values().map(|bounds| bounds.least_ns).sum();
    assert!(compared.waits > 20 && total_ns > 0, "{}", run.describe());
    let tolerance_ns = SHARE_TOLERANCE * total_ns as f64;
    for method in truth.keys().chain(compared.found.methods.keys()) {
        let found_ns = compared.found.methods.get(method).copied().unwrap_or(0);
        let bounds = truth.get(method).copied().unwrap_or_default();
        let range = bounds.least_ns as f64 - tolerance_ns..=bounds.most_ns as f64 + tolerance_ns;
        assert!(
            range.contains(&(found_ns as f64)),
            "{lock} on {}: {method:?}: {found_ns} ns instead of {bounds:?}",
            jdk.home().display(),
        );
    }
}
