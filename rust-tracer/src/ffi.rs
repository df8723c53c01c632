//! The C interface. These functions only convert; `docs/c-abi.md` tells when
//! each may be called.
//!
//! None of them blocks, except [`lct_stop`], or unwinds. Text need not be valid
//! UTF-8. A tracer is used by one thread at a time; a null tracer is one that
//! could not be allocated, and calls with it do nothing. Times are absolute
//! values of the clock of [`LctConfig::start_ns`].

use std::ffi::OsStr;
use std::mem::offset_of;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr;
use std::slice;
use std::sync::atomic::AtomicU8;
use std::time::Duration;

use trace_format::{
    Blocker, Capabilities, ChainId, ChainRef, ClassDescription, ClassId, ContendedEnter,
    ContendedEntered, ContendedExit, ExclusiveRelease, FileHeader, ForwardRef, Frame, Hold, Hook,
    JavaThreadId, LoaderId, LockId, LockOwner, MethodDescription, MethodId, OwnerSample, ParkBegin,
    ParkEnd, ParkEndReason, ParkTimeout, Permit, Safepoint, StackRange, ThreadId, Unpark,
};
use trace_report::Question;

use crate::chains::key::{self, ChainKey, CodeUnit};
use crate::cycles::{self, HookCycles};
use crate::drain::thread_times;
use crate::lifecycle::Config;
use crate::live::analysis::{self, Mode, ReportError};
use crate::live::dump;
use crate::lock::Lock;
use crate::runtime::{Runtime, Used};
use crate::site_table::{ObjectId, SiteTable};
use crate::text;
use crate::tracer::ThreadTracer;

/// What the tracer keeps in each monitor. All zero in a fresh monitor. Accessed
/// atomically by everybody.
#[derive(Debug, Default)]
#[repr(C)]
pub struct LctLock {
    /// Identifier of the lock; 0 if the monitor was not contended since its
    /// inflation.
    pub id: u64,
    /// The sequence number taken last; 0 is that of the description.
    pub last_sequence: u64,
}

/// One frame of a call chain.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctFrame {
    /// Identifier of the method executed.
    pub method: u32,
    /// Byte code index, -1 where there is none.
    pub bci: i32,
    /// Source line, -1 where it is not known.
    pub line: i32,
}

// Pointers to these are cast to the types that the tracer uses inside; the C
// header asserts the same layout.
const _: () = {
    assert!(size_of::<LctLock>() == 16 && size_of::<Lock>() == 16);
    assert!(align_of::<LctLock>() == align_of::<Lock>());
    assert!(offset_of!(LctLock, last_sequence) == 8); // as in Lock
    assert!(size_of::<LctFrame>() == 12 && size_of::<Frame>() == 12);
    assert!(align_of::<LctFrame>() == align_of::<Frame>());
    assert!(offset_of!(LctFrame, bci) == 4 && offset_of!(Frame, bci) == 4);
    assert!(offset_of!(LctFrame, line) == 8 && offset_of!(Frame, line) == 8);
    assert!(Hook::Enter as u8 == LCT_HOOK_ENTER);
    assert!(Hook::Entered as u8 == LCT_HOOK_ENTERED);
    assert!(Hook::Exit as u8 == LCT_HOOK_EXIT);
    assert!(Hook::ParkBegin as u8 == LCT_HOOK_PARK_BEGIN);
    assert!(Hook::ParkEnd as u8 == LCT_HOOK_PARK_END);
    assert!(Hook::Unpark as u8 == LCT_HOOK_UNPARK);
    assert!(Hook::Acquire as u8 == LCT_HOOK_ACQUIRE);
    assert!(size_of::<LctChainKey>() == 24);
    assert!(size_of::<LctStack>() == 16 && size_of::<LctOwner>() == 16);
    assert!(size_of::<LctStr>() == 16 && size_of::<LctConfig>() == 120);
    assert!(ParkEndReason::Unparked as u8 == LCT_PARK_UNPARKED);
    assert!(ParkEndReason::PermitAvailable as u8 == LCT_PARK_PERMIT_AVAILABLE);
    assert!(ParkEndReason::Interrupted as u8 == LCT_PARK_INTERRUPTED);
    assert!(ParkEndReason::TimedOut as u8 == LCT_PARK_TIMED_OUT);
    assert!(ParkEndReason::Spurious as u8 == LCT_PARK_SPURIOUS);
    assert!(size_of::<LctParkBegin>() == 56 && offset_of!(LctParkBegin, continued) == 53);
    assert!(size_of::<LctParkEnd>() == 48 && offset_of!(LctParkEnd, reason) == 44);
    assert!(size_of::<LctUnpark>() == 64 && offset_of!(LctUnpark, never_acquired) == 57);
    assert!(size_of::<LctExclusiveRelease>() == 48);
    assert!(offset_of!(LctExclusiveRelease, chain) == 40);
    assert!(size_of::<LctOwnerSample>() == 32);
    assert!(LCT_HOLD_BEFORE_CONTENTION > Hold::MAX_NS);
    assert!(is_bit_of(
        Capabilities::WITHOUT_MONITORS,
        LCT_WITHOUT_MONITORS
    ));
    assert!(is_bit_of(Capabilities::WITHOUT_PARKS, LCT_WITHOUT_PARKS));
    assert!(is_bit_of(
        Capabilities::WITHOUT_SYNCHRONIZERS,
        LCT_WITHOUT_SYNCHRONIZERS
    ));
    assert!(is_bit_of(
        Capabilities::WITHOUT_POSITIONS,
        LCT_WITHOUT_POSITIONS
    ));
};

const fn is_bit_of(capability: Capabilities, bits: u16) -> bool {
    capability.contains(Capabilities::from_bits(bits)) && bits != 0
}

