//! Questions over the tables of many hosts, as `fleet` has them for DuckDB, against reports of each trace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{TRACE, demo, hosts, nestings, number, report_json};
use crate::matrix::{self, Version};
use crate::python::{packages, python};
use crate::succeed;

/// Prints the rows of a query of `fleet`, with variables set.
const ASK: &str = r#"
import duckdb, json, sys
folder, query, *assignments = sys.argv[1:]
connection = duckdb.connect()
for assignment in ["runs = 'runs'", *assignments]:
    connection.execute(f"set variable {assignment}")
connection.execute(open(f"{folder}/tables.sql").read())
print(json.dumps(connection.sql(open(f"{folder}/{query}").read()).fetchall(), default = str))
"#;

/// Releases that are one number.
const BEFORE: &str = "2.1";
const AFTER: &str = "2.10";
const SET_BEFORE: &str = "before = '2.1'";
const SET_AFTER: &str = "after = '2.10'";

/// Hosts, the release that each has, and what is selected of the trace there.
const HOSTS: [(&str, &str, &str); 5] = [
    ("shop-1", BEFORE, ""),
    ("shop-2", BEFORE, "--to 20ms"),
    ("shop-3", AFTER, "--from 5ms"),
    ("shop-4", AFTER, "--from 5ms --to 30ms"),
    ("shop-5", AFTER, "--exclude lock-class=Queue"),
];

/// By lock class and the owner's method.
type Code = (String, String);

/// A directory with tables of all hosts.
fn fleet() -> TempDir {
    let directory = demo();
    for (host, release, selection) in HOSTS {
        let options = format!("--host {host} --release {release} --kind all {selection}");
        let export = format!("export --to parquet {TRACE} {options} -o runs");
        succeed(directory.path(), &export);
    }
    directory
}

pub(super) fn ask(directory: &Path, query: &str, assignments: &[&str]) -> Vec<Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fleet");
    let arguments = [&[folder, query], assignments].concat();
    let rows = python(ASK, directory, &arguments);
    serde_json::from_value(rows).expect("rows")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

/// Nanoseconds that threads were blocked by each owner's code, by the report on a selection.
fn blocked_ns(directory: &Path, selection: &str) -> BTreeMap<Code, u64> {
    let options = format!("--all --by lock-class,owner-method {selection}");
    let report = report_json(directory, &options);
    let mut blocked_ns = BTreeMap::new();
    for lock in report["tree"].as_array().expect("rows") {
        for owner in lock["children"].as_array().expect("rows") {
            let code = (
                text(&lock["key"]).to_owned(),
                text(&owner["key"]).to_owned(),
            );
            // Others are no code: nobody, or not known who.
            if !code.1.starts_with('<') {
                blocked_ns.insert(code, number(&owner["duration_ns"]));
            }
        }
    }
    blocked_ns
}

fn hours(directory: &Path) -> f64 {
    number(&report_json(directory, "")["trace"]["duration_ns"]) as f64 / 3.6e12
}

fn assert_close(found: &Value, expected: f64, what: &str) {
    let found = found.as_f64().expect("a number");
    let tolerance = 1e-9 * expected.abs().max(1e-3);
    assert!(
        (found - expected).abs() <= tolerance,
        "{what}: {found}, not {expected}"
    );
}

