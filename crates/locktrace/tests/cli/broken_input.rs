//! Commands on traces that are damaged, and on what is no trace at all.

use std::fs;

use tempfile::TempDir;
use trace_format::chunk::{ChunkHeader, ChunkKind};

use crate::sample::Sample;
use crate::{directory_with, locktrace};

/// Commands that read traces.
const COMMANDS: [&str; 4] = ["report", "contentions", "stat", "dump"];

#[test]
fn truncated_trace_gives_what_is_left_of_it() {
    let bytes = Sample::demo().bytes();
    let directory = TempDir::new().unwrap();
    for percent in [10, 50, 99] {
        fs::write(
            directory.path().join("torn.lct"),
            &bytes[..bytes.len() * percent / 100],
        )
        .unwrap();
        for command in COMMANDS {
            let run = locktrace(directory.path(), &format!("{command} torn.lct"));
            assert_eq!(run.code, Some(1), "{command} of {percent} %");
            assert!(
                run.stderr.contains("torn.lct: the end is missing"),
                "{}",
                run.stderr
            );
        }
    }
    let run = locktrace(directory.path(), "report torn.lct");
    assert!(run.stdout.contains("90.9 %"), "{}", run.stdout);
    assert!(
        run.stdout.contains("Incomplete  the end is missing"),
        "{}",
        run.stdout
    );
}

#[test]
fn trace_torn_at_any_byte_is_no_accident() {
    let bytes = Sample::demo().bytes();
    let directory = TempDir::new().unwrap();
    for len in (0..bytes.len()).step_by(61) {
        fs::write(directory.path().join("torn.lct"), &bytes[..len]).unwrap();
        let run = locktrace(directory.path(), "report torn.lct");
        assert!(
            matches!(run.code, Some(1 | 3)),
            "{len}: {:?} {}",
            run.code,
            run.stderr
        );
        assert!(
            run.stderr.starts_with("locktrace: torn.lct: "),
            "{len}: {}",
            run.stderr
        );
    }
}

/// A later version may put more between the chunks of this one: it is said, but nothing
/// that this one knows is missing.
#[test]
fn chunk_of_a_later_version_is_no_damage() {
    let mut bytes = Sample::demo().bytes();
    let payload = b"later";
    let header = ChunkHeader {
        kind: ChunkKind::Unknown(9),
        compressed: false,
        contains_metadata: false,
        stored_len: payload.len() as u32,
        raw_len: payload.len() as u32,
        payload_checksum: crc32c::crc32c(payload),
    };
    bytes.extend_from_slice(&header.encode());
    bytes.extend_from_slice(payload);
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("later.lct"), &bytes).unwrap();
    for command in COMMANDS {
        let run = locktrace(directory.path(), &format!("{command} later.lct"));
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{command}");
    }
    let run = locktrace(directory.path(), "stat later.lct");
    let note = "; 1 chunk of a later version passed over";
    assert!(run.stdout.contains(note), "{}", run.stdout);
}

#[test]
fn damaged_chunk_is_skipped() {
    let mut bytes = Sample::demo().bytes();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("damaged.lct"), &bytes).unwrap();
    for command in COMMANDS {
        let run = locktrace(directory.path(), &format!("{command} damaged.lct"));
        assert_eq!(run.code, Some(1), "{command}");
        assert!(
            run.stderr.contains("damaged.lct: skipped "),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("wrong checksum"), "{}", run.stderr);
    }
}

#[test]
fn what_is_no_trace_is_named() {
    let directory = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(directory.path().join(name), bytes).unwrap();
    fs::create_dir(directory.path().join("folder")).unwrap();
    write("text", b"Full thread dump OpenJDK\n");
    write("empty", b"");
    let mut other_version = Sample::demo().bytes();
    other_version[8] = 99;
    write("future.lct", &other_version);
    for command in COMMANDS {
        for (name, reason) in [
            ("folder", "expected a trace file, found a directory"),
            ("text", "not a lock contention trace"),
            ("empty", "not a lock contention trace"),
            ("future.lct", "version 99 is not supported"),
            ("missing", "No such file"),
        ] {
            let run = locktrace(directory.path(), &format!("{command} {name}"));
            assert_eq!(run.code, Some(3), "{command} {name}");
            assert_eq!(run.stdout, "", "{command} {name}");
            assert!(
                run.stderr.starts_with(&format!("locktrace: {name}: ")),
                "{}",
                run.stderr
            );
            assert!(run.stderr.contains(reason), "{}", run.stderr);
        }
    }
}

#[test]
fn nothing_is_printed_if_one_of_several_traces_is_none() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    let run = locktrace(directory.path(), "contentions demo.lct missing.lct");
    assert_eq!((run.code, run.stdout.as_str()), (Some(3), ""));
}

#[test]
fn wrong_usage_is_explained() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    for (arguments, reason) in [
        ("report", "<TRACE>"),
        ("report demo.lct --by lock,colour", "owner-method"),
        ("report demo.lct --by", "--by"),
        ("report demo.lct --top -1", "-1"),
        ("report demo.lct --min-share 101", "from 0 to 100"),
        (
            "report demo.lct --format xml",
            "[possible values: table, json, csv]",
        ),
        ("dump demo.lct demo.lct", "demo.lct"),
        ("frobnicate", "frobnicate"),
    ] {
        let run = locktrace(directory.path(), arguments);
        assert_eq!(run.code, Some(2), "{arguments}");
        assert!(run.stderr.contains(reason), "{arguments}: {}", run.stderr);
    }
}
