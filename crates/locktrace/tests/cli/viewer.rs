//! The viewer's commands that need no server.

use std::collections::BTreeSet;

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
    // One more thread waits behind the two. It is the deadlock that keeps all of them.
    assert_eq!(deadlock["behind"][0]["thread"], "worker-3", "{deadlock}");
    let title = found["title"].as_str().expect("a title");
    assert!(
        title.contains("one more thread waits behind them"),
        "{title}"
    );
    let trace_end_us = 50_000;
    let blocked_us = (trace_end_us - 1_000) + (trace_end_us - 2_000);
    assert_eq!(found["duration_ns"], blocked_us * 1_000, "{found}");
    assert_eq!(found["waits"], 3, "{found}");
    let share = found["share"].as_f64().expect("a number");
    assert!((0.99..1.0).contains(&share), "{share}");
    let findings = summary["findings"].as_array().expect("findings");
    let patterns: Vec<_> = findings.iter().map(|finding| &finding["pattern"]).collect();
    assert_eq!(patterns, ["deadlock"], "nothing else is to blame");
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

/// The model in an exported page, and what follows it.
fn embedded(page: &str) -> (Value, &str) {
    let start = "<script id=\"locktrace-model\" type=\"application/octet-stream\">";
    let (_, rest) = page.split_once(start).expect("a model");
    let (model, rest) = rest.split_once("</script>").expect("its end");
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(model)
        .expect("base64");
    let model = serde_json::from_reader(flate2::read::GzDecoder::new(bytes.as_slice()));
    (model.expect("JSON"), rest)
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
    let (model, rest) = embedded(&page);
    assert!(
        rest.contains("<script>"),
        "the page's script follows the model"
    );
    let asked = succeed(directory.path(), "query demo.lct --ask embedded");
    assert_eq!(model, serde_json::from_str::<Value>(&asked).expect("JSON"));
}

/// Of a trace that is too large for a file, the longest waits are there one by one, the others
/// in sums, and the file says so.
#[test]
fn an_exported_file_is_at_most_5_mb() {
    let directory = directory_with(&Sample::with_many_waits(230_000), "many.lct");
    succeed(directory.path(), "view many.lct --export report.html");
    let page = std::fs::read_to_string(directory.path().join("report.html")).expect("a file");
    assert!(
        (2_000_000..=5_000_000).contains(&page.len()),
        "{}",
        page.len()
    );
    let (model, _) = embedded(&page);
    let sum = |table: &str, column: &str| -> u64 {
        let column = model[table][column].as_array().expect("a column");
        column.iter().filter_map(Value::as_u64).sum()
    };
    let total = &model["model"]["totals"][0];
    assert_eq!(total["waits"], 230_000);
    let kept = model["waits"]["id"].as_array().expect("a column").len() as u64;
    let folded = &model["model"]["folded"];
    assert!(kept > 50_000, "{kept}");
    assert_eq!(folded["waits"], 230_000 - kept);
    assert_eq!(sum("folded", "waits"), 230_000 - kept);
    assert_eq!(folded["duration_ns"], sum("folded", "duration_ns"));
    let duration_ns = sum("waits", "duration_ns") + sum("folded", "duration_ns");
    assert_eq!(total["duration_ns"], duration_ns);
    let shares_ns = sum("shares", "duration_ns") + sum("folded_shares", "duration_ns");
    assert_eq!(shares_ns, duration_ns);
    let kept_ns = model["waits"]["duration_ns"].as_array().expect("a column");
    let least_ns = kept_ns.iter().filter_map(Value::as_u64).min();
    assert!(folded["longest_ns"].as_u64() <= least_ns, "{folded}");
    assert_eq!(model["model"]["exact"], false);
    assert_eq!(model["parts"], Value::Null);
}

/// Names alone can be larger than the file may be. Then they are cut, and no wait is left out.
#[test]
fn an_exported_file_has_room_for_any_names() {
    let directory = directory_with(&Sample::with_long_names(40), "names.lct");
    succeed(directory.path(), "view names.lct --export report.html");
    let page = std::fs::read_to_string(directory.path().join("report.html")).expect("a file");
    assert!(page.len() <= 5_000_000, "{}", page.len());
    let (model, _) = embedded(&page);
    let ids = model["waits"]["id"].as_array().expect("a column");
    assert_eq!(ids.len(), 40);
    let values = model["values"].as_array().expect("values");
    let methods = values.iter().filter(|value| value["aspect"] == "method");
    let keys: BTreeSet<&str> = methods.filter_map(|value| value["key"].as_str()).collect();
    assert_eq!(keys.len(), 40, "distinct keys");
    // What a finding is about is found.
    let filter = &model["model"]["findings"][0]["selection"]["filter"];
    for condition in filter.as_array().expect("conditions") {
        for key in condition["in"].as_array().expect("keys") {
            let aspect = &condition["aspect"];
            let mut values = values.iter();
            assert!(
                values.any(|value| value["aspect"] == *aspect && value["key"] == *key),
                "{aspect} {key}"
            );
        }
    }
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
