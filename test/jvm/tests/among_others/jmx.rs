//! The MBean of lock contention, in a JVM that was started without any flag of the tracer.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;

use jvm_tests::{
    Jar, Jdk, Jvm, Run, RunningJvm, dependencies, jcmd, repository, source_directory, waits,
};
use serde_json::Value;

/// Prometheus' exporter of MBeans.
const EXPORTER: Jar = Jar {
    name: "jmx_prometheus_javaagent-0.20.0.jar",
    sha256: "8b67ed40485d475648c36d11d21464b484406f85faf912b3363f71a6a7861320",
};

const OWNER: &str = "scenarios.Managed.hold";

/// The clock is read some microseconds away from where threads are blocked.
const TOLERANCE: f64 = 0.05;

#[test]
fn figures_are_those_of_the_report_and_of_the_program() {
    let mut jvm = managed("", &[]);
    jvm.await_line("ready");
    let report = report(&jvm);
    jvm.send_line();
    let run = jvm.finish();
    // The end of the trace prints its report.
    assert!(!run.stderr.contains("locktrace:"), "{}", run.describe());

    let blocked = run.lines_of("blocked").next().expect("a line")[0].to_owned();
    let truth_ns: f64 = blocked.parse().expect("nanoseconds");
    let found_ns = number(&run, "traced", "BlockedNanos") as f64;
    println!("{truth_ns} ns in truth, {found_ns} ns found");
    assert!(
        (found_ns - truth_ns).abs() <= TOLERANCE * truth_ns,
        "{}",
        run.describe()
    );

    let totals = &report["totals"];
    for (attribute, field) in [
        ("BlockedNanos", &totals["duration_ns"]),
        ("FreeNanos", &totals["free_ns"]),
        ("UnknownOwnerNanos", &totals["unknown_owner_ns"]),
        ("Waits", &totals["waits"]),
        ("LongestWaitNanos", &totals["max_wait_ns"]),
        ("BlockedThreads", &totals["still_blocked"]["threads"]),
        ("LostEvents", &report["trace"]["lost_events"]),
    ] {
        let expected = field
            .as_i64()
            .unwrap_or_else(|| panic!("{attribute}: {field}"));
        assert_eq!(number(&run, "traced", attribute), expected, "{attribute}");
    }
    assert_eq!(number(&run, "traced", "Deadlocks"), 0);
    let rows: Vec<_> = run
        .lines_of("traced")
        .filter(|words| words[0] == "row")
        .collect();
    let sum_ns: i64 = rows.iter().map(|row| parse(row[3])).sum();
    assert_eq!(sum_ns, totals["duration_ns"].as_i64().expect("a number"));
    let held = rows
        .iter()
        .find(|row| row[2] == OWNER)
        .expect("the method that holds the lock");
    assert_eq!(held[1], "scenarios.Managed");
}

#[test]
fn missing_figures_are_reported() {
    for (arguments, is_analyzing) in [("", "true"), ("analysis=file file=trace.lct", "false")] {
        let mut jvm = managed(arguments, &[]);
        jvm.await_line("ready");
        jvm.send_line();
        let run = jvm.finish();
        let truth = |when: &str, attribute: &str| value(&run, when, attribute);
        assert_eq!(truth("before", "Tracing"), "false");
        assert_eq!(truth("before", "BlockedNanos"), "-1");
        assert_eq!(truth("traced", "Tracing"), "true");
        assert_eq!(truth("traced", "Analyzing"), is_analyzing);
        assert_eq!(truth("after", "Tracing"), "false");
        assert_eq!(truth("after", "Waits"), "-1");
        let refused = run.stdout.lines().find(|line| line.starts_with("refused "));
        let refused = refused.expect("a line");
        assert!(
            refused.contains("kinds: expected monitor, park"),
            "{refused}"
        );
    }
}

#[test]
fn a_jvm_that_cannot_trace_says_so() {
    let run = Jvm::untraced(Jdk::stock(), &["scenarios.TraceClock"])
        .flags([agent()])
        .finish();
    let expected = "this JVM cannot trace lock contention";
    assert!(run.stderr.contains(expected), "{}", run.describe());
}

