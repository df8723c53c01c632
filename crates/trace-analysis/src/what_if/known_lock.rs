//! What is known of the locks that threads waited for.

use crate::model::entity::{Entities, LockIndex};
use crate::model::wait::Mechanism;
use crate::what_if::pool::is_condition;

/// How many threads may have a lock at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// One.
    Exclusive,
    /// One that writes, or several that read.
    Readers,
    /// As many as there are permits.
    Permits,
}

/// A lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownLock {
    pub(super) index: LockIndex,
    pub(super) mechanism: Mechanism,
    pub(super) sharing: Sharing,
    /// How many threads had it at once; of a lock without permits one.
    pub(super) permits: u64,
    /// Who came first gets it first.
    pub(super) is_fair: bool,
    /// It guards the loading of a class or its initialization, which happen once.
    pub(super) initializes: bool,
    /// How long threads waited for it, in nanoseconds.
    pub(super) waited_ns: u64,
    /// The mean of the holds whose begin and end are known; of those that others noticed if there
    /// are none. Without those of readers.
    pub(super) hold_ns: u64,
    /// The mean of the holds of readers whose begin and end are known.
    pub(super) shared_hold_ns: u64,
    /// There are holds whose releases reported when they began.
    pub(super) has_timed_holds: bool,
    woken_ns: u64,
    waits: u64,
}

impl KnownLock {
    pub(super) fn new(index: LockIndex, entities: &Entities) -> Self {
        let class = entities.lock_class(index);
        let class = class.map_or("", |class| entities.class_name(class));
        // Applications bring copies of `java.util.concurrent` in packages of their own.
        let name = class.rsplit('.').next().unwrap_or(class);
        let sharing = match name.split('$').next().unwrap_or(name) {
            "ReentrantReadWriteLock" | "StampedLock" => Sharing::Readers,
            "Semaphore" => Sharing::Permits,
            // Waits for conditions are waits for what a pool lends.
            _ if is_condition(name) => Sharing::Permits,
            _ => Sharing::Exclusive,
        };
        Self {
            index,
            mechanism: Mechanism::Monitor,
            sharing,
            permits: 1,
            is_fair: name.ends_with("$FairSync"),
            initializes: entities.initialized_class(index).is_some(),
            waited_ns: 0,
            hold_ns: 0,
            shared_hold_ns: 0,
            has_timed_holds: false,
            woken_ns: 0,
            waits: 0,
        }
    }

    pub(super) fn add_wait(&mut self, mechanism: Mechanism, duration_ns: u64, free_ns: u64) {
        if mechanism == Mechanism::Park {
            self.mechanism = Mechanism::Park;
        }
        self.waited_ns += duration_ns;
        self.waits += 1;
        self.woken_ns += free_ns;
    }

    /// The mean of how long it took until a thread that was woken had the lock.
    pub(super) fn wake_ns(&self) -> u64 {
        self.woken_ns / self.waits.max(1)
    }
}
