//! The permits that threads have been given.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rust_tracer::AgentCounts;
use trace_format::Permit;

/// The permits of more threads at once are not kept in mind.
const MAX_THREADS: usize = 1 << 17;

/// The last permit that was given to each thread and not taken yet.
///
/// The JVM has one bit for that, and nothing tells which unpark has set it. So this is right unless
/// two unparks of a thread meet: then the permit is that of one of them.
#[derive(Debug, Default)]
pub(crate) struct Permits {
    /// By `Thread.getId()`; 0 is none.
    given: papaya::HashMap<u64, AtomicU32>,
    last: AtomicU32,
}

/// The lowest bit of a permit in [`Permits`]: who gave it saw nothing that the thread parks on.
const UNSEEN: u32 = 1;

/// A permit that a thread has taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) permit: Permit,
    /// Its unpark saw nothing that the thread parks on.
    pub(crate) unseen: bool,
}

impl Permits {
    /// The permit that an unpark gives: none if the thread has one already, or, which is counted,
    /// if there is no room for it.
    pub(crate) fn give(&self, thread: u64, unseen: bool, counts: &AgentCounts) -> Permit {
        let number = self.last.fetch_add(1, Relaxed).wrapping_add(1);
        let permit = (number << 1).max(2) | if unseen { UNSEEN } else { 0 };
        let given = self.given.pin();
        // Threads that end make room.
        if given.len() >= MAX_THREADS && !given.contains_key(&thread) {
            counts.untracked_permits.add(1);
            return Permit::NONE;
        }
        let place = given.get_or_insert_with(thread, || AtomicU32::new(0));
        // Relaxed: the unpark itself comes behind it, and puts in order what the thread sees.
        match place.compare_exchange(0, permit, Relaxed, Relaxed) {
            Ok(_) => Permit(permit >> 1),
            Err(_) => Permit::NONE,
        }
    }

    /// A permit is there.
    pub(crate) fn is_given(&self, thread: u64) -> bool {
        let given = self.given.pin();
        given
            .get(&thread)
            .is_some_and(|given| given.load(Relaxed) != 0)
    }

    /// The current thread takes its permit.
    pub(crate) fn take(&self, thread: u64) -> Option<Taken> {
        let given = self.given.pin();
        match given.get(&thread)?.swap(0, Relaxed) {
            0 => None,
            permit => Some(Taken {
                permit: Permit(permit >> 1),
                unseen: permit & UNSEEN != 0,
            }),
        }
    }

    /// A thread has ended.
    pub(crate) fn forget(&self, thread: u64) {
        self.given.pin().remove(&thread);
    }
}
