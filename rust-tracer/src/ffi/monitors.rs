//! Monitors: their locks and the contention for them.

use std::mem::offset_of;

use trace_format::{
    ChainId, ChainRef, ClassId, ContendedEnter, ContendedEntered, ContendedExit, ForwardRef,
    LockDescription, LockId, LockOwner, ThreadId,
};

use crate::ffi::hold::hold;
use crate::lock::Lock;
use crate::runtime::Runtime;
use crate::tracer::ThreadTracer;

/// The tracer's state in each monitor. All zero in a fresh monitor. Every access is
/// atomic.
#[derive(Debug, Default)]
#[repr(C)]
pub struct LctLock {
    /// Identifier of the lock; 0 if the monitor was not contended since its
    /// inflation.
    pub id: u64,
    /// The sequence number taken last; the description has 0.
    pub last_sequence: u64,
}

// A pointer to it is cast to the type inside. The C header asserts the sizes, too.
const _: () = {
    assert!(size_of::<LctLock>() == 16 && size_of::<Lock>() == 16);
    assert!(align_of::<LctLock>() == align_of::<Lock>());
    assert!(offset_of!(LctLock, last_sequence) == 8); // as in Lock
    assert!(size_of::<LctLockDescription>() == 32);
    assert!(size_of::<LctOwner>() == 16);
    assert!(size_of::<LctContendedEnter>() == 48);
    assert!(offset_of!(LctContendedEnter, after_wait) == 44);
    assert!(size_of::<LctContendedEntered>() == 32);
    assert!(size_of::<LctContendedExit>() == 32);
};

/// # Safety
///
/// `lock` points to a lock that is only accessed atomically during `'a`.
unsafe fn lock_at<'a>(lock: *const LctLock) -> &'a Lock {
    // SAFETY: as the caller promises; the layouts agree, as asserted above.
    unsafe { &*lock.cast() }
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
    unsafe { lock_at(lock) }.claim_in(runtime)
}

/// The object that a lock belongs to.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctLockDescription {
    /// `LctLock::id`.
    pub lock: u64,
    /// Address of the monitor.
    pub monitor_address: u64,
    /// Identifier of the object's class.
    pub class_id: u32,
    /// Identifier of the class meant, if the object is a `java.lang.Class` or what the JVM
    /// locks to initialize a class; otherwise 0.
    pub mirrored_class: u32,
    /// Identity hash of the object.
    pub identity_hash: u32,
}

/// Describes a lock that the caller has claimed; this is its sequence number 0.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_lock_describe(
    thread: Option<&mut ThreadTracer>,
    description: &LctLockDescription,
) {
    let Some(thread) = thread else { return };
    thread.describe_lock(LockDescription {
        lock: LockId(description.lock),
        class: ClassId(description.class_id),
        mirrored_class: ClassId(description.mirrored_class),
        identity_hash: description.identity_hash,
        monitor_address: description.monitor_address,
    });
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

/// The thread that owns a monitor. Both fields are 0 if no thread owns it, or the owner is
/// not known.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctOwner {
    /// Its number, from `lct_thread_number`; 0 if only the address is known.
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

/// The thread failed to acquire a lock and is about to block.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctContendedEnter {
    /// `LctLock::id`.
    pub lock: u64,
    /// From `lct_lock_next_sequence`.
    pub sequence: u64,
    /// When.
    pub time_ns: u64,
    /// A thread that had the lock at some moment since the sequence number was taken.
    pub owner: LctOwner,
    /// Identifier of the thread's call chain.
    pub chain: u32,
    /// To acquire the lock again after `Object.wait`.
    pub after_wait: bool,
}

/// Notes that the thread is about to block on a lock.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_contended_enter(
    thread: Option<&mut ThreadTracer>,
    enter: &LctContendedEnter,
) {
    let Some(thread) = thread else { return };
    thread.contended_enter(ContendedEnter {
        lock: LockId(enter.lock),
        sequence: enter.sequence,
        time_ns: enter.time_ns,
        chain: ChainId(enter.chain),
        after_wait: enter.after_wait,
        owner: enter.owner.into(),
    });
}

/// The thread acquired the lock it was blocked on.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctContendedEntered {
    /// `LctLock::id`.
    pub lock: u64,
    /// From `lct_lock_next_sequence`.
    pub sequence: u64,
    /// When.
    pub time_ns: u64,
    /// How much of the wait the JVM spent in safepoints.
    pub safepoint_ns: u64,
}

/// Notes that the thread acquired the lock it was blocked on.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_contended_entered(
    thread: Option<&mut ThreadTracer>,
    entered: &LctContendedEntered,
) {
    let Some(thread) = thread else { return };
    thread.contended_entered(ContendedEntered {
        lock: LockId(entered.lock),
        sequence: entered.sequence,
        time_ns: entered.time_ns,
        safepoint_ns: entered.safepoint_ns,
    });
}

/// The thread released a lock for which others contend.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctContendedExit {
    /// `LctLock::id`.
    pub lock: u64,
    /// From `lct_lock_next_sequence`.
    pub sequence: u64,
    /// When.
    pub time_ns: u64,
    /// How long the thread had held it, in nanoseconds, or one of `LCT_HOLD_…`.
    pub hold_ns: u64,
}

impl LctContendedExit {
    fn by(&self, chain: ChainRef) -> ContendedExit {
        ContendedExit {
            lock: LockId(self.lock),
            sequence: self.sequence,
            time_ns: self.time_ns,
            hold: hold(self.hold_ns),
            chain,
        }
    }
}

/// Notes that the thread released a lock for which others contend. `chain` is
/// the call chain that held it, or 0.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_contended_exit(
    thread: Option<&mut ThreadTracer>,
    exit: &LctContendedExit,
    chain: u32,
) {
    let Some(thread) = thread else { return };
    thread.contended_exit(exit.by(ChainRef::Chain(ChainId(chain))));
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
    exit: &LctContendedExit,
    forward_ref: u64,
) {
    let Some(thread) = thread else { return };
    thread.contended_exit(exit.by(ChainRef::Forward(ForwardRef(forward_ref))));
}

/// Returns a fresh forward reference; never 0, never the same again.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_new_forward_ref(runtime: &'static Runtime) -> u64 {
    runtime.ids.forward_refs.next()
}

/// Names the chain that a forward reference stands for.
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
