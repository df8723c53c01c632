//! The agent in the patched JVM, which traces at the same time: two traces of one run, joined wait
//! by wait. The patched JVM sees each acquisition and release, so it says where the agent is wrong
//! and what it does not know.

mod join;
mod told;

use jvm_tests::{Jvm, NEVER_INLINED, agent_option, alone, check_each};

use join::Joined;

/// Of the time in which both name an owner it is the same.
const LEAST_AGREEMENT: f64 = 0.99;
/// Of the blocked time the lock is owned, and the agent does not know by whom. Holds of tenths of
/// milliseconds are too short for that to be much: a release is noted by one after the other.
const MOST_UNKNOWN: f64 = 0.01;

/// Threads that hold one lock for tenths of milliseconds, four at a time, for a second and a half.
const HOLDS: [&str; 6] = ["4", "100000", "1000000", "2500000", "1500", "0"];

#[test]
fn the_agent_names_the_owners_that_the_jvm_names() {
    let _processor = alone();
    let locks = ["monitor", "nonfair", "fair", "write"];
    check_each(locks, |lock| {
        let mut program = vec!["scenarios.HoldsOfLocks", lock];
        program.extend(HOLDS);
        check(lock, &program);
    });
    check(
        "methods",
        &["scenarios.OwnerShares", "Method", "1000", "40"],
    );
    check("calls of one lock", &["scenarios.LockHolds", "nonfair"]);
}

fn check(name: &str, program: &[&str]) {
    let run = Jvm::traced(program)
        .flags([agent_option("file=agent.lct")])
        .flags(NEVER_INLINED)
        .run();
    let patched = told::read(&run.trace());
    let agent = told::read(&run.directory().join("agent.lct"));
    let joined = Joined::of(&patched, agent);
    println!("{name}: {joined}");
    assert!(joined.waits >= 20, "{name}: {joined}");
    assert!(joined.agreement() >= LEAST_AGREEMENT, "{name}: {joined}");
    assert!(joined.unknown() <= MOST_UNKNOWN, "{name}: {joined}");
}
