//! The set of call chains for `benches/chain_set.rs`. Not an interface:
//! everything else uses [`ffi`](crate::ffi).

use trace_format::ChainId;

use crate::chains::entry::Added;
use crate::chains::key::{self, ChainKey, CodeUnit};
use crate::chains::set::{ChainKeeper, ChainSet};
use crate::chains::unloaded_code;
use crate::threads::thread_slots::{OwnedThreadSlot, ThreadSlots};

/// Returns the hash of a chain's frames.
pub fn hash(frames: &[u64]) -> u64 {
    key::hash(0, frames)
}

/// The set of call chains.
#[derive(Debug)]
pub struct Chains {
    slots: &'static ThreadSlots,
    set: ChainSet,
}

/// A thread's access to it.
#[derive(Debug)]
pub struct Access<'a> {
    set: &'a ChainSet,
    slot: OwnedThreadSlot,
}

/// The drainer's access to it.
#[derive(Debug)]
pub struct Keeper<'a>(ChainKeeper<'a>);

/// Code that is gone.
#[derive(Debug)]
pub struct UnloadedCode(unloaded_code::UnloadedCode);

impl Chains {
    /// Returns an empty set without bound.
    #[expect(clippy::new_without_default, reason = "as the set itself")]
    pub fn new() -> Self {
        let slots: &ThreadSlots = Box::leak(Box::default());
        let set = ChainSet::new(slots, u64::MAX);
        Self { slots, set }
    }

    /// Returns one thread's access; `None` when memory is short.
    pub fn access(&self) -> Option<Access<'_>> {
        let (set, slot) = (&self.set, self.slots.take()?);
        Some(Access { set, slot })
    }

    /// Returns the drainer's access, which only one thread may have.
    pub fn keeper(&self) -> Keeper<'_> {
        Keeper(ChainKeeper::new(&self.set))
    }
}

impl Access<'_> {
    /// Looks a chain up.
    pub fn find(&mut self, frames: &[u64], hash: u64) -> Option<ChainId> {
        self.set.find(&mut self.slot, ChainKey { frames, hash }, 1)
    }

    /// Begins and ends a reading of the set, as each lookup does.
    pub fn pin(&mut self) {
        drop(self.slot.read());
    }

    /// Adds a chain.
    pub fn add(&mut self, frames: &[u64], hash: u64) -> Option<ChainId> {
        let added = self.set.add(&mut self.slot, ChainKey { frames, hash }, 1)?;
        let (Added::Describe(id) | Added::Known(id)) = added;
        Some(id)
    }
}

impl Keeper<'_> {
    /// Frees what is no longer read, and exchanges a full table.
    pub fn step(&mut self) {
        self.0.step();
    }

    /// Removes the chains of unloaded code and returns their number.
    pub fn purge(&mut self, unloaded: &UnloadedCode) -> usize {
        self.0.purge(&unloaded.0).map_or(0, |ids| ids.len())
    }
}

impl UnloadedCode {
    /// Returns these compiled methods; none when memory is short.
    pub fn new(compile_ids: impl Iterator<Item = u32>) -> Self {
        let units = compile_ids.filter_map(CodeUnit::compiled);
        Self(unloaded_code::UnloadedCode::new(units.collect()).unwrap_or_default())
    }

    /// Returns whether the frame is of one of them.
    pub fn contains(&self, frame: u64) -> bool {
        self.0.contains(frame)
    }
}