#[test]
fn top_owners_add_up_to_the_reports() {
    let directory = fleet();
    let directory = directory.path();
    let hours = hours(directory);
    let mut expected: BTreeMap<(String, Code), (u64, BTreeSet<&str>)> = BTreeMap::new();
    let mut traced: BTreeMap<&str, f64> = BTreeMap::new();
    for (host, release, selection) in HOSTS {
        *traced.entry(release).or_default() += hours;
        for (code, ns) in blocked_ns(directory, selection) {
            let (sum_ns, hosts) = expected.entry((release.to_owned(), code)).or_default();
            *sum_ns += ns;
            hosts.insert(host);
        }
    }
    let rows = ask(directory, "top-owners.sql", &["rows = 1000"]);
    assert_eq!(rows.len(), expected.len());
    for row in &rows {
        let code = (text(&row[2]).to_owned(), text(&row[3]).to_owned());
        let release = text(&row[0]).to_owned();
        let what = format!("{release} {code:?}");
        let (sum_ns, hosts) = &expected[&(release.clone(), code)];
        assert_eq!(number(&row[4]), hosts.len() as u64, "{what}");
        let seconds = *sum_ns as f64 / 1e9;
        assert_close(&row[6], seconds, &what);
        assert_close(&row[7], seconds / traced[release.as_str()], &what);
    }
    let first_rows = ask(directory, "top-owners.sql", &["rows = 2"]);
    assert_eq!(first_rows, rows[..2]);
    let duckdb = Version::pinned("scripts/test-requirements.txt", "duckdb");
    matrix::opened("parquet", "DuckDB", &duckdb, "answers in `fleet/`");
}

#[test]
fn releases_differ_as_their_runs_do() {
    let directory = fleet();
    let directory = directory.path();
    let hours = hours(directory);
    let runs = HOSTS.map(|(_, release, selection)| (release, blocked_ns(directory, selection)));
    let codes: BTreeSet<_> = runs
        .iter()
        .flat_map(|(_, blocked)| blocked.keys())
        .collect();
    let rows = ask(
        directory,
        "release-difference.sql",
        &[SET_BEFORE, SET_AFTER],
    );
    assert_eq!(rows.len(), codes.len());
    for row in &rows {
        let code = (text(&row[0]).to_owned(), text(&row[1]).to_owned());
        let what = format!("{code:?}");
        let side = |wanted: &str| {
            let of_side = runs.iter().filter(|(release, _)| *release == wanted);
            let rates = of_side
                .map(|(_, blocked)| blocked.get(&code).copied().unwrap_or(0) as f64 / 1e9 / hours);
            mean_and_its_variance(&rates.collect::<Vec<_>>())
        };
        let ((before, before_variance), (after, after_variance)) = (side(BEFORE), side(AFTER));
        let half_width = 1.96 * (before_variance + after_variance).sqrt();
        let (least, most) = (after - before - half_width, after - before + half_width);
        for (column, expected) in [
            (2, before),
            (3, after),
            (4, after - before),
            (5, least),
            (6, most),
        ] {
            assert_close(&row[column], expected, &what);
        }
        assert_eq!(row[7], least > 0.0 || most < 0.0, "{what}");
    }
}

/// The mean of some numbers, and the variance that it has if these are drawn at random.
fn mean_and_its_variance(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (count - 1.0) / count)
}

#[test]
fn long_waits_are_those_of_the_list_of_contentions() {
    let directory = fleet();
    let directory = directory.path();
    let mut waited_ns: BTreeMap<(&str, String), (String, u64)> = BTreeMap::new();
    for (host, _, selection) in HOSTS {
        let list = format!("contentions {TRACE} --format jsonl {selection}");
        for line in succeed(directory, &list).lines() {
            let part: Value = serde_json::from_str(line).expect("JSON");
            let wait = (host, text(&part["wait_id"]).to_owned());
            let lock_class = text(&part["lock_class"]).to_owned();
            let (_, sum_ns) = waited_ns.entry(wait).or_insert((lock_class, 0));
            *sum_ns += number(&part["duration_ns"]);
        }
    }
    let mut durations: Vec<_> = waited_ns.values().map(|&(_, ns)| ns).collect();
    durations.sort_unstable();
    let least_ns = durations[durations.len() / 2];
    let mut expected: Vec<_> = waited_ns
        .into_iter()
        .filter(|(_, (_, ns))| *ns >= least_ns)
        .map(|((host, _), (lock_class, ns))| (host.to_owned(), lock_class, ns))
        .collect();
    let least_ms = format!("least_ms = {}", least_ns as f64 / 1e6);
    let rows = ask(directory, "long-waits.sql", &[&least_ms, "rows = 1000"]);
    let mut found: Vec<_> = rows
        .iter()
        .map(|row| {
            let waited_ns = (row[2].as_f64().expect("a number") * 1e6).round() as u64;
            (
                text(&row[0]).to_owned(),
                text(&row[3]).to_owned(),
                waited_ns,
            )
        })
        .collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
    let rarity = |row: &Value| number(&row[6]) as f64 / number(&row[7]) as f64;
    assert!(rows.is_sorted_by(|one, next| rarity(one) <= rarity(next)));
}

