//! The tracer makes each release of a contended lock unpark the first thread in
//! the queue (`docs/design/0007-told-releases.md`): no wake-up may be lost.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use jvm_tests::{Jvm, is_nightly, locktrace};

/// Rounds of few turns each: a thread that is not woken stays behind.
#[test]
fn every_round_ends() {
    let seconds = if is_nightly() { 600 } else { 12 };
    for threads in ["3", "8"] {
        let program = ["scenarios.QueueRounds", &seconds.to_string(), threads, "1"];
        let limit = Duration::from_secs(2 * seconds + 60);
        let run = Jvm::traced(&program).time_limit(limit).run();
        assert!(told_unparks(&run.trace()) > 100, "{}", run.describe());
    }
}

fn told_unparks(trace: &Path) -> usize {
    let dump = locktrace([OsStr::new("dump"), trace.as_os_str()]);
    let lines = dump.stdout.lines();
    lines.filter(|line| line.contains("tells_next=true")).count()
}
