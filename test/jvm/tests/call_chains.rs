//! The call chains of the owner and of the blocked thread, in every way that
//! code can lock and that the JVM can execute it.
//!
//! One scenario each; `scenarios/*.java` say what is expected.

use std::time::Duration;

use jvm_tests::{
    CompileMode, Expectation, ExpectedFrame, Jvm, NEVER_INLINED, Run, Wait, among_others,
    check_each, waits,
};

/// `Contend.ROUNDS`.
const ROUNDS: usize = 5;

/// `Held.BLOCKED_NANOS`.
const BLOCKED: Duration = Duration::from_millis(20);

#[test]
fn synchronized_method() {
    check_in_all_modes("SynchronizedMethod");
}

#[test]
fn synchronized_block() {
    check_in_all_modes("SynchronizedBlock");
}

#[test]
fn static_synchronized_method() {
    check_in_all_modes("StaticSynchronizedMethod");
}

#[test]
fn synchronized_native_method() {
    check_in_all_modes("SynchronizedNative");
}

#[test]
fn jni_monitor() {
    check_in_all_modes("JniMonitor");
}

#[test]
fn jni_monitor_across_calls() {
    check_in_all_modes("JniMonitorAcrossCalls");
}

#[test]
fn unsafe_monitor() {
    check_in_all_modes("UnsafeMonitor");
}

#[test]
fn exception_from_method() {
    check_in_all_modes("ExceptionFromMethod");
}

#[test]
fn exception_from_block() {
    check_in_all_modes("ExceptionFromBlock");
}

#[test]
fn inlined_block() {
    check_in_all_modes("InlinedBlock");
}

#[test]
fn inlined_method() {
    check_in_all_modes("InlinedMethod");
}

#[test]
fn inlined_callee() {
    check_in_all_modes("InlinedCallee");
}

#[test]
fn reentrant() {
    check_in_all_modes("Reentrant");
}

#[test]
fn reflective_call() {
    check_in_all_modes("ReflectiveCall");
}

#[test]
fn lambda_body() {
    check_in_all_modes("LambdaBody");
}

#[test]
fn method_handle_call() {
    check_in_all_modes("MethodHandleCall");
}

/// The scenarios show inlining only if the compilers do inline: C1 and C2 say
/// so in their log.
#[test]
fn inlining_happens() {
    let _processor = among_others();
    let deepest = [
        ("InlinedBlock", "own4"),
        ("InlinedBlock", "want3"),
        ("InlinedMethod", "own2"),
        ("InlinedMethod", "want2"),
        ("InlinedCallee", "runHeld"),
    ];
    for (scenario, method) in deepest {
        for mode in [CompileMode::C1, CompileMode::C2, CompileMode::Tiered] {
            let log = contend(scenario, mode).stderr;
            let inlined = |line: &str| {
                let attempt = line.contains(&format!("   scenarios.{scenario}::{method} ("))
                    && line.contains('@');
                attempt && (line.ends_with("bytes)") || line.ends_with("inline (hot)"))
            };
            assert!(
                log.lines().any(inlined),
                "{scenario}.{method} is not inlined by {mode:?}:\n{log}"
            );
        }
    }
}

fn check_in_all_modes(scenario: &str) {
    let _processor = among_others();
    let expectation = Expectation::of(scenario);
    check_each(CompileMode::ALL, |&mode| {
        let run = contend(scenario, mode);
        check_compiled(scenario, mode, &run);

        let mut waits = waits(&run.trace());
        waits.retain(|wait| wait.thread() == "waiter");
        assert_eq!(waits.len(), ROUNDS, "one wait a round: {waits:#?}");
        for (wait, round) in waits.iter().zip(run.lines_of("wait")) {
            check_wait(&expectation, mode, wait);
            check_duration(wait, &round);
        }
    });
}

fn contend(scenario: &str, mode: CompileMode) -> Run {
    Jvm::traced(&["scenarios.Contend", scenario])
        .flags(NEVER_INLINED)
        .flags(mode.flags())
        .flags([
            "-XX:+PrintCompilation",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+PrintInlining",
        ])
        .flags(["-XX:+DisplayVMOutputToStderr"])
        .run()
}

/// The code under test really was compiled, and with a single compiler it was
/// not thrown away while it held the lock.
fn check_compiled(scenario: &str, mode: CompileMode, run: &Run) {
    if !mode.compiles() {
        return;
    }
    for method in ["own", "want"] {
        let name = format!(" scenarios.{scenario}::{method} (");
        let log = run.stderr.lines().filter(|line| line.contains(&name));
        let log: Vec<_> = log.collect();
        assert!(!log.is_empty(), "{method} was not compiled");

        let thrown_away = log.iter().any(|line| line.contains("made not entrant"));
        let one_compiler = matches!(mode, CompileMode::C1 | CompileMode::C2);
        assert!(
            !(one_compiler && thrown_away),
            "{method} was thrown away: {log:?}"
        );
    }
}

fn check_wait(expectation: &Expectation, mode: CompileMode, wait: &Wait) {
    let common = wait.common();
    assert_eq!(common.group, "monitor", "{wait}");
    assert_eq!(common.kind, "enter", "{wait}");
    assert_eq!(common.lock_class, expectation.lock_class, "{wait}");
    if let Err(difference) = ExpectedFrame::compare(&expectation.waiter, &common.chain, mode) {
        panic!("call chain of the blocked thread: {difference}");
    }
    for part in wait.parts.iter().filter(|part| part.owner.is_some()) {
        assert_eq!(part.owner_name(), Some("owner"), "{wait}");
        let chain = part.owner_chain.as_deref().unwrap_or_default();
        if let Err(difference) = ExpectedFrame::compare(&expectation.owner, chain, mode) {
            panic!("call chain of the owner: {difference}");
        }
    }
}

/// Two bounds that allow for no tolerance: the owner holds the lock for a while
/// after it saw the other thread blocked, and that thread asked for the lock
/// before the trace says so and returned with it after.
fn check_duration(wait: &Wait, round: &[&str]) {
    let [_, wanted_ns, returned_ns] = round else {
        panic!("not a round: {round:?}");
    };
    let time = |text: &str| text.parse::<u64>().expect("a time in nanoseconds");
    let limit_ns = time(returned_ns) - time(wanted_ns);
    assert!(
        wait.duration_ns <= limit_ns,
        "longer than {limit_ns} ns: {wait}"
    );

    let owned = wait.parts.iter().filter(|part| part.owner.is_some());
    let owned = Duration::from_nanos(owned.map(|part| part.duration_ns).sum());
    assert!(owned >= BLOCKED, "too little blame: {wait}");
}
