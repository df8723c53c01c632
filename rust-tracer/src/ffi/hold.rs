//! How long a lock was held.

use trace_format::Hold;

/// In place of the duration of a hold: not known.
pub const LCT_HOLD_NOT_KNOWN: u64 = u64::MAX;
/// In place of the duration of a hold: the lock was acquired before any thread contended
/// for it, that is, before the oldest wait that is open at the release.
pub const LCT_HOLD_BEFORE_CONTENTION: u64 = u64::MAX - 1;

const _: () = assert!(LCT_HOLD_BEFORE_CONTENTION > Hold::MAX_NS);

/// Converts a duration in nanoseconds, or one of `LCT_HOLD_…`.
pub(super) fn hold(hold_ns: u64) -> Hold {
    match hold_ns {
        LCT_HOLD_NOT_KNOWN => Hold::NotKnown,
        LCT_HOLD_BEFORE_CONTENTION => Hold::BeforeContention,
        duration_ns => Hold::For { duration_ns },
    }
}
