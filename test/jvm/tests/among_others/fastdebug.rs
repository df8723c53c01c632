//! Scenarios on a JVM with HotSpot's assertions, under flags that make the
//! exceptional common. An assertion that fails ends the JVM.
//!
//! `make test-fastdebug` builds that JVM and runs these tests.

use std::fs;
use std::process::Command;

use jvm_tests::{
    CompileMode, Jdk, Jvm, NEVER_INLINED, Run, Setting, analyze, check_each, check_sound,
    run_to_success,
};

/// Main classes of `scenarios/` and their arguments.
const PROGRAMS: [&str; 57] = [
    "Attached",
    "BiasRevocation",
    "BlockedTimes",
    "BoundedBuffer",
    "CollectorLock",
    "CompleteExit",
    "Contend ClassLinking",
    "Contend ClassLoaderLock",
    "Contend Deoptimized",
    "Contend ExceptionFromBlock",
    "Contend ExceptionFromCallee",
    "Contend ExceptionFromMethod",
    "Contend ExceptionFromNative",
    "Contend InlinedBlock",
    "Contend InlinedCallee",
    "Contend InlinedMethod",
    "Contend JniMonitor",
    "Contend JniMonitorAcrossCalls",
    "Contend LambdaBody",
    "Contend MethodHandleCall",
    "Contend OnStackReplacement",
    "Contend Recursive",
    "Contend RecursiveWait",
    "Contend Reentrant",
    "Contend ReflectiveCall",
    "Contend StaticSynchronizedMethod",
    "Contend Stopped",
    "Contend SuspendedOwner",
    "Contend SynchronizedBlock",
    "Contend SynchronizedMethod",
    "Contend SynchronizedNative",
    "Contend UnsafeMonitor",
    "DeepStack 1000",
    "Endings return",
    "HashCodes",
    "InterruptStorm",
    "LockHammer 8 2 20000",
    "LockHolds fair",
    "LockHolds nonfair",
    "ManyLocks",
    "MemoryPressure 30",
    "MixedParks",
    "MonitorReuse",
    "NotifyStorm",
    "OwnerShares Block 1000 20",
    "ParkEndings",
    "ParkStorm",
    "QueuedParks",
    "ReadWriteHolds nonfair",
    "Renamed",
    "SuspendedWaiter",
    "SynchronizerStorm",
    "ThreadCrowd 500 100",
    "ThreadExit",
    "Unloading",
    "WaitKinds",
    "WaitNotify notified",
];

/// Small, so that each collector has something to do.
const HEAP: &str = "-Xmx16m";

#[test]
#[ignore = "needs a JVM with assertions: make test-fastdebug"]
fn compiled_code_is_thrown_away_all_the_time() {
    check_under(&["-XX:+DeoptimizeALot"]);
}

/// Most scenarios leave no garbage; the JVM collects nevertheless, at every
/// thousandth exit from its runtime.
#[test]
#[ignore = "needs a JVM with assertions: make test-fastdebug"]
fn the_heap_is_verified_before_each_collection() {
    check_under(&[
        "-XX:+VerifyBeforeGC",
        "-XX:+FullGCALot",
        "-XX:FullGCALotInterval=1000",
    ]);
}

#[test]
#[ignore = "needs a JVM with assertions: make test-fastdebug"]
fn safepoints_come_every_millisecond() {
    check_under(&["-XX:+SafepointALot", "-XX:GuaranteedSafepointInterval=1"]);
}

/// Runs every program with every collector, each time with another compiler.
fn check_under(flags: &[&str]) {
    require_assertions();
    let cases = PROGRAMS.iter().flat_map(|program| {
        let settings = Setting::rotated(program).into_iter();
        // Takes ten times as long, as long as everything else together.
        let settings = settings.filter(|setting| setting.mode != CompileMode::Eager);
        settings.map(move |setting| (program, setting))
    });
    check_each(cases, |(program, setting)| {
        let program = format!("scenarios.{program}");
        let words: Vec<_> = program.split(' ').collect();
        let run = Jvm::traced(&words)
            .flags(NEVER_INLINED)
            .flags(setting.flags())
            .flags([HEAP])
            .flags(flags)
            .run();
        check_run(&run);
    });
}

/// The JVM wrote no error log, and all of a trace.
fn check_run(run: &Run) {
    let entries = fs::read_dir(run.directory()).expect("the run had a directory");
    for entry in entries {
        let name = entry.expect("the directory is readable").file_name();
        let is_error_log = name.to_string_lossy().starts_with("hs_err");
        assert!(!is_error_log, "{name:?}: {}", run.describe());
    }
    let mut waits = 0;
    let summary = analyze(&run.trace(), |_, _| waits += 1);
    check_sound(&summary.unwrap_or_else(|error| panic!("{error}")));
    assert!(waits > 0, "no wait in the trace: {}", run.describe());
}

/// A JVM without assertions does not know the flags under test.
fn require_assertions() {
    let java = Jdk::traced().tool("java");
    run_to_success(Command::new(java).args(["-XX:+DeoptimizeALot", "-version"]));
}
