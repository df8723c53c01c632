//! `top` and `metrics`, on traces that have ended.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use crate::sample::Sample;
use crate::{directory_with, locktrace, succeed};

#[test]
fn plain_table_of_a_trace_that_has_ended() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    let printed = succeed(directory.path(), "top --batch demo.lct");
    assert_snapshot!(printed);
    // There will be no more to say.
    assert_eq!(
        succeed(directory.path(), "top --batch -n 3 demo.lct"),
        printed
    );
}

#[test]
fn top_needs_a_terminal_or_batch() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    let run = locktrace(directory.path(), "top demo.lct");
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.contains("--batch"), "{}", run.stderr);
    for arguments in [
        "top demo.lct -n 1",
        "top --batch demo.lct --interval 0",
        "top --batch -n 0 demo.lct",
    ] {
        assert_eq!(
            locktrace(directory.path(), arguments).code,
            Some(2),
            "{arguments}"
        );
    }
}

#[test]
fn top_of_what_is_none() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    fs::write(directory.path().join("text"), "no trace").expect("a writable folder");
    for (target, message) in [
        ("text", "text"),
        ("missing.lct", "missing.lct"),
        ("4294967295", "no such process: 4294967295"),
    ] {
        let run = locktrace(directory.path(), &format!("top --batch {target}"));
        assert_eq!((run.code, run.stdout.as_str()), (Some(3), ""), "{target}");
        assert!(run.stderr.contains(message), "{}", run.stderr);
    }
}

#[test]
fn torn_trace_is_said_to_be_incomplete() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    let path = directory.path().join("demo.lct");
    let bytes = fs::read(&path).expect("readable");
    fs::write(&path, &bytes[..bytes.len() - 10]).expect("a writable folder");
    let run = locktrace(directory.path(), "top --batch demo.lct");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stdout.contains("Incomplete: "), "{}", run.stdout);
    assert!(run.stderr.contains("demo.lct: "), "{}", run.stderr);
}

#[test]
fn metrics() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    assert_snapshot!(succeed(
        directory.path(),
        "metrics demo.lct --kind all --series 2"
    ));
}

#[test]
fn metrics_are_replaced_in_one_step() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    let printed = succeed(directory.path(), "metrics demo.lct");
    let path = directory.path().join("demo.prom");
    fs::write(&path, "the metrics before").expect("a writable folder");
    let before = fs::File::open(&path).expect("readable");
    assert_eq!(
        succeed(directory.path(), "metrics demo.lct -o demo.prom"),
        ""
    );
    assert_eq!(fs::read_to_string(&path).expect("readable"), printed);
    // A reader of the old file goes on to read it.
    let before = std::io::read_to_string(before).expect("readable");
    assert_eq!(before, "the metrics before");
    let mode = fs::metadata(&path).expect("there").permissions().mode();
    assert_eq!(mode & 0o600, 0o600);
    let files = fs::read_dir(directory.path()).expect("readable");
    assert_eq!(files.count(), 2, "nothing else is left");

    let run = locktrace(directory.path(), "metrics demo.lct -o missing/demo.prom");
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    assert!(run.stderr.contains("missing/demo.prom"), "{}", run.stderr);
}
