//! The processor's clock, for what is too short for the system's.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The cost of a reading.
static READING_CYCLES: AtomicU64 = AtomicU64::new(0);

/// Measures the cost of a reading. It may be as much as half of what is measured, and
/// only a sample of the hooks is: it does not belong into the cost of the others.
pub(crate) fn calibrate() {
    const ROWS: u64 = 16;
    const READINGS: u64 = 64;
    // Of a row, for single readings are too short for a counter that goes in steps. The
    // shortest row was not interrupted.
    let row = |_| {
        let begin = now();
        let end = (0..READINGS).fold(begin, |_, _| now());
        end.saturating_sub(begin) / READINGS
    };
    let least = (0..ROWS).map(row).min();
    // Relaxed: guards no other memory.
    READING_CYCLES.store(least.unwrap_or(0), Relaxed);
}

/// When the tracer ran in a hook, as read by [`now`]: from `begin` on, and in a part before a
/// break in the hook if there was one.
#[derive(Clone, Copy, Debug)]
pub struct HookCycles {
    /// Begin of the last part.
    pub begin: u64,
    /// Begin and end of the part before; twice the same if there was none.
    pub before_break: (u64, u64),
}

impl HookCycles {
    /// In one part from `begin` on.
    pub fn since(begin: u64) -> Self {
        Self {
            begin,
            before_break: (0, 0),
        }
    }
}

/// Cycles from `begin`, as read by [`now`], until now, without the reading.
pub fn since(begin: u64) -> u64 {
    between(begin, now())
}

/// Cycles between two readings, without the reading.
pub(crate) fn between(begin: u64, end: u64) -> u64 {
    // The counter may go back a little on another processor.
    end.saturating_sub(begin)
        .saturating_sub(READING_CYCLES.load(Relaxed))
}

/// Cycles of the time stamp counter, from any start.
///
/// Its rate is constant and, on every processor with an invariant counter, the
/// same on all cores; it is not the core's current frequency.
#[cfg(target_arch = "x86_64")]
pub fn now() -> u64 {
    // SAFETY: every x86_64 processor has the instruction, and Linux lets
    // programs use it unless one asks for the contrary (PR_SET_TSC).
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Nanoseconds, in place of the cycles of other processors.
#[cfg(not(target_arch = "x86_64"))]
pub fn now() -> u64 {
    crate::os::monotonic_ns()
}
