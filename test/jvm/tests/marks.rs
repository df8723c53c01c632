//! Marks on the stacks of threads that leave the marked frames in every way.
//!
//! The JVM itself compares each use of a mark with a walk of the whole stack,
//! and ends at a difference. Here every call chain is compared with the
//! program's own stack traces, and what happens with what happens without marks.

use jvm_tests::check_marked;

/// Exceptions that leave interpreted, C1's, C2's and native frames for each
/// other, thrown by the program, by failing instructions, and by native code.
#[test]
fn exceptions_through_frames_of_every_kind() {
    check_journeys("frames", "alone");
}

/// The same through method handles and lambdas.
#[test]
fn exceptions_through_method_handles() {
    check_journeys("handles", "alone");
}

/// Other threads look at the stacks, and the collectors do.
#[test]
fn stacks_that_are_watched() {
    check_journeys("frames", "watched");
    check_journeys("handles", "collected");
}

/// All compiled code on the stack is thrown away behind the mark.
#[test]
fn deoptimized_stacks() {
    check_journeys("frames", "deoptimized");
}

fn check_journeys(kinds: &str, besides: &str) {
    let program = ["scenarios.Journeys", kinds, "100", "1", besides];
    check_marked(
        &program,
        &[],
        &["journeys", "exceptions", "outcomes"],
        |_, _| {},
    );
}

#[test]
fn stack_overflow() {
    check_marked(
        &["scenarios.Overflows", "3"],
        &[],
        &["overflows"],
        |_, _| {},
    );
}
