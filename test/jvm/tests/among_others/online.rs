//! The analysis in the JVM: the same report as of the file, at the end and on request.

use std::fs;
use std::time::Duration;

use jvm_tests::{
    Jdk, Jvm, RunningJvm, applications_class_path, check_each, is_nightly, jcmd_output, locktrace,
};
use serde_json::Value;

const PROGRAMS: u64 = 40;
const NIGHTLY_PROGRAMS: u64 = 1000;

#[test]
fn random_programs_have_one_report() {
    let programs = if is_nightly() {
        NIGHTLY_PROGRAMS
    } else {
        PROGRAMS
    };
    let mut waits = 0;
    for seed in 0..programs {
        let run = Jvm::traced(&["scenarios.RandomContention", &seed.to_string()])
            .analyzed_online()
            .run();
        assert_eq!(run.stderr, "", "{}", run.describe());
        run.check_online_report();
        let report: Value = serde_json::from_str(&run.online_report()).expect("JSON");
        assert_eq!(report["trace"]["complete"], true, "{}", run.describe());
        waits += report["totals"]["waits"].as_u64().expect("a number");
    }
    assert!(waits > 50 * programs, "only {waits} waits");
}

#[test]
fn storms_have_one_report() {
    for program in ["scenarios.ParkStorm", "scenarios.NotifyStorm", "demo.Demo"] {
        let run = Jvm::traced(&[program]).analyzed_online().run();
        run.check_online_report();
    }
}

/// Real programs, in which classes are loaded by many loaders, code is unloaded, and threads wait
/// for all kinds of things; and a million parks a second.
#[test]
fn applications_have_one_report() {
    let iterations = if is_nightly() { "20" } else { "3" };
    check_each(["h2", "tomcat", "park-storm"], |name| {
        let run = Jvm::traced(&["bench.Driver", name, "--iterations", iterations])
            .analyzed_online()
            .class_path(applications_class_path())
            .time_limit(Duration::from_secs(600))
            .run();
        assert_eq!(run.stderr, "", "{}", run.describe());
        run.check_online_report();
        let report: Value = serde_json::from_str(&run.online_report()).expect("JSON");
        let waits = report["totals"]["waits_of_all_kinds"].as_array();
        let waits = waits.expect("a list").iter();
        let waits: u64 = waits.filter_map(|kind| kind["waits"].as_u64()).sum();
        // The number of meetings depends on the machine: H2 had 800 to 5,000 waits.
        println!("{name}: {waits} waits");
        assert!(waits > 100, "{name}: only {waits} waits");
    });
}

/// Threads and locks that come and go do not end the analysis, although four times as many as it
/// has memory for: what it has forgotten is missing from no sum. The file knows them all.
#[test]
fn short_lives_are_forgotten_but_not_their_waits() {
    const REQUESTS: u64 = 5_000;
    let run = Jvm::traced(&["scenarios.ShortLives", &REQUESTS.to_string()])
        .analyzed_online()
        .flags(["-XX:LockContentionAnalysisMemory=4m"])
        .run();
    assert_eq!(run.stderr, "", "{}", run.describe());
    let lived: Vec<_> = run.lines_of("lived").collect();
    let requests = REQUESTS.to_string();
    assert_eq!(lived, [[requests.as_str(), requests.as_str()]]);
    let online: Value = serde_json::from_str(&run.online_report()).expect("JSON");
    assert_eq!(online["trace"]["complete"], true, "{online}");
    let trace = run.trace();
    let offline = locktrace([
        "report".as_ref(),
        "--format=json".as_ref(),
        trace.as_os_str(),
    ]);
    let offline: Value = serde_json::from_str(&offline.stdout).expect("JSON");
    assert!(
        offline["totals"]["waits"].as_u64() >= Some(REQUESTS),
        "{offline}"
    );
    for part in ["totals", "tree"] {
        assert_eq!(online[part], offline[part], "{}", run.describe());
    }
}

