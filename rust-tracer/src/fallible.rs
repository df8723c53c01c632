//! Allocation that reports failure instead of aborting the JVM.

use std::alloc::{self, Layout};
use std::collections::TryReserveError;

/// `value` on the heap, or `None` when memory is short.
pub(crate) fn try_box<T>(value: T) -> Option<Box<T>> {
    const { assert!(size_of::<T>() > 0) };
    let layout = Layout::new::<T>();
    // SAFETY: the layout's size is not zero, as asserted above.
    let memory = unsafe { alloc::alloc(layout) }.cast::<T>();
    if memory.is_null() {
        return None;
    }
    // SAFETY: `memory` is fresh, aligned and large enough for a `T`, and comes
    // from the global allocator with `T`'s layout, as `Box` requires.
    unsafe {
        memory.write(value);
        Some(Box::from_raw(memory))
    }
}

/// A copy of `text`, or `None` when memory is short.
pub(crate) fn try_to_string(text: &str) -> Option<String> {
    let mut copy = String::new();
    copy.try_reserve_exact(text.len()).ok()?;
    copy.push_str(text);
    Some(copy)
}

/// All items.
///
/// # Errors
///
/// Memory is short.
pub(crate) fn try_collect<T>(
    items: impl IntoIterator<Item = T>,
) -> Result<Vec<T>, TryReserveError> {
    let mut collected = Vec::new();
    try_extend(&mut collected, items)?;
    Ok(collected)
}

/// Appends all items.
///
/// # Errors
///
/// Memory is short. Some of the items are there.
pub(crate) fn try_extend<T>(
    collected: &mut Vec<T>,
    items: impl IntoIterator<Item = T>,
) -> Result<(), TryReserveError> {
    let items = items.into_iter();
    collected.try_reserve(items.size_hint().0)?;
    for item in items {
        collected.try_reserve(1)?;
        collected.push(item);
    }
    Ok(())
}
