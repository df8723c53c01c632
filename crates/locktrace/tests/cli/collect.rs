//! `locktrace collect`: which traces it takes, and what it leaves.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;
use trace_format::{ChunkWriter, EndReason};

use crate::sample::Sample;
use crate::{directory_with, locktrace, succeed};

const COLLECT: &str = "collect traces -o runs --host shop-1";

/// A directory with a folder of one trace, `traces/a.lct`.
fn directory() -> TempDir {
    let directory = TempDir::new().expect("a temporary directory");
    fs::create_dir(directory.path().join("traces")).expect("writable");
    Sample::demo().save(&directory.path().join("traces"), "a.lct");
    directory
}

/// A trace without an end, of another process.
fn save_unended(directory: &Path) -> PathBuf {
    let mut sample = Sample::demo();
    sample.written_until(12, 10_000);
    let path = directory.join("traces/b.lct");
    fs::write(&path, sample.bytes_and_end().0).expect("writable");
    path
}

fn make_silent(path: &Path) {
    let file = File::options().write(true).open(path).expect("there");
    let long_ago = SystemTime::now() - Duration::from_secs(601);
    file.set_modified(long_ago)
        .expect("a file's time can be set");
}

/// All files of a folder by their names there.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).expect("readable"));
        }
    }
    files
}

fn tables(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = files(&directory.join("runs"));
    files.retain(|path, _| path.extension().is_some_and(|end| end == "parquet"));
    files
}

fn watermark(directory: &Path) -> Value {
    let files = files(&directory.join("runs/watermarks/host=shop-1"));
    let [text] = &files.into_values().collect::<Vec<_>>()[..] else {
        panic!("one file of the folder");
    };
    serde_json::from_slice(text).expect("JSON")
}

fn until_unix_ns(directory: &Path) -> u64 {
    let until = &watermark(directory)["complete_until_unix_ns"];
    until.as_u64().expect("a number")
}

#[test]
fn traces_that_have_ended_become_the_tables_of_an_export() {
    let directory = directory();
    let directory = directory.path();
    fs::write(directory.join("traces/notes.txt"), "no trace").expect("writable");
    succeed(
        directory,
        "export --to parquet --host shop-1 traces/a.lct -o exported",
    );
    let exported = files(&directory.join("exported")).into_values();
    let exported: Vec<_> = exported.collect();
    for _ in 0..2 {
        let line = succeed(directory, &format!("{COLLECT} --keep"));
        let expected = "traces: 1 trace collected, kept, 0 of them incomplete; 0 may still be written; 0 copied from a trace that went on; 0 cannot be read\n";
        assert_eq!(line, expected);
        let collected = tables(directory).into_values();
        assert_eq!(collected.collect::<Vec<_>>(), exported);
        assert_eq!(files(&directory.join("traces")).len(), 2);
    }
    let before = tables(directory);
    let line = succeed(directory, COLLECT);
    assert!(
        line.starts_with("traces: 1 trace collected and deleted, "),
        "{line}"
    );
    assert_eq!(tables(directory), before);
    let left: Vec<_> = files(&directory.join("traces")).into_keys().collect();
    assert_eq!(left, [directory.join("traces/notes.txt")]);
    let line = succeed(directory, COLLECT);
    assert!(line.starts_with("traces: 0 traces collected, "), "{line}");
    assert_eq!(tables(directory), before);
}

#[test]
fn a_trace_that_is_being_written_is_left_alone() {
    let directory = directory();
    let directory = directory.path();
    let unended = save_unended(directory);
    // It has just been written.
    let line = succeed(directory, COLLECT);
    assert!(line.contains("; 1 may still be written; "), "{line}");
    assert!(unended.exists() && !directory.join("traces/a.lct").exists());
    let tables_of_ended = tables(directory);
    let started_unix_ns = until_unix_ns(directory);
    // It has not, but this process could.
    make_silent(&unended);
    let writer = OpenOptions::new().append(true).open(&unended);
    let line = succeed(directory, COLLECT);
    assert!(line.contains("; 1 may still be written; "), "{line}");
    assert_eq!(tables(directory), tables_of_ended);
    drop(writer);
    // Nobody could.
    let buffers = directory.join("traces/b.lct.buffers");
    fs::write(&buffers, "left behind").expect("writable");
    let run = locktrace(directory, COLLECT);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let expected = "1 trace collected and deleted, 1 of them incomplete; 0 may still be written";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
    assert!(run.stderr.contains("traces/b.lct: "), "{}", run.stderr);
    assert!(files(&directory.join("traces")).is_empty());
    assert_eq!(tables(directory).len(), 2 * tables_of_ended.len());
    assert!(until_unix_ns(directory) > started_unix_ns);
}

