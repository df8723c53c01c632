//! The safepoints that the drainer has not written yet.

use std::array;

use trace_format::Safepoint;

use crate::primitive::{AtomicU64, Ordering};

/// So many fit between two looks of the drainer, which are 15 ms apart.
const ROOM: usize = if cfg!(loom) { 2 } else { 1 << 10 };
/// Place of the last one: the room is a power of two.
const LAST: u64 = ROOM as u64 - 1;

/// Safepoints on their way from the VM thread to the drainer.
#[derive(Debug)]
pub(crate) struct Safepoints {
    slots: [[AtomicU64; 3]; ROOM],
    /// How many were ever added.
    added: AtomicU64,
    /// How many were ever taken.
    taken: AtomicU64,
    lost: AtomicU64,
}

impl Default for Safepoints {
    fn default() -> Self {
        Self {
            slots: array::from_fn(|_| array::from_fn(|_| AtomicU64::new(0))),
            added: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }
}

impl Safepoints {
    /// Adds one; counts it as lost if there is no room. By one thread at a time.
    pub(crate) fn add(&self, safepoint: Safepoint) {
        let added = self.added.load(Ordering::Relaxed);
        // Acquire: the drainer has read what was in the slot before.
        let taken = self.taken.load(Ordering::Acquire);
        if added.wrapping_sub(taken) >= ROOM as u64 {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let Safepoint {
            begin_ns,
            reached_ns,
            end_ns,
        } = safepoint;
        let times = [begin_ns, reached_ns, end_ns];
        for (word, time_ns) in self.slot(added).iter().zip(times) {
            word.store(time_ns, Ordering::Relaxed);
        }
        // Release: who sees the new count sees the slot.
        self.added.store(added.wrapping_add(1), Ordering::Release);
    }

    /// The oldest one. By the drainer alone.
    pub(crate) fn take(&self) -> Option<Safepoint> {
        let taken = self.taken.load(Ordering::Relaxed);
        // Acquire: sees what was stored into the slot.
        if self.added.load(Ordering::Acquire) == taken {
            return None;
        }
        let mut words = self.slot(taken).iter();
        let mut next = || words.next().map_or(0, |word| word.load(Ordering::Relaxed));
        let safepoint = Safepoint {
            begin_ns: next(),
            reached_ns: next(),
            end_ns: next(),
        };
        // Release: the slot is read before another one may be stored there.
        self.taken.store(taken.wrapping_add(1), Ordering::Release);
        Some(safepoint)
    }

    /// How many had no room.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn slot(&self, number: u64) -> &[AtomicU64] {
        let place = (number & LAST) as usize;
        // Never out of bounds.
        self.slots.get(place).map_or(&[], |slot| slot)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use super::*;

    fn safepoint(number: u64) -> Safepoint {
        Safepoint {
            begin_ns: number,
            reached_ns: number + 1,
            end_ns: number + 2,
        }
    }

    #[test]
    fn what_has_no_room_is_lost() {
        let safepoints = Safepoints::default();
        for number in 0..ROOM as u64 + 5 {
            safepoints.add(safepoint(number));
        }
        assert_eq!(safepoints.lost(), 5);
        for number in 0..ROOM as u64 {
            assert_eq!(safepoints.take(), Some(safepoint(number)));
        }
        assert_eq!(safepoints.take(), None);
    }

    #[test]
    fn safepoints_arrive_whole_and_in_order() {
        const ALL: u64 = 100_000;
        let safepoints = Safepoints::default();
        let taken = thread::scope(|scope| {
            scope.spawn(|| (0..ALL).for_each(|number| safepoints.add(safepoint(3 * number))));
            let mut taken = Vec::new();
            while taken.len() as u64 + safepoints.lost() < ALL {
                taken.extend(safepoints.take());
            }
            taken.extend(safepoints.take());
            taken
        });
        assert!(taken.is_sorted_by(|a, b| a.begin_ns < b.begin_ns));
        for found in taken {
            assert_eq!(found, safepoint(found.begin_ns));
        }
    }
}
