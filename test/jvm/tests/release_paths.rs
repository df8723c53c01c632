//! The paths on which HotSpot releases a monitor, apart from the plain ones,
//! which `call_chains` covers: the owner's call chain names the code that let
//! go, and nothing is lost.

use jvm_tests::{
    CompileMode, Run, Setting, among_others, check_compiled, check_each, check_rounds,
    compilations, contend,
};

#[test]
fn exception_from_callee() {
    check_contend("ExceptionFromCallee", |mode, run| {
        check_compiled("ExceptionFromCallee", mode, run);
    });
}

#[test]
fn exception_from_native() {
    check_contend("ExceptionFromNative", |mode, run| {
        check_compiled("ExceptionFromNative", mode, run);
    });
}

#[test]
fn thread_stop() {
    check_contend("Stopped", |_, _| {});
}

/// The owner's code is thrown away in the first round, as the compilers' log
/// shows. That of the third tier does not count: the fourth takes its place.
#[test]
fn deoptimization() {
    check_contend("Deoptimized", |mode, run| {
        let log = compilations(run, "Deoptimized", "own");
        let thrown_away = log
            .iter()
            .any(|line| line.contains("made not entrant") && !line.contains(" 3  "));
        assert_eq!(thrown_away, mode.compiles(), "{log:?}");
    });
}

/// `-Xcomp` may well compile all of the method before its first loop.
#[test]
fn on_stack_replacement() {
    check_contend("OnStackReplacement", |mode, run| {
        let log = compilations(run, "OnStackReplacement", "loop");
        let replaced = log.iter().any(|line| line.contains(" % "));
        if mode != CompileMode::Eager {
            assert_eq!(replaced, mode.compiles(), "{log:?}");
        }
    });
}

#[test]
fn class_linking() {
    check_contend("ClassLinking", |_, _| {});
}

#[test]
fn class_loader_lock() {
    check_contend("ClassLoaderLock", |_, _| {});
}

/// The rounds of a scenario in every setting; `check_run` sees to it that they
/// took the path in question.
fn check_contend(scenario: &str, check_run: impl Fn(CompileMode, &Run)) {
    let _processor = among_others();
    check_each(Setting::rotated(scenario), |setting| {
        let run = contend(scenario, setting);
        check_run(setting.mode, &run);
        check_rounds(scenario, setting.mode, &run);
    });
}
