//! `locktrace collect`: which traces it takes, and what it leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use assert_cmd::cargo::cargo_bin;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use trace_format::{ChunkWriter, EndReason};

use crate::python::python;
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
        let expected = "traces: 1 trace collected, kept, 0 of them incomplete; 0 may still be written; 0 copied from a trace that went on; 0 of whose runs the tables have more; 0 hold no trace; 0 cannot be read\n";
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
    // What cannot be read could be a trace of any time, which a later version of this program knows.
    let mut of_the_future = Sample::demo().bytes();
    of_the_future[8] = 99;
    fs::write(directory.join("traces/c.lct"), of_the_future).expect("writable");
    make_silent(&directory.join("traces/c.lct"));
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

/// Files that have the name of a trace and hold none.
fn save_no_traces(directory: &Path) -> BTreeMap<&'static str, Vec<u8>> {
    let trace = Sample::demo().bytes();
    let mut damaged = trace[..200].to_vec();
    damaged[30] ^= 1;
    let files = BTreeMap::from([
        // A JVM that started on a full disk leaves such.
        ("empty.lct", Vec::new()),
        ("cut-in-its-magic.lct", trace[..5].to_vec()),
        ("cut-in-its-header.lct", trace[..20].to_vec()),
        ("damaged.lct", damaged),
        // A machine that lost its power leaves such.
        ("zeros.lct", vec![0; 4096]),
        (
            "foreign.lct",
            b"%PDF-1.7 locations, charts, tables".to_vec(),
        ),
    ]);
    for (name, bytes) in &files {
        fs::write(directory.join("traces").join(name), bytes).expect("writable");
    }
    files
}

fn names(folder: &Path) -> Vec<String> {
    let files = files(folder).into_keys();
    let name = |path: PathBuf| {
        path.file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned()
    };
    files.map(name).collect()
}

#[test]
fn files_without_a_trace_are_set_aside_once() {
    let directory = directory();
    let directory = directory.path();
    let traces = directory.join("traces");
    let no_traces = save_no_traces(directory);
    fs::write(traces.join("empty.lct.buffers"), "left behind").expect("writable");
    // They may still become traces, which began a minute before their files at the earliest.
    let line = succeed(directory, COLLECT);
    assert!(line.contains("1 trace collected and deleted, "), "{line}");
    assert!(line.contains("; 6 may still be written; "), "{line}");
    let of_young = until_unix_ns(directory);
    for name in no_traces.keys() {
        make_silent(&traces.join(name));
    }
    // Nobody sets aside what should be kept, but it holds up nothing.
    for _ in 0..2 {
        let run = locktrace(directory, &format!("{COLLECT} --keep"));
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(run.stdout.contains("; 6 hold no trace; "), "{}", run.stdout);
        assert_eq!(names(&traces).len(), 7);
    }
    assert!(until_unix_ns(directory) >= of_young);
    // Names that are taken stay.
    fs::write(traces.join("zeros.lct.aside"), "there before").expect("writable");
    let run = locktrace(directory, COLLECT);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let complaints: Vec<_> = run.stderr.lines().collect();
    assert_eq!(complaints.len(), 6, "{complaints:?}");
    let empty =
        "locktrace: traces/empty.lct: the file is empty; set aside as traces/empty.lct.aside";
    assert!(complaints.contains(&empty), "{complaints:?}");
    for (name, bytes) in &no_traces {
        let number = if *name == "zeros.lct" { ".1" } else { "" };
        let aside = traces.join(format!("{name}{number}.aside"));
        assert_eq!(&fs::read(aside).expect("set aside"), bytes, "{name}");
    }
    assert!(traces.join("empty.lct.aside.buffers").exists());
    let left = names(&traces);
    assert_eq!(left.len(), 8, "{left:?}");
    let line = succeed(directory, COLLECT);
    assert!(line.contains("; 0 may still be written; "), "{line}");
    assert!(line.contains("; 0 hold no trace; 0 cannot"), "{line}");
    assert_eq!(names(&traces), left);
}

/// A JVM has made the file, and has written nothing yet.
#[test]
fn the_watermark_is_before_what_is_still_empty() {
    let directory = directory();
    let directory = directory.path();
    let empty = directory.join("traces/empty.lct");
    let file = File::create(&empty).expect("writable");
    let half_an_hour_ago = SystemTime::now() - Duration::from_secs(1800);
    file.set_modified(half_an_hour_ago)
        .expect("a file's time can be set");
    let line = succeed(directory, COLLECT);
    assert!(line.contains("; 1 may still be written; "), "{line}");
    assert!(empty.exists());
    let since_1970 = half_an_hour_ago.duration_since(SystemTime::UNIX_EPOCH);
    let earliest = since_1970.expect("after 1970") - Duration::from_secs(60);
    assert_eq!(u128::from(until_unix_ns(directory)), earliest.as_nanos());
}

/// Saves the first part of a trace, which looks as if its JVM had been killed.
fn save_part(directory: &Path, name: &str, whole: &Sample, of_all: f64) {
    let bytes = whole.bytes();
    let len = (bytes.len() as f64 * of_all) as usize;
    let path = directory.join("traces").join(name);
    fs::write(&path, &bytes[..len]).expect("writable");
    make_silent(&path);
}

/// Whether the only run in the tables is.
fn is_complete(directory: &Path) -> Value {
    const READ: &str = r#"
import duckdb, json
[[is_complete]] = duckdb.sql("select is_complete from 'runs/runs/*/*/*/*.parquet'").fetchall()
print(json.dumps(is_complete))
"#;
    python(READ, directory, &[])
}

