//! The permits of threads: an unpark gives one, a park takes it.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rust_tracer::AgentCounts;
use trace_format::Permit;

/// The most threads whose permits are known at once.
const MAX_THREADS: usize = 1 << 17;

/// The permit of each thread that has one.
///
/// The JVM has one bit for it, and does not say which unpark has set it. When two unparks of a thread
/// meet, the permit is from either.
#[derive(Debug, Default)]
pub(crate) struct Permits {
    /// By `Thread.getId()`; 0 stands for no permit.
    given: papaya::HashMap<u64, AtomicU32>,
    /// Relaxed: guards no other memory.
    last: AtomicU32,
}

/// The lowest bit of a permit in [`Permits`]: its unpark saw no blocker of the thread.
const UNSEEN: u32 = 1;

/// A permit that a park has taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) permit: Permit,
    /// Whether its unpark saw no blocker of the thread.
    pub(crate) unseen: bool,
}

impl Permits {
    /// Returns the permit that an unpark gives: [`Permit::NONE`] if the thread has one already, or if
    /// there are too many threads, which is counted.
    pub(crate) fn give(&self, thread: u64, unseen: bool, counts: &AgentCounts) -> Permit {
        let number = self.last.fetch_add(1, Relaxed).wrapping_add(1);
        let permit = (number << 1).max(2) | if unseen { UNSEEN } else { 0 };
        let given = self.given.pin();
        // The permits of threads that end are forgotten.
        if given.len() >= MAX_THREADS && !given.contains_key(&thread) {
            counts.untracked_permits.add(1);
            return Permit::NONE;
        }
        let place = given.get_or_insert_with(thread, || AtomicU32::new(0));
        // Relaxed: the unpark itself comes later and orders what the thread sees.
        match place.compare_exchange(0, permit, Relaxed, Relaxed) {
            Ok(_) => Permit(permit >> 1),
            Err(_) => Permit::NONE,
        }
    }

    /// Returns whether the thread has a permit.
    pub(crate) fn is_given(&self, thread: u64) -> bool {
        let given = self.given.pin();
        given
            .get(&thread)
            .is_some_and(|given| given.load(Relaxed) != 0)
    }

    /// Takes the permit of the current thread.
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

    /// Forgets a thread that has ended.
    pub(crate) fn forget(&self, thread: u64) {
        self.given.pin().remove(&thread);
    }
}
