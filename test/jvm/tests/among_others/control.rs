//! Traces that begin and end while the program runs, in a JVM that was started without
//! any flag of the tracer.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use jvm_tests::{
    Jdk, Jvm, Wait, analyze, check_each, is_nightly, jcmd, jcmd_output, locktrace,
    parse_contentions, waits, waits_of_all_kinds,
};
use trace_analysis::Value;

/// The most growth of memory from a tenth of the rounds to the end, in kilobytes. The table of threads of a runtime
/// that is never freed takes half a megabyte alone; the heap has its full size from the beginning.
const MOST_GROWTH_KB: u64 = 16 << 10;

/// `Restarts.HOLD_NANOS`
const HOLD_NS: u64 = 5_000_000;

/// Sixty traces one after the other, with `LOCKTRACE_NIGHTLY=1` two hundred: no gap, no wrong
/// owner, no leak, and the locks exclude as ever. In nightly tests with each collector, else with the two
/// that most programs run with.
#[test]
fn started_and_stopped_through_jmx() {
    let collectors: &[&str] = if is_nightly() {
        &["Serial", "Parallel", "ConcMarkSweep", "G1"]
    } else {
        &["Parallel", "G1"]
    };
    check_each(collectors, |collector| check_restarts(collector, &[]));
}

/// The same in a JVM that traces from its start on, with the tracer's own versions of
/// classes, and with the walk of the whole stack that checks each call chain.
#[test]
fn restarted_in_a_traced_jvm() {
    let flags = [
        "-XX:+TraceLockContention",
        "-XX:LockContentionTraceFile=first.lct",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:+LockContentionVerifyReturnBarriers",
    ];
    check_restarts("Parallel", &flags);
}

/// Two threads park before a trace begins, and what they are parked on is another object by the time it ends:
/// a synchronizer, and none. Each synchronizer counts its own threads.
#[test]
fn the_end_of_a_park_matches_its_begin() {
    let mut jvm = Jvm::traced(&["scenarios.ExchangedBlocker"]).start();
    for round in 1..=2 {
        jvm.await_line(&format!("ready {round}"));
        jcmd(&jvm, &["LockContention.stop"]);
        jvm.send_line();
        jvm.await_line(&format!("parked {round}"));
        let file = format!("file=round-{round}.lct");
        jcmd(&jvm, &["LockContention.start", &file]);
        jvm.send_line();
    }
    let run = jvm.finish();
    assert!(run.status.success(), "{}", run.describe());
    let counted: Vec<_> = run.lines_of("counted").collect();
    assert_eq!(counted, [["0", "0"]], "{}", run.describe());
    for round in 1..=2 {
        let waits = waits_of_all_kinds(&run.directory().join(format!("round-{round}.lct")));
        let of_thread = |wait: &&Wait| wait.thread() == "parked";
        assert_eq!(waits.iter().filter(of_thread).count(), 1, "{waits:?}");
    }
}

/// More threads wait than a start has time for: the others are in the trace a little later, each once.
#[test]
fn a_crowd_that_waits_is_in_the_trace() {
    let threads: usize = if is_nightly() { 5_000 } else { 1_000 };
    let program = ["scenarios.WaitingCrowd", &threads.to_string(), "40"];
    let mut jvm = Jvm::untraced(Jdk::traced(), &program).start();
    jvm.await_line("waiting");
    jcmd(&jvm, &["LockContention.start", "file=crowd.lct"]);
    let trace = jvm.trace().with_file_name("crowd.lct");
    let begin = Instant::now();
    while waiting_threads(&trace).len() < threads {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "not all are there"
        );
        thread::sleep(Duration::from_millis(250));
    }
    jvm.send_line();
    let run = jvm.finish();
    assert!(run.status.success(), "{}", run.describe());
    let waits = waiting_threads(&trace);
    let expected = (0..threads).map(|number| (format!("crowd-{number}"), 1));
    assert_eq!(waits, expected.collect());
    let facts = locktrace([OsStr::new("report"), trace.as_os_str()]).stdout;
    assert!(!facts.contains("are not in it"), "{facts}");
}

