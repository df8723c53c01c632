//! What keeps threads waiting for good: the verdict, who waits how long, by the program's own clock, and
//! that every screen has it.

use std::collections::BTreeMap;
use std::path::Path;

use jvm_tests::{Jdk, Jvm, Run, agent_option, check_each, conclusions, locktrace};
use serde_json::Value;

/// A thread notes that it waits before it does, and the trace goes on after the program has said how long that
/// was. On a busy machine either takes a while.
const TOLERANCE_NS: u64 = 400_000_000;

/// What the trace must show of a way to hang.
#[derive(Clone, Copy, Debug)]
struct Case {
    way: &'static str,
    /// `None` if nothing is wrong.
    verdict: Option<&'static str>,
    /// The thread that has the lock, if the trace can show it.
    holder: Option<&'static str>,
    /// What the sentence, or what is said with it, has to name.
    names: &'static [&'static str],
    /// A word of the advice.
    advice: &'static str,
    /// The agent sees it, too. It knows no thread that never waited, and no owner of a monitor.
    agent: bool,
}

const CASES: [Case; 15] = [
    Case {
        way: "ended-owner",
        verdict: Some("never-released"),
        holder: Some("doomed"),
        names: &["\"doomed\"", "(ended)", "2 threads"],
        advice: "finally",
        agent: false,
    },
    Case {
        way: "idle-worker",
        verdict: Some("never-released"),
        holder: Some("worker"),
        names: &["waits for its next task"],
        advice: "finally",
        agent: true,
    },
    Case {
        way: "leaked-permits",
        verdict: Some("no-permit-released"),
        holder: None,
        names: &["4 threads", "semaphore of scenarios.Hangs"],
        advice: "Give permits back",
        agent: true,
    },
    Case {
        way: "future-under-lock",
        verdict: Some("possible-deadlock"),
        holder: Some("server"),
        names: &["a future", "changeRole", "\"completer\""],
        advice: "Do not wait for another thread",
        agent: false,
    },
    Case {
        way: "join-under-lock",
        verdict: Some("possible-deadlock"),
        holder: Some("server"),
        names: &["the end of a thread", "\"other\""],
        advice: "Do not wait for another thread",
        agent: false,
    },
    Case {
        way: "reader",
        verdict: Some("still-held"),
        holder: None,
        names: &["readers", "3 threads", "\"writer\""],
        advice: "reader",
        agent: true,
    },
    Case {
        way: "stamped-reader",
        verdict: Some("still-held"),
        holder: None,
        names: &["readers", "3 threads", "\"writer\""],
        advice: "reader",
        // The StampedLock of JDK 17 and later lets a reader pass a writer that waits.
        agent: false,
    },
    Case {
        way: "upgrade",
        verdict: Some("still-held"),
        holder: None,
        names: &["If \"upgrader\"", "waits for itself"],
        advice: "cannot be upgraded",
        agent: true,
    },
    Case {
        way: "stamped-upgrade",
        verdict: Some("still-held"),
        holder: None,
        names: &["readers or a writer", "If \"upgrader\"", "waits for itself"],
        advice: "not reentrant",
        agent: true,
    },
    Case {
        way: "stamped-again",
        verdict: Some("still-held"),
        holder: None,
        names: &[
            "2 threads",
            "If \"writer\"",
            "or \"reader\"",
            "waits for itself",
        ],
        advice: "not reentrant",
        agent: true,
    },
    Case {
        way: "read-locks",
        verdict: Some("possible-deadlock"),
        holder: None,
        names: &["\"second\"", "for reading", "\"first\""],
        advice: "same order",
        agent: true,
    },
    Case {
        way: "held",
        verdict: Some("still-held"),
        holder: Some("owner"),
        names: &["1 thread"],
        advice: "owner",
        agent: false,
    },
    Case {
        way: "long-holds",
        verdict: None,
        holder: None,
        names: &[],
        advice: "",
        agent: true,
    },
    Case {
        way: "starved",
        verdict: Some("starved"),
        holder: None,
        names: &["\"large\"", "meanwhile"],
        advice: "fair",
        agent: true,
    },
    Case {
        way: "waiting-for-work",
        verdict: None,
        holder: None,
        names: &[],
        advice: "",
        agent: true,
    },
];

#[test]
fn hangs_have_their_verdict() {
    check_each(CASES, |case| {
        let run = Jvm::traced(&["scenarios.Hangs", case.way]).run();
        check(case, &run);
    });
}

