//! What the standard library does not offer of the operating system.

use std::mem::MaybeUninit;
use std::ptr;

/// Signals that a thread raises itself by what it does; blocking them would
/// only turn a crash into a silent one.
const SYNCHRONOUS_SIGNALS: [libc::c_int; 5] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGTRAP,
];

/// Runs `action` with all asynchronous signals blocked. Threads created
/// meanwhile keep them blocked: the JVM's signal handlers take every thread for
/// one of its own, and a closed pipe must not end the process.
pub(crate) fn with_signals_blocked<T>(action: impl FnOnce() -> T) -> T {
    let mut blocked = MaybeUninit::<libc::sigset_t>::uninit();
    let mut previous = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigfillset` initializes the set that the calls after it change
    // and read, and `pthread_sigmask` writes to `previous`, which has the size it
    // expects.
    let changed = unsafe {
        libc::sigfillset(blocked.as_mut_ptr());
        for signal in SYNCHRONOUS_SIGNALS {
            libc::sigdelset(blocked.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, blocked.as_ptr(), previous.as_mut_ptr()) == 0
    };
    let result = action();
    if changed {
        // SAFETY: the call above succeeded and initialized `previous`.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, previous.as_ptr(), ptr::null_mut()) };
    }
    result
}

/// Length of a page of memory, in bytes.
pub(crate) fn page_len() -> usize {
    // SAFETY: has no preconditions.
    let len = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(len).unwrap_or(4096)
}

/// Processor time of the calling thread in nanoseconds; 0 if it is not known.
pub(crate) fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Nanoseconds of the system's monotonic clock; 0 if they are not known.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the result.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    if result != 0 {
        return 0;
    }
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(nanoseconds)
}
