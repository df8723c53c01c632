//! What readers of recordings demand beside the right sums.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::readers::{Jdk, Jfrconv, MissionControl};
use super::{
    BLAME, MONITOR_ENTER, Sum, Sums, THREAD_PARK, TRACE, add, contentions, demo, export,
    nanoseconds, text,
};
use crate::export::{named, number, printed, save_other, totals};
use crate::sample::{HASHTABLE_GET, HASHTABLE_PUT, Sample};
use crate::{directory_with, succeed};

/// A recording that a JDK writes of itself.
fn recording_of(jdk: &Jdk, directory: &Path) -> PathBuf {
    let recording = directory.join("jdk.jfr");
    let flag = format!(
        "-XX:StartFlightRecording=filename={},dumponexit=true",
        recording.display()
    );
    printed(jdk.program("java").args([&*flag, "-version"]));
    recording
}

/// Some readers know these events by heart, so each field is where JDK 17 has it.
#[test]
fn the_jdks_types_are_described_as_the_jdk_does() {
    let Some(jdk) = Jdk::stock(17) else {
        return;
    };
    let directory = demo();
    let directory = directory.path();
    let expected = jdk.types(&recording_of(&jdk, directory));
    let found = jdk.types(&export(directory, ""));
    let (ours, jdks): (Vec<_>, Vec<_>) = found
        .iter()
        .partition(|(name, _)| name.starts_with("locktrace."));
    assert_eq!(ours.len(), 1);
    for (name, found) in jdks {
        let expected = expected.get(name);
        let expected = expected.unwrap_or_else(|| panic!("JDK 17 has no {name}"));
        let is_event = found[0]
            .iter()
            .any(|line| line.ends_with("extends jdk.jfr.Event {"));
        if is_event {
            assert_eq!(found, expected, "{name}");
        } else {
            assert_eq!(declarations(found), declarations(expected), "{name}");
        }
    }
    jdk.opened("each type and field of the JDK's, with a recording of its own");
}

/// What was not marked: the class, and the fields with their types.
fn declarations(of_type: &[Vec<String>]) -> Vec<&String> {
    let lines = of_type.iter().flatten();
    lines.filter(|line| !line.starts_with('@')).collect()
}

/// Mission Control 9 loses some events and doubles others if one ends before the one in front of it, and two at the
/// same time.
#[test]
fn events_that_end_together_are_all_found() {
    let directory = directory_with(&Sample::crowd(24, 1_000), TRACE);
    let directory = directory.path();
    let recording = export(directory, "");
    let totals = totals(directory, "");
    let blocked_ns = number(&totals["duration_ns"]);
    let parts = contentions(directory, "").len() as u64;
    assert!(parts > 20_000, "{parts}");
    let waits = (number(&totals["waits"]), blocked_ns);
    let found = MissionControl::open(&recording);
    assert_eq!(found.sums(BLAME)[""], (parts, blocked_ns));
    assert_eq!(found.waits("")[""], waits);
    MissionControl::opened("events that end at the same times");

    let mut sum = Sum::default();
    for (_, (count, duration_ns)) in Jfrconv::locks(&recording, &[]) {
        sum = (sum.0 + count, sum.1 + duration_ns);
    }
    assert_eq!(sum, waits);
    for jdk in Jdk::all() {
        assert_eq!(jdk.count(&recording, BLAME), parts);
        assert_eq!(jdk.count(&recording, MONITOR_ENTER), waits.0);
    }
}

/// A file put together of two is a recording, whose events keep their own types, names and times.
#[test]
fn recordings_can_be_put_together() {
    let directory = demo();
    let directory = directory.path();
    let mut other = Sample::crowd(4, 10);
    other.begin_later(1_000_000);
    save_other(directory, other);
    succeed(directory, "export --to jfr other.lct -o other.jfr");
    let files = [
        export(directory, ""),
        directory.join("other.jfr"),
        recording_of(&Jdk::installed(), directory),
    ];
    let jdks = Jdk::all();
    let events: Vec<_> = jdks
        .iter()
        .map(|jdk| files.each_ref().map(|file| jdk.events(file)))
        .collect();
    let sums = files.each_ref().map(|file| in_mission_control(file));
    let both = directory.join("both.jfr");
    for (first, second, have_times) in [
        (0, 1, true),
        // JDK 25 takes the ticks of all chunks for those of the first one, also in recordings of two JDKs.
        (0, 2, false),
        (2, 0, false),
    ] {
        let bytes = [first, second].map(|part| fs::read(&files[part]).expect("readable"));
        fs::write(&both, bytes.concat()).expect("writable");
        for (jdk, events) in jdks.iter().zip(&events) {
            assert_eq!(jdk.count(&both, "jdk.JVMInformation"), 2);
            let expected = [&*events[first], &events[second]].concat();
            let found = by_text(jdk.events(&both), have_times);
            assert!(found == by_text(expected, have_times), "{first}, {second}");
            jdk.opened("files put together, also with a recording of a JDK");
        }
        let mut expected = sums[first].clone();
        for (key, sum) in &sums[second] {
            add(&mut expected, key, *sum);
        }
        assert_eq!(in_mission_control(&both), expected, "{first}, {second}");
    }
    MissionControl::opened("files put together, also with a recording of a JDK");
}

/// What Mission Control finds of each type of events.
fn in_mission_control(recording: &Path) -> Sums {
    let found = MissionControl::open(recording);
    let mut sums = Sums::new();
    for event in [MONITOR_ENTER, THREAD_PARK, BLAME] {
        for (_, sum) in found.sums(event) {
            add(&mut sums, event, sum);
        }
    }
    sums
}