#[test]
fn the_agent_sees_them() {
    let cases = Jdk::chosen_stock_versions().into_iter();
    let cases = cases.flat_map(|jdk| {
        let seen = CASES.into_iter().filter(|case| case.agent);
        seen.map(move |case| (jdk, case))
    });
    check_each(cases, |(jdk, case)| {
        let run = Jvm::untraced(jdk, &["scenarios.Hangs", case.way])
            .flags([agent_option("file=trace.lct")])
            .run();
        check(case, &run);
    });
}

fn check(case: &Case, run: &Run) {
    let trace = &run.trace();
    let truth: BTreeMap<&str, u64> = run
        .lines_of("waits")
        .map(|words| (words[0], words[1].parse().expect("nanoseconds")))
        .collect();
    assert!(!truth.is_empty(), "{}", run.describe());
    let report: Value =
        serde_json::from_str(&read(&["report", "--format", "json"], trace)).expect("JSON");
    check_waits(&truth, trace, case.way);
    let hangs = report["hangs"].as_array().expect("a list");
    assert_eq!(report["deadlocks"].as_array().map(Vec::len), Some(0));
    let Some(verdict) = case.verdict else {
        assert!(hangs.is_empty(), "{}: {hangs:#?}", case.way);
        return;
    };
    assert_eq!(hangs.len(), 1, "{}: {report:#}", case.way);
    let hang = &hangs[0];
    assert_eq!(hang["verdict"], verdict, "{}: {hang:#}", case.way);
    assert_eq!(
        hang["holder"]["thread"]["name"].as_str(),
        case.holder,
        "{}: {hang:#}",
        case.way
    );
    let text = |field: &str| hang[field].as_str().expect("text").to_owned();
    let (title, advice) = (text("title"), text("advice"));
    let said = format!("{title} {}", text("basis"));
    for name in case.names {
        assert!(said.contains(name), "{}: no {name}: {said}", case.way);
    }
    assert!(advice.contains(case.advice), "{}: {advice}", case.way);

    // It comes first on every screen, and no advice is about holding the lock for less.
    let first = format!("HANG        {title}");
    let report = read(&["report"], trace);
    assert!(report.starts_with(&first), "{}: {report}", case.way);
    let waits = read(&["contentions", "--format", "table"], trace);
    assert!(waits.starts_with(&first), "{}: {waits}", case.way);
    let top = read(&["top", "--batch"], trace);
    assert_eq!(
        top.lines().nth(1),
        Some(&*format!("HANG: {title}")),
        "{top}"
    );
    for thread in truth.keys() {
        assert!(top.contains(&format!("  {thread} ")), "{}: {top}", case.way);
    }
    let overview = conclusions(trace);
    assert_eq!(overview["hangs"][0]["title"], *title, "{}", case.way);
    let findings = overview["findings"].as_array().expect("findings");
    assert_eq!(
        findings[0]["pattern"], verdict,
        "{}: {findings:#?}",
        case.way
    );
    assert_eq!(findings[0]["hang"], true);
    let of_hangs = findings.iter().filter(|finding| finding["hang"] == true);
    for finding in of_hangs {
        let remedy = finding["remedy"].as_str().expect("text");
        assert!(
            !remedy.starts_with("Do less"),
            "{}: {findings:#?}",
            case.way
        );
    }
}

/// Each thread waits to the end for as long as it says itself, whatever for.
fn check_waits(truth: &BTreeMap<&str, u64>, trace: &Path, way: &str) {
    let contentions = read(
        &["contentions", "--kind", "all", "--format", "jsonl"],
        trace,
    );
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for line in contentions.lines() {
        let part: Value = serde_json::from_str(line).expect("JSON");
        if part["ended"] == false && part["kind"] != "idle" && part["kind"] != "sleep" {
            let thread = part["thread"]["name"].as_str().expect("a name");
            *found.entry(thread.to_owned()).or_default() +=
                part["duration_ns"].as_u64().expect("a number");
        }
    }
    for (&thread, &true_ns) in truth {
        let found_ns = found.get(thread).copied();
        let found_ns = found_ns.unwrap_or_else(|| panic!("{way}: no {thread}: {found:?}"));
        assert!(
            found_ns.abs_diff(true_ns) < TOLERANCE_NS,
            "{way}: {thread} {true_ns} {found_ns}"
        );
    }
    // It does not say for how long it waits for the end of a thread.
    if way == "join-under-lock" {
        found.remove("server");
    }
    assert_eq!(found.len(), truth.len(), "{way}: {truth:?} {found:?}");
}

fn read(command: &[&str], trace: &Path) -> String {
    let arguments = command.iter().map(AsRef::as_ref).chain([trace.as_os_str()]);
    let result = locktrace(arguments);
    assert_eq!(result.code, 0, "{command:?}: {}", result.stderr);
    result.stdout
}
