//! The viewer's server, asked over HTTP.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use assert_cmd::cargo::CommandCargoExt;
use serde_json::{Value, json};
use tempfile::TempDir;
use trace_format::{FileHeader, TraceReader};

use crate::commands::deadlocked;
use crate::directory_with;
use crate::sample::Sample;

/// A server, ended with the test.
struct Server {
    process: Child,
    address: SocketAddr,
    token: String,
}

/// What came back.
struct Answer {
    status: u16,
    headers: String,
    body: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    fn start(directory: &Path, arguments: &[&str]) -> Self {
        let mut process = Command::cargo_bin("locktrace")
            .expect("built by cargo")
            .current_dir(directory)
            .args(["view", "--no-open"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("can be started");
        let stdout = process.stdout.take().expect("piped");
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let url = line.split_whitespace().last().expect("an address");
        let (address, token) = url
            .strip_prefix("http://")
            .and_then(|rest| rest.strip_suffix('/'))
            .and_then(|rest| rest.split_once('/'))
            .expect("an address");
        Self {
            process,
            address: address.parse().expect("an address"),
            token: token.to_owned(),
        }
    }

    /// Asks with these headers, in addition to those of every request.
    fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        let host = self.address.to_string();
        if !headers.iter().any(|&(name, _)| name == "Host") {
            request += &format!("Host: {host}\r\n");
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        request += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let mut stream = TcpStream::connect(self.address).expect("a server");
        let timeout = Some(Duration::from_secs(30));
        stream.set_read_timeout(timeout).expect("a timeout");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        // A client that sends too much is cut off.
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).expect("UTF-8");
        let (headers, body) = answer.split_once("\r\n\r\n").expect("headers");
        let status = headers.split(' ').nth(1).expect("a status");
        Answer {
            status: status.parse().expect("a number"),
            headers: headers.to_owned(),
            body: body.to_owned(),
        }
    }

    fn path(&self, rest: &str) -> String {
        format!("/{}/{rest}", self.token)
    }

    fn get(&self, rest: &str) -> Answer {
        self.request("GET", &self.path(rest), &[], "")
    }

    fn post(&self, rest: &str, question: &Value) -> Answer {
        self.request("POST", &self.path(rest), &[], &question.to_string())
    }

    /// An answer to be read, when all traces are.
    fn answer(&self, rest: &str, question: &Value) -> Value {
        // The stream of progress ends when they are.
        self.get("api/progress");
        let answer = match question {
            Value::Null => self.get(rest),
            question => self.post(rest, question),
        };
        assert_eq!(answer.status, 200, "{}", answer.body);
        serde_json::from_str(&answer.body).expect("JSON")
    }
}

fn demo(arguments: &[&str]) -> (TempDir, Server) {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    let server = Server::start(directory.path(), &[&["demo.lct"], arguments].concat());
    (directory, server)
}

#[test]
fn every_question_is_answered_as_without_a_server() {
    let (directory, server) = demo(&[]);
    for (topic, question) in [
        (
            "query",
            json!({"by": ["lock-class", "owner-method", "method"], "buckets": 4}),
        ),
        (
            "query",
            json!({"selection": {"kinds": ["conditional"]}, "by": ["owner-thread"]}),
        ),
        ("histogram", json!({})),
        ("waits", json!({"sort": "start", "limit": 2})),
        ("lanes", json!({"by": "thread", "px": 100})),
        ("model", Value::Null),
    ] {
        let over_http = server.answer(&format!("api/{topic}"), &question);
        let text = match &question {
            Value::Null => "{}".to_owned(),
            question => question.to_string(),
        };
        let output = Command::cargo_bin("locktrace")
            .expect("built by cargo")
            .current_dir(directory.path())
            .args(["query", "demo.lct", "--ask", topic, "--json", &text])
            .output()
            .expect("can be started");
        let printed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(over_http, printed, "{topic}");
        assert_eq!(over_http["progress"]["done"], true);
    }
    let wait = server.answer("api/wait/0", &Value::Null);
    assert_eq!(wait["wait"]["id"], 0);
}

#[test]
fn the_page_is_there() {
    let (_directory, server) = demo(&[]);
    for (path, kind) in [
        ("", "text/html"),
        ("viewer.js", "text/javascript"),
        ("viewer.css", "text/css"),
        ("export.html", "text/html"),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}");
        let headers = answer.headers.to_ascii_lowercase();
        assert!(
            headers.contains(&format!("content-type: {kind}; charset=utf-8")),
            "{headers}"
        );
        assert!(headers.contains("content-security-policy: default-src 'none'"));
        assert!(headers.contains("x-content-type-options: nosniff"));
        assert!(headers.contains("referrer-policy: no-referrer"));
        assert!(!headers.contains("access-control-allow"));
        assert!(!answer.body.is_empty());
    }
    assert!(
        server
            .get("export.html")
            .body
            .contains("id=\"locktrace-model\"")
    );
}

