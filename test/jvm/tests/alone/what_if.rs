//! Some of the programs that are really changed, of which `make what-if-pairs` runs all: what their threads do
//! takes time but no processor, so that other programs on the machine matter least.

use jvm_tests::what_if::{Pair, measure};
use jvm_tests::{alone, check_program, conclusions};

/// JVMs of each program, as it is and with its remedy.
const RUNS: usize = 2;

/// Traces of a program until one has bounds that say something: the prediction may say that a trace cannot be replayed,
/// and one of its assumptions may make the bounds wide.
const TRACES: usize = 3;

/// Bounds that are wider say nothing.
const MOST_HALF_WIDTH: f64 = 0.25;

fn check(program: &str) {
    let _processor = alone();
    let pair = Pair::of(program).expect("a program of the list");
    let says_something = (0..TRACES).any(|_| {
        let outcome = measure(pair, RUNS);
        let Some(bounds) = outcome.predicted.bounds() else {
            return false;
        };
        assert!(outcome.is_inside(), "{outcome:#?}");
        bounds.half_width() <= MOST_HALF_WIDTH
    });
    assert!(says_something, "no trace of {program} has narrow bounds");
}

#[test]
fn a_lock_is_split_by_key() {
    check("LockStripes");
}

#[test]
fn a_lock_is_removed() {
    check("OwnBuffers");
}

/// A pool whose objects are kept while something else is done.
#[test]
fn what_a_pool_lends_is_returned_sooner() {
    check("KeptConnection");
}

/// What `summary` says that is saved if the code that keeps longest what a pool lends gave it back at once: the program
/// really changed that way took 0.50 of the time. Replays may not reproduce the trace.
#[test]
fn the_summary_predicts_what_a_pool_saves() {
    let _processor = alone();
    check_program(&["scenarios.Advice", "pool"], &[], |mode, run| {
        let first = &conclusions(&run.trace())["findings"][0];
        assert_eq!(first["pattern"], "pool-too-small", "{mode:?}: {first:#}");
        let saving = &first["saving"];
        if let (Some(least), Some(most)) = (
            saving["speedup_least"].as_f64(),
            saving["speedup_most"].as_f64(),
        ) {
            assert!(least < 1.98 && 1.98 < most, "{mode:?}: {first:#}");
        }
    });
}
