//! The safepoints that the drainer has not written yet.

use trace_format::Safepoint;

use crate::facts::ring::FactRing;

/// Safepoints on their way from the VM thread to the drainer.
#[derive(Debug, Default)]
pub(crate) struct Safepoints(FactRing<3>);

impl Safepoints {
    /// Adds a safepoint, or counts it as lost if the ring is full. By one thread at a time.
    pub(crate) fn add(&self, safepoint: Safepoint) {
        let Safepoint {
            begin_ns,
            reached_ns,
            end_ns,
        } = safepoint;
        self.0.add([begin_ns, reached_ns, end_ns]);
    }

    /// Takes the oldest safepoint. By the drainer alone.
    pub(crate) fn take(&self) -> Option<Safepoint> {
        let [begin_ns, reached_ns, end_ns] = self.0.take()?;
        Some(Safepoint {
            begin_ns,
            reached_ns,
            end_ns,
        })
    }

    /// Returns how many safepoints were lost.
    pub(crate) fn lost(&self) -> u64 {
        self.0.lost()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use super::*;
    use crate::facts::ring::ROOM;

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
