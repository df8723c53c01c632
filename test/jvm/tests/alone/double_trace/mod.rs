//! The agent in the patched JVM, which traces at the same time: two traces of one run, joined wait
//! by wait. The patched JVM sees each acquisition and release, so it says where the agent is wrong
//! and what it does not know.

mod join;
mod traced_wait;

use jvm_tests::{
    ClassPath, Jdk, Jvm, NEVER_INLINED, Programs, agent_option, alone, check_each,
    database_class_path,
};

use join::Joined;

/// Least share with the same owner of the time in which both name one.
const LEAST_AGREEMENT: f64 = 0.99;
/// Greatest share of the blocked time in which the lock is owned, and the agent does not know by
/// whom. The agent notes a release some microseconds before the JVM does.
const MOST_UNKNOWN: f64 = 0.01;
/// The same where it loses its processor in between, which other programs cause.
const MOST_BETWEEN_NOTES: f64 = 0.05;

/// The same before code looks for waiting threads: milliseconds, or more if other programs have the
/// processors.
const MOST_EARLY: f64 = 0.05;

/// Least share with the same method of the time in which both name the same thread, where the
/// method locks what it has locked already. It is 60 % if inner releases are taken for the last
/// ones.
const LEAST_SAME_METHOD: f64 = 0.95;

/// Four threads that hold one lock for a millisecond, for two and a half seconds: about 1,300 waits.
const HOLDS: [&str; 6] = ["4", "200000", "2000000", "5000000", "2500", "0"];

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

/// H2 locks its database again and again inside of a command. The release that counts is the last
/// one.
#[test]
fn inner_releases_are_known() {
    let _processor = alone();
    let class_path = database_class_path();
    let bank = Jvm::traced(&["h2.BankTransfers"]).class_path(&class_path);
    let joined = join("h2", bank, &ClassPath::new(Jdk::traced(), &class_path));
    assert!(joined.same_method() >= LEAST_SAME_METHOD, "{joined}");
}

fn check(name: &str, program: &[&str]) {
    let class_path = ClassPath::new(Jdk::traced(), Programs::compiled().classes().as_os_str());
    let jvm = Jvm::traced(program).flags(NEVER_INLINED);
    let joined = join(name, jvm, &class_path);
    assert!(joined.agreement() >= LEAST_AGREEMENT, "{name}: {joined}");
    assert!(joined.unknown() <= MOST_UNKNOWN, "{name}: {joined}");
    assert!(joined.early() <= MOST_EARLY, "{name}: {joined}");
    assert!(
        joined.between_notes() <= MOST_BETWEEN_NOTES,
        "{name}: {joined}"
    );
}

/// Both traces of a run with a class path.
fn join(name: &str, jvm: Jvm, class_path: &ClassPath) -> Joined {
    let run = jvm.flags([agent_option("file=agent.lct,sample=100")]).run();
    let patched = traced_wait::read(&run.trace(), class_path);
    let agent = traced_wait::read(&run.directory().join("agent.lct"), class_path);
    let joined = Joined::of(&patched, agent);
    println!("{name}: {joined}");
    assert!(joined.waits >= 20, "{name}: {joined}");
    joined
}