#[test]
fn prometheus_reads_it() {
    let jar = dependencies("jmx", &[EXPORTER]).remove(0);
    // The port is free again until the exporter takes it.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let mut exporter = OsString::from("-javaagent:");
    exporter.push(jar);
    exporter.push(format!("=127.0.0.1:{port}:"));
    exporter.push(source_directory().join("jmx/exporter.yml"));
    let mut jvm = managed("", &[exporter]);
    jvm.await_line("ready");
    let report = report(&jvm);
    let metrics = get(port);
    jvm.send_line();
    jvm.finish();
    let sample = |name: &str| -> f64 {
        let line = metrics.lines().find(|line| line.starts_with(name));
        let line = line.unwrap_or_else(|| panic!("no {name} in {metrics}"));
        line.rsplit(' ')
            .next()
            .expect("a value")
            .parse()
            .expect("a number")
    };
    assert_eq!(
        sample("locktrace_waits_total{application=\"shop\",} "),
        report["totals"]["waits"].as_f64().expect("waits")
    );
    for name in ["locktrace_lostevents_total", "locktrace_blockedthreads"] {
        assert_eq!(sample(&format!("{name}{{application=\"shop\",}} ")), 0.0);
    }
    // These metrics of several applications can be in one place.
    let ours = metrics
        .lines()
        .filter(|line| line.starts_with("locktrace_"));
    assert!(ours.clone().count() > 3, "{metrics}");
    for line in ours {
        assert!(line.contains("{application=\"shop\","), "{line}");
    }
    let class = &report["tree"][0]["children"];
    let methods = class.as_array().expect("rows");
    let held = methods
        .iter()
        .find(|row| row["label"] == OWNER)
        .expect("the method");
    let seconds = held["duration_ns"].as_f64().expect("nanoseconds") / 1e9;
    let labels = format!("application=\"shop\",contention=\"scenarios.Managed {OWNER}\"");
    let name = format!("locktrace_blocked_seconds_total{{{labels}");
    assert!(
        (sample(&name) - seconds).abs() < 1e-6,
        "{seconds} s, {metrics}"
    );
}

/// A client in a process of its own, and a JVM without any flag: it comes in as JConsole does, by the
/// connector that the JVM opens when somebody attaches.
#[test]
fn a_client_controls_a_jvm_without_flags() {
    let mut server = Jvm::untraced(Jdk::traced(), &["scenarios.BlockedChain"]).start();
    server.await_line("blocked");
    jcmd(&server, &["ManagementAgent.start_local"]);
    let counters = jcmd(&server, &["PerfCounter.print"]);
    let name = "sun.management.JMXConnectorServer.address=";
    let address = counters.lines().find_map(|line| line.strip_prefix(name));
    let address = address.unwrap_or_else(|| panic!("{counters}"));
    let requests = [
        "lockcontentionStatus",
        "lockcontentionStart,file=trace.lct,analysis=both,report=report.json",
        "lockcontentionStart",
        "lockcontentionReport,by=thread,kind=all",
        "lockcontentionReport,by=color",
        "lockcontentionDump,file=copy.lct",
        "lockcontentionStop",
        "lockcontentionStatus",
        "lockcontentionStart,kinds=gc",
    ];
    let client = Jvm::untraced(Jdk::stock(), &["scenarios.JmxClient"])
        .flags([
            format!("-Dclient.address={}", address.trim_matches('"')),
            format!("-Dclient.requests={}", requests.join(";")),
        ])
        .run();
    let answers: Vec<_> = client.stdout.lines().collect();
    let expected = [
        "lockcontentionStatus Lock contention is not traced.",
        "lockcontentionStart Started tracing lock contention to trace.lct.",
        "lockcontentionStart Lock contention is traced already, to trace.lct.",
        "lockcontentionReport Trace ",
        "lockcontentionReport There is no report: by: unknown aspect",
        "lockcontentionDump Copied the trace so far to copy.lct.",
        "lockcontentionStop Stopped tracing lock contention to trace.lct.",
        "lockcontentionStatus Lock contention is not traced.",
        "lockcontentionStart refused: kinds: expected monitor, park",
    ];
    assert_eq!(answers.len(), expected.len(), "{}", client.describe());
    for (answer, expected) in answers.iter().zip(expected) {
        assert!(answer.starts_with(expected), "{answer}");
    }
    let trace = server.trace();
    for name in ["trace.lct", "copy.lct", "report.json"] {
        assert!(trace.with_file_name(name).exists(), "{name}");
    }
    let blocked = waits(&trace);
    assert_eq!(blocked.len(), 2, "{blocked:?}");
    server.kill();
}

/// A JVM in which the program starts tracing by JMX.
fn managed(arguments: &str, flags: &[OsString]) -> RunningJvm {
    Jvm::untraced(Jdk::traced(), &["scenarios.Managed", arguments])
        .flags([agent()])
        .flags(flags)
        .start()
}

fn agent() -> OsString {
    let jar: PathBuf = repository().join("build/locktrace-jmx.jar");
    assert!(jar.exists(), "no {}: run `make jmx`", jar.display());
    let mut flag = OsString::from("-javaagent:");
    flag.push(jar);
    flag
}

fn report(jvm: &RunningJvm) -> Value {
    let text = jcmd(jvm, &["LockContention.report", "format=json"]);
    let begin = text.find('{').expect("JSON");
    serde_json::from_str(&text[begin..]).expect("JSON")
}

fn get(port: u16) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the exporter listens");
    let request = "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n";
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

fn value(run: &Run, when: &str, attribute: &str) -> String {
    let mut lines = run.lines_of(when);
    let line = lines.find(|words| words[0] == attribute);
    line.unwrap_or_else(|| panic!("no {attribute}: {}", run.describe()))[1].to_owned()
}

fn number(run: &Run, when: &str, attribute: &str) -> i64 {
    parse(&value(run, when, attribute))
}

fn parse(text: &str) -> i64 {
    text.parse().expect("a number")
}
