//! The shared holds of waits that are held back.

use smallvec::SmallVec;

use crate::blame::timeline::hold_range::{HoldRanges, Place, Run};
use crate::model::wait::{Blame, Contention, Wait};

/// Of each such wait, all that it is made of in one place.
#[derive(Debug, Default)]
pub(crate) struct HeldRuns {
    waits: Vec<OfWait>,
    free: Vec<u32>,
}

/// Nearly all have a run, a contention before and one or two behind, and two or three owners.
#[derive(Debug)]
pub(crate) struct OfWait {
    /// Where the holds of the runs are.
    pub(crate) place: Place,
    pub(crate) runs: SmallVec<[Run; 1]>,
    pub(crate) others: SmallVec<[Contention; 3]>,
    blame: SmallVec<[Blame; 3]>,
}

impl HeldRuns {
    /// Adds a wait. Returns its number.
    pub(crate) fn add(&mut self, wait: &Wait, shared: &HoldRanges) -> u32 {
        let added = OfWait {
            place: shared.place,
            runs: SmallVec::from_slice(&shared.runs),
            others: SmallVec::from_slice(&wait.contentions),
            blame: SmallVec::from_slice(&wait.blame),
        };
        match self.free.pop() {
            Some(number) => {
                self.waits[number as usize] = added;
                number
            }
            None => {
                self.waits.push(added);
                (self.waits.len() - 1) as u32
            }
        }
    }

    /// The wait with that number.
    pub(crate) fn of(&self, number: u32) -> &OfWait {
        &self.waits[number as usize]
    }

    /// Takes out the wait with that number, and fills in what it is made of.
    pub(crate) fn take(&mut self, number: u32, wait: &mut Wait, shared: &mut HoldRanges) {
        let taken = &mut self.waits[number as usize];
        shared.place = taken.place;
        fill(&mut shared.runs, &taken.runs);
        fill(&mut wait.contentions, &taken.others);
        fill(&mut wait.blame, &taken.blame);
        // What took memory of its own gives it back.
        (taken.runs, taken.others, taken.blame) = Default::default();
        self.free.push(number);
    }
}

fn fill<T: Copy>(all: &mut Vec<T>, from: &[T]) {
    all.clear();
    all.extend_from_slice(from);
}
