//! Tables in object stores: a server that speaks S3, on this machine, gets the bytes that files would.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime};

use super::{TRACE, demo, tear};
use crate::python::{packages, python};
use crate::sample::Sample;
use crate::{Run, succeed};
use assert_cmd::Command as AssertCommand;

/// Serves until its standard input ends, which it does at the latest when the test does.
const SERVE: &str = r#"
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address = "127.0.0.1", port = 0, verbose = False)
server.start()
print(server.get_host_and_port()[1], flush = True)
sys.stdin.read()
server.stop()
"#;

/// Prints the objects of the bucket `runs`, after it was made if need be, with what is in them, and whether
/// there are parts of others.
const LIST: &str = r#"
import boto3, json, sys
s3 = boto3.client("s3", endpoint_url = sys.argv[1], region_name = "us-east-1",
                  aws_access_key_id = "key", aws_secret_access_key = "secret")
s3.create_bucket(Bucket = "runs")
keys = [found["Key"] for found in s3.list_objects_v2(Bucket = "runs").get("Contents", [])]
assert not s3.list_multipart_uploads(Bucket = "runs").get("Uploads")
print(json.dumps({key: s3.get_object(Bucket = "runs", Key = key)["Body"].read().hex() for key in keys}))
"#;

/// A store with an empty bucket `runs`, ended with the test.
struct S3 {
    process: Child,
    url: String,
}

impl S3 {
    fn start() -> Self {
        let mut process = Command::new("/usr/bin/python3")
            .args(["-c", SERVE])
            .env("PYTHONPATH", packages())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("python is there");
        let mut port = String::new();
        let stdout = process.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut port).expect("a line");
        let url = format!("http://127.0.0.1:{}", port.trim());
        let store = Self { process, url };
        assert_eq!(store.objects(), BTreeMap::new());
        store
    }

    /// What is in each object, in hexadecimal digits.
    fn objects(&self) -> BTreeMap<String, String> {
        let objects = python(LIST, Path::new("."), &[&self.url]);
        serde_json::from_value(objects).expect("texts")
    }

    fn run(&self, directory: &Path, arguments: &str) -> Run {
        let credentials = [
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
        ];
        run(directory, arguments, &self.url, &credentials)
    }

    fn succeed(&self, directory: &Path, arguments: &str) -> String {
        let run = self.run(directory, arguments);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
        run.stdout
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs `locktrace` with nothing in the environment that leads elsewhere: a process without credentials
/// would ask the machine's cloud for a role.
fn run(directory: &Path, arguments: &str, url: &str, credentials: &[(&str, &str)]) -> Run {
    let mut command = AssertCommand::cargo_bin("locktrace").expect("built by cargo");
    command
        .env_clear()
        .env("AWS_ENDPOINT_URL", url)
        .env("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1")
        .envs(credentials.iter().copied())
        .current_dir(directory)
        .args(arguments.split_whitespace());
    Run::of(&mut command)
}

/// All files of a folder by their names below it, as objects are by their keys.
fn files(folder: &Path, prefix: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        let name = format!("{prefix}/{name}");
        if path.is_dir() {
            files.extend(self::files(&path, &name));
        } else {
            let bytes = fs::read(&path).expect("readable");
            let hex = bytes.iter().map(|byte| format!("{byte:02x}"));
            files.insert(name, hex.collect());
        }
    }
    files
}

#[test]
fn objects_are_the_files_of_an_export() {
    let directory = demo();
    let directory = directory.path();
    let export = format!("export --to parquet --kind all {TRACE} --host ä=b/c");
    succeed(directory, &format!("{export} -o files"));
    let expected = files(&directory.join("files"), "of all/hosts");
    assert_eq!(expected.len(), 8);
    let store = S3::start();
    for _ in 0..2 {
        store.succeed(directory, &format!("{export} -o s3://runs/of%20all/hosts/"));
        assert_eq!(store.objects(), expected);
    }
    let url = format!("file://{}/by-url", directory.display());
    succeed(directory, &format!("{export} -o {url}"));
    assert_eq!(files(&directory.join("by-url"), "of all/hosts"), expected);
}

/// Google's store takes the requests of S3, but for the credentials, so the same server stands for it.
#[test]
fn objects_of_google_are_the_files_of_an_export() {
    let directory = demo();
    let directory = directory.path();
    let export = format!("export --to parquet --kind all {TRACE} --host ä=b/c");
    succeed(directory, &format!("{export} -o files"));
    let expected = files(&directory.join("files"), "of all/hosts");
    let store = S3::start();
    let google = [
        ("GOOGLE_BASE_URL", store.url.as_str()),
        ("GOOGLE_BEARER_TOKEN", "token"),
    ];
    for _ in 0..2 {
        let export = format!("{export} -o gs://runs/of%20all/hosts/");
        let run = run(directory, &export, "http://127.0.0.1:1", &google);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
        assert_eq!(store.objects(), expected);
    }
}

