//! What the standard library does not offer of the operating system.

use std::ffi::CStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
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

/// The user whose rights the process has.
pub(crate) fn user_id() -> u32 {
    // SAFETY: has no preconditions and cannot fail.
    unsafe { libc::geteuid() }
}

/// Whether the process may write to a descriptor, which need not be open.
pub(crate) fn is_writable(descriptor: RawFd) -> bool {
    // SAFETY: asks about a number; a closed descriptor is an error.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_ACCMODE != libc::O_RDONLY
}

/// Lets writes to a file that was opened with `O_NONBLOCK` wait as usual.
///
/// # Errors
///
/// The system refuses.
pub(crate) fn let_writes_wait(file: &File) -> io::Result<()> {
    let descriptor = file.as_raw_fd();
    // SAFETY: the descriptor is open, and the two commands change nothing but its flags.
    let result = unsafe {
        let flags = libc::fcntl(descriptor, libc::F_GETFL);
        libc::fcntl(descriptor, libc::F_SETFL, flags & !libc::O_NONBLOCK)
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Waits until something can be written to the file, or it can be told why not.
pub(crate) fn await_writable(file: &File) {
    let mut request = libc::pollfd {
        fd: file.as_raw_fd(),
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: `request` is one valid request. Whatever comes of it, the next write tells.
    unsafe { libc::poll(&raw mut request, 1, -1) };
}

/// An error in words, without its number. Takes no memory to be written.
#[derive(Debug)]
pub(crate) struct InWords<'a>(pub(crate) &'a io::Error);

impl fmt::Display for InWords<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(number) = self.0.raw_os_error() else {
            return self.0.fmt(formatter);
        };
        let mut text = [0_u8; 128];
        // SAFETY: `text` is as long as it says.
        let result = unsafe { libc::strerror_r(number, text.as_mut_ptr().cast(), text.len()) };
        let words = CStr::from_bytes_until_nul(&text).ok();
        match words.and_then(|words| words.to_str().ok()) {
            Some(words) if result == 0 => formatter.write_str(words),
            _ => write!(formatter, "error {number}"),
        }
    }
}
