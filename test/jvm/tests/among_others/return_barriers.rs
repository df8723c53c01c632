//! Return barriers on the stacks of threads that leave their frames in every way.
//!
//! The JVM itself compares each use of a return barrier with a walk of the whole stack,
//! and ends at a difference. Here every call chain is compared with the
//! program's own stack traces, and what happens with what happens without return barriers.

use jvm_tests::{CompileMode, Frame, Programs, check_with_barriers, compilations, waits_on};

/// Exceptions that leave interpreted, C1's, C2's and native frames for each
/// other, thrown by the program, by failing instructions, and by native code.
#[test]
fn exceptions_through_frames_of_every_kind() {
    check_plans("frames", "alone");
}

/// The same through method handles and lambdas.
#[test]
fn exceptions_through_method_handles() {
    check_plans("handles", "alone");
}

/// Other threads look at the stacks, and the collectors do.
#[test]
fn stacks_that_are_watched() {
    check_plans("frames", "watched");
    check_plans("handles", "collected");
}

/// All compiled code on the stack is discarded beyond the return barrier.
#[test]
fn deoptimized_stacks() {
    check_plans("frames", "deoptimized");
}

fn check_plans(kinds: &str, besides: &str) {
    let program = ["scenarios.CallPlans", kinds, "100", "1", besides];
    check_with_barriers(
        &program,
        &[],
        &["plans", "exceptions", "outcomes"],
        |_, _| {},
    );
}

#[test]
fn stack_overflow() {
    check_with_barriers(
        &["scenarios.Overflows", "3"],
        &[],
        &["overflows"],
        |_, _| {},
    );
}

/// The frames are replaced while the return barrier is on the stack: the compilers' log
/// shows that the loops were compiled as they ran.
#[test]
fn on_stack_replacement() {
    let log = ["-XX:+PrintCompilation", "-XX:+DisplayVMOutputToStderr"];
    check_with_barriers(&["scenarios.Loops", "4"], &log, &["sums"], |mode, run| {
        for round in ["Loop01", "Loop02", "Loop03", "Loop04"] {
            let log = compilations(run, round, "run");
            let replaced = log.iter().any(|line| line.contains(" % "));
            if mode != CompileMode::Eager {
                assert_eq!(replaced, mode.compiles(), "{round}: {log:?}");
            }
        }
    });
}

/// A class is loaded that compiled code on the stack did not count on, and that
/// code meets what it had never met.
#[test]
fn invalid_and_uncommon_code() {
    let program = ["scenarios.Deoptimizations", "3"];
    check_with_barriers(&program, &[], &["results"], |mode, run| {
        let thrown_away: Vec<_> = run.lines_of("thrown-away").flatten().collect();
        if mode != CompileMode::Eager {
            let expected = if mode.compiles() { "3" } else { "0" };
            assert_eq!(thrown_away, [expected]);
        }
    });
}

/// Wherever the exception arrives, all waits are where the program contends.
#[test]
fn thread_stop() {
    let program = ["scenarios.Stops", "20", "1"];
    check_with_barriers(&program, &[], &["stopped"], |_, run| {
        let mut waits = waits_on(&run.trace(), "scenarios.Stops");
        waits.retain(|wait| wait.thread().starts_with("victim-"));
        assert!(!waits.is_empty(), "they never met");
        for wait in &waits {
            let chains = wait.parts.iter().map(|part| part.owner_frames());
            for chain in chains.chain([&wait.common().chain[..]]) {
                let Some((run, callees)) = chain.split_last() else {
                    continue;
                };
                assert_eq!(run.name(), "scenarios.Stops$Victim.run", "{wait}");
                let (innermost, outer) = callees.split_first().expect("it contends deeper");
                assert_eq!(innermost.name(), "scenarios.Stops.lock", "{wait}");
                let descends = |frame: &Frame| frame.name() == "scenarios.Stops.descend";
                assert!(outer.iter().all(descends), "{wait}");
            }
        }
    });
}

/// A debugger takes off the stack the frame with the return barrier, and the one above it.
#[test]
fn popped_frames() {
    let agent = format!("-agentpath:{}", Programs::compiled().natives().display());
    let apart = "-XX:CompileCommand=dontinline,scenarios.PoppedFrames::*";
    let program = ["scenarios.PoppedFrames", "10"];
    check_with_barriers(
        &program,
        &[&agent, apart],
        &["returned", "entered"],
        |_, _| {},
    );
}

/// Ways that differ in one return address between the top of the stack and the return barrier are
/// distinguished, although the walk remembers the last one.
#[test]
fn ways_that_differ_in_a_return_address() {
    let program = ["scenarios.CallSites", "30"];
    check_with_barriers(&program, &[], &["meetings"], |mode, run| {
        let compiled: Vec<_> = run.lines_of("compiled").flatten().collect();
        if mode != CompileMode::Eager {
            assert_eq!(compiled, [mode.compiles().to_string()]);
        }
    });
}