#[test]
fn traces_are_collected_into_a_store() {
    let directory = demo();
    let directory = directory.path();
    let store = S3::start();
    let collect = "collect . --host shop-1 -o";
    succeed(directory, &format!("{collect} files --keep"));
    store.succeed(directory, &format!("{collect} s3://runs/prefix"));
    assert!(!directory.join(TRACE).exists());
    // What a watermark says depends on when that was.
    let without_moments = |mut all: BTreeMap<String, String>| {
        let mut watermarks = all
            .iter_mut()
            .filter(|(name, _)| name.contains("/watermarks/"));
        watermarks.next().expect("a watermark").1.clear();
        all
    };
    let found = without_moments(store.objects());
    let expected = without_moments(files(&directory.join("files"), "prefix"));
    assert_eq!(found, expected);
}

/// Saves the first part of the trace, which looks as if its JVM had been killed.
fn save_part(directory: &Path) {
    tear(directory);
    let file = File::options().write(true).open(directory.join(TRACE));
    let long_ago = SystemTime::now() - Duration::from_secs(601);
    let file = file.expect("there");
    file.set_modified(long_ago)
        .expect("a file's time can be set");
}

#[test]
fn a_part_of_a_run_does_not_replace_the_whole_in_a_store() {
    let directory = demo();
    let directory = directory.path();
    let store = S3::start();
    let collect = "collect . --host shop-1 -o s3://runs/prefix";
    let tables_of = |store: &S3| {
        let mut objects = store.objects();
        objects.retain(|name, _| name.ends_with(".parquet"));
        objects
    };
    save_part(directory);
    let run = store.run(directory, collect);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let of_part = tables_of(&store);
    Sample::demo().save(directory, TRACE);
    store.succeed(directory, collect);
    let whole = tables_of(&store);
    assert_eq!(whole.len(), of_part.len());
    assert!(whole != of_part);
    save_part(directory);
    let run = store.run(directory, collect);
    let aside = format!(
        "locktrace: ./{TRACE}: the tables have more of its run; set aside as ./{TRACE}.aside\n"
    );
    assert_eq!((run.code, run.stderr), (Some(0), aside));
    assert_eq!(tables_of(&store), whole);
}

/// A store that lets nobody read could have the whole of a run, so no part is written.
#[test]
fn a_part_needs_a_store_that_can_be_read() {
    let directory = demo();
    let directory = directory.path();
    save_part(directory);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    // Its answers stop with the test.
    let (sender, methods) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = BufReader::new(stream);
            let mut line = String::new();
            let read = stream.read_line(&mut line);
            let answer = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            if read.is_err() || stream.get_mut().write_all(answer.as_bytes()).is_err() {
                continue;
            }
            let method = line.split(' ').next().unwrap_or_default().to_owned();
            if sender.send(method).is_err() {
                break;
            }
        }
    });
    let credentials = [
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
    ];
    let collect = "collect . --host shop-1 -o s3://runs/prefix";
    let run = run(directory, collect, &url, &credentials);
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    let named = "locktrace: s3://runs/prefix/runs/day=2016-02-29/host=shop-1/run=";
    assert!(run.stderr.starts_with(named), "{}", run.stderr);
    assert!(directory.join(TRACE).exists());
    assert!(methods.try_iter().all(|method| method == "GET"));
}

/// The message of a command that cannot write, and leaves the trace where it is.
fn failure(directory: &Path, run: impl Fn(&Path, &str) -> Run) -> String {
    let collect = run(directory, "collect . --host shop-1 -o s3://none/prefix");
    assert_eq!(collect.code, Some(4), "{}", collect.stderr);
    assert!(directory.join(TRACE).exists());
    let export = format!("export --to parquet {TRACE} --host shop-1 -o s3://none/prefix");
    let export = run(directory, &export);
    assert_eq!(export.code, Some(4), "{}", export.stderr);
    assert_eq!(export.stderr.lines().count(), 1, "{}", export.stderr);
    assert!(
        export.stderr.starts_with("locktrace: s3://none/prefix/"),
        "{}",
        export.stderr
    );
    export.stderr
}

#[test]
fn a_store_that_cannot_be_written_is_an_error() {
    let directory = demo();
    let directory = directory.path();
    let store = S3::start();
    let message = failure(directory, |directory, arguments| {
        store.run(directory, arguments)
    });
    assert!(message.contains("NoSuchBucket"), "{message}");
    let message = failure(directory, |directory, arguments| {
        run(directory, arguments, &store.url, &[])
    });
    assert!(
        message.contains("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set"),
        "{message}"
    );
    let credentials = [
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
    ];
    let message = failure(directory, |directory, arguments| {
        run(directory, arguments, "http://127.0.0.1:1", &credentials)
    });
    assert!(message.contains("error sending request"), "{message}");
}

#[test]
fn places_that_are_none_are_wrong_usage() {
    let directory = demo();
    for (arguments, reason) in [
        (
            "export --to parquet -o hdfs://namenode/runs",
            "hdfs dfs -put",
        ),
        (
            "export --to parquet -o s3:///runs",
            "expected a directory, or a URL",
        ),
        (
            "export --to pprof -o s3://runs/profile",
            "URLs are for --to parquet",
        ),
    ] {
        let run = crate::locktrace(directory.path(), &format!("{arguments} {TRACE}"));
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(reason), "{}", run.stderr);
    }
}
