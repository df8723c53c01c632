//! However a program ends, its trace is as complete as it can be.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use jvm_tests::{Jvm, Run, Wait, locktrace, parse_contentions, waits};

/// `Endings.ROUNDS`.
const ROUNDS: usize = 10;

/// The drainer looks for buffers every few milliseconds, where it gets a processor.
const TIME_LIMIT: Duration = Duration::from_secs(10);

#[test]
fn main_returns() {
    let run = end("return");
    assert_eq!(run.status.code(), Some(0));
    assert_eq!(waits_of_waiter(waits(&run.trace())), ROUNDS);
}

#[test]
fn system_exit() {
    let run = end("exit");
    assert_eq!(run.status.code(), Some(3));
    assert_eq!(waits_of_waiter(waits(&run.trace())), ROUNDS);
}

#[test]
fn runtime_halt() {
    let run = end("halt");
    assert_eq!(run.status.code(), Some(4));
    assert_eq!(waits_of_waiter(waits(&run.trace())), ROUNDS);
}

#[test]
fn main_throws() {
    let run = end("throw");
    assert_eq!(run.status.code(), Some(1));
    assert!(
        run.stderr
            .contains("IllegalStateException: uncaught, on purpose"),
        "{}",
        run.stderr
    );
    assert_eq!(waits_of_waiter(waits(&run.trace())), ROUNDS);
}

/// The garbage collection in `Endings` handed in what the threads had recorded.
#[test]
fn killed() {
    let mut jvm = Jvm::traced(&["scenarios.Endings", "hang"]).start();
    jvm.await_line("contended");
    await_rounds(&jvm.trace());
    let run = jvm.kill();
    assert_eq!(run.status.signal(), Some(libc::SIGKILL));
    assert_eq!(waits_of_waiter(waits_of_torn(&run.trace())), ROUNDS);
}

#[test]
fn crashed() {
    let run = end("crash");
    assert_eq!(
        run.status.signal(),
        Some(libc::SIGABRT),
        "{}",
        run.describe()
    );
    assert!(
        run.stdout.contains("A fatal error has been detected"),
        "{}",
        run.describe()
    );
    // The drainer may or may not have had the time to write them.
    let waits = waits_of_waiter(waits_of_torn(&run.trace()));
    assert!(waits <= ROUNDS, "{waits} waits");
}

#[test]
fn read_while_running() {
    let mut jvm = Jvm::traced(&["scenarios.Endings", "await-input"]).start();
    jvm.await_line("contended");
    await_rounds(&jvm.trace());
    jvm.send_line();
    let run = jvm.finish();
    assert_eq!(waits_of_waiter(waits(&run.trace())), 2 * ROUNDS);
}

/// Two children, one of the JDK and one of `system()`, see the files that they
/// inherit: the trace is not among them.
#[test]
fn children() {
    let run = end("list-files");
    assert!(run.status.success(), "{}", run.describe());
    assert_eq!(
        run.stdout.matches("/proc/").count(),
        2,
        "{}",
        run.describe()
    );
    assert!(!run.stdout.contains(".lct"), "{}", run.describe());
    assert_eq!(waits_of_waiter(waits(&run.trace())), ROUNDS);
}

fn end(ending: &str) -> Run {
    let run = Jvm::traced(&["scenarios.Endings", ending]).finish();
    assert!(run.stdout.contains("contended\n"), "{}", run.describe());
    run
}

/// The waits in a trace without an end, which `locktrace` must point out.
fn waits_of_torn(trace: &Path) -> Vec<Wait> {
    let arguments = [
        "contentions".into(),
        "--format".into(),
        "jsonl".into(),
        OsString::from(trace),
    ];
    let finished = locktrace(arguments);
    assert_eq!(finished.code, 1, "{}", finished.stderr);
    let name = trace.to_str().expect("a scratch directory's name is text");
    assert!(
        finished.stderr.contains(name),
        "the complaint names no file: {}",
        finished.stderr
    );
    Wait::group(parse_contentions(&finished.stdout))
}

fn waits_of_waiter(waits: Vec<Wait>) -> usize {
    let of_waiter = |wait: &&Wait| wait.thread() == "waiter" && !wait.is_in_thread_exit();
    waits.iter().filter(of_waiter).count()
}

/// Waits until the drainer has written what was handed in.
fn await_rounds(trace: &Path) {
    let begin = Instant::now();
    while waits_of_waiter(waits_of_torn(trace)) != ROUNDS {
        assert!(begin.elapsed() < TIME_LIMIT, "it is not in the trace");
        thread::sleep(Duration::from_millis(20));
    }
}