/// Without a file the output is ten lines on standard error.
#[test]
fn a_summary_at_the_end() {
    let run = Jvm::traced(&["demo.Demo"])
        .flags(["-XX:LockContentionAnalysis=online"])
        .run();
    assert!(!run.trace().exists());
    let lines: Vec<_> = run.stderr.lines().collect();
    assert!((5..=10).contains(&lines.len()), "{}", run.stderr);
    assert!(lines[0].starts_with("Blocked  "), "{}", run.stderr);
    let has = |text: &str| lines.iter().any(|line| line.contains(text));
    assert!(has("demo.AuditLog"), "{}", run.stderr);
    assert!(has("held by demo.AuditLog.append"), "{}", run.stderr);
    assert!(has("held by demo.Ledger.formatStatement"), "{}", run.stderr);
    let left = fs::read_dir(run.directory()).expect("readable");
    let left: Vec<_> = left
        .map(|entry| entry.expect("readable").file_name())
        .collect();
    assert_eq!(
        left.len(),
        2,
        "standard output and standard error only: {left:?}"
    );
}

#[test]
fn a_report_for_people_in_a_file() {
    let run = Jvm::traced(&["demo.Demo"])
        .flags([
            "-XX:LockContentionAnalysis=both",
            "-XX:LockContentionReportFile=report-%p.txt",
        ])
        .run();
    assert_eq!(run.stderr, "");
    let trace = run.trace();
    let offline = locktrace(["report".as_ref(), trace.as_os_str()]);
    let offline = offline
        .stdout
        .replace(&*trace.to_string_lossy(), "trace.lct");
    let mut files = fs::read_dir(run.directory()).expect("readable");
    let report = files.find_map(|entry| {
        let path = entry.expect("readable").path();
        (path.extension()? == "txt").then_some(path)
    });
    let online = fs::read_to_string(report.expect("a report")).expect("text");
    assert_eq!(online, offline);
}