/// The columns that Spark is given are those of the tables, in DuckDB's names of types.
#[test]
fn spark_knows_all_columns() {
    const COMPARE: &str = r#"
import duckdb, json, runpy, sys
job = runpy.run_path(sys.argv[1])
types = {"BIGINT": "bigint", "VARCHAR": "string", "BOOLEAN": "boolean", "DATE": "date",
         "TIMESTAMP WITH TIME ZONE": "timestamp"}
wrong = {}
for table, columns in job["TABLES"].items():
    listed = [column.split() for column in f"{columns}, {job['FOLDERS']}".split(",")]
    files = f"runs/{table}/*/*/*/*.parquet"
    rows = duckdb.sql(f"describe from read_parquet('{files}', hive_partitioning = true)").fetchall()
    found = [[row[0], types[row[1]]] for row in rows]
    if sorted(listed) != sorted(found):
        wrong[table] = [listed, found]
print(json.dumps(wrong))
"#;
    let directory = fleet();
    let wrong = python(COMPARE, directory.path(), &[ASK_SPARK]);
    assert_eq!(wrong, json!({}));
}

const ASK_SPARK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fleet/ask.py");

/// All questions in one Spark, because it is slow to start, and what it has read. Rows are as those of
/// [`ask`]. Then the hosts of [`hosts::tables`] in each folder, once as the job finds them, and once by a block of the
/// documentation. So few rows are not worth optimizing for: without C2 it takes half of the processor time.
const ASK_SPARK_ALL: &str = r#"
import contextlib, io, json, os, pathlib, runpy, sys
import pyspark
from pyspark.sql import SparkSession
job = runpy.run_path(sys.argv[1])
quick = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
         "spark.sql.shuffle.partitions": 2, "spark.ui.enabled": False}
spark = SparkSession.builder.master("local[1]").config(map = job["SETTINGS"] | quick).getOrCreate()
def ask(question, variables):
    text = (pathlib.Path(sys.argv[1]).parent / question).read_text()
    rows = spark.sql(job["with_variables"](text, variables))
    plan = io.StringIO()
    with contextlib.redirect_stdout(plan):
        rows.explain("formatted")
    return [[list(row) for row in rows.collect()], plan.getvalue()]
answers = []
for question, variables, runs, since, until in json.loads(sys.argv[2]):
    job["create_views"](spark, runs, since, until)
    answers.append(ask(question, variables))
block, folder, *names = sys.argv[3:]
by_job, by_block = [], []
for name in names:
    runs = f"{folder}/{name}/runs"
    assert not job["find_hidden_host"](spark, runs)
    blame = job["read_table"](spark, runs, "blame")
    by_job.append(sorted(host for host, in blame.select("host").distinct().collect()))
    names = {"spark": spark}
    exec(block.replace("runs/blame", f"{runs}/blame"), names)
    by_block.append(sorted(host for host, in names["blame"].select("host").distinct().collect()))
spark.stop()
print(json.dumps([pyspark.__version__, answers, by_job, by_block], default = str))
"#;

/// Rows, and Spark's plan for them.
type Answer = (Vec<Vec<Value>>, String);

/// A Java that the newest Spark takes: the JDK of `jfr`, which Java 8 does not have.
fn newer_java_home() -> PathBuf {
    let path = env::var_os("PATH").expect("set");
    let mut tools = env::split_paths(&path).map(|folder| folder.join("jfr"));
    let jfr = tools.find_map(|tool| tool.canonicalize().ok());
    let jfr = jfr.expect("scripts/install-test-packages.sh installs a JDK");
    let home = jfr.ancestors().nth(2);
    home.expect("it is in the folder bin").to_owned()
}

