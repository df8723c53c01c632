//! The processor's clock, for what is too short for the system's.

/// Cycles of the time stamp counter, from any start.
///
/// Its rate is constant and, on every processor with an invariant counter, the
/// same on all cores; it is not that of the core's current frequency.
#[cfg(target_arch = "x86_64")]
pub(crate) fn now() -> u64 {
    // SAFETY: every x86_64 processor has the instruction, and Linux lets
    // programs use it unless one asks for the contrary (PR_SET_TSC).
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Nanoseconds, in place of the cycles of other processors.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn now() -> u64 {
    crate::os::monotonic_ns()
}
