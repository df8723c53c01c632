//! A cache of the root owners behind spans of owners.
//!
//! Threads that want one lock wait through the same holds of it, so a hold of which a hundred threads
//! wait for the end is a part of a hundred waits. What its owner did meanwhile is looked for once.

use std::collections::VecDeque;

use crate::collections::hash::MIXER;
use crate::model::entity::LockIndex;
use crate::model::packed_owner::PackedOwner;
use crate::model::wait::{Contention, RootPart};

/// A time in which somebody owned a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnersTime {
    owner: PackedOwner,
    lock: LockIndex,
    start_ns: u64,
    end_ns: u64,
}

/// The parts of some of them.
#[derive(Debug, Default)]
pub(crate) struct RootCache {
    /// By [`OwnersTime::place`]; none before something is known.
    places: Vec<Option<Known>>,
    /// One after the other.
    parts: VecDeque<RootPart>,
    /// How many were forgotten before those.
    forgotten: u64,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    time: OwnersTime,
    /// How many parts there were before since the beginning, and how many it has.
    first: u64,
    parts: usize,
}

/// As many holds are known at most.
const PLACES_LOG: u32 = 10;

/// As many parts are. An owner's time is seldom split into more than two.
const MAX_PARTS: usize = 1 << 11;

/// What is split into more than so many parts is looked for again.
const MAX_PARTS_OF_TIME: usize = 64;

impl OwnersTime {
    /// That of a part of a wait for the lock.
    pub(crate) fn of(part: &Contention, lock: LockIndex) -> Self {
        Self {
            owner: part.owner.into(),
            lock,
            start_ns: part.start_ns,
            end_ns: part.start_ns + part.duration_ns,
        }
    }

    /// The place for it.
    fn place(&self) -> usize {
        let mixed = (self.owner.key(u64::MAX) ^ self.end_ns.rotate_left(20)).wrapping_mul(MIXER);
        (mixed >> (u64::BITS - PLACES_LOG)) as usize
    }
}

impl RootCache {
    /// The parts of that time, if they are known.
    pub(crate) fn of(
        &self,
        time: &OwnersTime,
    ) -> Option<impl ExactSizeIterator<Item = &RootPart> + use<'_>> {
        let known = (*self.places.get(time.place())?)?;
        let first = known.first.checked_sub(self.forgotten)? as usize;
        (known.time == *time).then(|| self.parts.range(first..first + known.parts))
    }

    /// Adds the parts of that time, which are always the same.
    pub(crate) fn add(&mut self, time: OwnersTime, parts: &[RootPart]) {
        if parts.len() > MAX_PARTS_OF_TIME {
            return;
        }
        if self.places.is_empty() {
            self.places = vec![None; 1 << PLACES_LOG];
        }
        self.places[time.place()] = Some(Known {
            time,
            first: self.forgotten + self.parts.len() as u64,
            parts: parts.len(),
        });
        self.parts.extend(parts);
        let surplus = self.parts.len().saturating_sub(MAX_PARTS);
        self.parts.drain(..surplus);
        self.forgotten += surplus as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entity::{ChainIndex, ThreadIndex};
    use crate::model::wait::{Owner, Root, RootEnd};

    fn time(number: u64) -> OwnersTime {
        let owner = Owner::Thread {
            thread: ThreadIndex(number as u32 % 7),
            chain: ChainIndex::NOT_RECORDED,
        };
        let part = Contention {
            start_ns: number,
            duration_ns: 3,
            owner,
        };
        OwnersTime::of(&part, LockIndex(number as u32 % 3))
    }

    fn parts(number: u64) -> Vec<RootPart> {
        let part = |start_ns| RootPart {
            start_ns,
            duration_ns: 1,
            contentions: 1,
            owner: Owner::Free,
            own_wait: None,
            safepoint: None,
            sample: None,
            root: Root {
                end: RootEnd::Cycle,
                lock: LockIndex(number as u32),
                depth: u32::MAX,
            },
        };
        (0..number % 70).map(|index| part(number + index)).collect()
    }

    #[test]
    fn what_is_known_is_what_was_added() {
        let mut recent = RootCache::default();
        let mut found = 0;
        for number in 0..20_000 {
            recent.add(time(number), &parts(number));
            for earlier in number.saturating_sub(40)..=number {
                if let Some(known) = recent.of(&time(earlier)) {
                    found += 1;
                    assert_eq!(known.copied().collect::<Vec<_>>(), parts(earlier));
                }
            }
            assert!(recent.parts.len() <= MAX_PARTS);
        }
        assert!(found > 20_000 * 30, "{found}");
    }
}
