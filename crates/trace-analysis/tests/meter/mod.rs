//! How many bytes some work takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts the bytes allocated.
struct Meter;

static BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK_BYTES: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static METER: Meter = Meter;

// SAFETY: leaves allocation to `System`. The default `realloc` allocates, copies
// and deallocates, which counts the old and the new memory together.
unsafe impl GlobalAlloc for Meter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let bytes = BYTES.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK_BYTES.fetch_max(bytes, Relaxed);
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Relaxed);
        // SAFETY: `memory` comes from `System.alloc` with the same layout.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// How many bytes `work` has at most, and what it returns.
pub(crate) fn metered<R>(work: impl FnOnce() -> R) -> (usize, R) {
    // One at a time: the meter counts for all.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(|error| error.into_inner());
    let before = BYTES.load(Relaxed);
    PEAK_BYTES.store(before, Relaxed);
    let result = work();
    (PEAK_BYTES.load(Relaxed) - before, result)
}
