//! A real server, Tomcat: most of its threads have nothing to do most of the
//! time, which is no contention.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use jvm_tests::{
    Contention, Jar, Jvm, Report, ReportNode, Wait, alone, analyze, check_sound, dependencies,
    java_compiler, locktrace, parse_contentions, report, run_to_success, source_directory,
};

/// The server and what it depends on.
const JARS: [Jar; 2] = [
    Jar {
        name: "tomcat-embed-core-9.0.98.jar",
        sha256: "93cd8259690732cd6e25eb084090ea9e21db95631ca1ec8e05b26002379f185a",
    },
    Jar {
        name: "tomcat-annotations-api-9.0.98.jar",
        sha256: "a6451be75cbe373e79f30d626f199e77b70020bd164a23632e5f4f58eaffbaef",
    },
];

const CONDITION: &str = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject";
const REENTRANT_LOCK: &str = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
const SEMAPHORE: &str = "java.util.concurrent.Semaphore$NonfairSync";
const LATCH: &str = "java.util.concurrent.CountDownLatch$Sync";
const NO_BLOCKER: &str = "<no blocker>";

#[test]
fn contention_has_its_cause_and_idle_workers_are_none() {
    let _processor = alone();
    let run = Jvm::traced(&["server.WebShop"])
        .class_path(class_path())
        .run();
    assert!(run.stdout.ends_with(": all right\n"), "{}", run.describe());
    assert_eq!(run.stderr, "");
    check_sound(&analyze(&run.trace(), |_, _| {}).expect("a trace"));
    check_causes(&run.trace());
    check_kinds(&run.trace());
}

/// Parks that are no contention, as fast as they get.
#[test]
fn handing_over_is_no_contention() {
    let _processor = alone();
    for (kind, expected) in [
        ("linked", &["conditional"][..]),
        ("synchronous", &["conditional"]),
        ("executor", &["conditional", "idle"]),
    ] {
        let run = Jvm::traced(&["server.Handoffs", kind, "4", "200"])
            .class_path(class_path())
            .run();
        check_sound(&analyze(&run.trace(), |_, _| {}).expect("a trace"));
        let report = report_on_all_kinds(&run.trace());
        for label in expected {
            assert!(report.node(label).share > 0.2, "{kind}: {report:#?}");
        }
        // The rest: the queues have locks.
        let share: f64 = expected.iter().map(|label| report.node(label).share).sum();
        assert!(share > 0.9, "{kind}: {report:#?}");
    }
}

/// The report names what the comment on top of the program says.
fn check_causes(trace: &Path) {
    let report = report(trace, "lock-class,owner-method,method");

    // Tomcat and the JDK use locks of this class, too.
    let lock = report.node(REENTRANT_LOCK);
    let additions = |owner: &ReportNode| -> u64 {
        let blocked = owner.children.iter();
        let additions = blocked.filter(|node| node.label == "server.Sales.add");
        additions.map(|node| node.duration_ns).sum()
    };
    let all: u64 = lock.children.iter().map(additions).sum();
    let known: u64 = known_owners(lock).map(additions).sum();
    let reports = additions(owner(lock, "server.Sales.report"));
    assert!(reports as f64 > 0.9 * known as f64, "{lock:#?}");
    // The rest is the time that threads take to wake up.
    assert!(known as f64 > 0.5 * all as f64, "{lock:#?}");

    let connections = report.node(SEMAPHORE);
    owner(connections, "server.Database.insertOrder");
    owner(connections, "server.Database.selectHistory");
    assert_eq!(known_owners(connections).count(), 2, "{connections:#?}");
}

/// The owners that a report names for a lock.
fn known_owners(lock: &ReportNode) -> impl Iterator<Item = &ReportNode> {
    let owners = lock.children.iter();
    // In angle brackets: a free lock, an unknown owner.
    owners.filter(|owner| !owner.label.starts_with('<'))
}

fn owner<'a>(lock: &'a ReportNode, method: &str) -> &'a ReportNode {
    known_owners(lock)
        .find(|owner| owner.label == method)
        .unwrap_or_else(|| panic!("no {method} in {lock:#?}"))
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

/// What a thread can wait for in this program.
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

/// The compiled programs and the server.
fn class_path() -> OsString {
    static CLASS_PATH: OnceLock<OsString> = OnceLock::new();
    let class_path = CLASS_PATH.get_or_init(|| {
        let jars = dependencies("server", &JARS);
        let classes = jars[0].with_file_name("classes");
        fs::create_dir_all(&classes).expect("the target directory is writable");
        let sources = fs::read_dir(source_directory().join("server")).expect("it is there");
        let sources = sources.map(|entry| entry.expect("a directory is readable").path());
        run_to_success(
            java_compiler(&classes)
                .arg("-cp")
                .arg(std::env::join_paths(&jars).expect("no path has a colon"))
                .args(sources.filter(|path| path.extension() == Some(OsStr::new("java")))),
        );
        std::env::join_paths(jars.iter().chain([&classes])).expect("no path has a colon")
    });
    class_path.clone()
}