/// The JDK 8 that is built here.
fn java_8_home() -> PathBuf {
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../../build/jdk-stock");
    env::var_os("LOCKTRACE_JDK_STOCK").map_or_else(|| built.into(), PathBuf::from)
}

#[test]
fn spark_finds_what_duckdb_does() {
    let spark = packages().with_file_name("test-spark");
    let version = Version::pinned("scripts/test-spark-requirements.txt", "pyspark");
    assert_spark_finds_what_duckdb_does(&spark, &newer_java_home(), &version);
}

/// Of the line of Spark that runs on Java 8, which `make test-fleet` installs.
#[test]
fn spark_3_finds_what_duckdb_does() {
    let spark = packages().with_file_name("test-spark-3");
    if !spark.exists() {
        println!("skipped: {} is not there", spark.display());
        return;
    }
    let version = Version::pinned("scripts/test-spark-3-requirements.txt", "pyspark");
    assert_spark_finds_what_duckdb_does(&spark, &java_8_home(), &version);
}

fn assert_spark_finds_what_duckdb_does(spark: &Path, java_home: &Path, version: &Version) {
    let directory = fleet();
    let directory = directory.path();
    nestings::export(directory, "nested");
    // As versions leave them that do not look for nestings.
    fs::remove_dir_all(directory.join("runs/nestings")).expect("a folder of nestings");
    let questions = json!([
        ["top-owners.sql", {"rows": "1000"}, "runs", null, null],
        ["release-difference.sql", {"before": BEFORE, "after": AFTER, "rows": "1000"}, "runs", null, null],
        ["long-waits.sql", {"least_ms": "0.001", "rows": "1000"}, "runs", null, null],
        ["lock-order.sql", {}, "nested", null, null],
        ["lock-order.sql", {}, "runs", null, null],
        ["top-owners.sql", {"rows": "2"}, "runs", null, null],
        ["top-owners.sql", {}, "runs", "1970-01-02", "1970-01-03"],
    ]);
    let of_hosts = hosts::tables();
    let documented = hosts::documented("python");
    let mut blocks = documented.iter();
    let block = blocks.find(|block| block.contains("spark.read"));
    let output = Command::new("/usr/bin/python3")
        .args(["-c", ASK_SPARK_ALL, ASK_SPARK, &questions.to_string()])
        .arg(block.expect("it is documented"))
        .arg(of_hosts.path())
        .args(hosts::folders(5))
        .current_dir(directory)
        .env("PYTHONPATH", spark)
        .env("JAVA_HOME", java_home)
        .env("LC_ALL", "C.UTF-8")
        .env("SPARK_LOCAL_IP", "127.0.0.1")
        .output()
        .expect("python is there");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let (found, answers, by_job, by_block): (String, Vec<Answer>, Value, Value) =
        serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(&Version::Pinned(found), version);
    hosts::assert_found("fleet/ask.py", &by_job, 5);
    hosts::assert_found("Spark", &by_block, 5);
    let by_duckdb = [
        ask(directory, "top-owners.sql", &["rows = 1000"]),
        ask(
            directory,
            "release-difference.sql",
            &[SET_BEFORE, SET_AFTER, "rows = 1000"],
        ),
        ask(
            directory,
            "long-waits.sql",
            &["least_ms = 0.001", "rows = 1000"],
        ),
        ask(directory, "lock-order.sql", &["runs = 'nested'"]),
        ask(directory, "lock-order.sql", &[]),
        ask(directory, "top-owners.sql", &["rows = 2"]),
        Vec::new(),
    ];
    for ((rows, plan), expected) in answers.iter().zip(&by_duckdb) {
        assert_eq!(rows.len(), expected.len(), "{plan}");
        for (row, expected) in rows.iter().zip(expected) {
            for (found, expected) in row.iter().zip(expected.as_array().expect("a row")) {
                match expected.as_f64() {
                    Some(number) => assert_close(found, number, "a number of Spark's"),
                    // DuckDB's moments say that they are of UTC.
                    None => assert_eq!(
                        found.to_string().trim_end_matches('"'),
                        expected
                            .to_string()
                            .trim_end_matches('"')
                            .trim_end_matches("+00:00")
                    ),
                }
            }
        }
    }
    let (_, plan) = answers.last().expect("the plan of other days");
    let columns = "ReadSchema: struct<wait:bigint,kind:string,lock_class:string,owner:string,\
                   owner_method:string,duration_ns:bigint>";
    assert!(plan.contains(columns), "{plan}");
    assert!(plan.contains("(day#"), "{plan}");
    matrix::opened("parquet", "Spark", version, "hosts");
    matrix::opened("parquet", "Spark", version, "answers in `fleet/`");
}