/// In the place of the duration of a hold: it could not be told.
pub const LCT_HOLD_NOT_KNOWN: u64 = u64::MAX;
/// In the place of the duration of a hold: the lock was acquired before anybody
/// contended for it, that is, before the oldest wait that is open at the release.
pub const LCT_HOLD_BEFORE_CONTENTION: u64 = u64::MAX - 1;

fn hold(hold_ns: u64) -> Hold {
    match hold_ns {
        LCT_HOLD_NOT_KNOWN => Hold::NotKnown,
        LCT_HOLD_BEFORE_CONTENTION => Hold::BeforeContention,
        duration_ns => Hold::For { duration_ns },
    }
}

/// The memory of a thread's stack.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctStack {
    /// Its lowest address.
    pub lowest: u64,
    /// Its size in bytes; 0 if it is not known.
    pub size: u64,
}

impl From<LctStack> for StackRange {
    fn from(LctStack { lowest, size }: LctStack) -> Self {
        Self { lowest, size }
    }
}

/// The thread that owns a monitor. Both fields are 0 if there is none, or it is not
/// known.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctOwner {
    /// Its number, that of `lct_thread_number`; 0 if only the address is known.
    pub thread: u32,
    /// An address on its stack.
    pub stack_address: u64,
}

impl From<LctOwner> for LockOwner {
    fn from(owner: LctOwner) -> Self {
        match owner {
            LctOwner {
                thread: 0,
                stack_address: 0,
            } => Self::NotKnown,
            LctOwner {
                thread: 0,
                stack_address,
            } => Self::OnStack(stack_address),
            LctOwner { thread, .. } => Self::Thread(ThreadId(thread)),
        }
    }
}

/// A place in an order.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctNumber {
    /// Which order it is.
    pub domain: u64,
    /// The sequence number.
    pub sequence: u64,
}

/// For `LctParkBegin::timeout_kind`: the thread parks for ever.
pub const LCT_TIMEOUT_NONE: u8 = 0;
/// For `LctParkBegin::timeout_kind`: the timeout is in nanoseconds.
pub const LCT_TIMEOUT_AFTER_NS: u8 = 1;
/// For `LctParkBegin::timeout_kind`: the timeout is a time of the wall clock, in
/// milliseconds since 1970.
pub const LCT_TIMEOUT_AT_UNIX_MS: u8 = 2;

/// The thread parks.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctParkBegin {
    /// The event's place.
    pub number: LctNumber,
    /// When.
    pub time_ns: u64,
    /// How long at most, as `timeout_kind` says.
    pub timeout: u64,
    /// `Thread.getId()` of the thread that owns the blocker, 0 if not known.
    pub owner: u64,
    /// Identifier of the blocker's class, 0 without one.
    pub blocker_class: u32,
    /// Identity hash of the blocker.
    pub blocker_hash: u32,
    /// Identifier of the thread's call chain.
    pub chain: u32,
    /// One of `LCT_TIMEOUT_…`.
    pub timeout_kind: u8,
    /// The thread is still in the blocker's queue since its previous park.
    pub continued: bool,
}

/// For `LctParkEnd::reason`: another thread unparked it.
pub const LCT_PARK_UNPARKED: u8 = 0;
/// For `LctParkEnd::reason`: it had the permit and did not block.
pub const LCT_PARK_PERMIT_AVAILABLE: u8 = 1;
/// For `LctParkEnd::reason`: it was interrupted.
pub const LCT_PARK_INTERRUPTED: u8 = 2;
/// For `LctParkEnd::reason`: its time was over.
pub const LCT_PARK_TIMED_OUT: u8 = 3;
/// For `LctParkEnd::reason`: none of the others.
pub const LCT_PARK_SPURIOUS: u8 = 4;

/// The thread parks no longer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctParkEnd {
    /// The event's place.
    pub number: LctNumber,
    /// When.
    pub time_ns: u64,
    /// How much of the time the JVM spent in safepoints.
    pub safepoint_ns: u64,
    /// `Thread.getId()` of the thread that owns the blocker, 0 if not known.
    pub owner: u64,
    /// The permit consumed, 0 for none.
    pub permit: u32,
    /// One of `LCT_PARK_…`.
    pub reason: u8,
    /// The unpark that gave the permit has its place in the order of this
    /// thread, not in that of the blocker.
    pub unpark_elsewhere: bool,
}

/// The thread unparks another one.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctUnpark {
    /// The event's place.
    pub number: LctNumber,
    /// When.
    pub time_ns: u64,
    /// `Thread.getId()` of the other thread.
    pub target: u64,
    /// `Thread.getId()` of the thread that owns the blocker, 0 if not known.
    pub owner: u64,
    /// The permit given, 0 if the target had one.
    pub permit: u32,
    /// Identifier of the class of what the target parks on, 0 if it does not.
    pub blocker_class: u32,
    /// Identity hash of that.
    pub blocker_hash: u32,
    /// Identifier of the thread's call chain.
    pub chain: u32,
    /// By an interrupt.
    pub interrupt: bool,
    /// It is a semaphore of which the thread has never acquired a permit.
    pub never_acquired: bool,
}

/// The thread is about to release a synchronizer that it owns alone.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctExclusiveRelease {
    /// The event's place.
    pub number: LctNumber,
    /// When.
    pub time_ns: u64,
    /// For how long the thread has owned it, in nanoseconds, or one of `LCT_HOLD_…`.
    pub hold_ns: u64,
    /// Identifier of the synchronizer's class.
    pub blocker_class: u32,
    /// Identity hash of the synchronizer.
    pub blocker_hash: u32,
    /// Identifier of the thread's call chain.
    pub chain: u32,
}

/// Where a thread stands that owns a lock which others wait for.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctOwnerSample {
    /// When.
    pub time_ns: u64,
    /// Since when the owner of the lock could be sampled, whoever that was.
    pub since_ns: u64,
    /// For how much time the sample stands: the mean time from one moment for samples to the
    /// next, and that in which there could be no other, since threads were being stopped.
    pub interval_ns: u64,
    /// The owner's number, that of `lct_thread_number`.
    pub owner: u32,
    /// Identifier of its call chain.
    pub chain: u32,
}

