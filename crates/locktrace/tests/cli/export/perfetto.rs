//! What Perfetto's messages say in an export, compared with the report.
//!
//! The trace processor is a program that Perfetto's Python package fetches when it runs, from a
//! place that tests do not depend on. So the package's own classes decode the trace here, and the
//! slices are put together as the trace processor does: packets are sorted by time, and an end
//! ends the last slice of its track that has not ended.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{SELECTIONS, TRACE, demo, named, number, report, save_other, tear, totals};
use crate::python::python;
use crate::sample::Sample;
use crate::{directory_with, locktrace, succeed};

/// Prints tracks, slices and arrows.
const DECODE: &str = r#"
import json, sys
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto
trace = proto.Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())
KINDS = ["event_categories", "event_names", "debug_annotation_names", "debug_annotation_string_values"]
texts, clears, tracks, events = {}, 0, {}, []
for packet in trace.packet:
    assert packet.trusted_packet_sequence_id == 1
    assert not len(UnknownFieldSet(packet)), "each field is one of Perfetto's"
    if packet.sequence_flags & proto.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
        texts, clears = {}, clears + 1
    for kind in KINDS:
        for text in getattr(packet.interned_data, kind):
            value = text.str.decode() if kind == KINDS[3] else text.name
            assert (kind, text.iid) not in texts
            texts[kind, text.iid] = value
    if packet.HasField("track_descriptor"):
        track = packet.track_descriptor
        assert track.uuid not in tracks
        tracks[track.uuid] = dict(parent = tracks[track.parent_uuid]["name"] if track.parent_uuid else None,
            name = track.name if track.HasField("name") else f"{track.process.process_name} {track.process.pid}")
    if packet.HasField("track_event"):
        event = packet.track_event
        assert event.track_uuid in tracks and packet.HasField("timestamp")
        events.append(dict(time = packet.timestamp, type = event.type, track = event.track_uuid,
            name = texts[KINDS[1], event.name_iid] if event.name_iid else None,
            category = [texts[KINDS[0], iid] for iid in event.category_iids],
            args = {texts[KINDS[2], each.name_iid]: texts[KINDS[3], each.string_value_iid]
                for each in event.debug_annotations},
            flows = list(event.flow_ids), ends = list(event.terminating_flow_ids)))
events.sort(key = lambda event: event["time"])
slices, open_slices, flows, arrows = [], {}, {}, []
for event in events:
    stack = open_slices.setdefault(event["track"], [])
    track = tracks[event["track"]]
    this = dict(track = track["name"], group = track["parent"], uuid = event["track"], start = event["time"],
        name = event["name"], category = event["category"], args = event["args"], depth = len(stack))
    if event["type"] == proto.TrackEvent.TYPE_SLICE_END:
        ended = stack.pop()
        ended["duration"] = event["time"] - ended["start"]
        assert not stack or stack[-1]["start"] <= ended["start"]
        continue
    if event["type"] == proto.TrackEvent.TYPE_SLICE_BEGIN:
        stack.append(this)
        slices.append(this)
    for flow in event["flows"]:
        assert flow not in flows
        flows[flow] = this
    for flow in event["ends"]:
        begin = flows.pop(flow)
        assert begin["start"] <= this["start"]
        arrows.append([begin["track"], begin["name"], this["track"], this["name"]])
assert not any(open_slices.values()), "each slice ends"
assert not flows, "each arrow ends"
print(json.dumps(dict(slices = slices, arrows = arrows, clears = clears,
    tracks = [[track["name"], track["parent"]] for track in tracks.values()])))
"#;

fn decoded(directory: &Path, file: &str) -> Value {
    python(DECODE, directory, &[file])
}

/// What is in the trace of the whole demo.
fn decoded_demo() -> Value {
    let directory = demo();
    succeed(
        directory.path(),
        &format!("export --to perfetto {TRACE} -o demo.pftrace"),
    );
    decoded(directory.path(), "demo.pftrace")
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("no {key} in {value}"))
}

/// The slices of a category.
fn slices<'a>(trace: &'a Value, category: &str) -> Vec<&'a Value> {
    let slices = trace["slices"].as_array().expect("slices").iter();
    slices
        .filter(|slice| slice["category"] == serde_json::json!([category]))
        .collect()
}

/// Sums of durations by what an annotation says.
fn sums(slices: &[&Value], key: &str) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for slice in slices {
        let of = text(&slice["args"], key).to_owned();
        *sums.entry(of).or_default() += number(&slice["duration"]);
    }
    sums
}

