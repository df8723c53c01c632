//! Some of the programs that are really changed, of which `make what-if-pairs` runs all: what their threads do
//! takes time but no processor, so that other programs on the machine matter least.

use jvm_tests::alone;
use jvm_tests::what_if::{Pair, measure};

/// JVMs of each program, as it is and with its remedy.
const RUNS: usize = 2;

/// Traces of a program until one can be replayed: the prediction may say that a trace cannot, and no bounds then.
const TRACES: usize = 3;

/// Bounds that are wider say nothing.
const MOST_HALF_WIDTH: f64 = 0.25;

fn check(program: &str) {
    let _processor = alone();
    let pair = Pair::of(program).expect("a program of the list");
    let mut outcomes = (0..TRACES).map(|_| measure(pair, RUNS));
    let outcome = outcomes.find(|outcome| outcome.predicted.bounds().is_some());
    let outcome = outcome.unwrap_or_else(|| panic!("no trace of {program} can be replayed"));
    let bounds = outcome.predicted.bounds().expect("it has some");
    assert!(bounds.half_width() <= MOST_HALF_WIDTH, "{outcome:#?}");
    assert!(outcome.is_inside(), "{outcome:#?}");
}

#[test]
fn a_lock_is_split_by_key() {
    check("LockStripes");
}

#[test]
fn a_lock_is_removed() {
    check("OwnBuffers");
}
