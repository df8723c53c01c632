//! The agent on stock JVMs of each version: who has a lock of `java.util.concurrent` while others
//! wait for it, by the program's own clock.

use jvm_tests::{Jdk, Jvm, NEVER_INLINED, agent_option, check_each, check_shares_of_holds};

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
    check_each(Jdk::chosen_stock_versions(), |jdk| {
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
    check_shares_of_holds(lock, class, jdk, &run);
}
