//! The code that had locks, without regard to what a change affects: that is asked once per code.

use crate::collections::hash::SeededMap;
use crate::model::entity::{ChainIndex, LockIndex};

/// The code that had a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct HoldCode {
    pub(super) lock: LockIndex,
    /// Where it acquired the lock, if it waited for it.
    pub(super) acquired_in: Option<ChainIndex>,
    /// Where it released the lock, if somebody saw that.
    pub(super) released_in: Option<ChainIndex>,
}

impl HoldCode {
    /// Whether `is_affected` is true of where the code acquires or releases the lock; of code that nobody
    /// knows if neither is known.
    pub(super) fn is_affected(
        self,
        is_affected: impl Fn(Option<ChainIndex>, LockIndex) -> bool,
    ) -> bool {
        let known = [self.acquired_in, self.released_in];
        match known {
            [None, None] => is_affected(None, self.lock),
            _ => (known.into_iter().flatten()).any(|chain| is_affected(Some(chain), self.lock)),
        }
    }
}

/// The position of a [`HoldCode`] among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HoldCodeIndex(u32);

impl HoldCodeIndex {
    /// Whether it is among the code that a change affects, if there is a change.
    pub(super) fn is_in(self, is_affected: &[bool]) -> bool {
        is_affected.get(self.0 as usize).copied().unwrap_or(false)
    }
}

/// All code that had locks, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct HoldCodes {
    codes: Vec<HoldCode>,
    indexes: SeededMap<HoldCode, HoldCodeIndex>,
}

impl HoldCodes {
    pub(super) fn add(&mut self, code: HoldCode) -> HoldCodeIndex {
        let codes = &mut self.codes;
        *self.indexes.entry(code).or_insert_with(|| {
            codes.push(code);
            HoldCodeIndex(codes.len() as u32 - 1)
        })
    }

    pub(super) fn get(&self, index: HoldCodeIndex) -> HoldCode {
        self.codes[index.0 as usize]
    }

    pub(super) fn all(&self) -> &[HoldCode] {
        &self.codes
    }
}
