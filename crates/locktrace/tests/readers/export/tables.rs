//! What DuckDB finds in the tables of an export, compared with the report.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{SELECTIONS, TRACE, demo, named, number, report, tear, totals};
use crate::matrix::{self, Version};
use crate::python::python;
use crate::sample::Sample;
use crate::{directory_with, locktrace, locktrace_with, succeed, succeed_with};

/// Prints the rows of each query. Each table is a view of its name.
const QUERY: &str = r#"
import duckdb, json, sys
connection = duckdb.connect()
for table in ["waits", "blame", "nestings", "threads", "methods", "chains", "locks", "runs"]:
    files = f"{sys.argv[1]}/{table}/*/*/*/*.parquet"
    connection.execute(f"create view {table} as from read_parquet('{files}', hive_partitioning = true)")
print(json.dumps([connection.sql(query).fetchall() for query in sys.argv[2:]], default = str))
"#;

fn query<const N: usize>(directory: &Path, tables: &str, queries: [&str; N]) -> [Vec<Value>; N] {
    let arguments: Vec<_> = [tables].into_iter().chain(queries).collect();
    let answers = python(QUERY, directory, &arguments);
    let answers: Vec<Vec<Value>> = serde_json::from_value(answers).expect("rows");
    answers.try_into().expect("one answer each")
}

/// Prints what pandas adds up of a column of a table by another column: sums, and how many waits.
const PANDAS: &str = r#"
import json, pandas, sys
tables = sys.argv[1]
answers = []
for question in sys.argv[2:]:
    table, column = question.split(".")
    groups = pandas.read_parquet(f"{tables}/{table}").groupby(column, observed = True)
    sums = groups.agg(duration_ns = ("duration_ns", "sum"), waits = ("wait", "nunique"))
    answers.append([[key, *map(int, row)] for key, row in zip(sums.index, sums.itertuples(index = False))])
print(json.dumps(answers))
"#;

/// The files below a folder, by their paths there.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("below").to_owned();
                files.insert(name, fs::read(path).expect("readable"));
            }
        }
    }
    files
}

fn by_key(rows: &[Value]) -> BTreeMap<String, (u64, u64)> {
    rows.iter()
        .map(|row| {
            let key = row[0].as_str().expect("text").to_owned();
            (key, (number(&row[1]), number(&row[2])))
        })
        .collect()
}

#[test]
fn duckdb_adds_up_what_the_report_does() {
    const OF_OWNER: &str = "from blame left join threads on owner_thread = threads.thread";
    let name = "threads.java_id || ':' || threads.name";
    let of = |key: &str, from: &str| {
        format!("select {key}, sum(duration_ns)::bigint, count(distinct wait) {from} group by all")
    };
    // The names that a report has for missing owners.
    let owner_or = |known: &str| {
        format!(
            "case owner when 'thread' then {known} when 'free' then '<free>' else '<' || unknown_reason || '>' end"
        )
    };
    let aspects = [
        ("kind", of("kind", "from waits")),
        ("mechanism", of("mechanism", "from blame")),
        ("lock-class", of("lock_class", "from blame")),
        ("method", of("method", "from waits")),
        ("chain", of("chain", "from waits")),
        ("wait-end", of("\"end\"", "from waits")),
        ("thread", of(name, "from waits join threads using (thread)")),
        ("owner-method", of(&owner_or("owner_method"), "from blame")),
        ("owner-chain", of(&owner_or("owner_chain"), "from blame")),
        ("owner-thread", of(&owner_or(name), OF_OWNER)),
    ];
    let directory = demo();
    let directory = directory.path();
    for (at, selection) in SELECTIONS.into_iter().enumerate() {
        let tables = format!("tables-{at}");
        succeed(
            directory,
            &format!("export --to parquet {TRACE} -o {tables} {selection}"),
        );
        let queries = aspects.each_ref().map(|(_, query)| query.as_str());
        let answers = query(directory, &tables, queries);
        for ((aspect, _), answer) in aspects.iter().zip(answers) {
            let expected = report(directory, aspect, selection);
            assert!(!expected.is_empty());
            assert_eq!(by_key(&answer), expected, "{aspect}, {selection}");
        }
        let totals = totals(directory, selection);
        let [runs, in_waits] = query(
            directory,
            &tables,
            [
                "select waits, blocked_ns, is_complete, is_filtered, kinds, pid, host, day from runs",
                "select count(*), sum(duration_ns)::bigint, sum(safepoint_ns)::bigint from waits",
            ],
        );
        let [run] = runs.as_slice() else {
            panic!("{runs:?}");
        };
        assert_eq!(
            [&run[0], &run[1]],
            [&totals["waits"], &totals["duration_ns"]]
        );
        assert_eq!(
            [&in_waits[0][0], &in_waits[0][1]],
            [&totals["waits"], &totals["duration_ns"]]
        );
        assert_eq!(in_waits[0][2], totals["safepoint_ns"]);
        let kinds = match selection {
            "--kind all" => "contention,conditional,idle,sleep,join",
            _ => "contention",
        };
        let is_filtered = selection.contains("--from") || selection.contains("--thread");
        assert_eq!(run[2], true);
        assert_eq!(run[3], is_filtered, "{selection}");
        assert_eq!(run[4], kinds);
        assert_eq!(run[5], 4711);
        assert_eq!(run[7], "2016-02-29");
    }
    let duckdb = Version::pinned("scripts/test-requirements.txt", "duckdb");
    matrix::opened("parquet", "DuckDB", &duckdb, "sums");
}