/// Text that the callee only reads during the call: UTF-8, or modified UTF-8 as
/// in the JVM's symbols. A null `ptr` is empty text.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctStr {
    /// First byte.
    pub ptr: *const u8,
    /// Number of bytes.
    pub len: usize,
}

/// How to trace.
#[derive(Debug)]
#[repr(C)]
pub struct LctConfig {
    /// The trace file to be created. Where its name is taken, the file gets a number.
    pub path: LctStr,
    /// Compress the file.
    pub compress: bool,
    /// Keep the events that are not in the file yet where they outlive the process: in a
    /// file beside the trace, which is removed at its end.
    pub crash_safe: bool,
    /// Wall clock at the trace's start, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// Monotonic clock at the trace's start, in nanoseconds.
    pub start_ns: u64,
    /// Process id.
    pub pid: u32,
    /// Version of the JVM.
    pub jvm: LctStr,
    /// Set to 0, atomically, when tracing goes off because the file cannot be
    /// written. Valid for ever, or null.
    pub enabled: *mut u8,
    /// Bound of all buffers together, in bytes; 0 for the default of 64 MiB.
    pub max_buffer_bytes: u64,
    /// What `lct_metadata_epoch` returned last in the trace before this one; 0 if there
    /// was none in this process.
    pub last_metadata_epoch: u32,
    /// What `lct_new_id` returned last in the trace before this one; 0 if there was none.
    pub last_id: u32,
    /// What the trace will not tell, `LCT_WITHOUT_…`.
    pub missing: u16,
    /// What becomes of the events, one of `LCT_ANALYSIS_…`.
    pub analysis: u8,
    /// Owners are sampled: [`lct_owner_sample`] is called where threads wait for long.
    pub owner_samples: bool,
    /// Where objects are allocated that may become contended locks is recorded, as far as
    /// [`lct_allocated`] is called.
    pub lock_sites: bool,
    /// Memory that an analysis in this process may take, in bytes; 0 for the default of 64 MiB.
    pub analysis_bytes: u64,
    /// The file for the report of such an analysis at its end: JSON if it is called so, else text.
    /// Empty for ten lines on standard error.
    pub report: LctStr,
}

/// For [`LctConfig::analysis`]: events go to the file.
pub const LCT_ANALYSIS_FILE: u8 = 0;
/// For [`LctConfig::analysis`]: events are analyzed in this process, and there is no file.
pub const LCT_ANALYSIS_ONLINE: u8 = 1;
/// For [`LctConfig::analysis`]: both.
pub const LCT_ANALYSIS_BOTH: u8 = 2;

/// What a report is to be about. Each text is empty for what `locktrace report` does if it is
/// not told.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctQuestion {
    /// Aspects with commas between them, outermost first.
    pub by: LctStr,
    /// The most rows beside each other; 0 for all.
    pub top: LctStr,
    /// Kinds of waits with commas between them, or `all`.
    pub kind: LctStr,
    /// Only waits that ended since: `10s` after the trace's start, or `-10s` before now.
    pub from: LctStr,
    /// `text` or `json`.
    pub format: LctStr,
}

/// Text that the runtime has made, to be given back to `lct_text_free`.
#[derive(Debug)]
#[repr(C)]
pub struct LctText {
    /// First byte of UTF-8; null if there is none.
    pub ptr: *mut u8,
    /// Number of bytes.
    pub len: usize,
}

impl From<String> for LctText {
    fn from(text: String) -> Self {
        let bytes = Box::leak(text.into_bytes().into_boxed_slice());
        Self {
            ptr: bytes.as_mut_ptr(),
            len: bytes.len(),
        }
    }
}

/// What a call chain is looked up by: the sequence of physical frames, outermost
/// first, each packed into 64 bits that never stand for another frame.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctChainKey {
    /// Outermost frame.
    pub frames: *const u64,
    /// Number of frames.
    pub len: usize,
    /// What `lct_chain_hash` makes of all of them.
    pub hash: u64,
}

impl LctChainKey {
    /// # Safety
    ///
    /// `frames` points to `len` values that stay unchanged during `'a`.
    unsafe fn borrow<'a>(self) -> ChainKey<'a> {
        ChainKey {
            // SAFETY: as the caller promises.
            frames: unsafe { slice_or_empty(self.frames, self.len) },
            hash: self.hash,
        }
    }
}

/// A kind of hook: what writes a contended enter.
pub const LCT_HOOK_ENTER: u8 = 0;
/// A kind of hook: what writes a contended entered.
pub const LCT_HOOK_ENTERED: u8 = 1;
/// A kind of hook: what writes a contended exit.
pub const LCT_HOOK_EXIT: u8 = 2;
/// A kind of hook: what writes the event that begins a park.
pub const LCT_HOOK_PARK_BEGIN: u8 = 3;
/// A kind of hook: what writes the end of a park.
pub const LCT_HOOK_PARK_END: u8 = 4;
/// A kind of hook: what writes an unpark.
pub const LCT_HOOK_UNPARK: u8 = 5;
/// A kind of hook: what notes an acquisition without a contended enter, while others
/// contend.
pub const LCT_HOOK_ACQUIRE: u8 = 6;

impl LctStr {
    /// # Safety
    ///
    /// `ptr` is null or points to `len` bytes that stay unchanged during `'a`.
    unsafe fn bytes<'a>(self) -> &'a [u8] {
        // SAFETY: as the caller promises.
        unsafe { slice_or_empty(self.ptr, self.len) }
    }
}

