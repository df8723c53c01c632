//! The JVM's own statistics of blocked threads, `ThreadMXBean`, see the same as
//! the trace.

use jvm_tests::{CompileMode, Jvm, NEVER_INLINED, Run, Wait, alone, check_each, waits};
use serde::Deserialize;

/// The counts of a thread of a scenario, see `CountedThread`.
#[derive(Debug, Deserialize)]
struct Counted {
    thread: String,
    /// By the JVM.
    blocked_count: usize,
    /// By the JVM.
    blocked_ms: u64,
    /// By the thread: it returned so often from a wait that was notified.
    notified_count: usize,
    /// By the thread: how long that took at least, from the end of the notification to when
    /// nobody else had the lock any more.
    min_notified_ns: u64,
    /// By the thread: how long that took at most, from before the notification until it ran.
    max_notified_ns: u64,
}

/// The JVM starts and stops its timer within some microseconds of the events,
/// some hundred times; each time it takes milliseconds.
const TOLERANCE: f64 = 0.01;

/// `ThreadMXBean` leaves out what is less than a millisecond.
const GRAIN_MS: f64 = 1.0;

/// The most runs of a program until the times agree. A thread that loses its processor for long
/// between the JVM's reading of the clock and the other one has two right times that differ; that
/// does not happen in each run. Counts must agree in all.
const ATTEMPTS: usize = 3;

#[test]
fn agrees_on_how_often_and_how_long() {
    check_modes("scenarios.BlockedTimes", CompileMode::ALL, |threads, _| {
        assert_eq!(threads.len(), 6);
        for thread in threads {
            assert_eq!(thread.notified_count, 0, "{thread:?}");
        }
    });
}

#[test]
fn counts_what_was_notified_in_addition() {
    let modes = [
        CompileMode::Tiered,
        CompileMode::Interpreter,
        CompileMode::Eager,
    ];
    check_modes("scenarios.NotifiedTimes", modes, |threads, waits| {
        assert_eq!(threads.len(), 8);
        // Neither all nor none of what is counted in addition is in the trace.
        let notified: usize = threads.iter().map(|thread| thread.notified_count).sum();
        let of_listeners = waits
            .iter()
            .filter(|wait| wait.thread().starts_with("listener"));
        let reentries = of_listeners.filter(|wait| is_reentry(wait)).count();
        assert!(
            (1..notified).contains(&reentries),
            "{reentries} of {notified}"
        );
    });
}

/// Runs a scenario in each mode, and compares all of its threads' counts and
/// times, in addition to the caller's checks.
fn check_modes(
    scenario: &str,
    modes: impl IntoIterator<Item = CompileMode>,
    check: impl Fn(&[Counted], &[Wait]),
) {
    let _processor = alone();
    check_each(modes, |&mode| {
        let mut differences = Vec::new();
        for _ in 0..ATTEMPTS {
            let run = run(scenario, mode);
            let (threads, waits) = (counted_threads(&run), waits(&run.trace()));
            check(&threads, &waits);
            let of_run = threads.iter().filter_map(|thread| compare(thread, &waits));
            let of_run: Vec<String> = of_run.collect();
            if of_run.is_empty() {
                return;
            }
            differences.push(of_run);
        }
        panic!("the times agree in no run: {differences:#?}");
    });
}

fn run(scenario: &str, mode: CompileMode) -> Run {
    Jvm::traced(&[scenario])
        .flags(NEVER_INLINED)
        .flags(mode.flags())
        .run()
}

fn counted_threads(run: &Run) -> Vec<Counted> {
    let lines = run.stdout.lines();
    let threads = lines.map(|line| serde_json::from_str(line).expect("the program prints JSON"));
    threads.collect()
}

/// The JVM counts, and times, a thread as blocked
///
/// - in the slow path of `ObjectMonitor::enter`, which is also how a thread gets
///   its lock back after a wait that timed out or was interrupted
///   (`JavaThreadBlockedOnMonitorEnterState`);
/// - from when another thread notifies it until it has the lock again
///   (`ObjectWaiter::wait_reenter_begin` and `_end`), even if it never blocks
///   (`ObjectMonitor::ReenterI`).
///
/// The trace counts what blocks. A thread here is notified in each of its waits
/// or in none.
///
/// Returns in which way the times differ, if they do. Panics if the counts do.
fn compare(thread: &Counted, waits: &[Wait]) -> Option<String> {
    let of_thread = waits.iter().filter(|wait| wait.thread() == thread.thread);
    let is_notified = thread.notified_count > 0;
    let (reentries, counted): (Vec<_>, Vec<_>) =
        of_thread.partition(|wait| is_notified && is_reentry(wait));

    assert!(reentries.len() <= thread.notified_count, "{thread:?}");
    assert_eq!(
        counted.len() + thread.notified_count,
        thread.blocked_count,
        "number of waits: {thread:?}"
    );

    let traced_ns: u64 = counted.iter().map(|wait| wait.duration_ns).sum();
    let least_ms = (traced_ns + thread.min_notified_ns) as f64 / 1e6;
    let most_ms = (traced_ns + thread.max_notified_ns) as f64 / 1e6;
    let blocked_ms = thread.blocked_ms as f64;
    assert!(blocked_ms > 100.0, "too short to compare: {thread:?}");
    let is_as_traced = least_ms <= blocked_ms * (1.0 + TOLERANCE) + GRAIN_MS
        && most_ms >= blocked_ms * (1.0 - TOLERANCE);
    (!is_as_traced).then(|| format!("{least_ms} to {most_ms} ms: {thread:?}"))
}

fn is_reentry(wait: &Wait) -> bool {
    wait.common().after_wait
}
