//! Totals of waits by kind.

use crate::model::wait::{Mechanism, Wait, WaitKind};

/// Sums over some waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitSums {
    /// How many.
    pub waits: u64,
    /// Their total duration in nanoseconds.
    pub duration_ns: u64,
    /// How many of them had begun before the trace.
    pub begun_before: u64,
}

impl WaitSums {
    /// Adds other sums.
    pub fn add(&mut self, other: Self) {
        self.waits = self.waits.saturating_add(other.waits);
        self.duration_ns = self.duration_ns.saturating_add(other.duration_ns);
        self.begun_before = self.begun_before.saturating_add(other.begun_before);
    }
}

/// Sums over waits, by mechanism and by what they were for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitTally([[WaitSums; WaitKind::ALL.len()]; Mechanism::ALL.len()]);

impl WaitTally {
    /// Adds a wait.
    pub fn add(&mut self, wait: &Wait) {
        let sums = &mut self.0[wait.mechanism as usize][wait.kind as usize];
        sums.add(WaitSums {
            waits: 1,
            duration_ns: wait.duration_ns,
            begun_before: wait.begun_before().into(),
        });
    }

    /// Adds what another tally has.
    pub fn merge(&mut self, other: &Self) {
        for (mechanism, kind, sums) in other.iter() {
            self.0[mechanism as usize][kind as usize].add(sums);
        }
    }

    /// Returns all sums.
    pub fn iter(&self) -> impl Iterator<Item = (Mechanism, WaitKind, WaitSums)> {
        Mechanism::ALL.into_iter().flat_map(|mechanism| {
            let of_mechanism = &self.0[mechanism as usize];
            WaitKind::ALL
                .into_iter()
                .zip(of_mechanism)
                .map(move |(kind, &sums)| (mechanism, kind, sums))
        })
    }

    /// Returns the sums over the waits that `wanted` selects.
    pub fn sum(&self, wanted: impl Fn(Mechanism, WaitKind) -> bool) -> WaitSums {
        let mut sum = WaitSums::default();
        for (mechanism, kind, sums) in self.iter() {
            if wanted(mechanism, kind) {
                sum.add(sums);
            }
        }
        sum
    }
}