/// # Safety
///
/// `lock` points to a lock that is only accessed atomically during `'a`.
unsafe fn lock_at<'a>(lock: *const LctLock) -> &'a Lock {
    // SAFETY: as the caller promises; the layouts agree, as asserted above.
    unsafe { &*lock.cast() }
}

/// # Safety
///
/// `ptr` is null or points to `len` values that stay unchanged during `'a`.
unsafe fn slice_or_empty<'a, T>(ptr: *const T, len: usize) -> &'a [T] {
    if ptr.is_null() {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { slice::from_raw_parts(ptr, len) }
}

/// For [`LctConfig::missing`]: monitors are not traced.
pub const LCT_WITHOUT_MONITORS: u16 = 1 << 4;
/// For [`LctConfig::missing`]: parks are not traced.
pub const LCT_WITHOUT_PARKS: u16 = 1 << 5;
/// For [`LctConfig::missing`]: no [`lct_exclusive_release`] is called.
pub const LCT_WITHOUT_SYNCHRONIZERS: u16 = 1 << 6;
/// For [`LctConfig::missing`]: compiled code does not describe each position where a lock
/// is released.
pub const LCT_WITHOUT_POSITIONS: u16 = 1 << 7;

/// A kind of wait that the JVM may trace or not: enters of monitors.
pub const LCT_KIND_MONITOR: u8 = 1;
/// A kind of wait that the JVM may trace or not: parks.
pub const LCT_KIND_PARK: u8 = 2;

/// What callers guarantee who do as `docs/c-abi.md` says.
const CAPABILITIES: Capabilities = Capabilities::HOLDS
    .union(Capabilities::ORDERED)
    .union(Capabilities::PERMITS)
    .union(Capabilities::SAFEPOINTS);

/// Creates the trace file and starts the drainer thread. Returns null and a
/// NUL-terminated message in `error`, cut off at `error_len` bytes, if the file
/// cannot be created. A named pipe is opened later, when somebody reads it.
///
/// # Safety
///
/// `config` points to a configuration, and `error` is null or points to
/// `error_len` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_start(
    config: *const LctConfig,
    error: *mut u8,
    error_len: usize,
) -> *mut Runtime {
    // SAFETY: the caller promises a valid configuration with valid texts.
    let config = unsafe {
        let config = &*config;
        Config {
            path: PathBuf::from(OsStr::from_bytes(config.path.bytes())),
            header: FileHeader {
                compressed: config.compress,
                capabilities: CAPABILITIES
                    .union(Capabilities::from_bits(config.missing))
                    .union(thread_times::capability())
                    .union(capability_if(
                        config.owner_samples,
                        Capabilities::OWNER_SAMPLES,
                    ))
                    .union(capability_if(config.lock_sites, Capabilities::LOCK_SITES)),
                start_unix_ns: config.start_unix_ns,
                pid: config.pid,
                jvm: text::from_jvm(config.jvm.bytes()).into_owned(),
            },
            start_ns: config.start_ns,
            enabled: (!config.enabled.is_null()).then(|| AtomicU8::from_ptr(config.enabled)),
            max_buffer_bytes: config.max_buffer_bytes,
            crash_safe: config.crash_safe,
            mode: match config.analysis {
                LCT_ANALYSIS_ONLINE => Mode::Online,
                LCT_ANALYSIS_BOTH => Mode::Both,
                _ => Mode::File,
            },
            analysis_bytes: config.analysis_bytes,
            report: match config.report.bytes() {
                [] => None,
                name => Some(PathBuf::from(OsStr::from_bytes(name))),
            },
            used: Used {
                metadata_epoch: config.last_metadata_epoch,
                entity_id: config.last_id,
            },
        }
    };
    match Runtime::start(config) {
        Ok(runtime) => runtime,
        Err(cause) => {
            if !error.is_null() {
                // SAFETY: the caller promises `error_len` writable bytes.
                let error = unsafe { slice::from_raw_parts_mut(error, error_len) };
                copy_message(&cause.to_string(), error);
            }
            ptr::null_mut()
        }
    }
}

fn capability_if(condition: bool, capability: Capabilities) -> Capabilities {
    match condition {
        true => capability,
        false => Capabilities::default(),
    }
}

/// Copies as much of `message` as fits before the NUL at the end.
fn copy_message(message: &str, to: &mut [u8]) {
    to.fill(0);
    let Some((_nul, room)) = to.split_last_mut() else {
        return;
    };
    for (to, from) in room.iter_mut().zip(message.bytes()) {
        *to = from;
    }
}

/// Ends the trace: writes what all threads have written so far and the end
/// marker. Waits for that at most `timeout_ms` milliseconds, and at most two seconds
/// while nobody reads a pipe. The runtime stays valid; threads may go on writing, to no
/// effect.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_stop(runtime: &'static Runtime, timeout_ms: u32) {
    runtime.stop(Duration::from_millis(timeout_ms.into()));
}

/// The name of the trace file, NUL-terminated and cut off at `len` bytes. Not the one
/// that was asked for if that was taken.
///
/// # Safety
///
/// `runtime` comes from `lct_start`, and `name` points to `len` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_file_name(runtime: &'static Runtime, name: *mut u8, len: usize) {
    // SAFETY: the caller promises `len` writable bytes.
    let name = unsafe { slice::from_raw_parts_mut(name, len) };
    copy_message(&runtime.path().to_string_lossy(), name);
}

/// Copies what the trace has so far to a file of its own, which gets a number where its
/// name is taken, and writes the name that it got to `text`; or, if it returns false, why
/// there is no copy. NUL-terminated, and cut off at `len` bytes. Waits for the drainer for at
/// most ten seconds, and then for as long as it takes to copy.
///
/// # Safety
///
/// `runtime` comes from `lct_start`, and is not freed during the call. `text` points to
/// `len` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_dump(
    runtime: &'static Runtime,
    path: LctStr,
    text: *mut u8,
    len: usize,
) -> bool {
    // SAFETY: the caller promises a valid text, and `len` writable bytes.
    let (path, text) = unsafe { (path.bytes(), slice::from_raw_parts_mut(text, len)) };
    match dump::dump(runtime, PathBuf::from(OsStr::from_bytes(path))) {
        Ok(path) => {
            copy_message(&path.to_string_lossy(), text);
            true
        }
        Err(cause) => {
            copy_message(&cause.to_string(), text);
            false
        }
    }
}