/// Returns how often each thread of the crowd waits for the crowd's lock in a trace, which may still be written. When
/// they end, threads may wait for another lock, their group's.
fn waiting_threads(trace: &Path) -> BTreeMap<String, usize> {
    let mut waits = BTreeMap::new();
    let summary = analyze(trace, |wait, entities| {
        let thread = entities.thread(wait.thread).name.to_string();
        let lock = Value::of_lock_class(wait.lock, entities).name(entities);
        if thread.starts_with("crowd-") && lock == "scenarios.WaitingCrowd" {
            *waits.entry(thread).or_default() += 1;
        }
    });
    summary.unwrap_or_else(|error| panic!("{error}"));
    waits
}

fn check_restarts(collector: &str, flags: &[&str]) {
    let rounds = if is_nightly() { 200 } else { 60 };
    let count = rounds.to_string();
    let run = Jvm::untraced(Jdk::traced(), &["scenarios.Restarts", &count, "4"])
        .flags([
            &format!("-XX:+Use{collector}GC"),
            "-Xms128m",
            "-Xmx128m",
            "-XX:+AlwaysPreTouch",
        ])
        .flags(flags)
        .run();
    let resident: Vec<u64> = run
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("resident ")?.parse().ok())
        .collect();
    let [early, late] = resident[..] else {
        panic!("{}", run.describe());
    };
    assert!(late < early + MOST_GROWTH_KB, "{early} kB, then {late} kB");
    for round in 0..rounds {
        let trace = run.directory().join(format!("round-{round}.lct"));
        let waits = waits(&trace);
        check_round(round, &waits);
        check_outlasting(round, &waits);
    }
}

/// Checks a thread that waits from before the first trace until after it for what the main thread has.
fn check_outlasting(round: usize, waits: &[Wait]) {
    if round > 0 {
        assert!(!waits.iter().any(|wait| wait.thread() == "outlasting"));
        return;
    }
    let wait = only(waits, "outlasting");
    assert_open_at_begin(wait);
    assert!(!wait.common().ended, "{wait}");
    for part in &wait.parts {
        assert_eq!(part.owner_name(), Some("main"), "{wait}");
    }
}

/// The waiter of a round waited once for what the owner of that round had. When it ends it
/// may wait for who joins it.
fn check_round(round: usize, waits: &[Wait]) {
    let waiter = format!("waiter-{round}");
    let of_waiter: Vec<_> = waits
        .iter()
        .filter(|wait| {
            wait.thread() == waiter && wait.common().lock_class == "scenarios.Restarts$Order"
        })
        .collect();
    let [wait] = of_waiter[..] else {
        panic!("round {round}: {of_waiter:?}");
    };
    let owner = format!("owner-{round}");
    let owned_ns: u64 = wait
        .parts
        .iter()
        .filter(|part| part.owner.is_some())
        .map(|part| {
            assert_eq!(part.owner_name(), Some(&*owner), "{wait}");
            let method = part.owner_frames()[0].name();
            assert_eq!(method, "scenarios.Restarts$Order.own", "{wait}");
            part.duration_ns
        })
        .sum();
    assert!(owned_ns >= HOLD_NS, "{wait}");
}

