//! How much time and how many bytes some work takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// Counts the bytes allocated.
struct Allocator;

static BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK_BYTES: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: leaves allocation to `System`. The default `realloc` allocates, copies
// and deallocates, which counts the old and the new memory together.
unsafe impl GlobalAlloc for Allocator {
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

/// What some work took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Of all threads, on the processor.
    pub(crate) time: Duration,
    /// Allocated at the same time, at most.
    pub(crate) bytes: usize,
}

/// Measures the whole process, so only one test at a time has it.
pub(crate) struct Meter {
    _alone: MutexGuard<'static, ()>,
}

impl Meter {
    /// Waits until no other test measures, or prepares to.
    pub(crate) fn alone() -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        // A test that failed left nothing behind.
        let alone = ALONE.lock().unwrap_or_else(|error| error.into_inner());
        Self { _alone: alone }
    }

    /// What `work` takes, and what it returns.
    pub(crate) fn measure<R>(&self, work: impl FnOnce() -> R) -> (Cost, R) {
        let before = BYTES.load(Relaxed);
        PEAK_BYTES.store(before, Relaxed);
        let start = processor_time();
        let result = work();
        let cost = Cost {
            time: processor_time() - start,
            bytes: PEAK_BYTES.load(Relaxed) - before,
        };
        (cost, result)
    }
}

/// What all threads of this process have run.
fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes to a `timespec` of this thread.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(result, 0, "every Linux has this clock");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
