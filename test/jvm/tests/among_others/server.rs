//! A real server, Tomcat: most of its threads have nothing to do most of the
//! time, which is no contention.

use std::ffi::OsStr;
use std::path::Path;

use jvm_tests::{
    Contention, Jvm, Report, Wait, analyze, check_shop, check_sound, locktrace, parse_contentions,
    shop_class_path,
};

const CONDITION: &str = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject";
const LATCH: &str = "java.util.concurrent.CountDownLatch$Sync";
const NO_BLOCKER: &str = "<no blocker>";

#[test]
fn contention_has_its_cause_and_idle_workers_are_none() {
    let run = Jvm::traced(&["server.WebShop"])
        .class_path(shop_class_path())
        .run();
    assert!(run.stdout.ends_with(": all right\n"), "{}", run.describe());
    assert_eq!(run.stderr, "");
    check_sound(&analyze(&run.trace(), |_, _| {}).expect("a trace"));
    check_shop(&run.trace());
    check_kinds(&run.trace());
}

/// Parks that are no contention, as fast as they get.
#[test]
fn handing_over_is_no_contention() {
    for (kind, expected) in [
        ("linked", &["conditional"][..]),
        ("synchronous", &["conditional"]),
        ("executor", &["conditional", "idle"]),
    ] {
        let run = Jvm::traced(&["server.Handoffs", kind, "4", "200"])
            .class_path(shop_class_path())
            .run();
        check_sound(&analyze(&run.trace(), |_, _| {}).expect("a trace"));
        let report = report_on_all_kinds(&run.trace());
        for label in expected {
            assert!(report.node(label).share > 0.2, "{kind}: {report:#?}");
        }
        // The queues have locks, too.
        let share: f64 = expected.iter().map(|label| report.node(label).share).sum();
        let contention = report.tree.iter().find(|node| node.label == "contention");
        let contention = contention.map_or(0.0, |node| node.share);
        assert!(contention < share / 10.0, "{kind}: {report:#?}");
    }
}

fn check_kinds(trace: &Path) {
    let waits = parked_waits(trace);
    for wait in &waits {
        let kind = wait.common().kind.as_str();
        assert!(expected_kinds(wait).contains(&kind), "{wait}");
    }
    // Tomcat's own pool, one that it has from the JDK, and the visitors'; and
    // what stands for the database's work.
    for (threads, kind) in [
        ("http-nio-", "idle"),
        ("Catalina-utility-", "idle"),
        ("pool-1-thread-", "idle"),
        ("http-nio-", "sleep"),
    ] {
        let theirs = waits
            .iter()
            .filter(|wait| wait.thread().starts_with(threads));
        let of_kind = theirs.filter(|wait| wait.common().kind == kind);
        assert!(of_kind.count() > 0, "{threads}: {kind}");
    }
}

/// Returns the kinds of waits that a thread can have in this program.
fn expected_kinds(wait: &Wait) -> &'static [&'static str] {
    let Contention {
        lock_class, chain, ..
    } = wait.common();
    let wants_work = chain.iter().any(|frame| frame.method == "getTask");
    match lock_class.as_str() {
        CONDITION if wants_work => &["idle"],
        // Somebody waits for the end.
        CONDITION | LATCH => &["conditional"],
        // A permit that the semaphore left over ends a sleep at once.
        NO_BLOCKER => &["sleep", "conditional"],
        // Locks, the workers' own among them.
        _ => &["contention"],
    }
}

fn report_on_all_kinds(trace: &Path) -> Report {
    let json = locktrace_on(trace, &["report", "--format", "json", "--by", "kind"]);
    serde_json::from_str(&json).expect("a report")
}

/// All waits for what is no monitor.
fn parked_waits(trace: &Path) -> Vec<Wait> {
    let lines = locktrace_on(trace, &["contentions", "--format", "jsonl"]);
    let mut contentions = parse_contentions(&lines);
    contentions.retain(|contention| contention.mechanism == "park");
    Wait::group(contentions)
}

/// The output of a command that is about waits of all kinds.
fn locktrace_on(trace: &Path, command: &[&str]) -> String {
    let words = command.iter().chain(&["--kind", "all"]).map(OsStr::new);
    let finished = locktrace(words.chain([trace.as_os_str()]));
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    finished.stdout
}
