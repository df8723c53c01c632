//! A real connection pool, HikariCP, that is too small: who needs a connection waits for
//! another thread to return one, which is no lock.

use std::ffi::OsStr;

use jvm_tests::{
    Jar, Jvm, Run, analyze, check_sound, locktrace, program_class_path, report_of_kinds,
};

/// The pool and what it depends on.
const JARS: [Jar; 3] = [
    Jar {
        name: "HikariCP-4.0.3.jar",
        sha256: "7c024aeff1c1063576d74453513f9de6447d8e624d17f8e27f30a2e97688c6c9",
    },
    Jar {
        name: "slf4j-api-2.0.0-alpha1.jar",
        sha256: "8df06cc146b8638a24cefb669d20f4bdb2c4497d5047c548a0a190df6f97c3a5",
    },
    Jar {
        name: "slf4j-nop-2.0.0-alpha1.jar",
        sha256: "dc3f34f0ce27badde09eb167bff7129f837953755f71a46626d19aba21f00d97",
    },
];

const BORROW: &str = "com.zaxxer.hikari.util.ConcurrentBag.borrow";
const RETURN: &str = "com.zaxxer.hikari.util.ConcurrentBag.requite";

#[test]
fn the_default_view_shows_who_waits_for_a_connection() {
    let run = Jvm::traced(&["pool.SmallPool"])
        .class_path(program_class_path("pool", &JARS))
        .run();
    check_sound(&analyze(&run.trace(), |_, _| {}).expect("a trace"));

    let table = default_view(&run);
    let (_, below) = table
        .split_once("\nConditional ")
        .unwrap_or_else(|| panic!("no part of its own in {table}"));
    let rows: Vec<&str> = below.lines().skip(3).collect();
    assert!(
        rows[0].contains("java.util.concurrent.SynchronousQueue$TransferQueue"),
        "{table}"
    );
    assert!(rows[1].ends_with(&format!("woken by {RETURN}")), "{table}");
    assert!(rows[2].ends_with(&format!("waited {BORROW}")), "{table}");
    // The journal's thread, and the pool's own ones.
    for idle in ["SmallPool.write", "DelayedWorkQueue", "getTask"] {
        assert!(!table.contains(idle), "{idle} in {table}");
    }
    check_time(&run);
}

/// The trace cannot have more than the program: a park lies within its call. It has most
/// of it, or the program had waited for something else.
fn check_time(run: &Run) {
    let waited = run.lines_of("waited").next().expect("a line");
    let waited_ns: u64 = waited[0].parse().expect("a time in nanoseconds");
    let report = report_of_kinds("conditional", &run.trace(), "method");
    let traced_ns = report.node(BORROW).duration_ns;
    assert!(traced_ns <= waited_ns, "{traced_ns} of {waited_ns} ns");
    assert!(2 * traced_ns > waited_ns, "{traced_ns} of {waited_ns} ns");
}

fn default_view(run: &Run) -> String {
    let finished = locktrace([OsStr::new("report"), run.trace().as_os_str()]);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    finished.stdout
}