/// Makes a report of what was traced until now, and writes it to `text`; or, if it returns
/// false, why there is none. The text is to be given back to `lct_text_free`. Waits for the
/// drainer for at most ten seconds, and for the analysis for at most thirty.
///
/// # Safety
///
/// `runtime` comes from `lct_start`, and is not freed during the call. `question` points to a
/// question with valid texts, and `text` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_report(
    runtime: &'static Runtime,
    question: &LctQuestion,
    text: *mut LctText,
) -> bool {
    let LctQuestion {
        by,
        top,
        kind,
        from,
        format,
    } = question;
    // SAFETY: the caller promises valid texts.
    let texts = [by, top, kind, from, format].map(|text| unsafe { text.bytes() });
    let [by, top, kind, from, format] = texts.map(text::from_jvm);
    let answer = Question::parse(&by, &top, &kind, &from, &format)
        .map_err(ReportError::Question)
        .and_then(|question| analysis::ask(runtime, question));
    let is_answered = answer.is_ok();
    let answer = answer.unwrap_or_else(|cause| cause.to_string());
    // SAFETY: the caller promises a place for it.
    unsafe { text.write(answer.into()) };
    is_answered
}

/// Frees a text of the runtime.
///
/// # Safety
///
/// `text` comes from the runtime, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_text_free(text: LctText) {
    if text.ptr.is_null() {
        return;
    }
    let bytes = ptr::slice_from_raw_parts_mut(text.ptr, text.len);
    // SAFETY: `LctText::from` has leaked a box of these bytes.
    drop(unsafe { Box::from_raw(bytes) });
}

/// Frees the runtime of a trace that `lct_stop` has ended. Returns false, and frees
/// nothing, if the drainer is still at work: `lct_stop` gave up waiting for it. May be
/// called again then.
///
/// # Safety
///
/// `runtime` comes from `lct_start`. All its tracers were given back to `lct_thread_end`
/// or `lct_thread_leave`, and nobody uses it during the call, or afterwards if this
/// returns true.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_end(runtime: *mut Runtime) -> bool {
    // SAFETY: as the caller promises.
    unsafe { Runtime::end(runtime) }
}

/// Tells of a safepoint that is about to end: since `begin_ns` the JVM stopped its threads, and at
/// `reached_ns` all had stopped. By one thread at a time.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_safepoint(
    runtime: &'static Runtime,
    begin_ns: u64,
    reached_ns: u64,
    end_ns: u64,
) {
    runtime.safepoints.add(Safepoint {
        begin_ns: runtime.since_start_ns(begin_ns),
        reached_ns: runtime.since_start_ns(reached_ns),
        end_ns: runtime.since_start_ns(end_ns),
    });
}

/// Hands the buffers of all threads to the drainer, but for those that are
/// being written to at this moment.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_reclaim_all(runtime: &'static Runtime) {
    runtime.reclaim_all();
}

/// The current epoch of metadata, at first 1. What was described in an older
/// epoch was perhaps lost and must be described again.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_metadata_epoch(runtime: &'static Runtime) -> u32 {
    runtime.metadata_epoch()
}

/// A fresh identifier for a class or a method; never 0, never the same again.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_new_id(runtime: &'static Runtime) -> u32 {
    runtime.entity_ids.next_u32()
}

/// A fresh forward reference; never 0, never the same again.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_new_forward_ref(runtime: &'static Runtime) -> u64 {
    runtime.forward_refs.next()
}

/// A tracer for a thread that started at `time_ns`; null when memory is short.
/// `java_id` is `Thread.getId()`, or 0 for a thread of the JVM itself. `vm_thread` is
/// what monitors name the thread by when it owns them, its address, or 0 if it owns
/// none; `stack` is where it may keep locks. To be ended with `lct_thread_end`.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_thread_start(
    runtime: &'static Runtime,
    java_id: u64,
    name: LctStr,
    vm_thread: u64,
    stack: LctStack,
    time_ns: u64,
) -> Option<Box<ThreadTracer>> {
    // SAFETY: the caller promises a valid text.
    let name = unsafe { name.bytes() };
    ThreadTracer::start(
        runtime,
        JavaThreadId(java_id),
        &text::from_jvm(name),
        vm_thread,
        stack.into(),
        time_ns,
    )
}

/// The operating system knows the tracer's thread by this number (`gettid`): the runtime asks
/// it for how long the thread was on a processor, and for how long it waited for one.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_thread_os_id(thread: Option<&mut ThreadTracer>, os_id: u32) {
    if let Some(thread) = thread {
        thread.set_os_id(os_id);
    }
}

/// The number in the trace of the thread that `vm_thread` names; 0 if there is none
/// now, or its number is not known. The caller has to make sure by other means that
/// the thread did not end meanwhile, and another one take its place.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_thread_number(runtime: &'static Runtime, vm_thread: u64) -> u32 {
    runtime.thread_numbers.find(vm_thread).0
}

/// Notes the new name of the thread that `vm_thread` names, if it has a tracer. That writes the
/// name before its next event: of names that change faster, only the last one. By any thread, at
/// any time; the pointer is not followed.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_thread_rename(
    runtime: &'static Runtime,
    vm_thread: u64,
    java_id: u64,
    name: LctStr,
) {
    // SAFETY: the caller promises a valid text.
    let name = unsafe { name.bytes() };
    runtime.rename_thread(vm_thread, JavaThreadId(java_id), &text::from_jvm(name));
}

