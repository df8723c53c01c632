//! Ranges of holds that waits share, from which their root owners are found.
//!
//! Threads that want one lock wait through the same holds of it: a hold of whose end a hundred threads
//! wait is a part of a hundred waits. The holds of a lock are told once, with the first wait that went
//! through them, and a wait says only from which one on, and how many.

use crate::model::packed_owner::PackedOwner;
use crate::model::wait::WaitId;

/// Where a history of holds is kept.
pub(crate) type Place = u32;

/// That of waits that went through no shared holds.
pub(crate) const NO_PLACE: Place = Place::MAX;

/// What a wait is made of beside its contentions, while root owners are looked for whose parts are
/// added up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HoldRanges {
    /// The history of holds that the runs are of, and where that is kept.
    pub(crate) history: WaitId,
    pub(crate) place: Place,
    /// In order.
    pub(crate) runs: Vec<Run>,
    /// Holds that no wait has told of before.
    pub(crate) told: Vec<SharedHold>,
    /// Position of the first of those, and when the history's first one began.
    pub(crate) told_from: u64,
    pub(crate) told_since_ns: u64,
    /// No wait that comes behind this one tells of holds before that position.
    pub(crate) needed_from: u64,
    /// None of the owners waited itself meanwhile, whether it shares their holds or not.
    pub(crate) is_direct: bool,
}

/// Holds of a lock one after the other that a wait went through, among its contentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Position of the first one.
    pub(crate) first: u64,
    /// Position behind the last one.
    pub(crate) end: u64,
    /// When the last one ended.
    pub(crate) end_ns: u64,
    /// How many contentions are before.
    pub(crate) before: u32,
    /// The contention before goes on if the first hold has the same owner.
    pub(crate) goes_on: bool,
    /// The last hold goes on in the contention behind.
    pub(crate) goes_on_behind: bool,
}

/// Somebody had a lock, or nobody, from the end of the hold before on. It may take no time, and is
/// none then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedHold {
    pub(crate) end_ns: u64,
    pub(crate) owner: PackedOwner,
    /// It goes on if the next one has the same owner.
    pub(crate) goes_on: bool,
}

/// How far the holds of a history have been told of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) history: WaitId,
    pub(crate) end: u64,
}

impl Run {
    pub(crate) const NONE: Self = Self {
        first: 0,
        end: 0,
        end_ns: 0,
        before: 0,
        goes_on: false,
        goes_on_behind: false,
    };
}

impl Default for HoldRanges {
    fn default() -> Self {
        Self {
            history: WaitId::default(),
            place: NO_PLACE,
            runs: Vec::new(),
            told: Vec::new(),
            told_from: 0,
            told_since_ns: 0,
            needed_from: 0,
            is_direct: false,
        }
    }
}

impl HoldRanges {
    pub(crate) fn clear(&mut self) {
        self.runs.clear();
        self.told.clear();
        self.is_direct = false;
    }
}