#[test]
fn pandas_adds_up_what_the_report_does() {
    const ASPECTS: [(&str, &str); 5] = [
        ("kind", "waits.kind"),
        ("method", "waits.method"),
        ("wait-end", "waits.end"),
        ("mechanism", "blame.mechanism"),
        ("lock-class", "blame.lock_class"),
    ];
    let directory = demo();
    let directory = directory.path();
    for (at, selection) in SELECTIONS.into_iter().enumerate() {
        let tables = format!("tables-{at}");
        succeed(
            directory,
            &format!("export --to parquet {TRACE} -o {tables} {selection}"),
        );
        let questions = ASPECTS.map(|(_, question)| question);
        let arguments: Vec<_> = [tables.as_str()].into_iter().chain(questions).collect();
        let answers = python(PANDAS, directory, &arguments);
        let answers: Vec<Vec<Value>> = serde_json::from_value(answers).expect("rows");
        for ((aspect, _), answer) in ASPECTS.into_iter().zip(answers) {
            let expected = report(directory, aspect, selection);
            assert!(!expected.is_empty());
            assert_eq!(by_key(&answer), expected, "{aspect}, {selection}");
        }
    }
    let pandas = Version::pinned("scripts/test-requirements.txt", "pandas");
    matrix::opened("parquet", "pandas", &pandas, "sums");
}

#[test]
fn what_waits_refer_to_is_in_tables_of_its_own() {
    let directory = demo();
    let directory = directory.path();
    succeed(
        directory,
        &format!("export --to parquet {TRACE} -o tables --kind all --host shop-1"),
    );
    let [missing, chain, times, host] = query(
        directory,
        "tables",
        [
            "select (select count(*) from blame anti join waits using (wait)),
                    (select count(*) from waits anti join threads using (thread)),
                    (select count(*) from blame where owner_thread not in (select thread from threads)),
                    (select count(*) from waits anti join locks using (lock, lock_class)),
                    (select count(*) from waits anti join methods using (method)),
                    (select count(*) from chains anti join methods using (method)),
                    (select count(*) from waits anti join chains using (chain))",
            "select distinct depth, class, name, source_file, line, label
             from waits join chains using (chain) join methods on chains.method = methods.method
             join locks using (lock)
             where waits.lock_class = 'java.util.Hashtable' and depth < 2 order by depth",
            "select count(*) from waits, runs
             where epoch_us(waits.start) != (start_unix_ns + start_ns) // 1000",
            "select distinct host, run from waits",
        ],
    );
    assert_eq!(missing, [serde_json::json!([0, 0, 0, 0, 0, 0, 0])]);
    assert_eq!(
        chain,
        [
            serde_json::json!([
                0,
                "java.util.Hashtable",
                "get",
                "Hashtable.java",
                362,
                "java.util.Hashtable@49abf544"
            ]),
            serde_json::json!([
                1,
                "org.apache.xml.dtm.DTMManager",
                "getDTM",
                "DTMManager.java",
                118,
                "java.util.Hashtable@49abf544"
            ]),
        ]
    );
    assert_eq!(times, [serde_json::json!([0])]);
    assert_eq!(
        host,
        [serde_json::json!(["shop-1", "1456789012345678901-4711"])]
    );
}

