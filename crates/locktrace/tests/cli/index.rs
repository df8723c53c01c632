//! The index beside a trace: the same answers as from the trace, and never a wrong one.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::sample::Sample;
use crate::{directory_with, locktrace, succeed};

/// Questions of every kind.
const QUESTIONS: [&str; 8] = [
    r#"--ask query --json {"by":["lock-class","owner-method","method"],"buckets":7}"#,
    r#"--ask query --json {"selection":{"to_ns":40000000},"by":["thread","owner-chain"]}"#,
    r#"--ask query --json {"selection":{"filter":[{"aspect":"thread","not":true,"in":["worker-1"]}]}}"#,
    r#"--ask histogram --json {"selection":{"kinds":["conditional"]}}"#,
    r#"--ask waits"#,
    r#"--ask lanes --json {"by":"thread","px":100}"#,
    r#"--ask wait --json {"id":1}"#,
    r#"--ask model"#,
];

fn answers(directory: &Path, options: &str) -> Vec<Value> {
    let answer = |question: &&str| {
        let answer = succeed(directory, &format!("query t.lct {options} {question}"));
        serde_json::from_str(&answer).expect("JSON")
    };
    QUESTIONS.iter().map(answer).collect()
}

/// A trace that is larger than the part that distinguishes it from others.
fn large() -> (TempDir, Sample) {
    let sample = Sample::with_many_waits(20_000);
    let directory = directory_with(&sample, "t.lct");
    let len = fs::metadata(directory.path().join("t.lct")).unwrap().len();
    assert!(len > 150 << 10, "{len} bytes");
    (directory, sample)
}

#[test]
fn answers_are_those_of_the_trace() {
    for sample in [Sample::demo(), Sample::with_many_waits(500)] {
        let directory = directory_with(&sample, "t.lct");
        let root = directory.path();
        let expected = answers(root, "--no-index");
        assert!(!root.join("t.lct.idx").exists(), "nobody asked for it");
        // The first question writes it.
        assert_eq!(answers(root, "--index"), expected);
        assert!(root.join("t.lct.idx").exists());
        assert_eq!(answers(root, "--index"), expected);
        let folded = |options: &str| {
            let question = "--fold-to 30 --ask query --json {\"by\":[\"lock-class\"]}";
            succeed(root, &format!("query t.lct {options} {question}"))
        };
        assert_eq!(folded("--index"), folded("--no-index"));
    }
}

/// What is beside a trace that has its start, its end, its length and its time is believed: so
/// it is seen that the trace was not read.
#[test]
fn the_trace_is_not_read_again() {
    let (directory, _) = large();
    let root = directory.path();
    let expected = answers(root, "--index");
    let path = root.join("t.lct");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 1_000].fill(0);
    fs::write(&path, bytes).unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(modified).unwrap();
    assert_eq!(answers(root, "--index"), expected);
    let run = locktrace(root, "query t.lct --no-index");
    assert_eq!(run.code, Some(1), "the trace is damaged: {}", run.stderr);
}

#[test]
fn another_trace_has_another_index() {
    let (directory, _) = large();
    let root = directory.path();
    answers(root, "--index");
    Sample::demo().save(root, "t.lct");
    let expected = locktrace(root, "query t.lct --no-index").stdout;
    let run = locktrace(root, "query t.lct --index");
    assert_eq!((run.code, &run.stdout), (Some(0), &expected));
    assert!(
        run.stderr.contains("t.lct.idx: it is of another version"),
        "{}",
        run.stderr
    );
    // It was written again.
    assert_eq!(succeed(root, "query t.lct --index"), expected);
    let run = locktrace(root, "query t.lct --index --library demo");
    assert!(run.stderr.contains("other libraries"), "{}", run.stderr);
}

