//! Whatever happens to the trace file, the application goes on, and the user is notified in one
//! line.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

use jvm_tests::{CompileMode, Jvm, Run, analyze, check_sound, locktrace, scratch_directory};

#[test]
fn full_device() {
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
    let run = Jvm::traced(&["scenarios.Endings", "return"])
        .trace_file("/")
        .run();
    assert_complains_once(&run, "contended\n", &["/", "Is a directory"]);
}

/// As when a file system fills up or a quota is used up while tracing.
#[test]
fn limit_reached_while_running() {
    let run = Jvm::traced(&["scenarios.Endings", "return"])
        .below(&["prlimit", "--fsize=1024", "--"])
        .run();
    assert_complains_once(&run, "contended\n", &["trace.lct", "File too large"]);

    let read = locktrace(["stat".into(), run.trace().into_os_string()]);
    assert_eq!(read.code, 1, "{}", read.stderr);
    let why = "tracing ended before the JVM did: the trace could not be written: File too large";
    assert!(read.stderr.contains(why), "{}", read.stderr);
}

#[test]
fn file_removed_while_running() {
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

/// As a name from a shell's variable that is not set.
#[test]
fn empty_name() {
    let mut jvm = Jvm::traced(&["scenarios.Endings", "await-input"])
        .trace_file("")
        .start();
    let name = format!("locktrace-{}.lct", jvm.id());
    jvm.send_line();
    let run = jvm.finish();
    assert_eq!(run.stderr, "", "{}", run.describe());
    check_sound(&analyze(&run.directory().join(name), |_, _| {}).expect("a trace"));
}

/// As from an earlier JVM with the same process id, in a container, or put by somebody into a
/// directory that all may write to.
#[test]
fn files_that_are_there() {
    let directory = scratch_directory("taken");
    let [file, link, victim] =
        ["file.lct", "link.lct", "victim"].map(|name| directory.path().join(name));
    fs::write(&file, "precious").expect("a scratch directory is writable");
    fs::write(&victim, "precious").expect("a scratch directory is writable");
    symlink(&victim, &link).expect("a scratch directory is writable");
    for (name, numbered) in [(&file, "file.1.lct"), (&link, "link.1.lct")] {
        let run = Jvm::traced(&["scenarios.Endings", "return"])
            .trace_file(name)
            .run();
        assert_complains_once(
            &run,
            "contended\n",
            &[name.to_str().expect("text"), "exists", numbered],
        );
        let trace = directory.path().join(numbered);
        check_sound(&analyze(&trace, |_, _| {}).expect("a trace"));
        let mode = fs::metadata(&trace).expect("a file").mode();
        assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    }
    for untouched in [file, victim] {
        assert_eq!(fs::read(untouched).expect("still there"), b"precious");
    }
}

/// As two that inherit their options from the environment.
#[test]
fn two_jvms_with_one_name() {
    let directory = scratch_directory("shared");
    let start = || {
        Jvm::traced(&["scenarios.Endings", "await-input"])
            .trace_file(directory.path().join("trace.lct"))
            .start()
    };
    let mut jvms = [start(), start()];
    for jvm in &mut jvms {
        jvm.await_line("contended");
    }
    for mut jvm in jvms {
        jvm.send_line();
        let run = jvm.finish();
        assert!(run.status.success(), "{}", run.describe());
    }
    for name in ["trace.lct", "trace.1.lct"] {
        check_sound(&analyze(&directory.path().join(name), |_, _| {}).expect("a trace"));
    }
}

#[test]
fn device() {
    let run = Jvm::traced(&["scenarios.Endings", "return"])
        .trace_file("/dev/null")
        .run();
    assert_eq!((&*run.stdout, &*run.stderr), ("contended\n", ""));
}

/// Tracing leaves nothing in monitors that slows down their releases for ever.
#[test]
fn monitors_when_tracing_has_ended() {
    for mode in CompileMode::ALL {
        let run = Jvm::traced(&["scenarios.EndedTrace", "trace.lct"])
            .flags(mode.flags())
            .run();
        let words: Vec<_> = run.stdout.lines().collect();
        let expected = [
            // Was put there while tracing was on.
            "early owned 1",
            "late owned 0",
            "early released 0",
            "late released 0",
        ];
        assert_eq!(words, expected, "{}", run.describe());
    }
}

#[test]
fn name_with_process_id() {
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