/// Ends a tracer with its thread. The pointer is not valid afterwards.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_thread_end(thread: Option<Box<ThreadTracer>>, time_ns: u64) {
    if let Some(thread) = thread {
        thread.end(time_ns);
    }
}

/// Frees the tracer of a thread that goes on, because the trace ends. Hands its buffer
/// to the drainer. By any thread, while the tracer's thread does not use it.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_thread_leave(thread: Option<Box<ThreadTracer>>) {
    if let Some(thread) = thread {
        thread.leave();
    }
}

/// Gives a lock an identifier if it has none. Returns true to the one caller
/// that did: it must call `lct_lock_describe`.
///
/// # Safety
///
/// `runtime` comes from `lct_start`; `lock` points to a lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_lock_claim(runtime: &'static Runtime, lock: *mut LctLock) -> bool {
    // SAFETY: the caller promises a lock.
    unsafe { lock_at(lock) }.claim(&runtime.lock_ids)
}

/// Describes a lock that the caller has claimed; this is its sequence number 0.
/// `mirrored_class` is 0 unless the object locked is a `java.lang.Class`, or what the JVM
/// locks to initialize a class.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`; `lock` points to a lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_lock_describe(
    thread: Option<&mut ThreadTracer>,
    lock: *const LctLock,
    class_id: u32,
    mirrored_class: u32,
    identity_hash: u32,
    monitor_address: u64,
) {
    let Some(thread) = thread else { return };
    // SAFETY: the caller promises a lock.
    let lock = unsafe { lock_at(lock) };
    thread.describe_lock(
        lock,
        ClassId(class_id),
        ClassId(mirrored_class),
        identity_hash,
        monitor_address,
    );
}

/// Ends a lock, taking its last sequence number, and zeroes it. Does nothing if
/// the lock has no identifier. Called at a safepoint, when the monitor is
/// deflated.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`; `lock` points to a lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_lock_retire(thread: Option<&mut ThreadTracer>, lock: *mut LctLock) {
    let Some(thread) = thread else { return };
    // SAFETY: the caller promises a lock.
    thread.retire_lock(unsafe { lock_at(lock) });
}

/// Takes the next sequence number of a lock. The caller must write an event with
/// it.
///
/// # Safety
///
/// `lock` points to a lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_lock_next_sequence(lock: *mut LctLock) -> u64 {
    // SAFETY: the caller promises a lock.
    unsafe { lock_at(lock) }.next_sequence()
}

/// Notes that the thread failed to acquire a lock and is about to block.
/// `after_wait`: to acquire it again after `Object.wait`. `owner` had it at some
/// moment since the sequence number was taken.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_contended_enter(
    thread: Option<&mut ThreadTracer>,
    lock: u64,
    sequence: u64,
    time_ns: u64,
    chain: u32,
    after_wait: bool,
    owner: LctOwner,
) {
    let Some(thread) = thread else { return };
    thread.contended_enter(ContendedEnter {
        lock: LockId(lock),
        sequence,
        time_ns,
        chain: ChainId(chain),
        after_wait,
        owner: owner.into(),
    });
}

/// Notes that the thread acquired the lock it was blocked on. `safepoint_ns` is
/// how much of the wait the JVM spent in safepoints.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_contended_entered(
    thread: Option<&mut ThreadTracer>,
    lock: u64,
    sequence: u64,
    time_ns: u64,
    safepoint_ns: u64,
) {
    let Some(thread) = thread else { return };
    thread.contended_entered(ContendedEntered {
        lock: LockId(lock),
        sequence,
        time_ns,
        safepoint_ns,
    });
}

/// Notes that the thread released a lock for which others contend. `chain` is
/// that of the code that held it, or 0; `hold_ns` is for how long it held it until
/// `time_ns`, or one of `LCT_HOLD_…`.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_contended_exit(
    thread: Option<&mut ThreadTracer>,
    lock: u64,
    sequence: u64,
    time_ns: u64,
    chain: u32,
    hold_ns: u64,
) {
    let Some(thread) = thread else { return };
    thread.contended_exit(ContendedExit {
        lock: LockId(lock),
        sequence,
        time_ns,
        hold: hold(hold_ns),
        chain: ChainRef::Chain(ChainId(chain)),
    });
}

/// As `lct_contended_exit`, but the lock was released by `Object.wait`:
/// `forward_ref` stands for the chain until `lct_forward_resolve`.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_contended_exit_forward(
    thread: Option<&mut ThreadTracer>,
    lock: u64,
    sequence: u64,
    time_ns: u64,
    forward_ref: u64,
    hold_ns: u64,
) {
    let Some(thread) = thread else { return };
    thread.contended_exit(ContendedExit {
        lock: LockId(lock),
        sequence,
        time_ns,
        hold: hold(hold_ns),
        chain: ChainRef::Forward(ForwardRef(forward_ref)),
    });
}

/// The next place in the order that `key` stands for: the identity hash of a
/// blocker, or without one the `Thread.getId()` of the thread that parks. The
/// caller must write an event with it.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_park_number(runtime: &'static Runtime, key: u64) -> LctNumber {
    let (domain, sequence) = runtime.park_domains.next_number(key);
    LctNumber {
        domain: domain.0,
        sequence,
    }
}

/// Notes that the thread parks.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_park_begin(thread: Option<&mut ThreadTracer>, park: &LctParkBegin) {
    let Some(thread) = thread else { return };
    thread.park_begin(ParkBegin {
        domain: LockId(park.number.domain),
        sequence: park.number.sequence,
        time_ns: park.time_ns,
        blocker: blocker(park.blocker_class, park.blocker_hash),
        timeout: match park.timeout_kind {
            LCT_TIMEOUT_AFTER_NS => ParkTimeout::After(park.timeout),
            LCT_TIMEOUT_AT_UNIX_MS => ParkTimeout::At(park.timeout),
            _ => ParkTimeout::None,
        },
        owner: JavaThreadId(park.owner),
        continued: park.continued,
        chain: ChainId(park.chain),
    });
}

