//! The viewer's commands that need no server.

use base64::Engine;
use insta::assert_snapshot;
use serde_json::Value;

use crate::commands::deadlocked;
use crate::sample::Sample;
use crate::{directory_with, locktrace, succeed};

#[test]
fn summary() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    assert_snapshot!(succeed(directory.path(), "summary demo.lct"));
}

#[test]
fn summary_of_nothing() {
    let directory = directory_with(&Sample::new(&["main"]), "empty.lct");
    assert_snapshot!(succeed(directory.path(), "summary empty.lct"));
}

#[test]
fn summary_for_machines() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    let summary = succeed(directory.path(), "summary demo.lct --format json");
    let summary: Value = serde_json::from_str(&summary).expect("JSON");
    let findings = summary["findings"].as_array().expect("findings");
    assert!(!findings.is_empty() && findings.len() <= 5);
    let owner = &findings[0]["owner"]["label"];
    assert!(owner.is_string(), "{owner}");
}

#[test]
fn a_deadlock_is_the_first_finding() {
    let directory = directory_with(&deadlocked(), "deadlock.lct");
    let summary = succeed(directory.path(), "summary deadlock.lct --format json");
    let summary: Value = serde_json::from_str(&summary).expect("JSON");
    let found = &summary["findings"][0];
    assert_eq!(found["pattern"], "deadlock", "{found}");
    let deadlock = &summary["deadlocks"][0];
    let threads = deadlock["threads"].as_array().expect("threads");
    for thread in threads {
        let name = thread["thread"].as_str().expect("a name");
        let title = found["title"].as_str().expect("a title");
        assert!(title.contains(name), "{title}");
    }
    assert!(threads.len() > 1);
    let blocked_ns = deadlock["duration_ns"].as_u64().expect("a number") * threads.len() as u64;
    assert_eq!(found["duration_ns"], blocked_ns, "{found}");
}

#[test]
fn questions_come_from_standard_input_too() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    let question = r#"{"by":["lock-class"]}"#;
    let direct = succeed(
        directory.path(),
        &format!("query demo.lct --json {question}"),
    );
    let mut command = assert_cmd::Command::cargo_bin("locktrace").expect("built by cargo");
    let output = command
        .current_dir(directory.path())
        .args(["query", "demo.lct", "--json", "-"])
        .write_stdin(question)
        .output()
        .expect("can be started");
    assert_eq!(String::from_utf8(output.stdout).expect("UTF-8"), direct);
}

#[test]
fn wrong_questions_are_wrong_usage() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    for question in ["{", r#"{"by":["tread"]}"#, r#"{"limit":1000000}"#] {
        let run = locktrace(
            directory.path(),
            &format!("query demo.lct --json {question}"),
        );
        assert_eq!(run.code, Some(2), "{question}: {}", run.stderr);
    }
    let run = locktrace(directory.path(), "view demo.lct --compare --no-open");
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

/// The file has the whole model, and a policy that lets nothing else in.
#[test]
fn an_exported_file_has_the_model() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    assert_eq!(
        succeed(directory.path(), "view demo.lct --export report.html"),
        ""
    );
    let page = std::fs::read_to_string(directory.path().join("report.html")).expect("a file");
    assert!(page.contains("http-equiv=\"Content-Security-Policy\""));
    assert!(!page.contains("src=\"viewer.js\"") && !page.contains("href=\"viewer.css\""));
    let start = "<script id=\"locktrace-model\" type=\"application/octet-stream\">";
    let (_, rest) = page.split_once(start).expect("a model");
    let (model, rest) = rest.split_once("</script>").expect("its end");
    assert!(
        rest.contains("<script>"),
        "the page's script comes behind the model"
    );
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(model)
        .expect("base64");
    let model: Value =
        serde_json::from_reader(flate2::read::GzDecoder::new(bytes.as_slice())).expect("JSON");
    let asked = succeed(directory.path(), "query demo.lct --ask embedded");
    assert_eq!(model, serde_json::from_str::<Value>(&asked).expect("JSON"));
}

#[test]
fn a_file_that_cannot_be_written_is_said() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    let run = locktrace(
        directory.path(),
        "view demo.lct --export no/such/folder.html",
    );
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    assert!(run.stderr.contains("no/such/folder.html"));
}
