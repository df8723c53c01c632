//! A trace that goes to a named pipe holds up nobody, whatever its reader does.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use jvm_tests::{
    Jdk, Jvm, Run, RunningJvm, analyze, check_sound, run_to_success, scratch_directory,
};
use tempfile::TempDir;

/// 128 and the number of SIGTERM: what a JVM exits with.
const TERMINATED: i32 = 143;

#[test]
fn reader_goes_away() {
    let (_directory, pipe) = new_pipe();
    let reader = open_for_reading(&pipe);
    let mut jvm = Jvm::traced(&["scenarios.Endings", "await-input"])
        .trace_file(&pipe)
        .start();
    jvm.await_line("contended");
    drop(reader);
    jvm.send_line();
    let run = jvm.finish();
    assert!(run.status.success(), "{}", run.describe());
    assert_eq!(run.stdout, "contended\ncontended again\n");
    assert_complains_once(&run, &pipe, "Broken pipe");
}

#[test]
fn nobody_reads() {
    let (_directory, pipe) = new_pipe();
    let run = hang_and_terminate(&pipe);
    assert_complains_once(&run, &pipe, "nobody reads it");
}

/// Events from before somebody read the pipe are in the trace, too.
#[test]
fn reader_comes_late() {
    let (directory, pipe) = new_pipe();
    let mut jvm = Jvm::traced(&["scenarios.Endings", "await-input"])
        .trace_file(&pipe)
        .start();
    jvm.await_line("contended");
    let reader = thread::spawn(move || fs::read(pipe));
    jvm.send_line();
    let run = jvm.finish();
    assert_eq!((run.status.success(), &*run.stderr), (true, ""));
    let bytes = reader.join().expect("no panic").expect("a pipe is read");
    let trace = directory.path().join("trace.lct");
    fs::write(&trace, bytes).expect("a scratch directory is writable");
    let mut waits = 0;
    let summary = analyze(&trace, |wait, _| {
        waits += u32::from(!wait.contentions.is_empty());
    });
    check_sound(&summary.expect("a trace"));
    assert!(waits >= 20, "{waits} waits");
}

/// The JVM's end waits for the reader for a while. Meanwhile other threads go on, past
/// safepoints.
#[test]
fn reader_stalls_while_the_jvm_ends() {
    /// A collection takes some milliseconds; the end waits for two seconds.
    const COLLECTIONS: usize = 10;
    let (_directory, pipe) = new_pipe();
    let _reader = stalling_reader(&pipe);
    let run = Jvm::traced(&["scenarios.Endings", "collect"])
        .flags(["-XX:+UseSerialGC"])
        .trace_file(&pipe)
        .run();
    let after_main = run.stdout.split("main returns\n").nth(1);
    let collections = after_main.expect("main returns").lines().count();
    assert!(collections >= COLLECTIONS, "{}", run.describe());
    let line = format!("locktrace: the end of '{}' is missing", pipe.display());
    assert!(run.stderr.starts_with(&line), "{}", run.describe());
}

#[test]
fn reader_stalls() {
    let (_directory, pipe) = new_pipe();
    let _reader = stalling_reader(&pipe);
    let run = hang_and_terminate(&pipe);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.describe());
    assert!(run.stderr.contains("is missing"), "{}", run.describe());
}

fn new_pipe() -> (TempDir, PathBuf) {
    let directory = scratch_directory("pipe");
    let pipe = directory.path().join("pipe");
    run_to_success(Command::new("mkfifo").arg(&pipe));
    (directory, pipe)
}

fn open_for_reading(pipe: &Path) -> File {
    // Not blocking, so that it can be opened before there is a writer.
    File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(pipe)
        .expect("just created")
}

/// Never reads, from a pipe that is full.
fn stalling_reader(pipe: &Path) -> File {
    let mut both_ends = File::options()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(pipe)
        .expect("just created");
    let page = [0; 4096];
    while both_ends.write(&page).is_ok() {}
    both_ends
}

/// The JVM runs, answers and ends.
fn hang_and_terminate(pipe: &Path) -> Run {
    let mut jvm = Jvm::traced(&["scenarios.Endings", "hang"])
        .trace_file(pipe)
        .start();
    jvm.await_line("contended");
    let threads = threads_of(&jvm);
    assert!(threads.contains("\"main\""), "{threads}");
    run_to_success(Command::new("kill").arg(jvm.id().to_string()));
    let run = jvm.finish();
    assert_eq!(run.status.code(), Some(TERMINATED), "{}", run.describe());
    run
}

/// Returns the output of `jstack`, which needs a safepoint.
fn threads_of(jvm: &RunningJvm) -> String {
    let output = Command::new(Jdk::traced().tool("jstack"))
        .arg(jvm.id().to_string())
        .output()
        .expect("jstack can be started");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn assert_complains_once(run: &Run, pipe: &Path, cause: &str) {
    let pipe = pipe.display();
    let expected = format!(
        "locktrace: cannot write '{pipe}': {cause}; tracing is off, the application goes on\n"
    );
    assert_eq!(run.stderr, expected, "{}", run.describe());
}