/// A number only where the question has a number as default: releases are texts, though they look like numbers.
#[test]
fn variables_are_numbers_where_their_defaults_are() {
    const FILL_IN: &str = r#"
import json, runpy, sys
with_variables = runpy.run_path(sys.argv[1])["with_variables"]
print(json.dumps([with_variables(question, variables) for question, variables in json.loads(sys.argv[2])]))
"#;
    let questions = json!([
        ["release = getvariable('a') limit coalesce(getvariable('rows'), 20);", {"a": "2.10", "rows": "5"}],
        ["host = getvariable('a') or x > coalesce( getvariable('least'),\n -0.5 )", {"a": "007", "least": "1.5"}],
        ["coalesce(getvariable('a'), 'none') = getvariable('b')", {"a": "1", "b": "it's a \\"}],
        ["getvariable('a') < coalesce(getvariable('a'), 7)", {"a": "-3"}],
        ["getvariable('a') is null", {}],
    ]);
    let filled_in = python(
        FILL_IN,
        Path::new("."),
        &[ASK_SPARK, &questions.to_string()],
    );
    let expected = json!([
        "release = '2.10' limit coalesce(5, 20)",
        "host = '007' or x > coalesce( 1.5,\n -0.5 )",
        r"coalesce('1', 'none') = 'it\'s a \\'",
        "-3 < coalesce(-3, 7)",
        "null is null",
    ]);
    assert_eq!(filled_in, expected);
    let wrong = Command::new("/usr/bin/python3")
        .args([
            ASK_SPARK,
            "--runs",
            "runs",
            "--set",
            "rows=many",
            "top-owners.sql",
        ])
        .output()
        .expect("python is there");
    let errors = String::from_utf8_lossy(&wrong.stderr);
    assert_eq!(wrong.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("rows: expected a number, found many"),
        "{errors}"
    );
}

/// Java passes over such hosts without a word where the locale is not one of UTF-8.
#[test]
fn hosts_that_java_cannot_see_are_named() {
    const FIND: &str = r#"
import json, runpy, sys
from types import SimpleNamespace
find = runpy.run_path(sys.argv[1])["find_hidden_host"]
def spark(encoding):
    system = SimpleNamespace(getProperty = lambda name: {"sun.jnu.encoding": encoding}[name])
    lang = SimpleNamespace(lang = SimpleNamespace(System = system))
    return SimpleNamespace(sparkContext = SimpleNamespace(_jvm = SimpleNamespace(java = lang)))
places = ["all/runs", "all/runs/", f"file://{sys.argv[2]}/all/runs", "0/runs", "s3a://bucket/runs", "none"]
found = [[find(spark(encoding), runs) for runs in places] for encoding in ["UTF-8", "ANSI_X3.4-1968"]]
print(json.dumps([[host and host.name.isascii() for host in of_encoding] for of_encoding in found]))
"#;
    let directory = hosts::tables();
    let directory = directory.path();
    let folder = directory.to_str().expect("UTF-8");
    let is_ascii = python(FIND, directory, &[ASK_SPARK, folder]);
    let none = [const { Value::Null }; 6];
    let hidden = [
        json!(false),
        json!(false),
        json!(false),
        Value::Null,
        Value::Null,
        Value::Null,
    ];
    assert_eq!(is_ascii, json!([none, hidden]));
}