/// The columns that `docs/tables.md` describes: table, column, type.
fn documented() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tables.md");
    let text = fs::read_to_string(path).expect("readable");
    let (mut table, mut columns) = ("", Vec::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            table = name.trim_matches('`');
        }
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        if let ["", name, kind, ..] = cells[..]
            && let Some(name) = name.strip_prefix('`')
        {
            let name = name.trim_end_matches('`');
            columns.push(serde_json::json!([
                table,
                name,
                kind.trim_end_matches('?'),
                kind.ends_with('?')
            ]));
        }
    }
    columns
}

#[test]
fn the_tables_are_as_documented() {
    let directory = demo();
    let directory = directory.path();
    succeed(directory, &format!("export --to parquet {TRACE} -o tables"));
    let parts = [
        "waits", "blame", "nestings", "threads", "locks", "chains", "methods", "runs",
    ]
    .map(|table| {
        format!(
            "select '{table}' as t, row_number() over () as n, name,
                case when type = 'BYTE_ARRAY' then 'text' when type = 'BOOLEAN' then 'flag'
                     when logical_type like 'TimestampType(isAdjustedToUTC=1%MICROS%' then 'time'
                     when type = 'INT64' and converted_type is null then 'number'
                     else type || logical_type end as kind,
                repetition_type = 'OPTIONAL' as optional
             from parquet_schema('tables/{table}/*/*/*/*.parquet') where num_children is null"
        )
    });
    let columns = format!(
        "select t, name, kind, optional from ({})",
        parts.join(" union all ")
    );
    let [columns, version] = query(
        directory,
        "tables",
        [
            &columns,
            "select distinct decode(value) from parquet_kv_metadata('tables/*/*/*/*/*.parquet')
             where decode(key) = 'locktrace.tables'",
        ],
    );
    assert_eq!(columns, documented());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tables.md");
    let text = fs::read_to_string(path).expect("readable");
    let version = version[0][0].as_str().expect("text");
    assert!(
        text.contains(&format!("The version is {version}.")),
        "{version}"
    );
}

#[test]
fn the_same_trace_makes_the_same_files() {
    let directory = demo();
    let directory = directory.path();
    let other = Sample::with_many_waits(10);
    fs::write(directory.join("other.lct"), other.bytes()).expect("writable");
    let export = "export --to parquet --host here";
    succeed(directory, &format!("{export} {TRACE} -o once"));
    let once = files(&directory.join("once"));
    assert_eq!(once.len(), 8, "{:?}", once.keys());
    succeed(directory, &format!("{export} {TRACE} -o once"));
    assert!(files(&directory.join("once")) == once, "again");
    // The other run has the same time and process, and takes the place of the first one.
    succeed(directory, &format!("{export} other.lct -o once"));
    assert!(files(&directory.join("once")) != once);
    succeed(directory, &format!("{export} other.lct {TRACE} -o once"));
    assert!(files(&directory.join("once")) == once, "after another one");
    // A selection of owners by what they did themselves puts the parts of a wait together anew.
    let activity = ["--of".to_owned(), "owner-activity=running*".to_owned()];
    let [first, second] = ["first", "second"].map(|tables| {
        succeed_with(
            directory,
            &format!("{export} {TRACE} -o {tables}"),
            &activity,
        );
        files(&directory.join(tables))
    });
    assert!(first == second, "with root owners");
}

