//! A cache of the root owners of spans.
//!
//! Threads that want one lock wait through the same holds of it, so a hold whose end a hundred
//! threads wait for is a part of a hundred waits. Its owner's activity is looked up once.

use std::collections::VecDeque;

use crate::collections::hash::MIXER;
use crate::model::entity::LockIndex;
use crate::model::packed_owner::PackedOwner;
use crate::model::wait::{Contention, RootPart};

/// A span in which a thread owned a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnersTime {
    owner: PackedOwner,
    lock: LockIndex,
    start_ns: u64,
    end_ns: u64,
}

/// The parts of recently resolved spans.
#[derive(Debug, Default)]
pub(crate) struct RootCache {
    /// By [`OwnersTime::place`]; empty before the first span is added.
    places: Vec<Option<Known>>,
    /// The parts of all spans, in sequence.
    parts: VecDeque<RootPart>,
    /// Number of parts forgotten before.
    forgotten: u64,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    time: OwnersTime,
    /// Number of parts added before its first one since the beginning, and number of its parts.
    first: u64,
    parts: usize,
}

/// Binary logarithm of the maximum number of spans kept.
const PLACES_LOG: u32 = 10;

/// Maximum number of parts kept. An owner's time is seldom split into more than two.
const MAX_PARTS: usize = 1 << 11;

/// Maximum number of parts of a span that is kept; others are resolved again.
const MAX_PARTS_OF_TIME: usize = 64;

impl OwnersTime {
    /// Returns the span of a part of a wait for the lock.
    pub(crate) fn of(part: &Contention, lock: LockIndex) -> Self {
        Self {
            owner: part.owner.into(),
            lock,
            start_ns: part.start_ns,
            end_ns: part.start_ns + part.duration_ns,
        }
    }

    /// Returns the place of the span.
    fn place(&self) -> usize {
        let mixed = (self.owner.key(u64::MAX) ^ self.end_ns.rotate_left(20)).wrapping_mul(MIXER);
        (mixed >> (u64::BITS - PLACES_LOG)) as usize
    }
}

impl RootCache {
    /// Returns the parts of a span, if they are known.
    pub(crate) fn of(
        &self,
        time: &OwnersTime,
    ) -> Option<impl ExactSizeIterator<Item = &RootPart> + use<'_>> {
        let known = (*self.places.get(time.place())?)?;
        let first = known.first.checked_sub(self.forgotten)? as usize;
        (known.time == *time).then(|| self.parts.range(first..first + known.parts))
    }

    /// Adds the parts of a span, which never change.
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
            root: Root::at(RootEnd::Cycle, LockIndex(number as u32), u32::MAX),
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
