//! Waits in `Object.wait`: a program logs each, who notified it and how it ended, and so does the JDK's flight recorder,
//! which 8u262 and later updates have.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use jvm_tests::{
    Jdk, Jvm, NEVER_INLINED, Run, Setting, Wait, WaitLog, check_each, waits_of_all_kinds,
};
use serde_json::Value;

const BOARD: &str = "scenarios.WaitOracle$Board";
const RECORDING: &str = "waits.jfr";
/// The trace's clock and the program's are the same, and read one after the other.
const CLOCK_NS: u64 = 1_000;
const NS_PER_MS: u64 = 1_000_000;

/// A wait as the program logs it.
struct Logged {
    duration_ns: u64,
    limit_ms: u64,
    interrupted: bool,
    /// In plain runs, who notified the thread, and how many threads waited then.
    notifier: Option<(String, u64)>,
}

/// A wait as the flight recorder has it.
struct Recorded {
    notifier: Option<String>,
    limit_ms: u64,
}

#[test]
fn each_wait_is_what_the_program_and_the_flight_recorder_say() {
    let threads = [2, 4, 16].into_iter();
    let runs = threads.flat_map(|threads| [(threads, "plain"), (threads, "racing")]);
    check_each(runs.zip(settings()), |&((threads, mode), ref setting)| {
        let numbers = [threads, 1_600 / threads].map(|number: u64| number.to_string());
        let program = ["scenarios.WaitOracle", &numbers[0], &numbers[1], mode];
        let events = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/WaitOracle.jfc");
        let record = has_recorder().then(|| {
            format!(
                "-XX:StartFlightRecording=filename={RECORDING},settings={}",
                events.display()
            )
        });
        let run = Jvm::traced(&program)
            .flags(NEVER_INLINED)
            .flags(setting.flags())
            .flags(record)
            .run();
        check(&run, threads);
    });
}

fn has_recorder() -> bool {
    Jdk::traced().tool("jfr").exists()
}

/// Settings enough for all runs.
fn settings() -> impl Iterator<Item = Setting> {
    Setting::rotated("scenarios.WaitOracle").into_iter().cycle()
}

fn check(run: &Run, threads: u64) {
    let log = logged(run);
    let recorded = has_recorder().then(|| recorded(run));
    let mut waits: BTreeMap<String, Vec<Wait>> = BTreeMap::new();
    for wait in waits_of_all_kinds(&run.trace()) {
        if wait.common().kind == "conditional" && wait.common().lock_class == BOARD {
            waits
                .entry(wait.thread().to_owned())
                .or_default()
                .push(wait);
        }
    }
    let events = WaitLog::read(&run.trace());
    assert_eq!(log.len() as u64, threads);
    for (thread, log) in &log {
        let (waits, ends) = (&waits[thread], &events.ends[thread]);
        assert_eq!(waits.len(), log.len(), "{thread}");
        assert_eq!(ends.len(), log.len(), "{thread}");
        if let Some(recorded) = recorded.as_ref().map(|recorded| &recorded[thread]) {
            assert_eq!(recorded.len(), log.len(), "{thread}");
            for (wait, recorded) in waits.iter().zip(recorded) {
                check_recorded(wait, recorded);
            }
        }
        for ((wait, log), end) in waits.iter().zip(log).zip(ends) {
            check_wait(wait, log);
            let notification = end
                .notification
                .map(|number| &events.notifications[&number]);
            let notifier = notification.map(|notification| &*notification.thread);
            assert_eq!(notifier, waker(wait), "{wait}");
            if let (Some((_, waiters)), Some(notification)) = (&log.notifier, notification) {
                assert_eq!(notification.waiters, *waiters, "{wait}");
            }
        }
    }
    check_notifications(run, &events);
}

/// The wait is the one that the program logged.
fn check_wait(wait: &Wait, log: &Logged) {
    let common = wait.common();
    assert_eq!(common.mechanism, "monitor", "{wait}");
    assert!(wait.duration_ns <= log.duration_ns + CLOCK_NS, "{wait}");
    let timeout_ns = (log.limit_ms > 0).then_some(log.limit_ms * NS_PER_MS);
    assert_eq!(common.timeout_ns, timeout_ns, "{wait}");
    match &*common.end {
        "woken" => assert!(waker(wait).is_some() && !log.interrupted, "{wait}"),
        "interrupted" => assert!(log.interrupted, "{wait}"),
        // An interrupt can come after that.
        "timed-out" => {
            let limit_ns = timeout_ns.expect("a limit");
            assert!(wait.duration_ns + NS_PER_MS >= limit_ns, "{wait}");
        }
        end => panic!("{end}: {wait}"),
    }
    if let Some((notifier, _)) = &log.notifier {
        assert_eq!(waker(wait), Some(&**notifier), "{wait}");
        let part = wait.longest_part();
        let mut frames = part.owner_frames().iter().map(|frame| frame.class.as_str());
        assert!(
            frames.any(|class| class == "scenarios.WaitOracle$Notifier"),
            "{wait}"
        );
    }
}

