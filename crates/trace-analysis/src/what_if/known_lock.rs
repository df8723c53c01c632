//! What is known of the locks that threads waited for.

use std::collections::BTreeMap;

use crate::model::entity::LockIndex;
use crate::model::wait::Mechanism;
use crate::what_if::observed::Observed;

/// A lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownLock {
    pub(super) index: LockIndex,
    pub(super) mechanism: Mechanism,
    /// How long threads waited for it, in nanoseconds.
    pub(super) waited_ns: u64,
    /// The mean of the holds whose begin and end are known; of those that others noticed if there
    /// are none.
    pub(super) hold_ns: u64,
    /// There are such holds.
    pub(super) has_timed_holds: bool,
    /// The mean of how long it took until a thread that was woken had the lock.
    pub(super) wake_ns: u64,
}

#[derive(Default)]
struct Sums {
    waited_ns: u64,
    wake_ns: u64,
    waits: u64,
    held_ns: u64,
    holds: u64,
    timed_ns: u64,
    timed: u64,
    is_parked_for: bool,
}

/// The locks, in order, and their numbers.
pub(super) fn known_locks(observed: &Observed) -> (Vec<KnownLock>, BTreeMap<LockIndex, usize>) {
    let mut sums = BTreeMap::<LockIndex, Sums>::new();
    for wait in &observed.waits {
        let sums = sums.entry(wait.lock).or_default();
        sums.waited_ns += wait.end_ns - wait.start_ns;
        sums.wake_ns += wait.free_ns;
        sums.waits += 1;
        sums.is_parked_for |= wait.mechanism == Mechanism::Park;
    }
    for span in &observed.spans {
        let sums = sums.entry(span.lock).or_default();
        sums.held_ns += span.end_ns - span.start_ns;
        sums.holds += 1;
    }
    for (&(lock, _, end_ns), &start_ns) in &observed.begins {
        if let Some(sums) = sums.get_mut(&lock) {
            sums.timed_ns += end_ns - start_ns;
            sums.timed += 1;
        }
    }
    let locks = sums.iter().map(|(&index, sums)| KnownLock {
        index,
        mechanism: match sums.is_parked_for {
            true => Mechanism::Park,
            false => Mechanism::Monitor,
        },
        waited_ns: sums.waited_ns,
        hold_ns: match sums.timed {
            0 => sums.held_ns / sums.holds.max(1),
            timed => sums.timed_ns / timed,
        },
        has_timed_holds: sums.timed > 0,
        wake_ns: sums.wake_ns / sums.waits.max(1),
    });
    let locks: Vec<_> = locks.collect();
    let numbers = locks.iter().zip(0..);
    let numbers = numbers.map(|(lock, number)| (lock.index, number)).collect();
    (locks, numbers)
}
