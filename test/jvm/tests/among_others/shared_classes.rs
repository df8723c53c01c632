//! Archives of shared classes hold the JDK's own versions of the classes that a traced JVM
//! replaces.

use std::ffi::OsString;

use jvm_tests::{Jdk, Jvm, Run, for_each_event, scratch_directory};
use trace_format::Event;

const THREADS: &str = "8";
const PROGRAM: [&str; 8] = [
    "scenarios.HoldsOfLocks",
    "nonfair",
    THREADS,
    "2000",
    "20000",
    "50000",
    "300",
    "0",
];

#[test]
fn owners_of_locks_are_known_with_an_archive() {
    let directory = scratch_directory("shared-classes");
    let mut archive = OsString::from("-XX:SharedArchiveFile=");
    archive.push(directory.path().join("classes.jsa"));
    let with_archive = |jvm: Jvm, mode: &str| {
        let flags = ["-XX:+UnlockDiagnosticVMOptions", mode];
        jvm.flags(flags).flags([&archive]).run()
    };
    let jdk = Jdk::traced();
    with_archive(Jvm::untraced(jdk, &["-version"]), "-Xshare:dump");
    // The JVM does not start without the archive.
    with_archive(Jvm::untraced(jdk, &PROGRAM), "-Xshare:on");

    let traced = with_archive(Jvm::traced(&PROGRAM), "-Xshare:auto");
    assert!(exclusive_releases(&traced) > 0);
    assert!(!is_warned(&traced), "{}", traced.describe());

    let demanded = with_archive(Jvm::traced(&PROGRAM), "-Xshare:on");
    assert_eq!(exclusive_releases(&demanded), 0);
    assert!(is_warned(&demanded), "{}", demanded.describe());
}

fn exclusive_releases(run: &Run) -> usize {
    let mut count = 0;
    for_each_event(&run.trace(), |_, event| {
        count += usize::from(matches!(event, Event::ExclusiveRelease(_)));
    });
    count
}

fn is_warned(run: &Run) -> bool {
    run.stderr.contains("less exactly")
}
