//! What OpenTelemetry's own classes find in an export, compared with the report.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{
    AWKWARD, AWKWARD_TRACES, LABELS, SELECTIONS, STACKS, TRACE, awkward, demo, number, printed,
    report_labels, save_other, tear, totals,
};
use crate::go::go_program;
use crate::matrix::{self, Version};
use crate::python::python;
use crate::sample::Sample;
use crate::{directory_with, locktrace, succeed};

/// Prints the profiles, whatever they refer to in its place, and checks what the specification
/// demands of the dictionary.
const DECODE: &str = r#"
import json, sys
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2 as service
from opentelemetry.proto.profiles.v1development import profiles_pb2 as proto
data = open(sys.argv[1], "rb").read()
profiles = proto.ProfilesData.FromString(data)
request = service.ExportProfilesServiceRequest.FromString(data)
assert request.resource_profiles == profiles.resource_profiles, "collectors read the same"
def check(message):
    assert not len(UnknownFieldSet(message)), "each field is one of the specification"
    for field, value in message.ListFields():
        if field.message_type:
            for each in value if field.is_repeated else [value]:
                check(each)
check(profiles)
tables = profiles.dictionary
for name in ["mapping", "location", "function", "link", "attribute", "stack"]:
    table = getattr(tables, name + "_table")
    assert table[0] == type(table[0])(), name
    serialized = [each.SerializeToString() for each in table]
    assert len(set(serialized)) == len(serialized), name
texts = tables.string_table
assert texts[0] == "" and len(set(texts)) == len(texts)
def value(any): return getattr(any, any.WhichOneof("value"))
def attributes(indices):
    assert 0 not in indices
    pairs = [(texts[each.key_strindex], value(each.value)) for each in map(tables.attribute_table.__getitem__, indices)]
    assert len(dict(pairs)) == len(pairs), "a key is there once"
    return dict(pairs)
def frame(index):
    location = tables.location_table[index]
    [line] = location.lines
    function = tables.function_table[line.function_index]
    return dict(name = texts[function.name_strindex], file = texts[function.filename_strindex],
        line = line.line, attributes = attributes(location.attribute_indices))
result = []
for resource in profiles.resource_profiles:
    [scope] = resource.scope_profiles
    for profile in scope.profiles:
        identities = [(each.stack_index, tuple(sorted(each.attribute_indices))) for each in profile.samples]
        assert len(set(identities)) == len(identities), "each sample is there once"
        assert all(len(each.values) == 1 and each.stack_index > 0 for each in profile.samples)
        result.append(dict(
            resource = {each.key: value(each.value) for each in resource.resource.attributes}, scope = scope.scope.name,
            type = texts[profile.sample_type.type_strindex], unit = texts[profile.sample_type.unit_strindex],
            start = profile.time_unix_nano, duration = profile.duration_nano,
            samples = [dict(value = each.values[0], attributes = attributes(each.attribute_indices),
                stack = [frame(at) for at in tables.stack_table[each.stack_index].location_indices])
                for each in profile.samples]))
print(json.dumps(result))
"#;

/// The profiles of an export with these arguments.
fn profiles(directory: &Path, arguments: &str) -> Vec<Value> {
    succeed(
        directory,
        &format!("export --to otlp {arguments} -o demo.otlp"),
    );
    decoded(directory)
}

fn decoded(directory: &Path) -> Vec<Value> {
    let profiles = python(DECODE, directory, &["demo.otlp"]);
    serde_json::from_value(profiles).expect("profiles")
}

fn samples(profile: &Value) -> &[Value] {
    profile["samples"].as_array().expect("samples")
}

fn sum(profile: &Value) -> u64 {
    let values = samples(profile).iter().map(|each| number(&each["value"]));
    values.sum()
}

#[test]
fn profiles_have_the_sums_of_the_report() {
    let directory = demo();
    let directory = directory.path();
    for selection in SELECTIONS {
        let totals = totals(directory, selection);
        for stacks in STACKS {
            let arguments = format!("{TRACE} --stacks {stacks} {selection}");
            let profiles = profiles(directory, &arguments);
            let [delay, contentions] = &*profiles else {
                panic!("{} profiles", profiles.len());
            };
            assert_eq!(delay["type"], "delay");
            assert_eq!(delay["unit"], "nanoseconds");
            assert_eq!(sum(delay), number(&totals["duration_ns"]), "{arguments}");
            assert_eq!(contentions["type"], "contentions");
            assert_eq!(contentions["unit"], "count");
            if stacks == "waiters" {
                assert_eq!(sum(contentions), number(&totals["waits"]), "{selection}");
            }
            for (attribute, aspect) in LABELS {
                let expected = report_labels(directory, aspect, selection);
                assert_eq!(sums(delay, attribute), expected, "{arguments}");
            }
        }
    }
    let classes = Version::pinned("scripts/test-requirements.txt", "opentelemetry-proto");
    let compared = "sums by label, names, what the specification demands";
    matrix::opened("otlp", "`opentelemetry-proto` (Python)", &classes, compared);
}

/// Values of a profile by an attribute of its samples.
fn sums(profile: &Value, attribute: &str) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for sample in samples(profile) {
        let of = sample["attributes"][attribute].as_str().expect("a name");
        *sums.entry(of.to_owned()).or_default() += number(&sample["value"]);
    }
    sums
}