#[test]
fn nobody_else_is_answered() {
    let (_directory, server) = demo(&[]);
    let port = server.address.port();
    let model = server.path("api/model");
    let local = format!("localhost:{port}");
    let local_origin = format!("http://127.0.0.1:{port}");
    let other_port = format!("http://127.0.0.1:{}", port ^ 1);
    for (headers, status) in [
        (vec![], 200),
        (vec![("Host", local.as_str())], 200),
        (vec![("Origin", local_origin.as_str())], 200),
        (vec![("Host", "attacker.example")], 403),
        (vec![("Host", "127.0.0.1")], 403),
        (
            vec![("Host", local.as_str()), ("Host", "attacker.example")],
            403,
        ),
        (vec![("Origin", "http://attacker.example")], 403),
        (vec![("Origin", "null")], 403),
        (vec![("Origin", other_port.as_str())], 403),
    ] {
        let answer = server.request("GET", &model, &headers, "");
        assert_eq!(answer.status, status, "{headers:?}");
        assert!(status == 200 || !answer.body.contains("demo"));
    }
    for path in [
        "/",
        "/api/model",
        "/0123456789abcdef0123456789abcdef/api/model",
    ] {
        assert_eq!(server.request("GET", path, &[], "").status, 404, "{path}");
    }
    assert_eq!(server.request("OPTIONS", &model, &[], "").status, 405);
}

/// A page that is opened again has everything at once.
#[test]
fn an_index_is_written_when_nobody_asks() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    let index = directory.path().join("demo.lct.idx");
    let first = Server::start(directory.path(), &["demo.lct", "--index"]);
    let expected = first.answer("api/model", &Value::Null);
    let start = Instant::now();
    while !index.exists() {
        assert!(
            start.elapsed() < Duration::from_secs(300),
            "there is no index"
        );
        thread::sleep(Duration::from_millis(20));
    }
    let second = Server::start(directory.path(), &["demo.lct", "--index", "--source", "."]);
    let found = second.answer("api/model", &Value::Null);
    assert_eq!(
        (&found["source"], &expected["source"]),
        (&json!(true), &json!(false))
    );
    for field in [
        "traces",
        "findings",
        "totals",
        "confidence",
        "progress",
        "exact",
        "live",
    ] {
        assert_eq!(found[field], expected[field], "{field}");
    }
    let question = json!({"by": ["lock", "owner-chain"], "buckets": 5});
    assert_eq!(
        second.answer("api/query", &question),
        first.answer("api/query", &question)
    );
    assert_eq!(second.get("export.html").status, 200);
}

#[test]
fn tokens_are_not_guessed() {
    let (_first_directory, first) = demo(&[]);
    let (_second_directory, second) = demo(&[]);
    assert_eq!(first.token.len(), 32);
    assert_ne!(first.token, second.token);
}

#[test]
fn wrong_questions_are_refused() {
    let (_directory, server) = demo(&[]);
    for (path, question) in [
        ("api/query", json!({"by": ["tread"]})),
        ("api/query", json!({"selection": {"fro_ns": 1}})),
        ("api/query", json!({"limit": 1_000_000})),
        ("api/query", json!("x")),
        ("api/lanes", json!({"by": "lock", "px": 0})),
        ("api/lanes", json!({"by": "lock", "px": 100_000})),
        ("api/waits", json!({"cursor": "x"})),
    ] {
        let answer = server.post(path, &question);
        assert_eq!(answer.status, 400, "{question}");
        let error: Value = serde_json::from_str(&answer.body).expect("JSON");
        assert!(error["error"].is_string());
    }
    server.get("api/progress");
    assert_eq!(server.get("api/wait/123456789").status, 404);
    assert_eq!(server.get("api/wait/x").status, 400);
    let long = " ".repeat((1 << 20) + 1);
    let answer = server.request("POST", &server.path("api/query"), &[], &long);
    assert_eq!(answer.status, 413);
}

