//! Threads that block each other for good, compared with what the JVM itself says
//! about them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::thread;
use std::time::Duration;

use jvm_tests::{Frame, Jvm, Run, ThreadRef, check_program, locktrace, parse_contentions};
use serde::Deserialize;

/// `Deadlocks.BLOCKED_MILLIS`, less what it takes the last thread to be seen as blocked.
const BLOCKED_NS: u64 = 300_000_000;

#[test]
fn two_monitors() {
    check_ended("monitors", &[2]);
}

/// Their owners are known as threads from the start, not as addresses on stacks.
#[test]
fn inflated_monitors() {
    check_ended("inflated", &[2]);
}

#[test]
fn three_threads() {
    check_ended("three", &[3]);
}

#[test]
fn reentrant_locks() {
    check_ended("reentrant-locks", &[2]);
}

#[test]
fn a_monitor_and_a_reentrant_lock() {
    check_ended("mixed", &[2]);
}

#[test]
fn two_cycles_and_those_who_wait_for_them() {
    check_ended("two-cycles", &[2, 2]);
}

/// The places where they acquired them are known.
#[test]
fn monitors_that_the_threads_had_to_wait_for() {
    check_program(
        &["scenarios.Deadlocks", "contended-before", "return"],
        &[],
        |_, run| {
            check(run, &run.trace(), 0, &[2]);
            for thread in &report(&run.trace(), 0).deadlocks[0].threads {
                let acquired = thread.acquired_chain.as_ref().expect("it had to wait");
                assert_eq!(
                    acquired[0].name(),
                    "scenarios.Deadlocks$Monitor.contendedBefore"
                );
            }
        },
    );
}

/// One of them re-acquires its monitor after `Object.wait`.
#[test]
fn after_wait() {
    check_ended("after-wait", &[2]);
}

/// Threads wait for ever, but not for each other.
#[test]
fn owners_that_do_not_wait_for_a_lock() {
    check_ended("stuck-owner", &[]);
}

/// The JVM does not see these itself; the program says who blocks whom.
#[test]
fn static_initializers() {
    check_initialization("classes", &["first", "second"]);
}

#[test]
fn a_static_initializer_and_a_monitor() {
    check_initialization("monitor", &["initializer", "owner"]);
}

#[test]
fn read_while_running_and_after_a_kill() {
    for way in ["monitors", "mixed"] {
        let mut jvm = Jvm::traced(&["scenarios.Deadlocks", way, "never"]).start();
        jvm.await_line("all blocked");
        // The drainer has written all that threads have recorded.
        thread::sleep(Duration::from_millis(2_500));
        let running = report(&jvm.trace(), 1);
        let run = jvm.kill();
        check(&run, &run.trace(), 1, &[2]);
        assert_eq!(names(&running), names(&report(&run.trace(), 1)));
    }
}

/// The program ends while its threads are blocked.
fn check_ended(way: &str, cycles: &[usize]) {
    check_program(&["scenarios.Deadlocks", way, "return"], &[], |_, run| {
        check(run, &run.trace(), 0, cycles);
        for thread in report(&run.trace(), 0)
            .deadlocks
            .iter()
            .flat_map(|d| &d.threads)
        {
            assert!(thread.duration_ns >= BLOCKED_NS, "{thread:#?}");
        }
    });
}

fn check_initialization(way: &str, cycle: &[&str]) {
    let program = ["scenarios.InitializationDeadlock", way];
    check_program(&program, &[], |_, run| {
        let truth: BTreeSet<_> = run
            .lines_of("blocked")
            .map(|words| (words[0], words[1], words[2]))
            .collect();
        assert!(truth.len() >= 2, "{}", run.describe());

        let contentions = read(&["contentions", "--format", "jsonl"], &run.trace(), 0);
        let contentions = parse_contentions(&contentions);
        let open = contentions.iter().filter(|part| !part.ended);
        let found: BTreeSet<_> = open
            .map(|part| {
                let class = part.mirrored_class.as_ref().unwrap_or(&part.lock_class);
                let owner = part.owner_name().expect("the owner was seen");
                (part.thread.name.as_str(), class.as_str(), owner)
            })
            .collect();
        assert_eq!(found, truth);

        let report = report(&run.trace(), 0);
        let found: BTreeSet<_> = names(&report).into_iter().collect();
        assert_eq!(found, cycle.iter().copied().collect());
        assert_eq!(report.deadlocks.len(), 1, "{report:#?}");
        let table = read(&["report"], &run.trace(), 0);
        let is_run = |line: &&str| line.starts_with("  runs initialization of class ");
        let initializers = truth
            .iter()
            .filter(|(_, class, _)| !class.ends_with("$Wanted"));
        let initialized: BTreeSet<_> = initializers.map(|(_, class, _)| class).collect();
        assert_eq!(
            table.lines().filter(is_run).count(),
            initialized.len(),
            "{table}"
        );
    });
}

/// The output of `report --format json`.
#[derive(Debug, Deserialize)]
struct Report {
    deadlocks: Vec<Deadlock>,
    totals: Totals,
}

#[derive(Debug, Deserialize)]
struct Totals {
    still_blocked: StillBlocked,
}

#[derive(Debug, Deserialize)]
struct StillBlocked {
    threads: usize,
}

#[derive(Debug, Deserialize)]
struct Deadlock {
    threads: Vec<Deadlocked>,
}

#[derive(Debug, Deserialize)]
struct Deadlocked {
    thread: ThreadRef,
    waits_for: Lock,
    duration_ns: u64,
    chain: Vec<Frame>,
    holds: Option<Lock>,
    acquired_chain: Option<Vec<Frame>>,
}

