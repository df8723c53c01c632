//! The agent and virtual threads, in JVMs that have them: the owners of locks while others wait, by
//! the program's own clock, and crowds of them.

use std::collections::BTreeMap;

use jvm_tests::{
    Jdk, Jvm, NEVER_INLINED, Run, agent_option, alone, analyze, check_each, check_shares_of_holds,
    check_sound, is_nightly,
};

/// Those of the stock JVMs that have virtual threads; the newest one alone if not in nightly tests.
fn versions() -> impl Iterator<Item = &'static Jdk> {
    let names = if is_nightly() {
        &["21", "25"][..]
    } else {
        &["25"]
    };
    names.iter().map(|version| Jdk::stock_version(version))
}

/// Holds of milliseconds by four threads, for a second and a half.
const NUMBERS: [&str; 6] = ["4", "1000000", "5000000", "12500000", "1500", "0"];

const LOCKS: [(&str, &str); 3] = [
    ("monitor", "scenarios.HoldsOfLocks$Shared"),
    (
        "nonfair",
        "java.util.concurrent.locks.ReentrantLock$NonfairSync",
    ),
    (
        "write",
        "java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync",
    ),
];

fn with_virtual_threads(jdk: &'static Jdk, program: &[&str]) -> Jvm {
    Jvm::untraced(jdk, program)
        .flags([agent_option("file=trace.lct")])
        // In 21 a thread that waits for a monitor keeps its carrier.
        .flags([
            "-Dscenarios.threads=virtual",
            "-Djdk.virtualThreadScheduler.parallelism=4",
        ])
}

#[test]
fn each_method_is_blamed_for_what_its_clock_says() {
    let _processor = alone();
    check_each(versions(), |jdk| {
        for (lock, class) in LOCKS {
            let mut program = vec!["scenarios.HoldsOfLocks", lock];
            program.extend(NUMBERS);
            let run = with_virtual_threads(jdk, &program)
                .flags(["-Xverify:all"])
                .flags(NEVER_INLINED)
                .run();
            check_shares_of_holds(lock, class, jdk, &run);
        }
    });
}

/// Each waits for a latch at the same time. All of their buffers fit at once, those that the tracer
/// has yet to write and the next ones, so it does not matter when it gets to write.
#[test]
fn crowds_wait_for_a_latch() {
    let _processor = alone();
    check_each(versions(), |jdk| {
        let size = 3_500;
        let run = crowd(jdk, size);
        let waits = waits_for_latch(&run);
        let summary = analyze(&run.trace(), |_, _| {}).expect("a trace");
        check_sound(&summary);
        let expected = (0..size).map(|number| (format!("crowd-{number}"), 1));
        assert!(waits == expected.collect(), "{}", run.describe());
    });
}

/// If the tracer does not get to write in time, buffers run out. What is lost is counted.
#[test]
fn larger_crowds_have_their_losses_counted() {
    let _processor = alone();
    check_each(versions(), |jdk| {
        let sizes = if is_nightly() {
            &[10_000, 100_000][..]
        } else {
            &[10_000]
        };
        for &size in sizes {
            let run = crowd(jdk, size);
            let waits = waits_for_latch(&run);
            let summary = analyze(&run.trace(), |_, _| {}).expect("a trace");
            assert!(summary.is_whole(), "{:?}", summary.damage);
            let often = waits.iter().find(|&(_, &waits)| waits > 1);
            assert_eq!(often, None, "{}", run.describe());
            let accounted = waits.len() as u64 + summary.lost_events();
            assert!(accounted >= size as u64, "{accounted} of {size} waits");
        }
    });
}

fn crowd(jdk: &'static Jdk, size: usize) -> Run {
    let run = with_virtual_threads(jdk, &["scenarios.VirtualCrowd", &size.to_string()])
        .flags(["-Xmx1g"])
        .run();
    assert_eq!(run.stdout, format!("sum {size} of {size}\n"));
    run
}

/// Returns how often each thread waited for the latch.
fn waits_for_latch(run: &Run) -> BTreeMap<String, usize> {
    let mut waits = BTreeMap::new();
    let summary = analyze(&run.trace(), |wait, entities| {
        let class = entities.lock_class(wait.lock);
        let class = class.map_or("", |class| entities.class_name(class));
        if class == "java.util.concurrent.CountDownLatch$Sync" {
            let thread = entities.thread(wait.thread).name.to_string();
            *waits.entry(thread).or_default() += 1;
        }
    });
    summary.expect("a trace");
    // `Thread.join` of the main thread is a latch, too.
    waits.remove("main");
    waits
}
