//! Checks that run over many cases.

use std::fmt::Debug;
use std::panic::{self, AssertUnwindSafe};

/// Runs a check on each case, the rest also after one has failed, and panics at
/// the end if any did. The message of each failure is printed as it happens.
pub fn check_each<C: Debug>(cases: impl IntoIterator<Item = C>, check: impl Fn(&C)) {
    let fails = |case: &C| panic::catch_unwind(AssertUnwindSafe(|| check(case))).is_err();
    let failed: Vec<C> = cases.into_iter().filter(fails).collect();
    assert!(failed.is_empty(), "failed: {failed:?}");
}