/// Notes that the thread parks no longer.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_park_end(thread: Option<&mut ThreadTracer>, park: &LctParkEnd) {
    let Some(thread) = thread else { return };
    thread.park_end(ParkEnd {
        domain: LockId(park.number.domain),
        sequence: park.number.sequence,
        time_ns: park.time_ns,
        reason: ParkEndReason::from_number(park.reason).unwrap_or_default(),
        permit: Permit(park.permit),
        unpark_elsewhere: park.unpark_elsewhere,
        owner: JavaThreadId(park.owner),
        safepoint_ns: park.safepoint_ns,
    });
}

/// Notes that the thread unparks another one, after it has.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_unpark(thread: Option<&mut ThreadTracer>, unpark: &LctUnpark) {
    let Some(thread) = thread else { return };
    thread.unpark(Unpark {
        domain: LockId(unpark.number.domain),
        sequence: unpark.number.sequence,
        time_ns: unpark.time_ns,
        target: JavaThreadId(unpark.target),
        permit: Permit(unpark.permit),
        blocker: blocker(unpark.blocker_class, unpark.blocker_hash),
        owner: JavaThreadId(unpark.owner),
        interrupt: unpark.interrupt,
        never_acquired: unpark.never_acquired,
        chain: ChainId(unpark.chain),
    });
}

/// Notes that the thread is about to release a synchronizer that it owns alone, and on
/// which other threads are parked. The number is taken before the release.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_exclusive_release(
    thread: Option<&mut ThreadTracer>,
    release: &LctExclusiveRelease,
) {
    let Some(thread) = thread else { return };
    thread.exclusive_release(ExclusiveRelease {
        domain: LockId(release.number.domain),
        sequence: release.number.sequence,
        time_ns: release.time_ns,
        blocker: blocker(release.blocker_class, release.blocker_hash),
        hold: hold(release.hold_ns),
        chain: ChainId(release.chain),
    });
}

/// Notes where another thread stands, which owns a lock that others wait for. At a safepoint,
/// followed by `lct_submit` before its end: so samples come before what the owner writes about
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

/// Counts samples of owners, of which so many would have been due if they cost nothing. All
/// threads were stopped for `stopped_ns` for them; 0 if they were not. `pause_begins` if that
/// has used up the budget, and there are no samples for some time.
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
    let counts = &runtime.sample_counts;
    counts.add(samples, due, stopped_ns, pause_begins);
}

/// In the place of the outermost frame of a key: the chain allocates an object, and the trace may
/// refer to it when the code of its frames is long gone.
pub const LCT_SITE_FRAME: u64 = 0x2000_0000_0000_0000;
const _: () = assert!(LCT_SITE_FRAME == key::SITE);

/// Notes where the thread has allocated an object, in case that becomes a contended lock. `chain`
/// begins with [`LCT_SITE_FRAME`].
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_allocated(
    thread: Option<&mut ThreadTracer>,
    class_id: u32,
    identity_hash: u32,
    chain: u32,
) {
    let Some(thread) = thread else { return };
    thread.allocated(object_id(class_id, identity_hash), ChainId(chain));
}

/// Writes where an object was allocated, which is a contended lock, if that is known. Called
/// before what describes the lock: `lct_lock_describe`, or the begin of a park, behind the taking
/// of its number. Without `again`, nothing is written if the trace tells of it already.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_tell_site(
    thread: Option<&mut ThreadTracer>,
    class_id: u32,
    identity_hash: u32,
    again: bool,
) {
    let Some(thread) = thread else { return };
    thread.tell_site(object_id(class_id, identity_hash), again);
}

fn object_id(class: u32, identity_hash: u32) -> ObjectId {
    ObjectId {
        class: ClassId(class),
        identity_hash,
    }
}

/// Counts objects whose allocation was recorded, those of the same classes whose allocation was
/// not, and the time of threads that this has taken.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_count_allocated(
    runtime: &'static Runtime,
    recorded: u64,
    skipped: u64,
    recording_ns: u64,
) {
    let counts = &runtime.site_counts;
    counts.add_objects(recorded, skipped, recording_ns);
}

/// Counts a stop of all threads to record the allocations of more classes, and to give up other
/// classes.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_count_site_stop(
    runtime: &'static Runtime,
    classes: u64,
    given_up: u64,
    methods_discarded: u64,
    stopped_ns: u64,
) {
    let counts = &runtime.site_counts;
    counts.add_stop(classes, given_up, methods_discarded, stopped_ns);
}

fn blocker(class: u32, identity_hash: u32) -> Blocker {
    Blocker {
        class: ClassId(class),
        identity_hash,
    }
}

/// Names the chain behind a forward reference.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_forward_resolve(
    thread: Option<&mut ThreadTracer>,
    forward_ref: u64,
    chain: u32,
) {
    let Some(thread) = thread else { return };
    thread.resolve_forward(ForwardRef(forward_ref), ChainId(chain));
}

/// The hash of a part of a call chain: of `len` frames, outermost first, inside of
/// `outer_len` others. That of the chain is the sum of those of its parts.
///
/// # Safety
///
/// `frames` points to `len` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_chain_hash(outer_len: usize, frames: *const u64, len: usize) -> u64 {
    // SAFETY: the caller promises `len` values.
    key::hash(outer_len, unsafe { slice_or_empty(frames, len) })
}

/// The call chain with the given key. Returns 0 if the chain must be added. Of
/// the key's frames, `saved` were taken from an earlier walk.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`; the key's frames are as
/// many as it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_chain_find(
    thread: Option<&mut ThreadTracer>,
    key: LctChainKey,
    saved: usize,
) -> u32 {
    let Some(thread) = thread else { return 0 };
    // SAFETY: the caller promises valid frames.
    thread.find_chain(unsafe { key.borrow() }, saved).0
}