#[test]
fn through_jcmd() {
    let mut jvm = Jvm::untraced(Jdk::traced(), &["scenarios.BlockedChain"]).start();
    jvm.await_line("blocked");
    assert!(jcmd(&jvm, &["help"]).contains("LockContention.start"));
    let help = jcmd(&jvm, &["help", "LockContention.start"]);
    assert!(help.contains("file :"), "{help}");

    let off = "Lock contention is not traced.";
    assert!(jcmd(&jvm, &["LockContention.status"]).contains(off));
    assert!(jcmd(&jvm, &["LockContention.stop"]).contains(off));
    let missing = jcmd(&jvm, &["LockContention.start", "file=missing/trace.lct"]);
    assert!(
        missing.contains("Lock contention is not traced: "),
        "{missing}"
    );
    assert!(missing.contains("missing/trace.lct"), "{missing}");

    let started = jcmd(&jvm, &["LockContention.start", "file=trace.lct"]);
    assert!(
        started.contains("Started tracing lock contention to trace.lct."),
        "{started}"
    );
    let again = jcmd(&jvm, &["LockContention.start"]);
    assert!(again.contains("already, to trace.lct."), "{again}");
    let status = jcmd(&jvm, &["LockContention.status"]);
    assert!(status.contains("is traced to trace.lct, for "), "{status}");
    let stopped = jcmd(&jvm, &["LockContention.stop"]);
    assert!(
        stopped.contains("Stopped tracing lock contention to trace.lct."),
        "{stopped}"
    );
    let waits = waits(&jvm.trace());
    check_open_chain(&waits);

    let second = jcmd(&jvm, &["LockContention.start", "file=trace.lct"]);
    assert!(second.contains("to trace.1.lct."), "{second}");
    jvm.kill();
}

/// Both threads were blocked before the trace began and are when it ends; neither owner has
/// ever run since. Who owns what is seen all the same.
fn check_open_chain(waits: &[Wait]) {
    for (thread, owner) in [("middle", "root"), ("last", "middle")] {
        let wait = only(waits, thread);
        assert_open_at_begin(wait);
        assert!(!wait.common().ended, "{wait}");
        for part in &wait.parts {
            assert_eq!(part.owner_name(), Some(owner), "{wait}");
        }
    }
    assert_eq!(waits.len(), 2, "{waits:?}");
}

fn assert_open_at_begin(wait: &Wait) {
    assert!(wait.common().begun_before_trace, "{wait}");
    assert_eq!(wait.parts[0].start_ns, 0, "{wait}");
}

/// Waits that began before the trace are in it from its start on, with what ended them; one
/// that outlasts it is open at its end.
#[test]
fn waits_over_the_edges_of_a_trace() {
    let mut jvm = Jvm::untraced(Jdk::traced(), &["scenarios.WaitsOverTheEdge"]).start();
    jvm.await_line("blocked");
    jcmd(&jvm, &["LockContention.start", "file=trace.lct"]);
    let copied = jcmd(&jvm, &["LockContention.dump", "file=copy.lct"]);
    assert!(
        copied.contains("Copied the trace so far to copy.lct."),
        "{copied}"
    );
    jvm.send_line();
    jvm.await_line("again");
    let stopped = jcmd(&jvm, &["LockContention.stop"]);
    assert!(stopped.contains("Stopped tracing"), "{stopped}");
    let trace = jvm.trace();
    let copy = waits_of_copy(&trace.with_file_name("copy.lct"));
    let all = waits_of_all_kinds(&trace);
    let facts = locktrace([OsStr::new("report"), trace.as_os_str()]).stdout;
    jvm.send_line();
    let run = jvm.finish();

    for (thread, owner) in [
        ("entering", Some("root")),
        ("parking", Some("root")),
        ("napping", None),
    ] {
        let wait = only(&all, thread);
        assert_open_at_begin(wait);
        assert!(wait.common().ended, "{wait}");
        if let Some(owner) = owner {
            let owned = wait.parts.iter().find(|part| part.owner.is_some());
            let part = owned.unwrap_or_else(|| panic!("{wait}"));
            assert_eq!(part.owner_name(), Some(owner), "{wait}");
            let letting_go = "scenarios.WaitsOverTheEdge.letGo";
            let mut frames = part.owner_frames().iter();
            assert!(frames.any(|frame| frame.name() == letting_go), "{wait}");
            let copied = only(&copy, thread);
            assert_open_at_begin(copied);
            assert!(!copied.common().ended, "{copied}");
        }
    }
    let late = only(&all, "late");
    assert!(
        !late.common().ended && !late.common().begun_before_trace,
        "{late}"
    );
    assert!(facts.contains("had begun before the trace"), "{facts}");
    assert!(
        facts.contains("do not tell all releases"),
        "{}",
        run.describe()
    );
}

