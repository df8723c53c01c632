//! The kinds of waits of parked threads: for a lock, another thread, work, or time.

use std::collections::BTreeMap;
use std::path::Path;

use jvm_tests::{
    CompileMode, Jdk, Jvm, NEVER_INLINED, Report, Wait, agent_option, check_each, report,
    report_of_kinds, waits_of_all_kinds,
};

/// The threads of `WaitKinds` that the main thread wakes up, and the class that
/// each waits for, without its package.
const CONTENTION: [(&str, &str); 9] = [
    ("reentrant-lock", "ReentrantLock$NonfairSync"),
    ("fair-lock", "ReentrantLock$FairSync"),
    ("stamped-lock", "StampedLock"),
    ("write-lock", "ReentrantReadWriteLock$NonfairSync"),
    ("reader", "ReentrantReadWriteLock$NonfairSync"),
    ("semaphore", "Semaphore$NonfairSync"),
    ("drained-semaphore", "Semaphore$NonfairSync"),
    ("mutex-with-owner", "WaitKinds$Mutex"),
    ("mutex", "WaitKinds$Mutex"),
];

/// The same for those that wait for something else than a lock.
const CONDITIONAL: [(&str, &str); 16] = [
    ("gate", "WaitKinds$Gate"),
    ("latch", "CountDownLatch$Sync"),
    ("signal", "Semaphore$NonfairSync"),
    ("fair-signal", "Semaphore$FairSync"),
    ("barrier", "AbstractQueuedSynchronizer$ConditionObject"),
    ("phaser", "Phaser$QNode"),
    ("condition", "AbstractQueuedSynchronizer$ConditionObject"),
    ("array-queue", "AbstractQueuedSynchronizer$ConditionObject"),
    ("synchronous-queue", "SynchronousQueue$TransferStack"),
    ("fair-synchronous-queue", "SynchronousQueue$TransferQueue"),
    ("transfer-queue", "LinkedTransferQueue"),
    ("exchanger", "Exchanger"),
    ("future-task", "FutureTask"),
    ("completable-future", "CompletableFuture$Signaller"),
    ("bare-park", "<no blocker>"),
    // In a task of a pool.
    ("busy-worker", "CountDownLatch$Sync"),
];

/// Those that nobody wakes, and what their waits are.
const TIMED: [(&str, &str); 5] = [
    ("nap", "sleep"),
    ("nap-on-object", "sleep"),
    ("nap-until", "sleep"),
    // On a semaphore that was only ever used as a signal.
    ("missed-signal", "conditional"),
    // For an element, in vain.
    ("poll", "conditional"),
];

/// The threads of pools.
const WORKERS: [&str; 3] = ["pool-worker", "scheduled-worker", "fork-join-worker"];

/// An agent takes a semaphore that is used as a signal for a lock: docs/agent.md.
const SIGNALS: [&str; 3] = ["signal", "fair-signal", "missed-signal"];

/// Less than `WaitKinds.BLOCKED_MILLIS`: the main thread can see a thread parked
/// a moment before the trace does.
const BLOCKED_NS: u64 = 4_000_000;

/// `WaitKinds.NAP_NANOS`.
const NAP_NS: u64 = 20_000_000;

#[test]
fn each_wait_is_of_its_kind() {
    let modes = [
        CompileMode::Tiered,
        CompileMode::Interpreter,
        CompileMode::Eager,
    ];
    check_each(modes, |mode| {
        let run = Jvm::traced(&["scenarios.WaitKinds"])
            .flags(NEVER_INLINED)
            .flags(mode.flags())
            .run();
        let waits = waits_of_all_kinds(&run.trace());
        for (thread, class) in CONTENTION {
            check_woken(longest(&waits, thread), "contention", class);
        }
        for (thread, class) in CONDITIONAL {
            check_woken(longest(&waits, thread), "conditional", class);
        }
        for (thread, kind) in TIMED {
            let wait = longest(&waits, thread);
            assert_eq!(wait.common().kind, kind, "{wait}");
            let owners = wait.parts.iter().filter_map(|part| part.owner_name());
            assert_eq!(owners.count(), 0, "{wait}");
            assert_eq!(wait.common().end, "timed-out", "{wait}");
            let (timeout_ns, deadline_ms) =
                (wait.common().timeout_ns, wait.common().deadline_unix_ms);
            match thread {
                // Until a time of the wall clock.
                "nap-until" => assert!(timeout_ns.is_none() && deadline_ms.is_some(), "{wait}"),
                "nap" | "nap-on-object" => assert_eq!(timeout_ns, Some(NAP_NS), "{wait}"),
                // The synchronizer has subtracted what was over already.
                _ => assert!((1..=NAP_NS).contains(&timeout_ns.unwrap_or(0)), "{wait}"),
            }
        }
        for thread in WORKERS {
            check_worker(&waits, thread);
        }
        check_reports(&run.trace(), &waits);
    });
}