fn check_recorded(wait: &Wait, recorded: &Recorded) {
    assert_eq!(waker(wait), recorded.notifier.as_deref(), "{wait}");
    let limit_ns = wait.common().timeout_ns.unwrap_or(0);
    assert_eq!(limit_ns, recorded.limit_ms * NS_PER_MS, "{wait}");
}

/// Each notification took as many threads as it says, and each thread notified as often as it
/// knows.
fn check_notifications(run: &Run, events: &WaitLog) {
    let mut taken: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let ends = events.ends.values().flatten();
    for number in ends.filter_map(|end| end.notification) {
        *taken.entry(number).or_default() += 1;
    }
    let mut by_thread: BTreeMap<&str, u64> = BTreeMap::new();
    let is_program = |thread: &str| thread == "main" || thread.starts_with("worker-");
    for (number, notification) in &events.notifications {
        // The JVM ends before its own threads do.
        if !is_program(&notification.thread) {
            continue;
        }
        let expected = if notification.all {
            notification.waiters
        } else {
            1
        };
        assert_eq!(taken.get(number), Some(&expected), "{notification:?}");
        *by_thread.entry(&notification.thread).or_default() += 1;
    }
    for words in run.lines_of("notifications") {
        let [thread, count] = words[..] else {
            panic!("{words:?}")
        };
        match count.parse().expect("a number") {
            0 => {}
            count => assert_eq!(by_thread.get(thread), Some(&count), "{thread}"),
        }
    }
}

/// Name of the thread that ended the wait.
fn waker(wait: &Wait) -> Option<&str> {
    wait.parts.iter().find_map(|part| part.owner_name())
}

fn logged(run: &Run) -> BTreeMap<String, Vec<Logged>> {
    let mut log: BTreeMap<String, Vec<Logged>> = BTreeMap::new();
    for words in run.lines_of("wait") {
        let number = |at: usize| words[at].parse::<u64>().expect("a number");
        log.entry(words[0].to_owned()).or_default().push(Logged {
            duration_ns: number(2) - number(1),
            limit_ms: number(3),
            interrupted: words[4] == "interrupted",
            notifier: (words[5] != "-").then(|| (words[5].to_owned(), number(6))),
        });
    }
    log
}

/// The recorder's waits of each thread, in order.
fn recorded(run: &Run) -> BTreeMap<String, Vec<Recorded>> {
    let output = Command::new(Jdk::traced().tool("jfr"))
        .args(["print", "--json", "--events", "JavaMonitorWait"])
        .arg(run.directory().join(RECORDING))
        .output()
        .expect("jfr runs");
    assert!(output.status.success(), "{output:?}");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let events = found["recording"]["events"].as_array().expect("events");
    let mut events: Vec<&Value> = events.iter().map(|event| &event["values"]).collect();
    events.sort_by_key(|event| event["startTime"].as_str());
    let mut recorded: BTreeMap<String, Vec<Recorded>> = BTreeMap::new();
    for event in events {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if event["monitorClass"]["name"] != BOARD.replace('.', "/") {
            continue;
        }
        let thread = text(&event["eventThread"]["javaName"]).expect("a thread");
        recorded.entry(thread).or_default().push(Recorded {
            notifier: text(&event["notifier"]["javaName"]),
            limit_ms: milliseconds(event["timeout"].as_str().expect("a duration")),
        });
    }
    recorded
}

/// Of a duration as the recorder prints it: `PT0.002S`.
fn milliseconds(duration: &str) -> u64 {
    let seconds = duration
        .strip_prefix("PT")
        .and_then(|rest| rest.strip_suffix('S'));
    let seconds: f64 = seconds.and_then(|text| text.parse().ok()).expect("seconds");
    (seconds * 1e3).round() as u64
}
