//! What Prometheus' own code finds in metrics, compared with the report: the parser of its client library, what promtool
//! checks metrics with, and node_exporter.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::{
    AWKWARD, AWKWARD_TRACES, SELECTIONS, TRACE, awkward, demo, number, report_json, save_other,
    tear, totals,
};
use crate::go::go_program;
use crate::matrix::{self, Version};
use crate::python::python;
use crate::sample::Sample;
use crate::{locktrace, succeed, succeed_with};

/// Prints names, labels and values of all samples. Values are billionths, from the text itself: the
/// parser makes floats of them.
const PARSE: &str = r##"
import decimal, importlib, json, sys
is_openmetrics = sys.argv[2] == "openmetrics"
parser = importlib.import_module("prometheus_client.openmetrics.parser" if is_openmetrics else "prometheus_client.parser")
text = open(sys.argv[1], newline="").read()
assert text.endswith("# EOF\n") == is_openmetrics
families = list(parser.text_string_to_metric_families(text))
lines = [line for line in text.split("\n") if line and not line.startswith("#")]
samples = [sample for family in families for sample in family.samples]
assert len(lines) == len(samples)
exact = [decimal.Decimal(line.rsplit(" ", 1)[1]) for line in lines]
assert all(float(value) == sample.value for value, sample in zip(exact, samples))
assert all(family.unit == "seconds" for family in families if is_openmetrics and family.name.endswith("_seconds"))
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
    let parsed = parsed(directory, "openmetrics", arguments);
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

/// All samples of an export in a format, with these arguments.
fn parsed(directory: &Path, format: &str, arguments: &str) -> Value {
    succeed(
        directory,
        &format!("export --to {format} {arguments} -o demo.prom"),
    );
    python(PARSE, directory, &["demo.prom", format])
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
        let older = parsed(directory, "prometheus", &format!("{TRACE} {selection}"));
        assert_eq!(
            older,
            parsed(directory, "openmetrics", &format!("{TRACE} {selection}"))
        );
    }
    let version = "from importlib.metadata import version; print(version('prometheus-client'))";
    let parser = Version::asked(Command::new("/usr/bin/python3").args(["-c", version]));
    for format in ["openmetrics", "prometheus"] {
        matrix::opened(
            format,
            "`prometheus_client` (Python)",
            &parser,
            "series, sums, names",
        );
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
    let processes: Vec<_> = all(start, &["process"]).into_keys().flatten().collect();
    assert_eq!(processes, ["12", "4711"]);
    assert_eq!(
        all(BLOCKED, &["pid"]).into_keys().collect::<Vec<_>>(),
        [["12,4711"]]
    );
    for summed in [BLOCKED, "locktrace_trace_duration_seconds"] {
        let [one, other, all] = [&one, &families(directory, "other.lct"), &all]
            .map(|family| family(summed, &[]).into_values().sum::<u64>());
        assert!(one > 0);
        assert_eq!(all, 2 * one + other, "{summed}");
    }
}

#[test]
fn incomplete_traces_are_reported() {
    let directory = demo();
    let directory = directory.path();
    let complete = "locktrace_trace_complete";
    let whole = families(directory, TRACE)(complete, &[]);
    assert_eq!(whole.into_values().collect::<Vec<_>>(), [BILLION]);
    tear(directory);
    let run = locktrace(directory, &format!("export --to openmetrics {TRACE}"));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let incomplete = "\nlocktrace_trace_complete{pid=\"4711\"} 0\n";
    assert!(run.stdout.contains(incomplete), "{}", run.stdout);
    assert!(run.stdout.ends_with("\n# EOF\n"));
}

#[test]
fn names_are_label_values() {
    let directory = awkward();
    let family = families(directory.path(), AWKWARD_TRACES);
    let names = family(BLOCKED, &["lock_class", "owner_method"]).into_keys();
    // Where nobody is known to have held the lock, there is no method with a class.
    let names: BTreeSet<_> = names.filter(|names| names[1].contains('.')).collect();
    let expected = AWKWARD.map(|name| vec![name.to_owned(), format!("{name}.{name}")]);
    assert_eq!(names, expected.into());
}

