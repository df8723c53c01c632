//! What OpenTelemetry's own classes find in an export, compared with the report.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::{SELECTIONS, STACKS, TRACE, demo, named, number, report, save_other, tear, totals};
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
            for (aspect, attribute) in [
                ("lock-class", "locktrace.lock_class"),
                ("kind", "locktrace.kind"),
            ] {
                let mut sums = BTreeMap::<String, u64>::new();
                for sample in samples(delay) {
                    let of = sample["attributes"][attribute].as_str().expect("a name");
                    *sums.entry(of.to_owned()).or_default() += number(&sample["value"]);
                }
                let rows = report(directory, aspect, selection).into_iter();
                let expected: BTreeMap<_, _> = rows.map(|(key, sums)| (key, sums.0)).collect();
                assert_eq!(sums, expected, "{arguments}");
            }
        }
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
        .find(|sample| sample["attributes"]["locktrace.lock_class"] == "java.util.Hashtable")
        .expect("the table's lock");
    assert_eq!(put["attributes"]["thread.name"], "main");
    assert_eq!(put["attributes"]["thread.id"], 10);
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
    const NAME: &str = "evil\n\u{202e}\"}]\u{7}";
    let directory = directory_with(&named(NAME), TRACE);
    let profiles = profiles(directory.path(), &format!("{TRACE} --stacks waiters"));
    let attributes = &samples(&profiles[0])[0]["attributes"];
    assert_eq!(attributes["locktrace.lock_class"], NAME);
    assert_eq!(attributes["thread.name"], NAME);
}
