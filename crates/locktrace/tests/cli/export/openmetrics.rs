//! What the parser of Prometheus' client library finds in an export, compared with the report.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::{SELECTIONS, TRACE, demo, named, number, report_json, save_other, tear, totals};
use crate::python::python;
use crate::sample::Sample;
use crate::{directory_with, locktrace, succeed};

/// Prints names, labels and values of all samples. Values are billionths, from the text itself: the
/// parser makes floats of them.
const PARSE: &str = r##"
import decimal, json, sys
from prometheus_client.openmetrics import parser
text = open(sys.argv[1]).read()
assert text.endswith("# EOF\n")
families = list(parser.text_string_to_metric_families(text))
lines = [line for line in text.split("\n") if line and not line.startswith("#")]
samples = [sample for family in families for sample in family.samples]
assert len(lines) == len(samples)
exact = [decimal.Decimal(line.rsplit(" ", 1)[1]) for line in lines]
assert all(float(value) == sample.value for value, sample in zip(exact, samples))
assert all(family.unit == "seconds" for family in families if family.name.endswith("_seconds"))
assert all(family.documentation and family.type in ("counter", "gauge") for family in families)
print(json.dumps([[sample.name, sample.labels, int(value * 10**9)] for value, sample in zip(exact, samples)]))
"##;

/// Values of the samples of a family, in billionths, by their labels.
type Family = BTreeMap<Vec<String>, u64>;

const BLOCKED: &str = "locktrace_blocked_seconds_total";
const OWNER_WAITS: &str = "locktrace_owner_waits_total";
const BILLION: u64 = 1_000_000_000;

/// A family of an export with these arguments.
fn families(directory: &Path, arguments: &str) -> impl Fn(&str, &[&str]) -> Family + use<> {
    succeed(
        directory,
        &format!("export --to openmetrics {arguments} -o demo.prom"),
    );
    let parsed = python(PARSE, directory, &["demo.prom"]);
    move |name, labels| {
        let samples = parsed.as_array().expect("samples").iter();
        let of_family = samples.filter(|sample| sample[0] == name);
        of_family
            .map(|sample| {
                let values = labels.iter().map(|&label| text(&sample[1][label]));
                (values.collect(), number(&sample[2]))
            })
            .collect()
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Durations and waits of the innermost rows of a report, by the names of all rows around.
fn rows(directory: &Path, selection: &str) -> BTreeMap<Vec<String>, (u64, u64)> {
    fn add(rows: &mut BTreeMap<Vec<String>, (u64, u64)>, row: &Value, above: &[String]) {
        let mut names = above.to_vec();
        names.push(text(&row["label"]));
        match row["children"].as_array() {
            Some(children) if !children.is_empty() => {
                children.iter().for_each(|child| add(rows, child, &names));
            }
            _ => {
                let sums = (number(&row["duration_ns"]), number(&row["waits"]));
                assert_eq!(rows.insert(names, sums), None, "names tell the rows apart");
            }
        }
    }
    let options = format!("--all --by kind,lock-class,owner-method {selection}");
    let report = report_json(directory, &options);
    let mut rows = BTreeMap::new();
    for row in report["tree"].as_array().expect("rows") {
        add(&mut rows, row, &[]);
    }
    rows
}

#[test]
fn series_are_the_rows_of_the_report() {
    let directory = demo();
    let directory = directory.path();
    let labels = ["kind", "lock_class", "owner_method"];
    for selection in SELECTIONS {
        let family = families(directory, &format!("{TRACE} {selection}"));
        let rows = rows(directory, selection);
        assert!(!rows.is_empty(), "{selection}");
        let blocked = rows.iter().map(|(names, sums)| (names.clone(), sums.0));
        assert_eq!(family(BLOCKED, &labels), blocked.collect(), "{selection}");
        let waits = rows.iter();
        let waits = waits.map(|(names, sums)| (names.clone(), sums.1 * BILLION));
        assert_eq!(family(OWNER_WAITS, &labels), waits.collect(), "{selection}");
        let waits: u64 = family("locktrace_waits_total", &["kind", "lock_class"])
            .into_values()
            .sum();
        let totals = totals(directory, selection);
        assert_eq!(waits, number(&totals["waits"]) * BILLION, "{selection}");
    }
}

#[test]
fn what_has_no_series_of_its_own_is_in_one() {
    let directory = demo();
    let directory = directory.path();
    let labels = ["lock_class", "owner_method"];
    let blocked_ns = number(&totals(directory, "")["duration_ns"]);
    for (max, expected) in [(0, 1), (1, 2), (1_000, rows(directory, "").len())] {
        let family = families(directory, &format!("{TRACE} --series {max}"));
        let blocked = family(BLOCKED, &labels);
        assert_eq!(blocked.len(), expected, "{blocked:?}");
        assert_eq!(blocked.values().sum::<u64>(), blocked_ns);
        let other = vec!["other".to_owned(); 2];
        assert_eq!(blocked.contains_key(&other), max < 1_000);
    }
    let run = locktrace(directory, &format!("export --to pprof --series 1 {TRACE}"));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

/// Also those of processes with the same number, as in containers.
#[test]
fn several_traces_are_added_up() {
    let directory = demo();
    let directory = directory.path();
    save_other(directory, Sample::demo());
    let one = families(directory, TRACE);
    let all = families(directory, &format!("{TRACE} {TRACE} other.lct"));
    let start = "locktrace_trace_start_time_seconds";
    let pids: Vec<_> = all(start, &["pid"]).into_keys().flatten().collect();
    assert_eq!(pids, ["12", "4711"]);
    for summed in [BLOCKED, "locktrace_trace_duration_seconds"] {
        let [one, other, all] = [&one, &families(directory, "other.lct"), &all]
            .map(|family| family(summed, &[]).into_values().sum::<u64>());
        assert!(one > 0);
        assert_eq!(all, 2 * one + other, "{summed}");
    }
}

#[test]
fn incomplete_traces_are_told() {
    let directory = demo();
    let directory = directory.path();
    let complete = "locktrace_trace_complete";
    let whole = families(directory, TRACE)(complete, &[]);
    assert_eq!(whole.into_values().collect::<Vec<_>>(), [BILLION]);
    tear(directory);
    let run = locktrace(directory, &format!("export --to openmetrics {TRACE}"));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stdout.contains("\nlocktrace_trace_complete 0\n"));
    assert!(run.stdout.ends_with("\n# EOF\n"));
}

#[test]
fn names_are_label_values() {
    const NAME: &str = "evil\"} 1\n# EOF\n\\n\u{202e}";
    let directory = directory_with(&named(NAME), TRACE);
    let family = families(directory.path(), TRACE);
    let classes: Vec<_> = family(BLOCKED, &["lock_class"]).into_keys().collect();
    assert_eq!(classes, [[NAME]]);
}