#[test]
fn source_code_is_read_below_its_folder_only() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    let root = directory.path();
    std::fs::create_dir_all(root.join("project/src/demo")).unwrap();
    std::fs::write(root.join("project/src/demo/Ledger.java"), "first\nsecond\n").unwrap();
    std::fs::write(root.join("Secret.java"), "secret\n").unwrap();
    let server = Server::start(root, &["demo.lct", "--source", "project"]);
    let found = server.get("api/source?class=demo.Ledger&file=Ledger.java&line=2&context=0");
    let found: Value = serde_json::from_str(&found.body).expect("JSON");
    assert_eq!(found["path"], "src/demo/Ledger.java");
    assert_eq!(found["lines"], json!(["second"]));
    for query in [
        "class=Secret&file=../Secret.java&line=1",
        "class=Secret&file=..%2FSecret.java&line=1",
        "class=...Secret&file=Secret.java&line=1",
        "class=%2Fetc.X&file=passwd&line=1",
    ] {
        let answer = server.get(&format!("api/source?{query}"));
        assert_eq!(answer.status, 404, "{query}");
    }
    let (_directory, without) = demo(&[]);
    let question = "api/source?class=demo.Ledger&file=Ledger.java&line=1";
    assert_eq!(without.get(question).status, 404);
}

#[test]
fn traces_are_shown_as_one_or_compared() {
    let directory = directory_with(&Sample::demo(), "a.lct");
    Sample::demo().save(directory.path(), "b.lct");
    let as_one = Server::start(directory.path(), &["a.lct", "b.lct"]);
    let alone = Server::start(directory.path(), &["a.lct"]);
    let waits = |server: &Server, selection: Value| {
        let question = json!({ "selection": selection });
        server.answer("api/query", &question)["groups"][0]["waits"].as_u64()
    };
    let of_one = waits(&alone, json!({}));
    assert_eq!(waits(&as_one, json!({})), of_one.map(|waits| 2 * waits));
    assert_eq!(waits(&as_one, json!({"traces": [1]})), of_one);

    let compared = Server::start(directory.path(), &["a.lct", "b.lct", "--compare"]);
    let model = compared.answer("api/model", &Value::Null);
    assert_eq!(model["compare"], json!({"before": [0], "after": [1]}));
    assert_eq!(model["traces"][1]["offset_ns"], 0);
    assert_eq!(waits(&compared, json!({"traces": [1]})), of_one);
}

/// A trace of a real program, as this process would write it: that is there as long as the test.
fn trace_of_this_process() -> Vec<u8> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../viewer/test/fixtures/demo.lct"
    );
    let reader = TraceReader::new(File::open(path).expect("there")).expect("a trace");
    let header = FileHeader {
        pid: std::process::id(),
        ..reader.header().clone()
    };
    let header = header.encode();
    // Later versions, which the header is of, only add events to this one.
    assert!(reader.version() >= 4);
    let events = fs::read(path).expect("readable");
    [&header, &events[reader.offset() as usize..]].concat()
}

