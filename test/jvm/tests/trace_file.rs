//! Whatever happens to the trace file, the application goes on, and the user is
//! told in one line.

use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;

use jvm_tests::{
    Jvm, Run, among_others, analyze, check_sound, locktrace, run_to_success, scratch_directory,
};

#[test]
fn full_device() {
    let _processor = among_others();
    let run = Jvm::traced(&["scenarios.Endings", "return"])
        .trace_file("/dev/full")
        .run();
    assert_complains_once(
        &run,
        "contended\n",
        &["/dev/full", "No space left on device"],
    );
}

#[test]
fn missing_directory() {
    let _processor = among_others();
    let run = Jvm::traced(&["scenarios.Endings", "return"])
        .trace_file("missing/trace.lct")
        .run();
    assert_complains_once(
        &run,
        "contended\n",
        &["missing/trace.lct", "No such file or directory"],
    );
}

#[test]
fn directory_in_place_of_the_file() {
    let _processor = among_others();
    let run = Jvm::traced(&["scenarios.Endings", "return"])
        .trace_file("/")
        .run();
    assert_complains_once(&run, "contended\n", &["/", "Is a directory"]);
}

/// As when a file system fills up or a quota is used up while tracing.
#[test]
fn limit_reached_while_running() {
    let _processor = among_others();
    let run = Jvm::traced(&["scenarios.Endings", "return"])
        .below(&["prlimit", "--fsize=1024", "--"])
        .run();
    assert_complains_once(&run, "contended\n", &["trace.lct", "File too large"]);

    let read = locktrace(["stat".into(), run.trace().into_os_string()]);
    assert_eq!(read.code, 1, "{}", read.stderr);
}

#[test]
fn file_removed_while_running() {
    let _processor = among_others();
    let mut jvm = Jvm::traced(&["scenarios.Endings", "await-input"]).start();
    jvm.await_line("contended");
    fs::remove_file(jvm.trace()).expect("the trace exists while the program runs");
    jvm.send_line();
    let run = jvm.finish();
    assert!(run.status.success(), "{}", run.describe());
    assert_complains_once(
        &run,
        "contended\ncontended again\n",
        &["trace.lct", "removed"],
    );
}

#[test]
fn reader_of_a_pipe_goes_away() {
    let _processor = among_others();
    let directory = scratch_directory("pipe");
    let pipe = directory.path().join("pipe");
    run_to_success(Command::new("mkfifo").arg(&pipe));
    // Not blocking, so that it can be opened before there is a writer.
    let reader = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(&pipe)
        .expect("just created");

    let mut jvm = Jvm::traced(&["scenarios.Endings", "await-input"])
        .trace_file(&pipe)
        .start();
    jvm.await_line("contended");
    drop(reader);
    jvm.send_line();
    let run = jvm.finish();
    assert!(run.status.success(), "{}", run.describe());
    let name = pipe.to_str().expect("a scratch directory's name is text");
    assert_complains_once(&run, "contended\ncontended again\n", &[name, "Broken pipe"]);
}

#[test]
fn name_with_process_id() {
    let _processor = among_others();
    let mut jvm = Jvm::traced(&["scenarios.Endings", "await-input"])
        .trace_file("of-%p.lct")
        .start();
    let name = format!("of-{}.lct", jvm.id());
    jvm.await_line("contended");
    jvm.send_line();
    let run = jvm.finish();
    let trace = run.directory().join(name);
    check_sound(&analyze(&trace, |_, _| {}).expect("a trace"));
}

/// The program did what it does, and standard error has one line with all
/// `parts`.
fn assert_complains_once(run: &Run, stdout: &str, parts: &[&str]) {
    assert_eq!(run.stdout, stdout, "{}", run.describe());
    let lines: Vec<_> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 1, "{}", run.describe());
    for part in parts {
        assert!(lines[0].contains(part), "no {part:?} in {:?}", lines[0]);
    }
}
