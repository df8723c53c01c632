//! In which order locks were nested, by the tables of many hosts, against `locktrace lock-order` of each trace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::fleet::ask;
use super::number;
use crate::python::python;
use crate::sample::{DEQUEUE, HASHTABLE_GET, HASHTABLE_PUT, PRINT, Sample};
use crate::succeed;

/// The locks of the samples.
const HASHTABLE: u64 = 1;
const TERMINAL: u64 = 2;
const QUEUE: u64 = 3;

const HASHTABLE_CLASS: &str = "java.util.Hashtable";
const TERMINAL_CLASS: &str = "Class of avrora.util.Terminal";

/// The locks that are nested on each host, the outer one first.
const HOSTS: [(&str, &[[u64; 2]]); 5] = [
    (
        "shop-1",
        &[
            [HASHTABLE, TERMINAL],
            [HASHTABLE, TERMINAL],
            [QUEUE, HASHTABLE],
        ],
    ),
    ("shop-2", &[[HASHTABLE, TERMINAL]]),
    ("shop-3", &[[TERMINAL, HASHTABLE], [QUEUE, TERMINAL]]),
    ("shop-4", &[[TERMINAL, HASHTABLE], [HASHTABLE, TERMINAL]]),
    ("shop-5", &[]),
];

/// A directory with a trace for each host, called as it is, and the tables of all.
fn fleet() -> TempDir {
    let directory = TempDir::new().expect("a temporary directory");
    export(directory.path(), "runs");
    directory
}

/// Saves the traces, and exports all into one directory.
pub(super) fn export(directory: &Path, output: &str) {
    for (host, nestings) in HOSTS {
        let mut sample = Sample::new(&["main", "worker-1", "worker-2"]);
        for (at, &locks) in (0..).zip(nestings) {
            let chains = match locks {
                [HASHTABLE, _] => [HASHTABLE_PUT, PRINT],
                _ => [DEQUEUE, HASHTABLE_GET],
            };
            // Both by turns: one thread alone could not deadlock.
            let threads = if at % 2 == 0 { [2, 3] } else { [3, 2] };
            sample.nest(threads, locks, 1_000 * at, chains);
        }
        sample.save(directory, &format!("{host}.lct"));
        let export = format!("export --to parquet --nestings {host}.lct --host {host} -o {output}");
        succeed(directory, &export);
    }
}

fn lock_order(directory: &Path, host: &str) -> Value {
    let json = succeed(directory, &format!("lock-order {host}.lct --format json"));
    serde_json::from_str(&json).expect("JSON")
}

/// Outer and inner lock, by name.
type Order = [String; 2];

fn order(outer: &Value, inner: &Value) -> Order {
    [outer, inner].map(|lock| match lock["mirrored_class"].as_str() {
        Some(class) => format!("Class of {class}"),
        None => lock["lock_class"].as_str().expect("text").to_owned(),
    })
}

/// How often locks were nested, on which hosts, and how long others were blocked by that.
type Nested = (u64, BTreeSet<&'static str>, u64);

fn nested(directory: &Path) -> BTreeMap<Order, Nested> {
    let mut all: BTreeMap<Order, Nested> = BTreeMap::new();
    for (host, _) in HOSTS {
        for nesting in lock_order(directory, host)["nestings"]
            .as_array()
            .expect("rows")
        {
            let order = order(&nesting["outer"], &nesting["inner"]);
            let (times, hosts, blocked_ns) = all.entry(order).or_default();
            *times += number(&nesting["times"]);
            hosts.insert(host);
            *blocked_ns += number(&nesting["blocked_ns"]);
        }
    }
    all
}

/// How many traces have two locks of these classes in both orders, as they say themselves.
fn inverted(directory: &Path, classes: &Order) -> usize {
    let is_inverted = |host: &str| {
        let found = lock_order(directory, host);
        let mut inversions = found["inversions"].as_array().expect("rows").iter();
        inversions.any(|inversion| {
            let [one, other] = &inversion["locks"].as_array().expect("locks")[..] else {
                return false;
            };
            order(one, other) == *classes || order(other, one) == *classes
        })
    };
    HOSTS.iter().filter(|(host, _)| is_inverted(host)).count()
}

#[test]
fn orders_that_contradict_each_other_on_different_hosts_are_found() {
    let directory = fleet();
    let directory = directory.path();
    let nested = nested(directory);
    assert_eq!(nested.values().map(|(times, ..)| times).sum::<u64>(), 8);
    let rows = ask(directory, "lock-order.sql", &[]);
    let classes = [TERMINAL_CLASS, HASHTABLE_CLASS].map(str::to_owned);
    let reversed = [HASHTABLE_CLASS, TERMINAL_CLASS].map(str::to_owned);
    assert_eq!(rows.len(), 1, "{rows:?}");
    let row = rows[0].as_array().expect("a row");
    assert_eq!(
        row[..2],
        classes.each_ref().map(|class| Value::from(class.as_str()))
    );
    assert_eq!(number(&row[2]), inverted(directory, &classes) as u64);
    assert_eq!(number(&row[2]), 1, "on shop-4");
    for (columns, order) in [(&row[3..9], &classes), (&row[9..], &reversed)] {
        let (times, hosts, blocked_ns) = &nested[order];
        let counts = columns[..3].iter().map(number).collect::<Vec<_>>();
        let hosts = hosts.len() as u64;
        assert_eq!(counts, [*times, hosts, hosts], "{order:?}");
        let blocked_seconds = columns[3].as_f64().expect("a number");
        assert!((blocked_seconds - *blocked_ns as f64 / 1e9).abs() < 1e-12);
    }
    let put = "java.util.Hashtable.put < org.apache.xml.dtm.DTMManager.addDTM < \
               org.apache.xalan.transformer.TransformerImpl.run < java.lang.Thread.run";
    let print = "avrora.sim.SimPrinter.printBuffer < avrora.sim.Node.fireAfterReceiveEnd < java.lang.Thread.run";
    assert_eq!(row[13], put, "where the owner of Hashtable stood");
    assert_eq!(row[14], print, "where it waited for Terminal");
}

/// A row for each wait behind each nested one, and none unless they are asked for.
#[test]
fn nestings_are_those_of_lock_order() {
    const SUMS: &str = r#"
import duckdb, json
duckdb.execute("set variable runs = 'runs'")
files = "from read_parquet('runs/{}/*/*/*/*.parquet', hive_partitioning = true)".format
print(json.dumps([duckdb.sql(query).fetchall() for query in [
    f"""select outer_class, inner_class, count(distinct (host, thread, start_ns)), sum(duration_ns)::bigint
        {files("nestings")} group by all order by all""",
    f"select has_nestings, count(*) {files('runs')} group by all order by all",
]]))
"#;
    let directory = fleet();
    let directory = directory.path();
    let expected = nested(directory)
        .into_iter()
        .map(|(order, (times, _, blocked_ns))| {
            let [outer, inner] = order;
            Value::from(vec![
                Value::from(outer),
                Value::from(inner),
                Value::from(times),
                Value::from(blocked_ns),
            ])
        });
    let expected: Vec<_> = expected.collect();
    let found = python(SUMS, directory, &[]);
    assert_eq!(found[0], Value::from(expected));
    assert_eq!(found[1].to_string(), "[[true,5]]");

    for (host, _) in HOSTS {
        let export = format!("export --to parquet {host}.lct --host {host} -o runs");
        succeed(directory, &export);
    }
    let found = python(SUMS, directory, &[]);
    assert_eq!(found.to_string(), "[[],[[false,5]]]");
}