#[test]
fn a_part_of_a_run_does_not_replace_the_whole() {
    // The whole is `a.lct`: what is collected before it is replaced.
    for (parts, code) in [(&["b.lct"][..], 0), (&["0.lct", "b.lct"], 1)] {
        let directory = directory();
        let directory = directory.path();
        for part in parts {
            save_part(directory, part, &Sample::demo(), 0.9);
        }
        let run = locktrace(directory, COLLECT);
        assert_eq!(run.code, Some(code), "{}", run.stderr);
        let aside = "locktrace: traces/b.lct: the tables have more of its run; set aside as traces/b.lct.aside\n";
        assert!(run.stderr.ends_with(aside), "{}", run.stderr);
        let counted = "; 1 of whose runs the tables have more; ";
        assert!(run.stdout.contains(counted), "{}", run.stdout);
        assert_eq!(is_complete(directory), true);
        assert_eq!(names(&directory.join("traces")), ["b.lct.aside"]);
        // The whole is not there any more.
        let before = tables(directory);
        save_part(directory, "b.lct", &Sample::demo(), 0.9);
        let run = locktrace(directory, COLLECT);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert_eq!(tables(directory), before);
    }
}

#[test]
fn of_two_parts_the_longer_one_stays() {
    let directory = directory();
    let directory = directory.path();
    fs::remove_file(directory.join("traces/a.lct")).expect("there");
    let whole = Sample::with_many_waits(50_000);
    save_part(directory, "b.lct", &whole, 0.9);
    let run = locktrace(directory, COLLECT);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let longer = tables(directory);
    save_part(directory, "c.lct", &whole, 0.6);
    let run = locktrace(directory, COLLECT);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(tables(directory), longer);
    assert_eq!(names(&directory.join("traces")), ["c.lct.aside"]);
    // The same again, as when a process ends before it deletes the trace; then the whole.
    save_part(directory, "b.lct", &whole, 0.9);
    let run = locktrace(directory, COLLECT);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(tables(directory), longer);
    whole.save(&directory.join("traces"), "b.lct");
    succeed(directory, COLLECT);
    assert_eq!(is_complete(directory), true);
}

/// Starts `collect FOLDER -o runs`, and waits until its files that are not complete are in `temporary`.
fn start_collecting(directory: &Path, folder: &str, output: &str, temporary: &Path) -> Child {
    let before = leftovers(temporary);
    let process = Command::new(cargo_bin("locktrace"))
        .args(["collect", folder, "-o", output, "--host", "shop-1"])
        .current_dir(directory)
        .env("TMPDIR", temporary)
        .env("AWS_ACCESS_KEY_ID", "key")
        .env("AWS_SECRET_ACCESS_KEY", "secret")
        .stdout(Stdio::null())
        .spawn()
        .expect("can be started");
    while leftovers(temporary) == before {
        thread::sleep(Duration::from_millis(1));
    }
    process
}

fn leftovers(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.map(|entry| entry.expect("readable").path());
    let is_leftover = |path: &PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy();
        name.starts_with(".locktrace-")
    };
    paths.filter(is_leftover).collect()
}

/// A directory with two folders of traces that take a while.
fn directory_of_two() -> TempDir {
    let directory = TempDir::new().expect("a temporary directory");
    for folder in ["traces", "others", "tmp"] {
        fs::create_dir(directory.path().join(folder)).expect("writable");
    }
    Sample::with_many_waits(100_000).save(&directory.path().join("traces"), "a.lct");
    let mut other = Sample::with_many_waits(100_000);
    other.written_until(12, 10_000);
    other.save(&directory.path().join("others"), "a.lct");
    directory
}

#[test]
fn what_a_killed_process_has_left_is_removed_by_the_next_one() {
    let directory = directory_of_two();
    let directory = directory.path();
    let runs = directory.join("runs");
    let mut killed = start_collecting(directory, "traces", "runs", &runs);
    killed.kill().expect("it runs");
    killed.wait().expect("it runs");
    let left = leftovers(&runs);
    assert!(!left.is_empty());
    // Those of others: of an export, and of who collects another folder of this host, meanwhile.
    let of_export = runs.join(".locktrace-a1B2c3.tmp");
    fs::write(&of_export, "a table").expect("writable");
    let mut other = start_collecting(directory, "others", "runs", &runs);
    let pid = Pid::from_child(&other);
    kill_process(pid, Signal::STOP).expect("it runs");
    let of_other = leftovers(&runs);
    let of_other: BTreeSet<_> = of_other.difference(&left).cloned().collect();
    succeed(directory, COLLECT);
    assert_eq!(leftovers(&runs), of_other);
    kill_process(pid, Signal::CONT).expect("it runs");
    assert!(other.wait().expect("it runs").success());
    assert_eq!(leftovers(&runs), BTreeSet::from([of_export]));
    assert!(names(&directory.join("others")).is_empty());
    assert_eq!(tables(directory).len(), 2 * 8);
}

/// Tables for a store are in the directory for temporary files before they are sent.
#[test]
fn what_was_not_sent_to_a_store_is_removed_by_the_next_one() {
    let directory = directory_of_two();
    let directory = directory.path();
    let temporary = directory.join("tmp");
    let mut killed = start_collecting(directory, "traces", "s3://runs/prefix", &temporary);
    killed.kill().expect("it runs");
    killed.wait().expect("it runs");
    let left = leftovers(&temporary);
    assert_eq!(left.len(), 1);
    let foreign = temporary.join(".locktrace-a1B2c3");
    fs::create_dir(&foreign).expect("writable");
    let mut next = start_collecting(directory, "traces", "s3://runs/prefix", &temporary);
    let now = leftovers(&temporary);
    next.kill().expect("it runs");
    next.wait().expect("it runs");
    assert!(now.is_disjoint(&left) && now.contains(&foreign), "{now:?}");
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
