//! Some of the programs that are really changed, of which `make what-if-pairs` runs all: what their threads do
//! takes time but no processor, so that other programs on the machine matter least.

use jvm_tests::alone;
use jvm_tests::what_if::{Pair, measure};

/// JVMs of each program, as it is and with its remedy.
const RUNS: usize = 2;

/// Bounds that are wider say nothing.
const MOST_HALF_WIDTH: f64 = 0.25;

fn check(program: &str) {
    let _processor = alone();
    let pair = Pair::of(program).expect("a program of the list");
    let outcome = measure(pair, RUNS);
    let bounds = outcome.predicted.bounds();
    let bounds = bounds.unwrap_or_else(|| panic!("no prediction: {outcome:#?}"));
    assert!(bounds.half_width() <= MOST_HALF_WIDTH, "{outcome:#?}");
    assert!(outcome.is_inside(), "{outcome:#?}");
}

#[test]
fn holds_are_shorter() {
    check("FormatOutside");
}

#[test]
fn a_lock_is_split_by_key() {
    check("LockStripes");
}

#[test]
fn a_lock_is_removed() {
    check("OwnBuffers");
}