#[derive(Debug, Deserialize)]
struct Lock {
    lock_id: String,
}

/// The JVM's own findings.
struct Truth<'a> {
    /// The lock that each thread is blocked on, and its owner.
    blocked: BTreeMap<&'a str, (String, &'a str)>,
    /// The locks that threads hold, and the method that acquired each.
    holds: BTreeMap<(&'a str, String), &'a str>,
    /// The threads that `findDeadlockedThreads` names: JDK 8 adds those that wait for a cycle.
    deadlocked: BTreeSet<&'a str>,
}

impl<'a> Truth<'a> {
    /// The threads that wait, by way of others, for themselves.
    fn in_cycles(&self) -> BTreeSet<&'a str> {
        let owner = |thread: &str| self.blocked.get(thread).map(|&(_, owner)| owner);
        let is_in_cycle = |thread: &&&str| {
            let mut owners = std::iter::successors(owner(thread), |&thread| owner(thread));
            owners
                .by_ref()
                .take(self.blocked.len())
                .any(|owner| owner == **thread)
        };
        self.blocked.keys().filter(is_in_cycle).copied().collect()
    }

    fn of(run: &'a Run) -> Self {
        let blocked = run.lines_of("blocked");
        let holds = run.lines_of("holds");
        let deadlocked = run.lines_of("deadlocked");
        Self {
            blocked: blocked.map(|w| (w[0], (lock_id(w[1]), w[2]))).collect(),
            holds: holds.map(|w| ((w[0], lock_id(w[1])), w[2])).collect(),
            deadlocked: deadlocked.map(|w| w[0]).collect(),
        }
    }
}

/// From `class@hash` to `hash@class`.
fn lock_id(printed: &str) -> String {
    let (class, hash) = printed
        .split_once('@')
        .expect("a lock as the JVM prints it");
    format!("{hash}@{class}")
}

/// The trace agrees with the JVM; the cycles have these numbers of threads.
fn check(run: &Run, trace: &Path, exit_code: i32, cycles: &[usize]) {
    let truth = Truth::of(run);
    assert!(truth.blocked.len() >= 2, "{}", run.describe());
    let report = report(trace, exit_code);
    let found: Vec<_> = report.deadlocks.iter().map(|d| d.threads.len()).collect();
    assert_eq!(found, cycles, "{report:#?}\n{}", run.describe());
    let found = report.deadlocks.iter().flat_map(|d| &d.threads);
    let found: BTreeSet<_> = found.map(|found| found.thread.name.as_str()).collect();
    assert_eq!(found, truth.in_cycles());
    assert!(found.is_subset(&truth.deadlocked), "{}", run.describe());
    assert_eq!(found.is_empty(), truth.deadlocked.is_empty());
    assert_eq!(report.totals.still_blocked.threads, truth.blocked.len());

    for deadlock in &report.deadlocks {
        let next = deadlock.threads.iter().cycle().skip(1);
        for (thread, next) in deadlock.threads.iter().zip(next) {
            let name = thread.thread.name.as_str();
            let waits_for = (thread.waits_for.lock_id.clone(), next.thread.name.as_str());
            assert_eq!(waits_for, truth.blocked[name], "{name}");
            let held = thread.holds.as_ref().expect("part of a cycle");
            let held = held.lock_id.clone();
            let holding = truth.holds[&(name, held)];
            let holds = |frame: &Frame| frame.name() == holding;
            let is_monitor = holding != "-";
            assert!(!is_monitor || thread.chain.iter().any(holds), "{thread:#?}");
        }
    }
    check_open_waits(trace, exit_code, &truth);
    check_table(trace, exit_code, cycles.len());
}

/// Each thread that is blocked has a wait that had not ended, and its owner is who the
/// JVM says it is.
fn check_open_waits(trace: &Path, exit_code: i32, truth: &Truth<'_>) {
    let output = read(&["contentions", "--format", "jsonl"], trace, exit_code);
    let contentions = parse_contentions(&output);
    let mut found = BTreeMap::new();
    for part in contentions.iter().filter(|part| !part.ended) {
        let owner = part.owner_name().expect("the owner was seen");
        found.insert(part.thread.name.as_str(), (part.lock_id.clone(), owner));
    }
    assert_eq!(found, truth.blocked);
}

/// People see the cycles first.
fn check_table(trace: &Path, exit_code: i32, cycles: usize) {
    let table = read(&["report"], trace, exit_code);
    let is_deadlock = |line: &&str| line.starts_with("DEADLOCK ");
    assert_eq!(table.lines().filter(is_deadlock).count(), cycles, "{table}");
    let first = table.lines().next().expect("a line");
    assert_eq!(is_deadlock(&first), cycles > 0, "{table}");
    assert!(
        table.contains("still blocked when the trace ended"),
        "{table}"
    );
    assert!(!table.contains("No thread had to wait"), "{table}");
}

fn report(trace: &Path, exit_code: i32) -> Report {
    let json = read(&["report", "--format", "json"], trace, exit_code);
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error} in {json}"))
}

fn names(report: &Report) -> Vec<&str> {
    let threads = report.deadlocks.iter().flat_map(|d| &d.threads);
    threads.map(|found| found.thread.name.as_str()).collect()
}

fn read(command: &[&str], trace: &Path, exit_code: i32) -> String {
    let arguments = command.iter().map(OsString::from).chain([trace.into()]);
    let finished = locktrace(arguments);
    assert_eq!(finished.code, exit_code, "{}", finished.stderr);
    finished.stdout
}
