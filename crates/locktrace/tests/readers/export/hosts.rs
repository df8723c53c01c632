//! Hosts are what they are called, in every reader that is given the types of `docs/tables.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{TRACE, demo};
use crate::matrix::{self, Version};
use crate::python::python;
use crate::succeed_with;

/// What readers take for numbers, dates and nothing, and what folders have to escape or not. Spark guesses types of
/// the first five.
pub(super) const HOSTS: [&str; 20] = [
    "12",
    "007",
    "1e5",
    "1.10",
    "2026-01-01",
    "0x1F",
    "1_000",
    "inf",
    "nan",
    "null",
    "true",
    "12:30",
    "läden",
    "東京-1",
    "😀",
    "ä b=c/d%2F+",
    "a\u{202e}b\u{a0}\u{85}",
    "x*y?[z]{q}",
    "'#\"\\",
    "..",
];

/// A folder of tables of each host, `0` for the first, and `all` for all of them.
pub(super) fn tables() -> TempDir {
    let directory = demo();
    for (at, host) in HOSTS.into_iter().enumerate() {
        for folder in [&at.to_string(), "all"] {
            let export = format!("export --to parquet {TRACE} -o {folder}/runs");
            let host = ["--host".to_owned(), host.to_owned()];
            succeed_with(directory.path(), &export, &host);
        }
    }
    directory
}

/// The blocks of code in `docs/tables.md` that read `blame`, of a language.
pub(super) fn documented(language: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tables.md");
    let text = fs::read_to_string(path).expect("readable");
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1);
    let blocks = blocks.filter_map(|block| block.split("\n```").next());
    let reads_blame = |block: &&str| block.contains("runs/blame");
    blocks.filter(reads_blame).map(str::to_owned).collect()
}

/// The folders of the first `of_one` hosts, and the one of all hosts.
pub(super) fn folders(of_one: usize) -> Vec<String> {
    let of_one = (0..of_one).map(|at| at.to_string());
    of_one.chain(["all".to_owned()]).collect()
}

/// Asserts that a reader found the hosts of [`folders`], sorted.
pub(super) fn assert_found(reader: &str, found: &Value, of_one: usize) {
    let hosts = HOSTS[..of_one].iter().map(|host| json!([host]));
    let all: BTreeSet<_> = HOSTS.into_iter().collect();
    let expected: Vec<_> = hosts.chain([json!(all)]).collect();
    assert_eq!(found, &json!(expected), "{reader}");
}

/// Prints the hosts that a program finds in each folder, in order. It runs a block of the documentation there.
const FIND: &str = r#"
import json, os, sys
reader, code, *folders = sys.argv[1:]
def hosts():
    if reader == "duckdb":
        import duckdb
        return [host for host, in duckdb.sql(f"select distinct host from ({code})").fetchall()]
    if reader == "tables.sql":
        import duckdb
        connection = duckdb.connect()
        connection.execute("set variable runs = 'runs'")
        connection.execute(open(code).read())
        tables = ["runs", "waits", "nestings", "blame", "stacks"]
        query = " union ".join(f"select host from {table}" for table in tables)
        return [host for host, in connection.sql(query).fetchall()]
    names = {}
    exec(code, names)
    return list(names["blame"]["host"].unique())
found = []
top = os.getcwd()
for folder in folders:
    os.chdir(f"{top}/{folder}")
    found.append(sorted(hosts()))
print(json.dumps(found))
"#;

#[test]
fn hosts_are_texts_to_readers_that_are_given_types() {
    let directory = tables();
    let directory = directory.path();
    let folders = folders(HOSTS.len());
    let folders = || folders.iter().map(String::as_str);
    let find = |reader: &str, code: &str| {
        let arguments: Vec<_> = [reader, code].into_iter().chain(folders()).collect();
        assert_found(reader, &python(FIND, directory, &arguments), HOSTS.len());
    };
    let tables_sql = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fleet/tables.sql");
    let opened = |reader: &str, package: &str| {
        let version = Version::pinned("scripts/test-requirements.txt", package);
        matrix::opened("parquet", reader, &version, "hosts");
    };
    find("tables.sql", tables_sql);
    let documented_sql = documented("sql");
    let [duckdb] = documented_sql.as_slice() else {
        panic!("{documented_sql:?}");
    };
    find("duckdb", duckdb);
    opened("DuckDB", "duckdb");
    let documented_python = documented("python");
    for (reader, library) in [("Polars", "polars"), ("pandas", "pandas")] {
        let imports = format!("import {library}");
        let mut blocks = documented_python.iter();
        let block = blocks.find(|block| block.starts_with(&imports));
        find(library, block.expect("it is documented"));
        opened(reader, library);
    }
}