/// The JSON in what jcmd prints.
fn json(text: &str) -> Value {
    let begin = text.find('{').unwrap_or_else(|| panic!("{text}"));
    serde_json::from_str(&text[begin..]).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn reports_on_request() {
    let mut jvm = Jvm::untraced(Jdk::traced(), &["scenarios.BlockedChain"]).start();
    jvm.await_line("blocked");
    let help = jcmd_output(&jvm, &["help", "LockContention.report"]);
    assert!(help.contains("by :") && help.contains("from :"), "{help}");
    let off = jcmd_output(&jvm, &["LockContention.report"]);
    assert!(off.contains("Lock contention is not traced."), "{off}");

    let wrong = jcmd_output(&jvm, &["LockContention.start", "analysis=later"]);
    let expected = "analysis: expected file, online or both, found: later";
    assert!(wrong.contains(expected), "{wrong}");

    // Events that go to a file cannot be reported about.
    jcmd_output(&jvm, &["LockContention.start", "file=trace.lct"]);
    let of_file = jcmd_output(&jvm, &["LockContention.report"]);
    assert!(of_file.contains("There is no report: "), "{of_file}");
    assert!(
        of_file.contains("LockContention.start analysis=online"),
        "{of_file}"
    );
    jcmd_output(&jvm, &["LockContention.stop"]);

    let start = ["LockContention.start", "analysis=online", "report=end.json"];
    let started = jcmd_output(&jvm, &start);
    let expected = "Started tracing lock contention to <online analysis>.";
    assert!(started.contains(expected), "{started}");
    let status = jcmd_output(&jvm, &["LockContention.status"]);
    assert!(status.contains("<online analysis>"), "{status}");

    let text = jcmd_output(&jvm, &["LockContention.report"]);
    let blocked = text.lines().find(|line| line.starts_with("Now "));
    let blocked = blocked.unwrap_or_else(|| panic!("threads are blocked: {text}"));
    assert!(blocked.contains("2 threads are blocked"), "{blocked}");
    let copied = jcmd_output(&jvm, &["LockContention.dump", "file=copy.lct"]);
    assert!(copied.contains("there is no trace file"), "{copied}");
    let report = json(&jcmd_output(
        &jvm,
        &["LockContention.report", "format=json"],
    ));
    assert_eq!(report["trace"]["complete"], true);
    assert!(
        report["totals"]["still_blocked"]["threads"].as_u64() > Some(0),
        "{report}"
    );
    for (option, expected) in [
        ("by=color", "by: unknown aspect \"color\""),
        ("top=many", "top: expected a number"),
        ("kind=busy", "kind: unknown kind \"busy\""),
        ("from=soon", "from: expected a time"),
        ("format=xml", "format: expected text or json"),
    ] {
        let wrong = jcmd_output(&jvm, &["LockContention.report", option]);
        assert!(wrong.contains("There is no report: "), "{wrong}");
        assert!(wrong.contains(expected), "{wrong}");
    }

    // A wait counts when it is over.
    jvm.send_line();
    let end = jvm.finish();
    assert!(end.status.success(), "{}", end.describe());
    let report = fs::read_to_string(end.directory().join("end.json")).expect("a report");
    assert!(
        json(&report)["totals"]["waits"].as_u64() > Some(0),
        "{report}"
    );
}

/// Sums over all waits on the last ones: with other aspects, of all kinds, since a time.
#[test]
fn reports_by_other_aspects_and_since() {
    // Before the third one it waits, and so answers until then.
    let mut jvm = Jvm::traced(&["scenarios.RandomContention", "1", "2", "3"])
        .flags(["-XX:LockContentionAnalysis=online"])
        .start();
    let report = |jvm: &RunningJvm, options: &[&str]| {
        let command = ["LockContention.report", "format=json"];
        json(&jcmd_output(jvm, &[&command, options].concat()))
    };
    let waits = |report: &Value| report["totals"]["waits"].as_u64().expect("a number");
    let of_kinds = |report: &Value| -> u64 {
        let kinds = report["totals"]["waits_of_all_kinds"].as_array();
        let waits = kinds.expect("a list").iter();
        waits
            .map(|kind| kind["waits"].as_u64().expect("a number"))
            .sum()
    };
    jvm.await_line("done 1");
    let first = report(&jvm, &[]);
    assert!(waits(&first) > 0);
    let by_thread = report(&jvm, &["by=thread,owner-thread"]);
    assert_eq!(waits(&by_thread), waits(&first));
    assert_eq!(
        by_thread["totals"]["duration_ns"],
        first["totals"]["duration_ns"]
    );
    assert_eq!(by_thread["tree"][0]["aspect"], "thread");
    let all_kinds = report(&jvm, &["kind=all", "by=kind"]);
    assert_eq!(waits(&all_kinds), of_kinds(&first));
    assert_eq!(
        report(&jvm, &["top=1"])["tree"].as_array().map(Vec::len),
        Some(1)
    );

    let first = report(&jvm, &["kind=all"]);
    let now_ns = first["trace"]["duration_ns"].as_u64().expect("a number");
    jvm.send_line();
    jvm.await_line("done 2");
    let both = report(&jvm, &["kind=all"]);
    let since = format!("from={}us", now_ns.div_ceil(1000));
    let second = report(&jvm, &["kind=all", &since]);
    assert!(waits(&second) > 0);
    assert_eq!(waits(&first) + waits(&second), waits(&both));
    let none = report(&jvm, &["kind=all", "from=1h"]);
    assert_eq!(waits(&none), 0);
    let recent = report(&jvm, &["kind=all", "from=-1h"]);
    assert_eq!(waits(&recent), waits(&both));
    jvm.send_line();
    assert!(jvm.finish().status.success());
}

#[test]
fn options_are_checked() {
    for (flag, expected) in [
        (
            "-XX:LockContentionAnalysis=never",
            "locktrace: LockContentionAnalysis: expected file, online or both, found never; \
             tracing is off, the application goes on\n",
        ),
        (
            "-XX:LockContentionAnalysisMemory=1000",
            "locktrace: an analysis needs at least 1048576 bytes, 1000 are given; tracing is off, \
             the application goes on\n",
        ),
    ] {
        let run = Jvm::traced(&["scenarios.RandomContention", "1"])
            .flags(["-XX:LockContentionAnalysis=online", flag])
            .run();
        assert_eq!(run.stderr, expected, "{flag}");
        assert_eq!(run.stdout, "done 1\n");
        assert!(!run.trace().exists());
    }
}
