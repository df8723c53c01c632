//! Running scenarios, and what a trace must show of the rounds of
//! `scenarios/Contend.java`.

use std::time::Duration;

use crate::cases::check_each;
use crate::compile_mode::CompileMode;
use crate::contention::Wait;
use crate::expectation::{Expectation, ExpectedFrame};
use crate::jvm::{Jvm, NEVER_INLINED, Run};
use crate::locktrace::waits_on;
use crate::setting::Setting;

/// `Contend.ROUNDS`.
const ROUNDS: usize = 5;

/// `Held.BLOCKED_NANOS`.
const BLOCKED: Duration = Duration::from_millis(20);

/// Checks the rounds of a scenario in every setting; `check_run` sees to it that
/// they were what the test is about.
pub fn check_contend(scenario: &str, check_run: impl Fn(CompileMode, &Run)) {
    check_each(Setting::rotated(scenario), |setting| {
        let run = contend(scenario, setting);
        check_run(setting.mode, &run);
        check_rounds(scenario, setting.mode, &run);
    });
}

/// Checks a scenario that has a main method of its own in every setting, to
/// which `flags` are added.
pub fn check_program(program: &[&str], flags: &[&str], check: impl Fn(CompileMode, &Run)) {
    check_each(Setting::rotated(program[0]), |setting| {
        let run = Jvm::traced(program)
            .flags(NEVER_INLINED)
            .flags(setting.flags())
            .flags(flags)
            .run();
        check(setting.mode, &run);
    });
}

/// Runs a scenario, and logs to standard error what the compilers do.
pub fn contend(scenario: &str, setting: &Setting) -> Run {
    Jvm::traced(&["scenarios.Contend", scenario])
        .flags(NEVER_INLINED)
        .flags(setting.flags())
        .flags([
            "-XX:+PrintCompilation",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+PrintInlining",
            "-XX:+DisplayVMOutputToStderr",
        ])
        .run()
}

/// The code under test really was compiled, and with a single compiler it was
/// not thrown away while it held the lock.
pub fn check_compiled(scenario: &str, mode: CompileMode, run: &Run) {
    if !mode.compiles() {
        return;
    }
    for method in ["own", "want"] {
        let log = compilations(run, scenario, method);
        assert!(!log.is_empty(), "{method} was not compiled");

        let thrown_away = log.iter().any(|line| line.contains("made not entrant"));
        let one_compiler = matches!(mode, CompileMode::C1 | CompileMode::C2);
        assert!(
            !(one_compiler && thrown_away),
            "{method} was thrown away: {log:?}"
        );
    }
}

/// Returns the lines of `-XX:+PrintCompilation` about a method of a scenario.
pub fn compilations<'a>(run: &'a Run, scenario: &str, method: &str) -> Vec<&'a str> {
    let name = format!(" scenarios.{scenario}::{method} (");
    let on_stack = format!(" scenarios.{scenario}::{method} @ ");
    let lines = run.stderr.lines();
    lines
        .filter(|line| line.contains(&name) || line.contains(&on_stack))
        .collect()
}

/// One wait a round, as the comment on top of the scenario says, and as long as
/// the program says.
fn check_rounds(scenario: &str, mode: CompileMode, run: &Run) {
    let expectation = Expectation::of(scenario);
    let mut waits = waits_on(&run.trace(), &expectation.lock_class);
    waits.retain(|wait| wait.thread() == "waiter");
    assert_eq!(waits.len(), ROUNDS, "one wait a round: {waits:#?}");
    for (wait, round) in waits.iter().zip(run.lines_of("wait")) {
        check_wait(&expectation, mode, wait);
        check_duration(wait, &round);
    }
}

fn check_wait(expectation: &Expectation, mode: CompileMode, wait: &Wait) {
    let common = wait.common();
    assert_eq!(common.mechanism, "monitor", "{wait}");
    assert_eq!(
        (common.kind.as_str(), common.after_wait),
        ("contention", false),
        "{wait}"
    );
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
