//! What a change of a lock would bring.

use serde_json::Value;

use crate::sample::{HASHTABLE_GET, Sample};
use crate::{directory_with, locktrace, succeed};

fn demo(arguments: &str) -> String {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    succeed(directory.path(), arguments)
}

fn json(arguments: &str) -> Value {
    serde_json::from_str(&demo(arguments)).expect("JSON")
}

#[test]
fn shorter_holds() {
    insta::assert_snapshot!(demo(
        "what-if demo.lct --lock-class java.util.Hashtable --change holds=0.5"
    ));
}

#[test]
fn the_rest_is_reported() {
    insta::assert_snapshot!(demo(
        "what-if demo.lct --lock-class java.util.* --change unfair --processors 2 --top 1"
    ));
}

#[test]
fn json_has_each_replay_and_each_lock() {
    let found = json(
        "what-if demo.lct --lock-class java.util.Hashtable --change removed --processors 2 --format json",
    );
    let report = json("report demo.lct --format json");
    assert_eq!(found["before_ns"], report["totals"]["duration_ns"]);
    assert_eq!(found["waits"], report["totals"]["waits"]);
    let ns = |of: &Value, key: &str| of[key].as_u64().expect("nanoseconds");
    let locks = found["locks"].as_array().expect("locks");
    let sum: u64 = locks.iter().map(|lock| ns(lock, "before_ns")).sum();
    assert_eq!(sum, ns(&found, "before_ns"));
    for lock in locks {
        let is_changed = lock["lock"]["lock_class"] == "java.util.Hashtable";
        assert_eq!(lock["changed"], is_changed);
        if is_changed {
            assert_eq!(ns(lock, "after_most_ns"), 0);
        }
    }
    let number = |of: &Value, key: &str| of[key].as_f64().expect("a number");
    let (least, most) = (
        number(&found, "speedup_least"),
        number(&found, "speedup_most"),
    );
    assert!(least <= number(&found, "speedup") && number(&found, "speedup") <= most);
    assert_eq!(found["speedup_of"], "work");
    assert_eq!(found["unreliable"], Value::Null);
    assert_eq!(number(&found, "replayed_share"), 1.0);
    let replays = found["replays"].as_array().expect("replays");
    for replay in replays.iter().filter(|replay| replay["reliable"] == true) {
        assert!(number(replay, "speedup_least") >= least && number(replay, "speedup_most") <= most);
        assert!(ns(replay, "least_ns") >= ns(&found, "after_least_ns"));
        assert!(ns(replay, "changed_ns") <= ns(replay, "most_ns"));
    }
    assert!(replays.iter().any(|replay| replay["by_arrival"] == true));
}

/// A lock is one of its class.
#[test]
fn a_single_lock_is_changed() {
    let report = json("report demo.lct --by lock --format json");
    let label = report["tree"][0]["label"].as_str().expect("a lock");
    let arguments = format!("what-if demo.lct --lock {label} --change removed --format json");
    let found = json(&arguments);
    assert_eq!(found["for_changed_ns"], report["tree"][0]["duration_ns"]);
}

#[test]
fn readers_are_named_by_their_code() {
    let arguments =
        "what-if demo.lct --lock-class java.util.Hashtable --change read-write --format json";
    let for_all = json(&format!("{arguments} --readers java.util.Hashtable.*"));
    let for_none = json(&format!("{arguments} --readers java.util.Vector.*"));
    let of = |found: &Value| {
        let replays = found["replays"].as_array().expect("replays").iter();
        let changed = replays.map(|replay| {
            let ns = |key: &str| replay[key].as_u64().expect("nanoseconds");
            (ns("unchanged_ns"), ns("changed_ns"))
        });
        changed.collect::<Vec<_>>()
    };
    assert!(of(&for_none).iter().all(|(before, after)| before == after));
    assert!(of(&for_all).iter().all(|(before, after)| before > after));
}

