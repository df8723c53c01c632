//! Locks that take each other's place: threads that wait for one of them would wait for the next one as well.
//!
//! `ConcurrentHashMap` locks the first node of a bin, or a `ReservationNode` while `computeIfAbsent` computes: each
//! load of the same key has a lock of its own, and no thread comes to it twice. A replay in which a thread is too
//! early for one of them would never let it wait again.

use std::collections::BTreeMap;

use crate::collections::hash::SeededSet;
use crate::model::entity::{ClassIndex, Entities, LockIndex, ThreadIndex};
use crate::what_if::observed::Observed;

/// The most successions that a lock may follow: those that began last.
const MAX_OPEN: usize = 64;

/// Locks that were contended one after the other, by the same threads, in code of the same class.
struct Succession {
    /// The lock that stands for all.
    lock: LockIndex,
    last: Use,
}

/// From when until when threads waited for a lock, which ones, and the class of the program that called the map.
struct Use {
    start_ns: u64,
    end_ns: u64,
    threads: SeededSet<ThreadIndex>,
    user: Option<ClassIndex>,
}

impl Use {
    /// Whether most threads of one of them come back for the other, which comes later.
    fn follows(&self, other: &Self) -> bool {
        let common = self.threads.intersection(&other.threads).count();
        let fewer = self.threads.len().min(other.threads.len());
        other.end_ns <= self.start_ns && self.user == other.user && 2 * common >= fewer
    }
}

/// The lock that stands for each one that takes its place.
pub(super) fn successors(
    observed: &Observed,
    entities: &Entities,
) -> BTreeMap<LockIndex, LockIndex> {
    let is_of_bin = |lock| {
        let class = entities.lock_class(lock);
        let class = class.map_or("", |class| entities.class_name(class));
        class.starts_with("java.util.concurrent.ConcurrentHashMap$")
    };
    let mut uses = BTreeMap::<LockIndex, Use>::new();
    for wait in observed.waits.iter().filter(|wait| is_of_bin(wait.lock)) {
        let used = uses.entry(wait.lock).or_insert_with(|| {
            let frame = entities.frame_outside_of_jdk(wait.chain);
            Use {
                start_ns: wait.start_ns,
                end_ns: wait.end_ns,
                threads: SeededSet::default(),
                user: frame.and_then(|frame| entities.method(frame.method).class),
            }
        });
        used.start_ns = used.start_ns.min(wait.start_ns);
        used.end_ns = used.end_ns.max(wait.end_ns);
        used.threads.insert(wait.thread);
    }
    let mut by_start: Vec<_> = uses.into_iter().collect();
    by_start.sort_by_key(|(_, used)| used.start_ns);
    let mut successions: Vec<Succession> = Vec::new();
    let mut stands_for = BTreeMap::new();
    for (lock, used) in by_start {
        let mut open = successions.iter_mut().rev().take(MAX_OPEN);
        match open.find(|succession| used.follows(&succession.last)) {
            Some(succession) => {
                stands_for.insert(lock, succession.lock);
                succession.last = used;
            }
            None => successions.push(Succession { lock, last: used }),
        }
    }
    stands_for
}