/// Readers put events in an order of their own.
fn by_text(events: Vec<(String, Value)>, with_times: bool) -> Vec<String> {
    let texts = events.into_iter().map(|(event, mut values)| {
        if !with_times {
            values["startTime"].take();
        }
        format!("{event} {values}")
    });
    let mut texts: Vec<_> = texts.collect();
    texts.sort_unstable();
    texts
}

#[test]
fn views_of_the_newest_jdk_have_rows() {
    let directory = demo();
    let directory = directory.path();
    let recording = export(directory, "--kind all");
    for jdk in [21, 25].into_iter().filter_map(Jdk::stock) {
        let mut expected: Vec<_> = [
            ("Java Monitor Blocked", MONITOR_ENTER),
            ("Java Thread Park", THREAD_PARK),
        ]
        .map(|(label, event)| {
            let count = jdk.count(&recording, event);
            [label.to_owned(), count.to_string()]
        })
        .into();
        let mut rows: Vec<_> = jdk
            .view("latencies-by-type", &recording)
            .into_iter()
            .map(|row| [row[0].clone(), row[1].replace(',', "")])
            .collect();
        expected.sort_unstable();
        rows.sort_unstable();
        assert_eq!(rows, expected);
        for view in [
            "contention-by-address",
            "contention-by-class",
            "contention-by-site",
            "contention-by-thread",
        ] {
            assert!(!jdk.view(view, &recording).is_empty(), "{view}");
        }
        jdk.opened("counts of `jfr view latencies-by-type`");
    }
}

/// Names of threads and classes that readers could take for something else.
fn awkward_names() -> Vec<&'static str> {
    vec![
        "evil\n\u{202e}\"}]\u{7};(",
        "  two  blanks ",
        "日本語 Ж 😀",
        "<lock was free>",
        "it's \"quoted\" \\ and \\n",
        "&amp;<b>%s",
        "-",
        "Lx;",
        &*"long ".repeat(12_000).leak(),
    ]
}

#[test]
fn awkward_names_are_texts() {
    let names = awkward_names();
    let threads: Vec<_> = ["main"].into_iter().chain(names.iter().copied()).collect();
    let mut sample = Sample::new(&threads);
    let mut expected = BTreeMap::new();
    for (at, name) in (0..).zip(&names) {
        let lock = sample.add_lock(name);
        let (start_us, duration_us) = (100 * at, 10 + at);
        let thread = at as u32 + 2;
        sample.enter(thread, lock, start_us, HASHTABLE_GET);
        sample.exit(1, lock, start_us + duration_us, HASHTABLE_PUT);
        sample.entered(thread, lock, start_us + duration_us, 0);
        expected.insert((*name).to_owned(), 1_000 * duration_us);
    }
    let directory = directory_with(&sample, TRACE);
    let directory = directory.path();
    let recording = export(directory, "");

    for jdk in Jdk::all() {
        let (mut threads, mut classes) = (BTreeMap::new(), BTreeMap::new());
        for (event, wait) in jdk.events(&recording) {
            if event == MONITOR_ENTER {
                let duration_ns = nanoseconds(&wait["duration"]);
                let name = |of: &Value, key: &str| text(&of[key]).to_owned();
                threads.insert(name(&wait["eventThread"], "javaName"), duration_ns);
                classes.insert(name(&wait["monitorClass"], "name"), duration_ns);
            }
        }
        assert_eq!(threads, expected);
        assert_eq!(classes, expected);
        assert!(jdk.print(&recording).contains("日本語 Ж 😀"));
        jdk.opened("awkward names");
    }

    let found = MissionControl::open(&recording);
    let durations = |aspect: &str| -> BTreeMap<String, u64> {
        let sums = found.sums(&format!("{MONITOR_ENTER} {aspect}")).into_iter();
        sums.map(|(key, (_, duration_ns))| (key, duration_ns))
            .collect()
    };
    let threads = durations("thread").into_iter().map(|(key, duration_ns)| {
        let (_id, name) = key.split_once(':').expect("number and name");
        (name.to_owned(), duration_ns)
    });
    assert_eq!(threads.collect::<BTreeMap<_, _>>(), expected);
    assert_eq!(durations("class"), expected);
    MissionControl::opened("awkward names");

    // What it writes has a line for each chain, also where a name has several.
    let recording = export(directory, "--exclude thread=evil*");
    expected.retain(|name, _| !name.contains('\n'));
    let mut sum_ns = 0;
    for (chain, (_, duration_ns)) in Jfrconv::locks(&recording, &["--threads"]) {
        let names = expected.iter().filter(|&(_, &ns)| ns == duration_ns);
        for (name, _) in names {
            assert!(chain.contains(name), "{name} is not in {chain}");
        }
        sum_ns += duration_ns;
    }
    assert_eq!(sum_ns, expected.values().sum::<u64>());
    Jfrconv::opened("awkward names");
}

/// Readers take apart what looks like the name of an array, and expect that a name has a letter.
#[test]
fn names_that_readers_fail_at_are_replaced() {
    for (name, class) in [("[", "\u{fffd}"), ("[Lx", "\u{fffd}Lx"), ("", "\u{fffd}")] {
        let directory = directory_with(&named(name), TRACE);
        let recording = export(directory.path(), "");
        let chains = Jfrconv::locks(&recording, &[]);
        assert!(chains.keys().all(|chain| chain.contains(class)));
        for jdk in Jdk::all() {
            let events = jdk.events(&recording);
            let mut waits = events.iter().filter(|(event, _)| event == MONITOR_ENTER);
            let (_, wait) = waits.next().expect("a wait");
            assert_eq!(wait["monitorClass"]["name"], class);
            assert_eq!(wait["eventThread"]["javaName"], name);
            jdk.print(&recording);
        }
    }
}