/// What findings would save is what is predicted for their code, and they are in the order of the speed-up.
#[test]
fn findings_save_what_is_predicted() {
    let summary = json("summary demo.lct --format json");
    let findings = summary["findings"].as_array().expect("findings");
    let share = |of: &Value, key: &str| of[key].as_f64().expect("a share");
    let mut most = f64::INFINITY;
    for finding in findings {
        let saving = &finding["saving"];
        let (class, owner) = (&finding["lock_class"]["key"], &finding["owner"]["key"]);
        // Words would be several arguments.
        let class = class.as_str().expect("a class").replace(' ', "?");
        let owner = owner.as_str().expect("a method");
        let predicted = json(&format!(
            "what-if demo.lct --lock-class {class} --owner-method {owner} --change moved-out --format json"
        ));
        let after = share(&predicted, "after_ns") / share(&predicted, "before_ns");
        assert!((share(saving, "share") - (1.0 - after)).abs() < 1e-9);
        let (least, most_share) = (
            share(saving, "share_at_least"),
            share(saving, "share_at_most"),
        );
        assert!((least - 1e-6..=most_share + 1e-6).contains(&share(saving, "share")));
        assert_eq!(saving["speedup"], predicted["speedup"]);
        assert_eq!(saving["speedup_most"], predicted["speedup_most"]);
        assert!(share(saving, "speedup") <= most, "{owner} is later");
        most = share(saving, "speedup");
    }
    assert!(findings.len() > 1);
    let removed = json(
        "what-if demo.lct --lock-class * --owner-method nobody.* --change holds=0 --format json",
    );
    assert_eq!(removed["after_ns"], removed["before_ns"], "no such code");
}

/// Threads of several traces did not run together.
#[test]
fn of_several_traces_nothing_is_predicted() {
    let summary = json("summary demo.lct demo.lct --format json");
    let findings = summary["findings"].as_array().expect("findings");
    assert!(findings.iter().all(|finding| finding["saving"].is_null()) && !findings.is_empty());
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let directory = directory_with(&Sample::demo(), "demo.lct");
    let lock = "--lock-class java.util.Hashtable";
    for (arguments, message) in [
        ("--change removed".to_owned(), "--lock-class <PATTERN>"),
        (lock.to_owned(), "--change <CHANGE>"),
        (
            format!("{lock} --change halved"),
            "expected removed, holds=FACTOR",
        ),
        (
            format!("{lock} --change holds=-1"),
            "holds=FACTOR (0 to 100)",
        ),
        (
            format!("{lock} --change holds=NaN"),
            "holds=FACTOR (0 to 100)",
        ),
        (
            format!("{lock} --change split=0"),
            "split=STRIPES (1 to 1024), permits=PERMITS (1 to 1024)",
        ),
        (format!("{lock} --change read-write"), "--readers <PATTERN>"),
        (
            format!("{lock} --change removed --owner-method demo.*"),
            "--owner-method is for --change holds=FACTOR",
        ),
        (
            "--lock-class java.util.Vector --change removed".to_owned(),
            "demo.lct: no thread waited for a lock that is called so",
        ),
    ] {
        let run = locktrace(directory.path(), &format!("what-if demo.lct {arguments}"));
        assert_eq!(run.code, Some(2), "{arguments}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{arguments}: {}", run.stderr);
        assert_eq!(run.stdout, "");
    }
}

/// Of a wait that had not ended nobody knows how it goes on.
#[test]
fn a_wait_without_end_stays() {
    let mut sample = Sample::new(&["main", "worker-1"]);
    sample.enter(2, 1, 10, HASHTABLE_GET);
    sample.enter(1, 2, 500, HASHTABLE_GET);
    let directory = directory_with(&sample, "open.lct");
    let run = locktrace(
        directory.path(),
        "what-if open.lct --lock-class * --change holds=0.5 --format json",
    );
    let found: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(found["after_ns"], found["before_ns"]);
}