#[test]
fn what_is_no_index_is_ignored_with_a_line() {
    let (directory, _) = large();
    let root = directory.path();
    let index = root.join("t.lct.idx");
    let expected = succeed(root, "query t.lct --index");
    let good = fs::read(&index).unwrap();
    let mut bad = vec![
        Vec::new(),
        b"hello".to_vec(),
        b"locktrace index 3\n".to_vec(),
        [good.as_slice(), b"more"].concat(),
    ];
    for len in [10, 18, 25, good.len() / 2, good.len() - 1] {
        bad.push(good[..len].to_vec());
    }
    for at in [3, 30, good.len() / 3, good.len() - 5] {
        let mut bytes = good.clone();
        bytes[at] ^= 0x55;
        bad.push(bytes);
    }
    for (number, bytes) in bad.into_iter().enumerate() {
        fs::write(&index, bytes).unwrap();
        let run = locktrace(root, "query t.lct --index");
        assert_eq!((run.code, &run.stdout), (Some(0), &expected), "{number}");
        assert!(
            run.stderr.contains("t.lct.idx: ") && run.stderr.ends_with("it is ignored\n"),
            "{number}: {}",
            run.stderr
        );
        assert_eq!(
            fs::read(&index).unwrap(),
            good,
            "{number}: it is written again"
        );
    }
}

/// A few bytes can stand for very many.
#[test]
fn an_index_that_unpacks_to_too_much_is_ignored() {
    let directory = directory_with(&Sample::demo(), "t.lct");
    let root = directory.path();
    let expected = succeed(root, "query t.lct --no-index");
    let mut bytes = b"locktrace index 3\n".to_vec();
    let mut packed = snap::write::FrameEncoder::new(&mut bytes);
    std::io::copy(
        &mut std::io::Read::take(std::io::repeat(1), 300 << 20),
        &mut packed,
    )
    .unwrap();
    drop(packed);
    assert!(bytes.len() < 20 << 20, "{} bytes", bytes.len());
    fs::write(root.join("t.lct.idx"), bytes).unwrap();
    let run = locktrace(root, "query t.lct --index");
    assert_eq!((run.code, &run.stdout), (Some(0), &expected));
    assert!(run.stderr.contains("expected at most"), "{}", run.stderr);
}

#[test]
fn where_there_can_be_no_index_there_is_none() {
    let directory = directory_with(&Sample::demo(), "t.lct");
    let root = directory.path();
    let index = root.join("t.lct.idx");
    // Small traces have none unless one is asked for, and of several none is kept.
    succeed(root, "query t.lct");
    Sample::demo().save(root, "b.lct");
    succeed(root, "query t.lct b.lct --index");
    assert!(!index.exists());
    // A folder in its place.
    fs::create_dir_all(index.join("x")).unwrap();
    let run = locktrace(root, "query t.lct --index");
    assert_eq!(run.code, Some(0));
    assert!(run.stderr.contains("there is no index"), "{}", run.stderr);
    // A trace without its end may go on; one with buffers beside it does.
    let (bytes, _end) = Sample::demo().bytes_and_end();
    fs::write(root.join("cut.lct"), bytes).unwrap();
    let run = locktrace(root, "query cut.lct --index");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    fs::write(root.join("b.lct.buffers"), "").unwrap();
    succeed(root, "query b.lct --index");
    let mut left: Vec<_> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(
        left,
        ["b.lct", "b.lct.buffers", "cut.lct", "t.lct", "t.lct.idx"]
    );
}

/// It is beside the trace, not beside a link to it, and a user who may not read the trace may not
/// read it.
#[test]
fn an_index_is_as_private_as_its_trace() {
    let directory = directory_with(&Sample::demo(), "t.lct");
    let root = directory.path();
    fs::set_permissions(root.join("t.lct"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(root.join("links")).unwrap();
    symlink("../t.lct", root.join("links/link.lct")).unwrap();
    succeed(root, "query links/link.lct --index");
    let mode = fs::metadata(root.join("t.lct.idx"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777 & !0o640, 0, "{mode:o}");
    let model = succeed(root, "query links/link.lct --index --ask model");
    let model: Value = serde_json::from_str(&model).expect("JSON");
    assert_eq!(model["traces"][0]["path"], "links/link.lct");
}

/// What the trace lacks is said as without an index.
#[test]
fn losses_are_as_loud() {
    let mut sample = Sample::demo();
    sample.lose(1, 1);
    let directory = directory_with(&sample, "t.lct");
    let expected = locktrace(directory.path(), "query t.lct --no-index");
    assert_eq!(expected.code, Some(1), "{}", expected.stderr);
    for _ in 0..2 {
        let run = locktrace(directory.path(), "query t.lct --index");
        assert_eq!(run.code, expected.code);
        assert_eq!(run.stderr, expected.stderr);
        assert_eq!(run.stdout, expected.stdout);
    }
    assert!(directory.path().join("t.lct.idx").exists());
}