/// A copy has an end that the JVM did not write, so it is not complete.
fn waits_of_copy(copy: &Path) -> Vec<Wait> {
    let arguments = ["contentions", "--kind", "all"].map(OsStr::new);
    let finished = locktrace(arguments.into_iter().chain([copy.as_os_str()]));
    let complaint = "a copy of the beginning";
    assert!(finished.stderr.contains(complaint), "{}", finished.stderr);
    Wait::group(parse_contentions(&finished.stdout))
}

fn only<'a>(waits: &'a [Wait], thread: &str) -> &'a Wait {
    let of_thread: Vec<_> = waits
        .iter()
        .filter(|wait| wait.thread() == thread && !wait.is_in_thread_exit())
        .collect();
    let [wait] = of_thread[..] else {
        panic!("{thread}: {waits:?}");
    };
    wait
}

/// A trace of one kind that stops by itself.
#[test]
fn kinds_and_duration() {
    let mut jvm = Jvm::untraced(Jdk::traced(), &["scenarios.WaitsOverTheEdge"]).start();
    jvm.await_line("blocked");
    let wrong = jcmd_output(&jvm, &["LockContention.start", "kinds=monitor,gc"]);
    assert!(
        wrong.contains("expected monitor, park or monitor,park, found: monitor,gc"),
        "{wrong}"
    );
    let unit = jcmd_output(&jvm, &["LockContention.start", "duration=5x"]);
    assert!(unit.contains("illegal unit"), "{unit}");
    let arguments = [
        "LockContention.start",
        "file=trace.lct",
        "kinds=monitor",
        "duration=1500ms",
    ];
    let started = jcmd(&jvm, &arguments);
    assert!(started.contains("Started tracing"), "{started}");
    let status = jcmd(&jvm, &["LockContention.status"]);
    assert!(status.contains("It ends in "), "{status}");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !jcmd(&jvm, &["LockContention.status"]).contains("is not traced") {
        assert!(Instant::now() < deadline, "it goes on");
        thread::sleep(Duration::from_millis(100));
    }
    let waits = waits(&jvm.trace());
    let [wait] = &waits[..] else {
        panic!("{waits:?}");
    };
    assert_eq!(wait.thread(), "entering");
    let waited_ns: u64 = wait.parts.iter().map(|part| part.duration_ns).sum();
    assert!(
        (1_400_000_000..10_000_000_000).contains(&waited_ns),
        "{wait}"
    );
    let stat = locktrace([OsStr::new("stat"), jvm.trace().as_os_str()]).stdout;
    assert!(stat.contains("parks were not traced"), "{stat}");
    jvm.kill();
}

/// A trace that ends by itself, some day, is in nobody's way: threads are stopped and go on
/// meanwhile.
#[test]
fn safepoints_while_a_duration_goes_on() {
    let mut jvm = Jvm::untraced(Jdk::traced(), &["scenarios.BlockedChain"]).start();
    jvm.await_line("blocked");
    let arguments = ["LockContention.start", "file=trace.lct", "duration=100s"];
    jcmd(&jvm, &arguments);
    for _ in 0..3 {
        assert!(jcmd(&jvm, &["Thread.print"]).contains("middle"));
        jcmd(&jvm, &["GC.run"]);
    }
    let status = jcmd(&jvm, &["LockContention.status"]);
    assert!(status.contains("It ends in "), "{status}");
    let stopped = jcmd(&jvm, &["LockContention.stop"]);
    assert!(stopped.contains("Stopped tracing"), "{stopped}");
    jvm.kill();
}
