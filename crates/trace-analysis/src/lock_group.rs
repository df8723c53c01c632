//! Groups of locks, which threads can share among them.

use trace_format::LockId;

/// Locks are in as many groups, each of which has its own bounds. So what is given up for want
/// of memory is the same however many threads share the groups among them.
pub(crate) const LOCK_GROUPS: usize = 8;

/// The group of a lock, or of a domain of parks.
#[inline]
pub(crate) fn lock_group(lock: LockId) -> usize {
    (lock.0 % LOCK_GROUPS as u64) as usize
}
