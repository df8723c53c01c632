//! Who may use the processors while a test runs.
//!
//! Tests of one program run in parallel. Where a test's verdict depends on
//! time, a neighbour that takes the processor away would be measured, too.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static PROCESSOR: RwLock<()> = RwLock::new(());

/// Until the result is dropped, no other test runs that asked here.
#[must_use = "the processor is free again once this is dropped"]
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    // Poison only says that another test failed.
    PROCESSOR.write().unwrap_or_else(PoisonError::into_inner)
}

/// Until the result is dropped, no test runs that must be alone.
#[must_use = "the processor is free again once this is dropped"]
pub fn among_others() -> RwLockReadGuard<'static, ()> {
    PROCESSOR.read().unwrap_or_else(PoisonError::into_inner)
}
