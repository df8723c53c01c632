//! Parked threads, and synchronizers that threads own alone.

use std::mem::offset_of;

use trace_format::{
    Blocker, ChainId, ClassId, ExclusiveRelease, JavaThreadId, LockId, ParkBegin, ParkEnd,
    ParkEndReason, ParkTimeout, Permit, Unpark,
};

use crate::ffi::hold::hold;
use crate::runtime::Runtime;
use crate::tracer::ThreadTracer;

/// A place in an order.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctNumber {
    /// Which order it is.
    pub domain: u64,
    /// The sequence number.
    pub sequence: u64,
}

/// Takes the next place in the order of `key`: the identity hash of a
/// blocker, or without one the `Thread.getId()` of the thread that parks. The
/// caller must write an event with it.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_park_number(runtime: &'static Runtime, key: u64) -> LctNumber {
    let (domain, sequence) = runtime.park_number(key);
    LctNumber {
        domain: domain.0,
        sequence,
    }
}

/// For `LctParkBegin::timeout_kind`: the thread parks without a timeout.
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
    /// The thread waits in `Object.wait`, for a notification of the blocker.
    pub monitor: bool,
}

/// For `LctParkEnd::reason`: another thread unparked it.
pub const LCT_PARK_UNPARKED: u8 = 0;
/// For `LctParkEnd::reason`: it had the permit and did not block.
pub const LCT_PARK_PERMIT_AVAILABLE: u8 = 1;
/// For `LctParkEnd::reason`: it was interrupted.
pub const LCT_PARK_INTERRUPTED: u8 = 2;
/// For `LctParkEnd::reason`: it timed out.
pub const LCT_PARK_TIMED_OUT: u8 = 3;
/// For `LctParkEnd::reason`: none of the others.
pub const LCT_PARK_SPURIOUS: u8 = 4;

/// The thread no longer parks.
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
    /// The permit consumed, 0 for none; in `Object.wait`, what `lct_notification_permit` returns for
    /// the notification.
    pub permit: u32,
    /// One of `LCT_PARK_…`.
    pub reason: u8,
    /// The unpark that gave the permit has its place in the order of this
    /// thread, not in the order of the blocker.
    pub unpark_elsewhere: bool,
    /// The begin was of `Object.wait`.
    pub monitor: bool,
}

/// The thread unparks another one.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctUnpark {
    /// The event's place.
    pub number: LctNumber,
    /// When.
    pub time_ns: u64,
    /// `Thread.getId()` of the other thread, 0 where `Object.notifyAll` notifies all that wait.
    pub target: u64,
    /// `Thread.getId()` of the thread that owns the blocker, 0 if not known.
    pub owner: u64,
    /// The permit given, 0 if the target had one, and in a notification.
    pub permit: u32,
    /// Identifier of the class of what the target parks on, 0 if it does not.
    pub blocker_class: u32,
    /// Identity hash of that object.
    pub blocker_hash: u32,
    /// Identifier of the thread's call chain.
    pub chain: u32,
    /// By an interrupt.
    pub interrupt: bool,
    /// The blocker is a semaphore of which the thread has never acquired a permit.
    pub never_acquired: bool,
    /// In a notification: how many threads waited in `Object.wait`; otherwise 0.
    pub waiters: u32,
}

/// Returns the permit by which the end of a wait in `Object.wait` names the notification with this
/// sequence number; 0 for 0.
#[unsafe(no_mangle)]
pub extern "C" fn lct_notification_permit(sequence: u64) -> u32 {
    match sequence {
        0 => 0,
        sequence => Permit::of_notification(sequence).0,
    }
}

/// The thread is about to release a synchronizer that it owns alone.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LctExclusiveRelease {
    /// The event's place.
    pub number: LctNumber,
    /// When.
    pub time_ns: u64,
    /// How long the thread has owned it, in nanoseconds, or one of `LCT_HOLD_…`.
    pub hold_ns: u64,
    /// Identifier of the synchronizer's class.
    pub blocker_class: u32,
    /// Identity hash of the synchronizer.
    pub blocker_hash: u32,
    /// Identifier of the thread's call chain.
    pub chain: u32,
}

// The C header asserts the same sizes.
const _: () = {
    assert!(ParkEndReason::Unparked as u8 == LCT_PARK_UNPARKED);
    assert!(ParkEndReason::PermitAvailable as u8 == LCT_PARK_PERMIT_AVAILABLE);
    assert!(ParkEndReason::Interrupted as u8 == LCT_PARK_INTERRUPTED);
    assert!(ParkEndReason::TimedOut as u8 == LCT_PARK_TIMED_OUT);
    assert!(ParkEndReason::Spurious as u8 == LCT_PARK_SPURIOUS);
    assert!(size_of::<LctParkBegin>() == 56 && offset_of!(LctParkBegin, monitor) == 54);
    assert!(size_of::<LctParkEnd>() == 48 && offset_of!(LctParkEnd, monitor) == 46);
    assert!(size_of::<LctUnpark>() == 64 && offset_of!(LctUnpark, waiters) == 60);
    assert!(size_of::<LctExclusiveRelease>() == 48);
    assert!(offset_of!(LctExclusiveRelease, chain) == 40);
};

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
        monitor: park.monitor,
    });
}

/// Notes that the thread no longer parks.
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
        monitor: park.monitor,
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
        waiters: unpark.waiters,
        chain: ChainId(unpark.chain),
    });
}

/// Notes that the thread is about to release a synchronizer that it owns alone and on
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

fn blocker(class: u32, identity_hash: u32) -> Blocker {
    Blocker {
        class: ClassId(class),
        identity_hash,
    }
}