#[test]
fn many_waits_are_in_groups_of_rows() {
    const WAITS: u64 = 150_000;
    let directory = directory_with(&Sample::with_many_waits(WAITS), TRACE);
    let directory = directory.path();
    succeed(directory, &format!("export --to parquet {TRACE} -o tables"));
    let totals = totals(directory, "");
    let [groups, sums] = query(
        directory,
        "tables",
        [
            "select distinct row_group_id from parquet_metadata('tables/waits/*/*/*/*.parquet')",
            "select count(distinct wait), min(wait), max(wait), sum(duration_ns)::bigint from waits",
        ],
    );
    assert_eq!(groups.len(), 2);
    let expected = serde_json::json!([WAITS, 1, WAITS, totals["duration_ns"]]);
    assert_eq!(sums, [expected]);
}

#[test]
fn a_trace_without_waits_has_empty_tables() {
    let directory = directory_with(&Sample::new(&["main"]), TRACE);
    let directory = directory.path();
    succeed(directory, &format!("export --to parquet {TRACE} -o tables"));
    let [waits, blame, runs] = query(
        directory,
        "tables",
        [
            "select count(*) from waits",
            "select count(*) from blame",
            "select waits, blocked_ns, is_complete from runs",
        ],
    );
    assert_eq!((&waits[0][0], &blame[0][0]), (&0.into(), &0.into()));
    assert_eq!(runs, [serde_json::json!([0, 0, true])]);
}

#[test]
fn of_a_torn_trace_there_is_what_can_be_read() {
    let directory = demo();
    let directory = directory.path();
    tear(directory);
    let run = locktrace(directory, &format!("export --to parquet {TRACE} -o tables"));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(
        run.stderr.starts_with("locktrace: demo.lct: "),
        "{}",
        run.stderr
    );
    let [runs] = query(
        directory,
        "tables",
        ["select is_complete, waits > 0 from runs"],
    );
    assert_eq!(runs, [serde_json::json!([false, true])]);
}

#[test]
fn names_are_only_names() {
    const NAME: &str = "../x';drop table\n\u{202e}\"%2F";
    let directory = directory_with(&named(NAME), TRACE);
    let directory = directory.path();
    let host = ["--host".to_owned(), NAME.to_owned()];
    succeed_with(
        directory,
        &format!("export --to parquet {TRACE} -o tables"),
        &host,
    );
    let [names] = query(
        directory,
        "tables",
        ["select distinct lock_class, name, waits.host from waits join threads using (thread)"],
    );
    assert_eq!(names, [serde_json::json!([NAME, NAME, NAME])]);
}

#[test]
fn tables_that_cannot_be_written_are_named() {
    let directory = demo();
    let directory = directory.path();
    let run = locktrace(directory, &format!("export --to parquet {TRACE}"));
    assert_eq!(run.code, Some(2));
    assert_eq!(
        run.stderr,
        "locktrace: tables go to a directory or an object store: use --output DIRECTORY|URL\n"
    );
    let run = locktrace(
        directory,
        &format!("export --to parquet {TRACE} -o {TRACE}"),
    );
    assert_eq!(run.code, Some(4));
    assert!(
        run.stderr.starts_with("locktrace: demo.lct: "),
        "{}",
        run.stderr
    );
    // In the place of a file there is a folder.
    succeed(directory, &format!("export --to parquet {TRACE} -o tables"));
    let written = files(&directory.join("tables"));
    let waits = written
        .keys()
        .find(|path| path.starts_with("waits"))
        .expect("a table");
    let waits = directory.join("tables").join(waits);
    fs::remove_file(&waits).expect("removable");
    fs::create_dir_all(waits.join("folder")).expect("writable");
    let run = locktrace(directory, &format!("export --to parquet {TRACE} -o tables"));
    assert_eq!(run.code, Some(4));
    assert!(
        run.stderr.starts_with("locktrace: tables/waits/day="),
        "{}",
        run.stderr
    );
    let left = files(&directory.join("tables"));
    assert!(
        left.keys()
            .all(|path| path.extension().is_some_and(|end| end == "parquet"))
    );
    assert!(
        !left.keys().any(|path| path.starts_with("runs")),
        "what is incomplete is no run"
    );
    let run = locktrace_with(
        directory,
        &format!("export --to parquet {TRACE} -o tables"),
        &["--host".to_owned(), String::new()],
    );
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}
