//! The call chains of the owner and of the blocked thread, in every way that
//! code can lock and that the JVM can execute it.
//!
//! One scenario each; `scenarios/*.java` say what is expected.

use std::time::Duration;

use jvm_tests::{
    CompileMode, Expectation, ExpectedFrame, Jvm, NEVER_INLINED, Run, Wait, among_others, waits,
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
    let mut failures = Vec::new();
    for mode in CompileMode::ALL {
        let run = contend(scenario, mode);
        let result = check_compiled(scenario, mode, &run)
            .and_then(|()| check_waits(&expectation, mode, &run));
        if let Err(error) = result {
            failures.push(format!(
                "{scenario}, {mode:?}: {error}\nkept {}",
                run.keep().display()
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
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
fn check_compiled(scenario: &str, mode: CompileMode, run: &Run) -> Result<(), String> {
    if !mode.compiles() {
        return Ok(());
    }
    for method in ["own", "want"] {
        let name = format!(" scenarios.{scenario}::{method} (");
        let lines: Vec<_> = run
            .stderr
            .lines()
            .filter(|line| line.contains(&name))
            .collect();
        if lines.is_empty() {
            return Err(format!("{method} was not compiled"));
        }
        let one_compiler = matches!(mode, CompileMode::C1 | CompileMode::C2);
        if one_compiler && lines.iter().any(|line| line.contains("made not entrant")) {
            return Err(format!("the compiled {method} was thrown away: {lines:?}"));
        }
    }
    Ok(())
}

fn check_waits(expectation: &Expectation, mode: CompileMode, run: &Run) -> Result<(), String> {
    let mut waits = waits(&run.trace());
    waits.retain(|wait| wait.thread() == "waiter" && !wait.is_of_ending_thread());
    if waits.len() != ROUNDS {
        let found: Vec<_> = waits.iter().map(Wait::to_string).collect();
        return Err(format!("expected {ROUNDS} waits, found {}", found.join("")));
    }
    for (wait, round) in waits.iter().zip(run.lines_of("wait")) {
        check_wait(expectation, mode, wait)?;
        check_duration(wait, &round)?;
    }
    Ok(())
}

fn check_wait(expectation: &Expectation, mode: CompileMode, wait: &Wait) -> Result<(), String> {
    let common = wait.common();
    let facts = (
        common.group.as_str(),
        common.kind.as_str(),
        common.lock_class.as_str(),
    );
    if facts != ("monitor", "enter", expectation.lock_class.as_str()) {
        return Err(format!(
            "expected the lock of a {}, found {facts:?}",
            expectation.lock_class
        ));
    }
    ExpectedFrame::compare(&expectation.waiter, &common.chain, mode)
        .map_err(|difference| format!("call chain of the blocked thread: {difference}"))?;
    for part in wait.parts.iter().filter(|part| part.owner.is_some()) {
        if part.owner_name() != Some("owner") {
            return Err(format!(
                "expected the owner \"owner\", found {:?}",
                part.owner
            ));
        }
        ExpectedFrame::compare(
            &expectation.owner,
            part.owner_chain.as_deref().unwrap_or_default(),
            mode,
        )
        .map_err(|difference| format!("call chain of the owner: {difference}"))?;
    }
    Ok(())
}

/// Two bounds that allow for no tolerance: the owner holds the lock for a while
/// after it saw the other thread blocked, and that thread asked for the lock
/// before the trace says so and returned with it after.
fn check_duration(wait: &Wait, round: &[&str]) -> Result<(), String> {
    let [_, wanted_ns, returned_ns] = round else {
        return Err(format!("not a round: {round:?}"));
    };
    let time = |text: &str| {
        text.parse::<u64>()
            .map_err(|error| format!("{text}: {error}"))
    };
    let limit_ns = time(returned_ns)? - time(wanted_ns)?;
    let owned_ns: u64 = wait
        .parts
        .iter()
        .filter(|part| part.owner.is_some())
        .map(|part| part.duration_ns)
        .sum();
    if u128::from(owned_ns) < BLOCKED.as_nanos() || wait.duration_ns > limit_ns {
        return Err(format!(
            "a wait of {} ns, {owned_ns} ns of it blamed; expected {BLOCKED:?} to be blamed at least, \
             and at most {limit_ns} ns",
            wait.duration_ns,
        ));
    }
    Ok(())
}
