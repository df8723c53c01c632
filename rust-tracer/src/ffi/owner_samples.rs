//! Samples of threads that own locks.

use trace_format::{ChainId, OwnerSample, ThreadId};

use crate::runtime::Runtime;
use crate::tracer::ThreadTracer;

/// Where a thread stands that owns a lock for which others wait.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctOwnerSample {
    /// When.
    pub time_ns: u64,
    /// Since when the lock's owner, whichever thread it was, could be sampled.
    pub since_ns: u64,
    /// The time that the sample stands for: the mean time between two moments for samples,
    /// and the time without any because threads were being stopped.
    pub interval_ns: u64,
    /// The owner's number, from `lct_thread_number`.
    pub owner: u32,
    /// Identifier of its call chain.
    pub chain: u32,
}

const _: () = assert!(size_of::<LctOwnerSample>() == 32);

/// Notes where another thread stands that owns a lock for which others wait. At a safepoint,
/// with `lct_submit` before its end: so samples precede whatever the owner writes about
/// the end of its hold.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_owner_sample(
    thread: Option<&mut ThreadTracer>,
    sample: &LctOwnerSample,
) {
    let Some(thread) = thread else { return };
    thread.owner_sample(OwnerSample {
        time_ns: sample.time_ns,
        owner: ThreadId(sample.owner),
        chain: ChainId(sample.chain),
        since_ns: sample.since_ns,
        interval_ns: sample.interval_ns,
    });
}

/// Counts samples of owners, of which `due` would have been due if they cost nothing. All
/// threads were stopped for `stopped_ns` to take them; 0 if they were not. `pause_begins` if
/// that has used up the budget, and no samples follow for some time.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_count_owner_samples(
    runtime: &'static Runtime,
    samples: u64,
    due: u64,
    stopped_ns: u64,
    pause_begins: bool,
) {
    let counts = &runtime.counts.owner_samples;
    counts.add(samples, due, stopped_ns, pause_begins);
}
