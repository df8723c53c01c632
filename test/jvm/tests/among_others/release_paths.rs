//! The paths on which HotSpot releases a monitor, apart from the plain ones,
//! which `call_chains` covers: the owner's call chain names the code that let
//! go, and nothing is lost.

use jvm_tests::{
    CompileMode, Contention, Wait, check_chain, check_compiled, check_contend, check_program,
    compilations, waits_on,
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

/// The owner's code is discarded in the first round, as the compilers' log shows. The third tier's
/// does not count: the fourth takes its place.
#[test]
fn deoptimization() {
    check_contend("Deoptimized", |mode, run| {
        let log = compilations(run, "Deoptimized", "own");
        let thrown_away = log
            .iter()
            .any(|line| line.contains("made not entrant") && !line.contains(" 3  "));
        // The methods that `-Xcomp` compiles before the first call depend on the classes loaded.
        if mode != CompileMode::Eager {
            assert_eq!(thrown_away, mode.compiles(), "{log:?}");
        }
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

/// The JVM lets go of a class loader's lock completely, and takes it again.
#[test]
fn complete_exit() {
    check_program(&["scenarios.CompleteExit"], &[], |mode, run| {
        let waits = waits_on(&run.trace(), "scenarios.CompleteExit$WaitingLoader");
        let waits = waits.iter().filter(|wait| wait.thread() == "bystander");
        let mut exits = 0;
        let mut rounds = 0;
        for wait in waits {
            rounds += 1;
            check_chain(
                &[
                    ("scenarios.CompleteExit.gather", "leave"),
                    ("scenarios.CompleteExit.main", "gather"),
                ],
                wait.longest_part().owner_frames(),
                mode,
            );
            let by_second = |part: &&_| Contention::owner_name(part) == Some("second");
            for part in wait.parts.iter().filter(by_second) {
                exits += 1;
                check_chain(
                    &[
                        ("java.lang.Class.forName0", "-"),
                        ("java.lang.Class.forName", "-"),
                        ("scenarios.CompleteExit$Requester.run", "request"),
                    ],
                    part.owner_frames(),
                    mode,
                );
            }
        }
        assert_eq!(rounds, 10);
        assert!(exits >= 5, "{exits} exits in 10 rounds");
    });
}

/// The last thing that a thread does, without a Java frame.
#[test]
fn thread_exit() {
    check_program(&["scenarios.ThreadExit"], &[], |mode, run| {
        let waits = waits_on(&run.trace(), "scenarios.ThreadExit");
        let threads: Vec<_> = waits.iter().map(Wait::thread).collect();
        let expected: Vec<_> = (0..10).map(|round| format!("ending-{round}")).collect();
        assert_eq!(threads, expected);
        for wait in &waits {
            assert!(wait.common().chain.is_empty(), "{wait}");
            let longest = wait.longest_part();
            assert_eq!(longest.owner_name(), Some("main"), "{wait}");
            check_chain(
                &[
                    ("scenarios.ThreadExit.outlast", "leave|enter"),
                    ("scenarios.ThreadExit.main", "outlast"),
                ],
                longest.owner_frames(),
                mode,
            );
        }
    });
}

/// The lock that a thread holds while it has the JVM collect garbage.
#[test]
fn collector_lock() {
    check_program(&["scenarios.CollectorLock"], &[], |mode, run| {
        let waits = waits_on(&run.trace(), "java.lang.ref.Reference$Lock");
        let mut callers = 0;
        for blocked in run.lines_of("blocked") {
            let [thread, count] = blocked[..] else {
                panic!("not a count: {blocked:?}");
            };
            let traced = waits.iter().filter(|wait| wait.thread() == thread).count();
            assert_eq!(traced.to_string(), count, "waits of {thread}");
            callers += 1;
        }
        assert_eq!(callers, 3, "{}", run.describe());

        let parts = waits.iter().flat_map(|wait| &wait.parts);
        let by_caller = |part: &&Contention| {
            let owner = part.owner_name();
            owner.is_some_and(|name| name.starts_with("caller-"))
        };
        let parts: Vec<_> = parts.filter(by_caller).collect();
        assert!(!parts.is_empty(), "they never met");
        for part in parts {
            check_chain(
                &[
                    ("java.lang.Runtime.gc", "-"),
                    ("java.lang.System.gc", "-"),
                    ("scenarios.CollectorLock$Caller.run", "gc"),
                ],
                part.owner_frames(),
                mode,
            );
        }
    });
}