#[test]
fn slices_add_up_to_the_report() {
    let directory = demo();
    let directory = directory.path();
    for selection in SELECTIONS
        .into_iter()
        .chain(["--owner-method java.util.Hashtable.put"])
    {
        succeed(
            directory,
            &format!("export --to perfetto {TRACE} {selection} -o demo.pftrace"),
        );
        let trace = decoded(directory, "demo.pftrace");
        let (waits, parts) = (slices(&trace, "wait"), slices(&trace, "part"));
        let aspects = [
            ("lock-class", &waits, "lock_class"),
            ("kind", &waits, "kind"),
            ("method", &waits, "method"),
            ("owner-method", &parts, "owner_method"),
            ("owner-thread", &parts, "owner_thread"),
        ];
        for (aspect, slices, key) in aspects {
            let rows = report(directory, aspect, selection).into_iter();
            let expected: BTreeMap<_, _> =
                rows.map(|(key, (duration, _))| (key, duration)).collect();
            assert!(!expected.is_empty());
            assert_eq!(sums(slices, key), expected, "{aspect}, {selection}");
        }
        let totals = totals(directory, selection);
        let count = number(&totals["waits"]) as usize;
        if selection.starts_with("--owner") {
            assert!(waits.len() >= count, "gaps divide waits");
        } else {
            assert_eq!(waits.len(), count, "{selection}");
        }
        assert!(
            waits
                .iter()
                .all(|wait| wait["group"] == "threads" && wait["depth"] == 0)
        );
        assert!(
            parts
                .iter()
                .all(|part| part["group"] == "threads" && part["depth"] == 1)
        );
    }
}

#[test]
fn arrows_lead_from_owners_to_those_who_waited() {
    let trace = decoded_demo();
    let known = slices(&trace, "part")
        .into_iter()
        .filter(|part| part["args"].get("owner_stack").is_some())
        .count();
    let arrows = trace["arrows"].as_array().expect("arrows");
    assert_eq!(arrows.len(), known);
    let expected = serde_json::json!([
        "main #10",
        "worker-1",
        "worker-1 #11",
        "main: java.util.Hashtable.put"
    ]);
    assert!(arrows.contains(&expected), "{arrows:?}");
    for name in [
        "java 4711",
        "threads",
        "locks",
        "worker-1 #11",
        "java.util.Hashtable@49abf544",
    ] {
        let mut tracks = trace["tracks"].as_array().expect("tracks").iter();
        assert!(tracks.any(|track| track[0] == name), "{name}");
    }
}

/// Who has a lock is shown once, however many wait for it, and never two at a time.
#[test]
fn tracks_of_locks_show_one_owner_at_a_time() {
    let trace = decoded_demo();
    let owners = slices(&trace, "lock");
    let mut waits = BTreeMap::<&str, Vec<(u64, u64)>>::new();
    for wait in slices(&trace, "wait") {
        let start = number(&wait["start"]);
        let lock = waits.entry(text(&wait["args"], "lock")).or_default();
        lock.push((start, start + number(&wait["duration"])));
    }
    assert_eq!(waits.len(), 3);
    for (lock, mut waits) in waits {
        waits.sort_unstable();
        let (mut contended_ns, mut until) = (0, 0);
        for (start, end) in waits {
            contended_ns += end.saturating_sub(start.max(until));
            until = until.max(end);
        }
        let owners = owners.iter().filter(|owner| owner["track"] == lock);
        let mut times: Vec<_> = owners
            .map(|owner| (number(&owner["start"]), number(&owner["duration"])))
            .collect();
        times.sort_unstable();
        assert!(
            times.is_sorted_by(|one, next| one.0 + one.1 <= next.0),
            "{lock}"
        );
        let shown_ns: u64 = times.iter().map(|(_, duration)| duration).sum();
        assert_eq!(shown_ns, contended_ns, "{lock}");
    }
}

#[test]
fn several_traces_are_several_processes() {
    let directory = demo();
    let directory = directory.path();
    save_other(directory, Sample::with_many_waits(3));
    succeed(
        directory,
        &format!("export --to perfetto {TRACE} other.lct -o both.pftrace"),
    );
    let trace = decoded(directory, "both.pftrace");
    let tracks = trace["tracks"].as_array().expect("tracks").iter();
    let processes: Vec<_> = tracks
        .filter(|track| track[1].is_null())
        .map(|track| &track[0])
        .collect();
    assert_eq!(processes, ["java 4711", "java 12"]);
    let waits = number(&totals(directory, "")["waits"]) + 3;
    assert_eq!(slices(&trace, "wait").len() as u64, waits);
}

#[test]
fn what_there_is_not_is_no_slice() {
    let directory = directory_with(&Sample::new(&["main"]), TRACE);
    let directory = directory.path();
    succeed(
        directory,
        &format!("export --to perfetto {TRACE} -o empty.pftrace"),
    );
    let trace = decoded(directory, "empty.pftrace");
    assert_eq!(trace["slices"], serde_json::json!([]));
    tear(directory);
    let run = locktrace(
        directory,
        &format!("export --to perfetto {TRACE} -o torn.pftrace"),
    );
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let trace = decoded(directory, "torn.pftrace");
    assert!(!slices(&trace, "wait").is_empty());
    fs::write(directory.join(TRACE), "foreign").expect("writable");
    let run = locktrace(
        directory,
        &format!("export --to perfetto {TRACE} -o foreign.pftrace"),
    );
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(!directory.join("foreign.pftrace").exists());
}

#[test]
fn names_are_texts() {
    const NAME: &str = "evil\n\u{202e}\"}]\u{7}";
    let directory = directory_with(&named(NAME), TRACE);
    let directory = directory.path();
    succeed(
        directory,
        &format!("export --to perfetto {TRACE} -o demo.pftrace"),
    );
    let trace = decoded(directory, "demo.pftrace");
    let wait = slices(&trace, "wait")[0];
    assert_eq!(wait["name"], NAME);
    assert_eq!(wait["track"], format!("{NAME} #11"));
}
