//! How many waits there are of each kind.

use crate::contention::{Group, Wait, Waiting};

/// Sums over some waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitSums {
    /// How many.
    pub waits: u64,
    /// Their total duration in nanoseconds.
    pub duration_ns: u64,
}

impl WaitSums {
    fn add(&mut self, other: Self) {
        self.waits = self.waits.saturating_add(other.waits);
        self.duration_ns = self.duration_ns.saturating_add(other.duration_ns);
    }
}

/// Sums over waits, told apart by mechanism and by what they were for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitTally([[WaitSums; Waiting::ALL.len()]; Group::ALL.len()]);

impl WaitTally {
    /// Adds a wait.
    pub fn add(&mut self, wait: &Wait) {
        let sums = &mut self.0[wait.group as usize][wait.kind.waiting() as usize];
        sums.add(WaitSums {
            waits: 1,
            duration_ns: wait.duration_ns,
        });
    }

    /// Adds what another tally has.
    pub fn merge(&mut self, other: &Self) {
        for (group, waiting, sums) in other.iter() {
            self.0[group as usize][waiting as usize].add(sums);
        }
    }

    /// All sums.
    pub fn iter(&self) -> impl Iterator<Item = (Group, Waiting, WaitSums)> {
        Group::ALL.into_iter().flat_map(|group| {
            let of_group = &self.0[group as usize];
            Waiting::ALL
                .into_iter()
                .zip(of_group)
                .map(move |(waiting, &sums)| (group, waiting, sums))
        })
    }

    /// Sums over the waits that `wanted` selects.
    pub fn sum(&self, wanted: impl Fn(Group, Waiting) -> bool) -> WaitSums {
        let mut sum = WaitSums::default();
        for (group, waiting, sums) in self.iter() {
            if wanted(group, waiting) {
                sum.add(sums);
            }
        }
        sum
    }
}
