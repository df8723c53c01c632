//! Time in which the process did not run is waited, but for nobody's fault.

use serde_json::Value;

use crate::sample::{HASHTABLE_GET, HASHTABLE_PUT, Sample};
use crate::{directory_with, succeed};

const FROZEN_US: u64 = 4_000_000;

/// The demo, and behind it a wait of 300 microseconds during which the process is stopped.
fn stopped_for(duration_us: u64) -> Sample {
    const START_US: u64 = 60_000;
    let mut sample = Sample::demo();
    sample.enter(2, 1, START_US, HASHTABLE_GET);
    sample.exit(1, 1, START_US + 250 + duration_us, HASHTABLE_PUT);
    sample.entered(2, 1, START_US + 300 + duration_us, 0);
    if duration_us > 0 {
        sample.freeze(START_US + 100, duration_us);
    }
    sample
}

fn run(sample: &Sample, arguments: &str) -> String {
    let directory = directory_with(sample, "trace.lct");
    succeed(directory.path(), arguments)
}

fn json(sample: &Sample, arguments: &str) -> Value {
    serde_json::from_str(&run(sample, arguments)).expect("JSON")
}

#[test]
fn the_header_says_how_much_was_frozen() {
    let text = run(&stopped_for(FROZEN_US), "report trace.lct --top 1");
    let frozen = text.lines().find(|line| line.starts_with("Frozen"));
    let frozen = frozen.expect("a line");
    assert!(frozen.contains("4.00 s, 99."), "{frozen}");
    assert!(
        frozen.ends_with("of the blocked time: the process did not run"),
        "{frozen}"
    );
    let text = run(&stopped_for(0), "report trace.lct --top 1");
    assert!(!text.contains("Frozen"));
    let text = run(&stopped_for(FROZEN_US), "stat trace.lct");
    assert!(
        text.contains("the process did not run 1 time, 4.00 s in all"),
        "{text}"
    );
}

/// What it adds to the blocked time is all in one row of its own.
#[test]
fn only_nobody_has_more() {
    let arguments = "report trace.lct --by owner-method --format json";
    let [running, stopped] = [0, FROZEN_US].map(|us| json(&stopped_for(us), arguments));
    let total = |report: &Value, key: &str| report["totals"][key].as_u64().expect("a number");
    let frozen_ns = FROZEN_US * 1000;
    assert_eq!(total(&stopped, "frozen_ns"), frozen_ns);
    assert_eq!(total(&running, "frozen_ns"), 0);
    assert_eq!(
        total(&stopped, "duration_ns"),
        total(&running, "duration_ns") + frozen_ns
    );
    for key in ["free_ns", "unknown_owner_ns", "waits"] {
        assert_eq!(total(&stopped, key), total(&running, key), "{key}");
    }
    let rows = |report: &Value| -> Vec<(String, u64)> {
        let rows = report["tree"].as_array().expect("rows").iter();
        let mut rows: Vec<_> = rows
            .map(|row| {
                let key = row["key"].as_str().expect("a key").to_owned();
                (key, row["duration_ns"].as_u64().expect("a number"))
            })
            .collect();
        rows.sort();
        rows
    };
    let mut expected = rows(&running);
    expected.push(("<frozen>".to_owned(), frozen_ns));
    expected.sort();
    assert_eq!(rows(&stopped), expected);
    let csv = run(
        &stopped_for(FROZEN_US),
        "contentions trace.lct --format csv",
    );
    let frozen = csv.lines().filter(|line| line.contains(",frozen,"));
    let durations: Vec<_> = frozen.map(|line| line.contains(",4000000000,")).collect();
    assert_eq!(durations, [true]);
}

/// There is nothing to change about it, and nothing to save.
#[test]
fn findings_and_predictions_stay_the_same() {
    let findings = |us| {
        let summary = json(&stopped_for(us), "summary trace.lct --format json");
        let mut findings = summary["findings"].as_array().expect("findings").clone();
        for finding in &mut findings {
            // These are of the duration of the trace.
            let finding = finding.as_object_mut().expect("a finding");
            for key in ["wall_ns", "wall_share", "mean_waiters", "start_up_only"] {
                finding.remove(key);
            }
        }
        findings
    };
    let running = findings(0);
    assert!(!running.is_empty());
    assert_eq!(findings(FROZEN_US), running);
    let arguments =
        "what-if trace.lct --lock-class java.util.Hashtable --change holds=0.5 --format json";
    let [running, stopped] = [0, FROZEN_US].map(|us| json(&stopped_for(us), arguments));
    for key in ["before_ns", "after_ns", "for_changed_ns", "replays"] {
        assert_eq!(stopped[key], running[key], "{key}");
    }
}