/// Classes of the JDK are called differently in each version, and so are the methods that identify
/// them.
#[test]
fn the_agent_tells_the_same_of_every_version() {
    check_each(Jdk::stock_versions().iter().copied(), |jdk| {
        let run = Jvm::untraced(jdk, &["scenarios.WaitKinds"])
            .flags([agent_option("file=trace.lct")])
            .flags(NEVER_INLINED)
            .run();
        let waits = waits_of_all_kinds(&run.trace());
        let contention = CONTENTION.map(|(thread, _)| (thread, "contention"));
        let conditional = CONDITIONAL.map(|(thread, _)| (thread, "conditional"));
        for (thread, kind) in contention.into_iter().chain(conditional) {
            if !SIGNALS.contains(&thread) {
                check_waker(longest(&waits, thread), kind);
            }
        }
        for (thread, kind) in TIMED {
            if !SIGNALS.contains(&thread) {
                let wait = longest(&waits, thread);
                assert_eq!(wait.common().kind, kind, "{wait}");
                assert_eq!(wait.common().end, "timed-out", "{wait}");
            }
        }
        for thread in WORKERS {
            check_worker(&waits, thread);
        }
    });
}

fn longest<'a>(waits: &'a [Wait], thread: &str) -> &'a Wait {
    let of_thread = waits.iter().filter(|wait| wait.thread() == thread);
    let longest = of_thread.max_by_key(|wait| wait.duration_ns);
    longest.unwrap_or_else(|| panic!("{thread} never waited"))
}

fn check_woken(wait: &Wait, kind: &str, class: &str) {
    let simple_name = wait.common().lock_class.rsplit('.').next();
    assert_eq!(simple_name, Some(class), "{wait}");
    check_waker(wait, kind);
}

/// The main thread is to blame, which was in `wakeUp` in the end.
fn check_waker(wait: &Wait, kind: &str) {
    let common = wait.common();
    assert_eq!(common.mechanism, "park", "{wait}");
    assert_eq!(common.kind, kind, "{wait}");
    assert_eq!(common.end, "woken", "{wait}");
    let part = wait.longest_part();
    assert_eq!(part.owner_name(), Some("main"), "{wait}");
    assert!(part.duration_ns >= BLOCKED_NS, "too little blame: {wait}");
    let mut owner_frames = part.owner_frames().iter();
    let is_wake_up = |name: String| name == "scenarios.WaitKinds.wakeUp";
    assert!(owner_frames.any(|frame| is_wake_up(frame.name())), "{wait}");
}

/// A worker without work can also want a lock of its pool.
fn check_worker(waits: &[Wait], thread: &str) {
    let of_worker = waits.iter().filter(|wait| wait.thread() == thread);
    let (idle, rest): (Vec<_>, Vec<_>) = of_worker.partition(|wait| wait.common().kind == "idle");
    assert!(!idle.is_empty(), "{thread} was never without work");
    for wait in rest {
        assert_eq!(wait.common().kind, "contention", "{wait}");
    }
}

/// A report is about contention, unless other kinds are asked for, and then about
/// these: the same threads waited as long as the list of all waits says.
fn check_reports(trace: &Path, waits: &[Wait]) {
    check_report(&report(trace, "thread"), waits, &["contention"]);
    // The main thread joins the others.
    for kind in ["conditional", "idle", "sleep", "join"] {
        let report = report_of_kinds(kind, trace, "thread");
        check_report(&report, waits, &[kind]);
    }
    let all = report_of_kinds("all", trace, "kind");
    assert_eq!(all.tree.len(), 5, "{:#?}", all.tree);
}

fn check_report(report: &Report, waits: &[Wait], kinds: &[&str]) {
    let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
    for wait in waits {
        if kinds.contains(&&*wait.common().kind) {
            *expected.entry(wait.thread()).or_default() += wait.duration_ns;
        }
    }
    let rows = report.tree.iter();
    let reported: BTreeMap<_, _> = rows.map(|row| (&*row.label, row.duration_ns)).collect();
    assert_eq!(reported, expected, "{kinds:?}");
}