impl Server {
    /// The overview, as soon as it is as wanted.
    fn model_when(&self, mut is_wanted: impl FnMut(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let answer = self.get("api/model");
            assert_eq!(answer.status, 200, "{}", answer.body);
            let model: Value = serde_json::from_str(&answer.body).expect("JSON");
            if is_wanted(&model) {
                return model;
            }
            assert!(start.elapsed() < Duration::from_secs(30), "{model}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_trace_that_is_being_written_grows_to_the_whole() {
    let bytes = trace_of_this_process();
    let directory = TempDir::new().expect("a temporary directory");
    let mut file = File::create(directory.path().join("demo.lct")).expect("can be made");
    let mut parts = bytes.chunks(bytes.len().div_ceil(5));
    file.write_all(parts.next().expect("five")).expect("room");
    let server = Server::start(directory.path(), &["demo.lct"]);
    let question = json!({"by": ["lock-class", "owner-method"], "buckets": 4});
    let mut durations_ns = Vec::new();
    let mut written = bytes.len().div_ceil(5);
    let mut last_waits = 0;
    for part in parts {
        // Some bytes of a part may be read long before the first wait of it.
        let model = server.model_when(|model| {
            let groups = server.post("api/query", &question);
            let groups: Value = serde_json::from_str(&groups.body).expect("JSON");
            let waits = groups["groups"][0]["waits"].as_u64().unwrap_or(0);
            let has_grown = model["progress"]["live"] == true && waits > last_waits;
            if has_grown {
                last_waits = waits;
            }
            has_grown
        });
        assert_eq!(model["progress"]["done"], false);
        assert!(model["live"].is_object(), "{model}");
        assert_eq!(model["traces"][0]["complete"], Value::Null);
        assert!(model["progress"]["bytes"].as_u64() <= Some(written as u64));
        durations_ns.push(model["duration_ns"].as_u64().expect("a number"));
        file.write_all(part).expect("room");
        written += part.len();
    }
    // The first waits may be there before the last one of a part.
    assert!(durations_ns.is_sorted(), "{durations_ns:?}");
    // The trace has ended, although its process has not.
    let whole = server.model_when(|model| model["progress"]["done"] == true);
    assert_eq!(whole["live"], Value::Null);
    fs::write(directory.path().join("whole.lct"), &bytes).expect("room");
    let read_at_once = Server::start(directory.path(), &["--no-follow", "whole.lct"]);
    for (topic, question) in [
        ("query", question),
        ("histogram", json!({})),
        ("waits", json!({"sort": "start", "limit": 1000})),
        ("lanes", json!({"by": "lock", "px": 100})),
    ] {
        let path = format!("api/{topic}");
        // Waits are numbered as they come, and those of a whole trace come when their root owners are known.
        let [found, expected] = [&server, &read_at_once].map(|server| {
            let mut answer = server.answer(&path, &question);
            remove_ids(&mut answer);
            answer
        });
        assert!(found == expected, "{topic}");
    }
}

fn remove_ids(answer: &mut Value) {
    match answer {
        Value::Array(values) => values.iter_mut().for_each(remove_ids),
        Value::Object(fields) => {
            for number in ["id", "wait"] {
                fields.remove(number);
            }
            fields.values_mut().for_each(remove_ids);
        }
        _ => {}
    }
}

#[test]
fn a_trace_that_is_being_written_is_shown_as_it_is_now() {
    let bytes = trace_of_this_process();
    let directory = TempDir::new().expect("a temporary directory");
    fs::write(directory.path().join("demo.lct"), &bytes[..bytes.len() / 2]).expect("room");
    let server = Server::start(directory.path(), &["--no-follow", "demo.lct"]);
    let model = server.answer("api/model", &Value::Null);
    assert_eq!(model["progress"]["done"], true);
    assert_eq!(model["traces"][0]["complete"], false);
    assert_eq!(model["live"], Value::Null);
}

#[test]
fn a_deadlock_is_seen_while_it_lasts() {
    let mut sample = deadlocked();
    sample.written_until(std::process::id(), 40_000);
    let (bytes, end) = sample.bytes_and_end();
    let directory = TempDir::new().expect("a temporary directory");
    let path = directory.path().join("deadlock.lct");
    fs::write(&path, &bytes).expect("room");
    let server = Server::start(directory.path(), &["deadlock.lct"]);
    let model = server.model_when(|model| model["live"]["waiting"].is_object());
    assert_eq!(model["duration_ns"], 40_000_000);
    assert_eq!(model["live"]["waiting"]["threads"], 2);
    let now = &model["deadlocks"];
    assert_eq!(now.as_array().map(Vec::len), Some(1), "{model}");
    let found = server.model_when(|model| model["findings"][0]["pattern"] == "deadlock");
    assert_eq!(found["progress"]["done"], false);

    let mut file = File::options().append(true).open(&path).expect("there");
    file.write_all(&end).expect("room");
    let ended = server.model_when(|model| model["progress"]["done"] == true);
    let at_end = &ended["deadlocks"];
    for field in ["thread", "waits_for", "holds", "since_ns"] {
        assert_eq!(now[0]["threads"][0][field], at_end[0]["threads"][0][field]);
    }
    assert_eq!(
        now[0]["duration_ns"].as_u64().map(|ns| ns + 10_000_000),
        at_end[0]["duration_ns"].as_u64()
    );
}