#[test]
fn labels_are_on_every_series() {
    let directory = demo();
    let directory = directory.path();
    for format in ["openmetrics", "prometheus"] {
        for command in [
            format!("export --to {format} {TRACE}"),
            format!("metrics --format {format} {TRACE}"),
        ] {
            let labels = |given: &[&str]| -> BTreeSet<String> {
                let given: Vec<_> = given
                    .iter()
                    .map(|given| format!("--label={given}"))
                    .collect();
                let metrics = succeed_with(directory, &command, &given);
                let series = metrics.lines().filter(|line| !line.starts_with('#'));
                let own = |line: &str| {
                    let labels = line.split_once('{').expect("labels").1;
                    let own = labels
                        .find(",kind=")
                        .or(labels.find(",jvm="))
                        .or(labels.find("} "));
                    labels[..own.expect("an end")].to_owned()
                };
                series.map(own).collect()
            };
            assert_eq!(labels(&[]), [r#"pid="4711""#.to_owned()].into());
            let both = labels(&["app=a \"shop\"\n\\", "env=live"]);
            assert_eq!(
                both,
                [r#"pid="4711",app="a \"shop\"\n\\",env="live""#.to_owned()].into()
            );
            let instead = labels(&["app=shop", "pid=x"]);
            assert_eq!(instead, [r#"app="shop",pid="x""#.to_owned()].into());
            for wrong in [
                "app",
                "1=x",
                "kind=x",
                "__a=x",
                "process=1",
                "app=a --label app=b",
            ] {
                let run = locktrace(directory, &format!("{command} --label {wrong}"));
                assert_eq!(
                    (run.code, &*run.stdout),
                    (Some(2), ""),
                    "{wrong}: {}",
                    run.stderr
                );
            }
        }
    }
    let run = locktrace(directory, &format!("export --to pprof --label a=b {TRACE}"));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

/// What `promtool check metrics` says of metrics.
fn faults(metrics: &str) -> Option<String> {
    let mut promlint = go_program("promlint")?;
    let mut promlint = promlint
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = promlint.stdin.take().expect("a pipe");
    input.write_all(metrics.as_bytes()).expect("it reads");
    drop(input);
    let output = promlint.wait_with_output().expect("it ends");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}\n{metrics}");
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

#[test]
fn promtool_is_silent() {
    let directory = awkward();
    let directory = directory.path();
    save_other(directory, Sample::demo());
    let command = format!("{AWKWARD_TRACES} other.lct --kind all --label app=shop");
    let Some(found) = faults(&succeed(
        directory,
        &format!("export --to prometheus {command}"),
    )) else {
        return;
    };
    assert_eq!(found, "");
    // It does find fault with what is not for it.
    let newer = succeed(directory, &format!("export --to openmetrics {command}"));
    assert!(
        faults(&newer)
            .expect("it is there")
            .contains("no help text")
    );
    let version = Version::pinned("crates/locktrace/tests/go/go.mod", "client_golang ");
    let reader = "`promtool check metrics`, by its library (`promlint`)";
    matrix::opened("prometheus", reader, &version, "nothing to complain of");
}

/// node_exporter with nothing but the files of a folder.
struct NodeExporter {
    process: Child,
    address: String,
}

impl NodeExporter {
    fn of(folder: &Path) -> Option<Self> {
        let mut process = go_program("node_exporter")?
            .args(["--collector.disable-defaults", "--collector.textfile"])
            .arg(format!(
                "--collector.textfile.directory={}",
                folder.display()
            ))
            .args([
                "--web.disable-exporter-metrics",
                "--web.listen-address=127.0.0.1:0",
            ])
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(process.stderr.take().expect("a pipe")).lines();
        let address = lines.find_map(|line| {
            let line = line.expect("UTF-8");
            let (_, address) = line.split_once("msg=\"Listening on\" address=")?;
            Some(address.to_owned())
        });
        // It goes on to write there.
        std::thread::spawn(|| lines.for_each(drop));
        let address = address.expect("it says where it listens");
        Some(Self { process, address })
    }

    fn scrape(&self) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let request = "GET /metrics HTTP/1.0\r\n\r\n";
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, metrics) = answer.split_once("\r\n\r\n").expect("a head");
        assert!(head.starts_with("HTTP/1.0 200"), "{answer}");
        metrics.to_owned()
    }
}

impl Drop for NodeExporter {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn applications_share_the_folder_of_node_exporter() {
    let directory = demo();
    let directory = directory.path();
    save_other(directory, Sample::with_many_waits(3));
    let folder = tempfile::tempdir().expect("a temporary directory");
    let folder = folder.path();
    let Some(exporter) = NodeExporter::of(folder) else {
        return;
    };
    let write = |command: &str, label: &str| {
        for (trace, file) in [(TRACE, "demo.prom"), ("other.lct", "other.prom")] {
            let file = folder.join(file);
            let file = file.display();
            succeed(directory, &format!("{command} {trace} {label} -o {file}"));
        }
    };
    for command in ["metrics --format prometheus", "export --to prometheus"] {
        write(command, "");
        let scraped = exporter.scrape();
        assert!(
            scraped.contains("\nnode_textfile_scrape_error 0\n"),
            "{scraped}"
        );
        let read = |file: &str| std::fs::read_to_string(folder.join(file)).expect("readable");
        let written = read("demo.prom") + &read("other.prom");
        for line in written.lines().filter(|line| line.starts_with("# ")) {
            assert_eq!(
                scraped.lines().filter(|scraped| *scraped == line).count(),
                1,
                "{line}"
            );
        }
        for (pid, trace) in [(4711, TRACE), (12, "other.lct")] {
            let ours = |line: &&str| {
                line.starts_with("locktrace_") && line.contains(&format!("pid=\"{pid}\""))
            };
            let series = written.lines().filter(ours).count();
            assert!(series > 5, "{written}");
            assert_eq!(scraped.lines().filter(ours).count(), series, "{scraped}");
            let report = succeed(directory, &format!("report {trace} --format json"));
            let report: Value = serde_json::from_str(&report).expect("JSON");
            let blocked_ns = number(&report["totals"]["duration_ns"]) as f64;
            let blocked = scraped
                .lines()
                .filter(|line| line.starts_with(BLOCKED))
                .filter(ours);
            let seconds = blocked.map(|line| {
                let value = line.rsplit(' ').next().expect("a value");
                value.parse::<f64>().expect("a number")
            });
            assert!(
                (seconds.sum::<f64>() * 1e9 - blocked_ns).abs() < 1.0,
                "{scraped}"
            );
        }
    }
    // Without a label that distinguishes them, it leaves out what a second file has, too.
    write("metrics --format prometheus", "--label pid=");
    let scraped = exporter.scrape();
    let durations = scraped
        .matches("\nlocktrace_trace_duration_seconds ")
        .count();
    assert_eq!(durations, 1, "{scraped}");
    let version = Version::pinned("crates/locktrace/tests/go/go.mod", "node_exporter ");
    let compared = "types, help and sums of two files in one folder";
    matrix::opened("prometheus", "node_exporter", &version, compared);
}
