//! Sharing of the processors while a test runs.
//!
//! Tests of one program run in parallel. Where a test's verdict depends on
//! time, a neighbour that takes the processor away would be measured, too.

use std::sync::{Mutex, MutexGuard, PoisonError};

static PROCESSOR: Mutex<()> = Mutex::new(());

/// Until the result is dropped, no other test runs that asked here.
#[must_use = "the processor is free again once this is dropped"]
pub fn alone() -> MutexGuard<'static, ()> {
    // Poison only says that another test failed.
    PROCESSOR.lock().unwrap_or_else(PoisonError::into_inner)
}
