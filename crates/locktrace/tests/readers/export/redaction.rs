//! What exports tell with `--redact`: none of the names, and the same sums.

use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;

use super::{TRACE, demo, number, totals};
use crate::python::python;
use crate::{locktrace, succeed};

const REDACT: &str = "--redact threads --redact packages --redact-key key";

/// Names of the demo's threads and packages, as formats write them.
const NAMES: [&str; 7] = [
    "worker-1",
    "worker-2",
    "org.apache",
    "org/apache",
    "xalan",
    "avrora.",
    "avrora/",
];

/// All values of all tables, as text.
const ALL_VALUES: &str = r#"
import duckdb, glob, json, sys
rows = []
for file in glob.glob(sys.argv[1] + "/*/*/*/*/*.parquet"):
    rows += duckdb.sql(f"select * from read_parquet('{file}', hive_partitioning = true)").fetchall()
print(json.dumps([str(value) for row in rows for value in row]))
"#;

fn with_key(directory: &Path) {
    fs::write(directory.join("key"), "sixteen bytes or more\n").expect("writable");
}

/// What is in the file of an export, decompressed.
fn content(directory: &Path, format: &str, options: &str) -> Vec<u8> {
    succeed(
        directory,
        &format!("export --to {format} {TRACE} --kind all {options} -o exported"),
    );
    let path = directory.join("exported");
    if format == "parquet" {
        let values = python(ALL_VALUES, directory, &["exported"]);
        fs::remove_dir_all(&path).expect("removable");
        return values.to_string().into_bytes();
    }
    let bytes = fs::read(&path).expect("readable");
    fs::remove_file(&path).expect("removable");
    if format != "pprof" {
        return bytes;
    }
    let mut content = Vec::new();
    let mut decoder = GzDecoder::new(bytes.as_slice());
    decoder.read_to_end(&mut content).expect("compressed");
    content
}

fn has(content: &[u8], name: &str) -> bool {
    content
        .windows(name.len())
        .any(|bytes| bytes == name.as_bytes())
}

#[test]
fn no_format_tells_names() {
    let directory = demo();
    let directory = directory.path();
    with_key(directory);
    for format in [
        "collapsed",
        "pprof",
        "otlp",
        "openmetrics",
        "prometheus",
        "parquet",
        "perfetto",
        "firefox",
        "jfr",
    ] {
        let plain = content(directory, format, "");
        let shown = NAMES.iter().filter(|name| has(&plain, name));
        assert!(shown.count() > 0, "{format} has names");
        let redacted = content(directory, format, REDACT);
        for name in NAMES {
            assert!(!has(&redacted, name), "{format} tells {name}");
        }
        assert!(has(&redacted, "Hashtable"), "{format} tells the JDK's");
    }
}

#[test]
fn sums_and_filters_are_those_of_the_names() {
    let directory = demo();
    let directory = directory.path();
    with_key(directory);
    let selection = "--thread worker-1";
    let redacted = succeed(
        directory,
        &format!("export --to collapsed {TRACE} {REDACT} {selection}"),
    );
    let durations = redacted.lines().map(|line| {
        let (_, duration_ns) = line.rsplit_once(' ').expect("a duration");
        duration_ns.parse::<u64>().expect("a number")
    });
    let totals = totals(directory, selection);
    assert!(number(&totals["duration_ns"]) > 0);
    assert_eq!(durations.sum::<u64>(), number(&totals["duration_ns"]));
}

/// Sums of the tables by what has other names now, the longest first.
const SUMS: &str = r#"
import duckdb, json, sys
def durations(table, by):
    rows = duckdb.sql(f"""select sum(duration_ns)::bigint from '{sys.argv[1]}/{table}/*/*/*/*.parquet'
        group by {by} order by all""").fetchall()
    return [row[0] for row in rows]
print(json.dumps([durations("waits", by) for by in ["lock_class", "method", "chain", "thread"]]
    + [durations("blame", by) for by in ["owner_method", "owner_chain", "owner_thread"]]))
"#;

#[test]
fn groups_stay_what_they_were() {
    let directory = demo();
    let directory = directory.path();
    with_key(directory);
    let [plain, redacted] = ["", REDACT].map(|options| {
        succeed(
            directory,
            &format!("export --to parquet {TRACE} --kind all {options} -o tables"),
        );
        python(SUMS, directory, &["tables"])
    });
    assert_eq!(plain, redacted);
    assert!(plain[0].as_array().is_some_and(|sums| sums.len() > 2));
}

#[test]
fn the_key_makes_the_hashes() {
    let directory = demo();
    let directory = directory.path();
    with_key(directory);
    let collapsed = |options: &str| content(directory, "collapsed", options);
    assert!(collapsed(REDACT) == collapsed(REDACT), "the same key");
    let random = "--redact packages";
    assert!(collapsed(random) != collapsed(random), "a key of each run");
    fs::write(directory.join("key"), "short").expect("writable");
    let run = locktrace(
        directory,
        &format!("export --to collapsed {TRACE} {REDACT}"),
    );
    assert_eq!(run.code, Some(2));
    assert_eq!(
        run.stderr,
        "locktrace: key: expected a key of 16 bytes at least, found 5\n"
    );
    for wrong in ["--redact hosts", "--redact-key key", "--redact threads=a"] {
        let run = locktrace(directory, &format!("export --to collapsed {TRACE} {wrong}"));
        assert_eq!(run.code, Some(2), "{wrong}: {}", run.stderr);
    }
}

/// Traces are deleted when they are collected, and the same one has to make the same tables.
#[test]
fn collecting_needs_a_key() {
    let directory = demo();
    let directory = directory.path();
    with_key(directory);
    let run = locktrace(directory, "collect . --redact threads -o runs --keep");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("--redact-key"), "{}", run.stderr);
    succeed(directory, &format!("collect . {REDACT} -o runs --keep"));
    let values: Value = python(ALL_VALUES, directory, &["runs"]);
    let values = values.to_string();
    for name in NAMES {
        assert!(!values.contains(name), "the tables tell {name}");
    }
}