#[test]
fn the_watermark_is_before_what_is_not_in_the_tables() {
    let directory = directory();
    let directory = directory.path();
    let unix_ns = || {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.expect("after 1970").as_nanos() as u64
    };
    let before_ns = unix_ns();
    succeed(directory, &format!("{COLLECT} --keep"));
    let all = until_unix_ns(directory);
    let minute_ns = 60_000_000_000;
    assert!((before_ns - minute_ns..=unix_ns() - minute_ns).contains(&all));
    assert_eq!(watermark(directory)["host"], "shop-1");
    // What cannot be read could be a trace of any time.
    fs::write(directory.join("traces/c.lct"), "foreign").expect("writable");
    let run = locktrace(directory, COLLECT);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("traces/c.lct: "), "{}", run.stderr);
    assert!(
        run.stdout.ends_with("; 1 cannot be read\n"),
        "{}",
        run.stdout
    );
    assert_eq!(until_unix_ns(directory), all);
    let left: Vec<_> = files(&directory.join("traces")).into_keys().collect();
    assert_eq!(
        left,
        [directory.join("traces/c.lct")],
        "others are collected"
    );
    fs::remove_file(&left[0]).expect("there");
    let unended = save_unended(directory);
    succeed(directory, COLLECT);
    let stat = locktrace(directory, "stat --format json traces/b.lct");
    let stat: Value = serde_json::from_str(&stat.stdout).expect("JSON");
    assert!(unended.exists());
    let start_unix_ns = stat["traces"][0]["start_unix_ns"].as_u64();
    assert_eq!(Some(until_unix_ns(directory)), start_unix_ns, "{stat}");
}

/// `jcmd LockContention.dump` makes one, of the same start and process.
#[test]
fn a_copy_does_not_replace_the_whole() {
    let directory = directory();
    let directory = directory.path();
    succeed(directory, &format!("{COLLECT} --keep"));
    let before = tables(directory);
    let mut copy = Sample::demo().bytes_and_end().0;
    let mut writer = ChunkWriter::new(true);
    copy.extend_from_slice(writer.early_end(10_000_000, 1, EndReason::Copied));
    fs::write(directory.join("traces/b.lct"), copy).expect("writable");
    let line = succeed(directory, COLLECT);
    assert!(
        line.contains("; 1 copied from a trace that went on; "),
        "{line}"
    );
    assert_eq!(tables(directory), before);
    let left: Vec<_> = files(&directory.join("traces")).into_keys().collect();
    assert_eq!(left, [directory.join("traces/b.lct")]);
}

#[test]
fn one_at_a_time_collects_a_folder() {
    let directory = directory();
    let directory = directory.path();
    let folder = File::open(directory.join("traces")).expect("there");
    folder.lock().expect("free");
    let run = locktrace(directory, COLLECT);
    assert_eq!((run.code, &*run.stdout), (Some(0), ""));
    assert_eq!(
        run.stderr,
        "locktrace: traces: another process collects it\n"
    );
    assert!(directory.join("traces/a.lct").exists());
    drop(folder);
    succeed(directory, COLLECT);
    assert!(!directory.join("traces/a.lct").exists());
}

#[test]
fn nothing_is_deleted_that_is_in_no_table() {
    let directory = directory();
    let directory = directory.path();
    File::create(directory.join("runs")).expect("writable");
    let run = locktrace(directory, COLLECT);
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    assert!(directory.join("traces/a.lct").exists());
    let run = locktrace(directory, "collect none -o out");
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(
        run.stderr.starts_with("locktrace: none: "),
        "{}",
        run.stderr
    );
    let empty = directory_with(&Sample::new(&["main"]), "only.lct");
    succeed(empty.path(), "collect . -o runs");
}
