//! The JVM's own statistics of blocked threads, `ThreadMXBean`, see the same as
//! the trace.

use jvm_tests::{CompileMode, Jvm, NEVER_INLINED, alone, check_each, waits};
use serde::Deserialize;

/// A line of the scenario `BlockedTimes`.
#[derive(Deserialize)]
struct Blocked {
    thread: String,
    blocked_count: usize,
    blocked_ms: u64,
}

/// Every thread is blocked for more than half a second, so that the milliseconds
/// of `ThreadMXBean` round by less than 0.2 percent; the JVM starts and stops its
/// timer within a microsecond of the events, some hundred times.
const TOLERANCE: f64 = 0.01;

#[test]
fn agrees_on_how_often_and_how_long() {
    let _processor = alone();
    check_each(CompileMode::ALL, |mode| {
        let run = Jvm::traced(&["scenarios.BlockedTimes"])
            .flags(NEVER_INLINED)
            .flags(mode.flags())
            .run();
        let waits = waits(&run.trace());
        let mut threads = 0;
        for line in run.stdout.lines() {
            let blocked: Blocked = serde_json::from_str(line).expect("the program prints JSON");
            let of_thread = waits.iter().filter(|wait| wait.thread() == blocked.thread);
            let durations: Vec<u64> = of_thread.map(|wait| wait.duration_ns).collect();
            let traced_ms = durations.iter().sum::<u64>() as f64 / 1e6;
            let case = &blocked.thread;

            assert_eq!(
                durations.len(),
                blocked.blocked_count,
                "number of waits: {case}"
            );
            assert!(blocked.blocked_ms > 500, "too short to compare: {case}");
            let difference = (traced_ms / blocked.blocked_ms as f64 - 1.0).abs();
            assert!(
                difference <= TOLERANCE,
                "{} ms, but {traced_ms:.3} ms traced: {case}",
                blocked.blocked_ms
            );
            threads += 1;
        }
        assert_eq!(threads, 6, "{}", run.describe());
    });
}