/// The collector's code for what it gets and passes on.
#[test]
fn a_collector_passes_on_the_same() {
    let Some(mut collector) = go_program("collector") else {
        return;
    };
    let directory = demo();
    let directory = directory.path();
    save_other(directory, Sample::with_many_waits(3));
    let mut expected = Vec::new();
    for (at, stacks) in STACKS.into_iter().enumerate() {
        let file = format!("{at}.otlp");
        let arguments = format!("{TRACE} other.lct --kind all --stacks {stacks}");
        expected.extend(profiles(directory, &arguments));
        fs::rename(directory.join("demo.otlp"), directory.join(&file)).expect("renamed");
        collector.arg(directory.join(file));
    }
    let found: Vec<Value> = serde_json::from_str(&printed(&mut collector)).expect("profiles");
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        for field in ["resource", "type", "unit"] {
            assert_eq!(found[field], expected[field]);
        }
        for (found, expected) in samples(found).iter().zip(samples(expected)) {
            assert_eq!(found["value"], expected["value"]);
            assert_eq!(found["attributes"], expected["attributes"]);
            let frames = expected["stack"].as_array().expect("frames").iter();
            let names: Vec<_> = frames.map(|frame| frame["name"].clone()).collect();
            assert_eq!(found["stack"], Value::from(names));
        }
        assert_eq!(samples(found).len(), samples(expected).len());
    }
    let version = Version::pinned("crates/locktrace/tests/go/go.mod", "pdata/pprofile ");
    let compared = "all samples, unmarshalled and merged";
    matrix::opened(
        "otlp",
        "OpenTelemetry's collector (`pdata/pprofile`)",
        &version,
        compared,
    );
}

/// OpenTelemetry's checker is in no registry of packages: it is asked where it is installed.
#[test]
fn profcheck_finds_no_fault() {
    if Command::new("profcheck").output().is_err() {
        eprintln!(
            "skipped: no profcheck on the path, which is github.com/open-telemetry/sig-profiling/profcheck"
        );
        return;
    }
    let directory = awkward();
    let directory = directory.path();
    save_other(directory, Sample::demo());
    for stacks in STACKS {
        let arguments = format!("{AWKWARD_TRACES} other.lct --kind all --stacks {stacks}");
        succeed(
            directory,
            &format!("export --to otlp {arguments} -o all.otlp"),
        );
        let mut profcheck = Command::new("profcheck");
        profcheck.args(["-check-dupes", "-check-sample-shapes", "-check-orphans"]);
        let passed = printed(profcheck.arg(directory.join("all.otlp")));
        assert!(passed.contains("conformance checks passed"), "{passed}");
    }
}

#[test]
fn code_and_threads_are_named_by_convention() {
    let directory = demo();
    let profiles = profiles(directory.path(), TRACE);
    let delay = &profiles[0];
    assert_eq!(
        delay["resource"],
        serde_json::json!({
            "process.pid": 4711,
            "process.runtime.description": "OpenJDK 64-Bit Server VM (25.45-b02)",
        })
    );
    assert_eq!(delay["scope"], "locktrace");
    let put = samples(delay)
        .iter()
        .find(|sample| sample["attributes"]["lock.class"] == "java.util.Hashtable")
        .expect("the table's lock");
    assert_eq!(
        put["attributes"],
        serde_json::json!({
            "thread.name": "main",
            "thread.id": 10,
            "lock.class": "java.util.Hashtable",
            "lock.owner_thread": "main",
            "lock.owner_thread_id": 10,
            "lock.waiting_thread": "worker-1",
            "lock.waiting_thread_id": 11,
            "lock.wait_kind": "contention",
        })
    );
    assert_eq!(
        put["stack"][0],
        serde_json::json!({
            "name": "java.util.Hashtable.put",
            "file": "Hashtable.java",
            "line": 459,
            "attributes": {"profile.frame.type": "jvm"},
        })
    );
    assert_eq!(put["stack"][3]["name"], "java.lang.Thread.run");
    let unknown = samples(delay)
        .iter()
        .flat_map(|sample| sample["stack"].as_array().expect("frames"))
        .find(|frame| frame["name"] == "<owner unknown: hand-off>");
    assert_eq!(unknown.expect("said")["attributes"], serde_json::json!({}));
}

#[test]
fn several_traces_are_several_resources() {
    let directory = demo();
    let directory = directory.path();
    save_other(directory, Sample::with_many_waits(3));
    let profiles = profiles(directory, &format!("{TRACE} other.lct --stacks waiters"));
    let pids: Vec<_> = profiles
        .iter()
        .map(|profile| number(&profile["resource"]["process.pid"]))
        .collect();
    assert_eq!(pids, [4711, 4711, 12, 12]);
    assert_eq!(sum(&profiles[1]), number(&totals(directory, "")["waits"]));
    assert_eq!(sum(&profiles[3]), 3);
}

#[test]
fn what_there_is_not_is_no_sample() {
    let directory = directory_with(&Sample::new(&["main"]), TRACE);
    let directory = directory.path();
    for profile in profiles(directory, TRACE) {
        assert!(samples(&profile).is_empty());
    }
    tear(directory);
    let run = locktrace(directory, &format!("export --to otlp {TRACE} -o demo.otlp"));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(sum(&decoded(directory)[0]) > 0);
}

#[test]
fn names_are_texts() {
    let directory = awkward();
    let profiles = profiles(directory.path(), AWKWARD_TRACES);
    let delays = profiles.iter().filter(|profile| profile["type"] == "delay");
    let mut names = Vec::new();
    for delay in delays {
        let attributes = &samples(delay)[0]["attributes"];
        let name = attributes["lock.class"].as_str().expect("a name");
        assert_eq!(attributes["lock.waiting_thread"], name);
        let frames = samples(delay)
            .iter()
            .map(|sample| &sample["stack"][0]["name"]);
        let method = format!("{name}.{name}");
        assert_eq!(
            frames.filter(|frame| **frame == method).count(),
            1,
            "{name:?}"
        );
        names.push(name.to_owned());
    }
    assert_eq!(names, AWKWARD);
}