/// The chain that `lct_chain_find` or `lct_chain_add` has returned, after `epoch` was
/// the metadata epoch, for the same `len` frames, whose code lives; `saved`
/// were taken from an earlier walk. Returns 0 if it may have
/// to be described again.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_chain_again(
    thread: Option<&mut ThreadTracer>,
    chain: u32,
    epoch: u32,
    len: usize,
    saved: usize,
) -> u32 {
    let Some(thread) = thread else { return 0 };
    thread.chain_again(ChainId(chain), epoch, len, saved).0
}

/// Adds a call chain. `frames`, innermost first, are those that the key stands for, inlined ones
/// included; `truncated` if outer ones are missing. Returns the chain's
/// identifier, also if another thread was first, or 0 when memory is short.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`; the key's frames are as
/// many as it says, and `frames` points to `frames_len` frames.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_chain_add(
    thread: Option<&mut ThreadTracer>,
    key: LctChainKey,
    frames: *const LctFrame,
    frames_len: usize,
    truncated: bool,
) -> u32 {
    let Some(thread) = thread else { return 0 };
    // SAFETY: the caller promises that many frames; the layouts agree, as
    // asserted above.
    let (key, frames) = unsafe { (key.borrow(), slice_or_empty(frames.cast(), frames_len)) };
    thread.add_chain(key, frames, truncated).0
}

/// Describes a class. `super_class` is the identifier of its superclass, 0 if
/// that is `java.lang.Object` or there is none; `loader` is the address of its `ClassLoaderData`, 0 for
/// the boot loader; `name` is with dots; `loader_class` is the class name of the
/// loader.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_class(
    thread: Option<&mut ThreadTracer>,
    class_id: u32,
    super_class: u32,
    loader: u64,
    name: LctStr,
    source_file: LctStr,
    loader_class: LctStr,
) {
    let Some(thread) = thread else { return };
    // SAFETY: the caller promises valid texts.
    let texts = unsafe { [name.bytes(), source_file.bytes(), loader_class.bytes()] };
    let [name, source_file, loader_class] = texts.map(text::from_jvm);
    thread.describe_class(ClassDescription {
        class: ClassId(class_id),
        super_class: ClassId(super_class),
        loader: LoaderId(loader),
        name: &name,
        source_file: &source_file,
        loader_class: &loader_class,
    });
}

/// Describes a method. `signature` is its descriptor as in the class file.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_method(
    thread: Option<&mut ThreadTracer>,
    method_id: u32,
    class_id: u32,
    name: LctStr,
    signature: LctStr,
) {
    let Some(thread) = thread else { return };
    // SAFETY: the caller promises valid texts.
    let texts = unsafe { [name.bytes(), signature.bytes()] };
    let [name, signature] = texts.map(text::from_jvm);
    thread.describe_method(MethodDescription {
        method: MethodId(method_id),
        class: ClassId(class_id),
        name: &name,
        signature: &signature,
    });
}

/// Notes that a loader's classes are unloaded. The caller has called
/// `lct_reclaim_all` before, in the same safepoint, so that everything that was
/// written about the classes comes first, and calls `lct_submit` before its end.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_loader_unload(
    thread: Option<&mut ThreadTracer>,
    loader: u64,
    time_ns: u64,
) {
    let Some(thread) = thread else { return };
    thread.loader_unloaded(LoaderId(loader), time_ns);
}

/// Hands what the thread has written to the drainer.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_submit(thread: Option<&mut ThreadTracer>) {
    let Some(thread) = thread else { return };
    thread.submit_buffer();
}

/// Counts what the caller keeps for its threads: more by `change_bytes`, or less if
/// that is negative.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_count_thread_memory(runtime: &'static Runtime, change_bytes: i64) {
    runtime.thread_memory.add(change_bytes);
}

/// Changes how many threads waited already when the trace began without an event that says so:
/// by those that there was no time for, and, negative, by those that are described later.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_count_untold_waits(runtime: &'static Runtime, change: i32) {
    runtime.losses.change_untold_waits(change.into());
}

/// Notes that a compiled method was flushed: no thread has a frame of it, and
/// none ever will. The call chains with such frames are forgotten.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_code_flushed(runtime: &'static Runtime, compile_id: u32) {
    if let Some(unit) = CodeUnit::compiled(compile_id) {
        runtime.unload_queue.post(unit);
    }
}

/// Notes that a method is freed: no thread has an interpreted frame of it, and
/// none ever will. The call chains with such frames are forgotten, and so is the
/// method. Does nothing for 0. At a safepoint.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_method_freed(runtime: &'static Runtime, method_id: u32) {
    if let Some(unit) = CodeUnit::interpreted(MethodId(method_id)) {
        runtime.sites.iter().for_each(SiteTable::forget);
        runtime.unload_queue.post(unit);
    }
}

/// The processor's cycle counter, to be read when a hook begins.
#[unsafe(no_mangle)]
pub extern "C" fn lct_cycles() -> u64 {
    cycles::now()
}

/// Counts a hook of a kind (`LCT_HOOK_…`) that ends with this call. It began at
/// `begin_cycles`, or went on then after a break; `first_begin_cycles` and `first_end_cycles` are of the part
/// before the break, and equal if there was none. In cycles the hook stands for as many as `weight`:
/// for none if they were not counted.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_hook_end(
    thread: Option<&mut ThreadTracer>,
    kind: u8,
    weight: u32,
    begin_cycles: u64,
    first_begin_cycles: u64,
    first_end_cycles: u64,
) {
    let (Some(thread), Some(&kind)) = (thread, Hook::ALL.get(usize::from(kind))) else {
        return;
    };
    let cycles = HookCycles {
        begin: begin_cycles,
        before_break: (first_begin_cycles, first_end_cycles),
    };
    thread.end_hook(kind, cycles, weight);
}
