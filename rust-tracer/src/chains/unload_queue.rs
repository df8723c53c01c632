//! Notices from the JVM about code that is gone, until the drainer takes them.
//!
//! A queue of fixed size without an order, which does not matter, for the drainer looks for all
//! unloaded code at once. Posting is one addition and one compare-and-set, which
//! either takes a free place or finds the queue full; it never waits for another
//! thread, not even for one that was stopped in the middle of the same.

use std::collections::TryReserveError;

use crate::chains::key::CodeUnit;
use crate::fallible::try_collect;
use crate::primitive::{AtomicU64, Ordering};

/// Most entries between two looks of the drainer; a power of two. When classes
/// are unloaded, all their methods come at once. The model checker wants a full
/// queue.
const CAPACITY: usize = if cfg!(loom) { 2 } else { 1 << 16 };

/// Entries posted and not yet taken.
#[derive(Debug)]
pub(crate) struct UnloadQueue {
    /// Each the number of a [`CodeUnit`], or 0.
    places: Vec<AtomicU64>,
    /// How many entries were posted or lost.
    posted: AtomicU64,
    /// How many of them were lost, because the queue was full.
    lost: AtomicU64,
    /// How many were taken. Only the drainer counts them.
    taken: AtomicU64,
}

impl Default for UnloadQueue {
    fn default() -> Self {
        Self {
            places: (0..CAPACITY).map(|_| AtomicU64::new(0)).collect(),
            posted: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            taken: AtomicU64::new(0),
        }
    }
}

impl UnloadQueue {
    /// Notes that no frame of `unit` is on any stack, and none will ever be.
    pub(crate) fn post(&self, unit: CodeUnit) {
        // Relaxed: only spreads the posts over the places.
        let number = self.posted.fetch_add(1, Ordering::Relaxed);
        let place = self.places.get(number as usize & (CAPACITY - 1));
        // Release: the drainer, which takes the entry, sees everything recorded about the unit.
        let posted = place.is_some_and(|place| {
            place
                .compare_exchange(0, unit.number(), Ordering::Release, Ordering::Relaxed)
                .is_ok()
        });
        if !posted {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes all entries. Only in the drainer.
    ///
    /// # Errors
    ///
    /// Memory is short. Some entries are lost.
    pub(crate) fn take_all(&self) -> Result<Vec<CodeUnit>, TryReserveError> {
        // Relaxed: an entry that is seen late is taken the next time.
        let posted = self.posted.load(Ordering::Relaxed);
        let lost = self.lost.load(Ordering::Relaxed);
        let taken = self.taken.load(Ordering::Relaxed);
        if posted == taken.wrapping_add(lost) {
            return Ok(Vec::new());
        }
        let full = |place: &&AtomicU64| place.load(Ordering::Relaxed) != 0;
        // Acquire: sees all that was recorded about the unit.
        let take = |place: &AtomicU64| CodeUnit::from_number(place.swap(0, Ordering::Acquire));
        let units = try_collect(self.places.iter().filter(full).filter_map(take))?;
        let taken = taken.wrapping_add(units.len() as u64);
        self.taken.store(taken, Ordering::Relaxed);
        Ok(units)
    }

    /// How many entries found the queue full.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::HashSet;
    use std::thread;

    use trace_format::MethodId;

    use super::*;

    fn unit(number: u32) -> CodeUnit {
        CodeUnit::interpreted(MethodId(number)).unwrap()
    }

    #[test]
    fn notices_arrive_once() {
        let entries = UnloadQueue::default();
        let mut taken = Vec::new();
        thread::scope(|scope| {
            let posters: Vec<_> = (0..4)
                .map(|thread| {
                    let entries = &entries;
                    let numbers = thread * 10_000 + 1..=(thread + 1) * 10_000;
                    scope.spawn(move || numbers.for_each(|number| entries.post(unit(number))))
                })
                .collect();
            while !posters.iter().all(thread::ScopedJoinHandle::is_finished) {
                taken.extend(entries.take_all().unwrap());
            }
        });
        taken.extend(entries.take_all().unwrap());
        assert_eq!((taken.len(), entries.lost()), (40_000, 0));
        assert_eq!(taken.into_iter().collect::<HashSet<_>>().len(), 40_000);
        assert_eq!(entries.take_all().unwrap(), []);
    }

    #[test]
    fn a_full_queue_loses_notices() {
        let entries = UnloadQueue::default();
        let posted = CAPACITY as u32 + 10;
        (1..=posted).for_each(|number| entries.post(unit(number)));
        assert_eq!(entries.lost(), 10);
        assert_eq!(entries.take_all().unwrap().len(), CAPACITY);
        entries.post(unit(1));
        assert_eq!(entries.take_all().unwrap(), [unit(1)]);
    }
}
