//! The threads that still waited when the trace ended, and what they show: deadlocks, and locks that were
//! not released any more.

pub(crate) mod deadlock;
pub(crate) mod hang;

use crate::aggregate::still_blocked::deadlock::Deadlock;
use crate::aggregate::still_blocked::hang::Hang;
use crate::model::entity::Entities;
use crate::model::lock_group::lock_group;
use crate::model::wait::{Mechanism, OpenWait, WaitKind};

/// The threads of one trace that still waited when it ended.
#[derive(Clone, Debug, Default)]
pub struct StillBlocked {
    /// For locks, in the order in which they came. A thread waits for one lock at a time.
    threads: Vec<OpenWait>,
    /// For anything else, the earliest first once [complete](Self::complete).
    others: Vec<OpenWait>,
}

impl StillBlocked {
    /// Adds a wait that had not ended.
    pub fn add(&mut self, wait: OpenWait) {
        let of_kind = match wait.kind {
            WaitKind::Contention => &mut self.threads,
            WaitKind::Conditional | WaitKind::Idle | WaitKind::Sleep | WaitKind::Join => {
                &mut self.others
            }
        };
        of_kind.push(wait);
    }

    /// Returns the same with more facts about the threads that have the locks.
    pub(crate) fn complete(mut self, complete: impl Fn(&mut OpenWait)) -> Self {
        self.threads.iter_mut().for_each(complete);
        self.others
            .sort_unstable_by_key(|wait| (wait.start_ns, wait.id));
        self
    }

    /// Adds what was found of other locks of the same trace: monitors come first, in the order
    /// in which the threads began to wait for them, and then the parks by lock. Those of one lock,
    /// which are in order, are all on one side; a damaged trace may have it in several groups.
    pub(crate) fn merge(&mut self, other: Self) {
        self.threads.extend(other.threads);
        self.threads.sort_by_key(|blocked| {
            let is_monitor = blocked.mechanism == Mechanism::Monitor;
            let began = (blocked.start_ns, blocked.thread, blocked.lock, blocked.id);
            let parked = (blocked.lock, lock_group(blocked.id.lock));
            let (began, parked) = match is_monitor {
                true => (Some(began), None),
                false => (None, Some(parked)),
            };
            (!is_monitor, began, parked)
        });
        self.others.extend(other.others);
    }

    /// Returns the threads that waited for a lock.
    pub fn threads(&self) -> &[OpenWait] {
        &self.threads
    }

    /// Returns the threads that waited for anything else, that which began first before the others.
    pub fn others(&self) -> &[OpenWait] {
        &self.others
    }

    /// Returns the cycles among those that waited for a lock, that which began first before the others.
    pub fn deadlocks(&self) -> Vec<Deadlock> {
        deadlock::find(&self.threads)
    }

    /// Returns what else kept threads waiting for good, or seems to, the surest first.
    pub fn hangs(&self, entities: &Entities) -> Vec<Hang> {
        hang::find(&self.threads, &self.others, entities)
    }
}
