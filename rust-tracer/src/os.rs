//! Functions of the operating system that the standard library lacks.

use std::ffi::CStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
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

/// Whether a store to a block that [was reserved](reserve) always finds a block. File
/// systems that write what changes to another place can be full then, and the store would
/// end the process; those of other machines can go away.
pub(crate) fn keeps_reserved_space(file: &File) -> bool {
    const OVERLAY: u64 = 0x794c_7630;
    const KNOWN: [u64; 4] = [
        // The second, third and fourth extended file system.
        libc::EXT4_SUPER_MAGIC as u64,
        libc::XFS_SUPER_MAGIC as u64,
        libc::TMPFS_MAGIC as u64,
        OVERLAY,
    ];
    let mut found = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: `found` is a valid place for the result.
    let result = unsafe { libc::fstatfs(file.as_raw_fd(), found.as_mut_ptr()) };
    if result != 0 {
        return false;
    }
    // SAFETY: the call above succeeded and initialized it.
    let kind = unsafe { found.assume_init() }.f_type;
    KNOWN.contains(&(kind as u64))
}

/// Locks the file while the process has it open.
///
/// # Errors
///
/// The file system has no locks, or another process holds one.
pub(crate) fn lock_file(file: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Gives a part of the file blocks, and makes the file long enough.
///
/// # Errors
///
/// The file system is full, or cannot do that.
pub(crate) fn reserve(file: &File, offset: u64, len: u64) -> io::Result<()> {
    let (offset, len) = (offset.cast_signed(), len.cast_signed());
    loop {
        // SAFETY: the descriptor is open.
        if unsafe { libc::fallocate(file.as_raw_fd(), 0, offset, len) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// How long a file of this process may be, in bytes.
pub(crate) fn max_file_len() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid place for the result.
    match unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } {
        0 => limit.rlim_cur,
        _ => u64::MAX,
    }
}

/// Processor time of the calling thread in nanoseconds; 0 if it is not known.
pub(crate) fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Nanoseconds of the system's monotonic clock, which HotSpot's `System.nanoTime` reads, too; 0 if
/// they are not known.
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// Processor time of all threads of the process in nanoseconds; 0 if it is not known. Costs the more
/// the more threads there are.
pub(crate) fn process_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// How long the machine was suspended since its start, in nanoseconds: the monotonic clock stood still.
pub(crate) fn suspended_ns() -> u64 {
    let monotonic_ns = monotonic_ns();
    clock_ns(libc::CLOCK_BOOTTIME).saturating_sub(monotonic_ns)
}

/// How often the calling thread waited for a page of memory to be read; 0 if it is not known.
pub(crate) fn thread_major_faults() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: `usage` is a valid place for the result.
    if unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } != 0 {
        return 0;
    }
    // SAFETY: the call above succeeded and initialized it.
    let faults = unsafe { usage.assume_init() }.ru_majflt;
    u64::try_from(faults).unwrap_or(0)
}

/// How much later than asked for the calling thread may be woken, in nanoseconds, as it or the service that
/// it belongs to wants; 0 if it is not known.
pub(crate) fn timer_slack_ns() -> u64 {
    // SAFETY: asks for a number.
    let slack_ns = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) };
    u64::try_from(slack_ns).unwrap_or(0)
}

/// How many threads the process has; 0 if it is not known.
pub(crate) fn threads() -> u64 {
    // A directory for each, which has a link to the one that they are in; that one has two of its own.
    let links = std::fs::metadata("/proc/self/task").map_or(0, |tasks| tasks.nlink());
    links.saturating_sub(2)
}

/// How many processors the system has.
pub(crate) fn processors() -> u64 {
    // SAFETY: has no preconditions.
    let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    u64::try_from(count).unwrap_or(0)
}

/// The unit of processor time in `/proc/stat`; `None` if it is not known.
pub(crate) fn ticks_per_second() -> Option<u64> {
    // SAFETY: has no preconditions.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    u64::try_from(ticks).ok().filter(|&ticks| ticks > 0)
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

/// Waits until the file can be written, or an error is known.
pub(crate) fn await_writable(file: &File) {
    let mut request = libc::pollfd {
        fd: file.as_raw_fd(),
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: `request` is one valid request. The next write shows the outcome.
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
