//! `locktrace metrics`, read by the parsers of Prometheus' own client library.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use jvm_tests::{Jvm, locktrace, report, scratch_directory};

/// Prints each sample as JSON: its name, labels and value.
const PARSE: &str = "
import importlib, json, sys
parser = importlib.import_module(sys.argv[1])
for family in parser.text_string_to_metric_families(open(sys.argv[2]).read()):
    for sample in family.samples:
        print(json.dumps([sample.name, sample.labels, sample.value]))
";

type Sample = (String, BTreeMap<String, String>, f64);

/// The samples of a file as a parser of the library finds them.
fn samples(parser: &str, path: &Path) -> Vec<Sample> {
    // The distribution's, for which the library is installed.
    let mut python = Command::new("/usr/bin/python3");
    let output = python
        .args(["-c", PARSE, parser])
        .arg(path)
        .output()
        .expect("python is there");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    let sample = |line| serde_json::from_str(line).expect("as printed");
    lines.lines().map(sample).collect()
}

/// Sum of a family, in billionths.
fn sum(samples: &[Sample], name: &str) -> u64 {
    let values = samples.iter().filter(|(sample, ..)| sample == name);
    values.map(|(.., value)| (value * 1e9).round() as u64).sum()
}

#[test]
fn the_sums_are_those_of_the_report() {
    let run = Jvm::traced(&["demo.Demo"]).run();
    let trace = run.trace();
    let by_owner = report(&trace, "kind,lock-class,owner-method");
    let directory = scratch_directory("metrics");
    let path = directory.path().join("demo.prom");
    for series in ["1000", "2", "0"] {
        let write = |format: &str| {
            let arguments = ["metrics", "--format", format, "--series", series, "-o"];
            let written = locktrace(
                arguments
                    .iter()
                    .map(OsStr::new)
                    .chain([path.as_os_str(), trace.as_os_str()]),
            );
            assert_eq!(
                (written.code, &*written.stdout, &*written.stderr),
                (0, "", "")
            );
        };
        write("prometheus");
        let older = samples("prometheus_client.parser", &path);
        write("openmetrics");
        // Nothing but the file is left behind.
        assert_eq!(
            std::fs::read_dir(directory.path())
                .expect("readable")
                .count(),
            1
        );

        let found = samples("prometheus_client.openmetrics.parser", &path);
        assert_eq!(found, older, "both formats say the same");
        let blocked = "locktrace_blocked_seconds_total";
        assert_eq!(sum(&found, blocked), by_owner.totals.duration_ns);
        let duration = sum(&found, "locktrace_trace_duration_seconds");
        assert_eq!(duration, by_owner.trace.duration_ns);
        if series == "1000" {
            for kind in &by_owner.tree {
                for class in &kind.children {
                    for owner in &class.children {
                        let of_owner = found.iter().filter(|(name, labels, _)| {
                            *name == blocked
                                && labels["kind"] == kind.label
                                && labels["lock_class"] == class.label
                                && labels["owner_method"] == owner.label
                        });
                        let of_owner: Vec<_> = of_owner.cloned().collect();
                        assert_eq!(sum(&of_owner, blocked), owner.duration_ns);
                    }
                }
            }
        } else {
            let of_owners = found.iter().filter(|(name, ..)| name == blocked).count();
            assert_eq!(
                of_owners.to_string(),
                (series.parse::<u32>().expect("a number") + 1).to_string()
            );
        }
    }
}
