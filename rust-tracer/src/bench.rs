//! What `benches/chain_set.rs` sees of the set of call chains. No interface:
//! everything else uses [`ffi`](crate::ffi).

use trace_format::ChainId;

use crate::chain_key::{self, ChainKey, CodeUnit};
use crate::chain_set::{ChainAccess, ChainKeeper, ChainSet};
use crate::chain_table::Added;
use crate::unloaded_code;

/// The hash of a chain's frames.
pub fn hash(frames: &[u64]) -> u64 {
    chain_key::hash(0, frames)
}

/// The set of call chains.
#[derive(Debug)]
pub struct Chains(ChainSet);

/// A thread's access to it.
#[derive(Debug)]
pub struct Access<'a>(ChainAccess<'a>);

/// The drainer's access to it.
#[derive(Debug)]
pub struct Keeper<'a>(ChainKeeper<'a>);

/// Code that is gone.
#[derive(Debug)]
pub struct UnloadedCode(unloaded_code::UnloadedCode);

impl Chains {
    /// An empty set without bound.
    #[expect(clippy::new_without_default, reason = "as the set itself")]
    pub fn new() -> Self {
        Self(ChainSet::new(u64::MAX))
    }

    /// For one thread.
    pub fn access(&self) -> Access<'_> {
        Access(self.0.access())
    }

    /// For one thread in the whole.
    pub fn keeper(&self) -> Keeper<'_> {
        Keeper(ChainKeeper::new(&self.0))
    }
}

impl Access<'_> {
    /// Looks a chain up.
    pub fn find(&self, frames: &[u64], hash: u64) -> Option<ChainId> {
        self.0.find(ChainKey { frames, hash }, 1)
    }

    /// Adds a chain.
    pub fn add(&self, frames: &[u64], hash: u64) -> Option<ChainId> {
        let added = self.0.add(ChainKey { frames, hash }, 1)?;
        let (Added::Describe(id) | Added::Known(id)) = added;
        Some(id)
    }
}

impl Keeper<'_> {
    /// What the drainer does at each look.
    pub fn step(&mut self) {
        self.0.step();
    }

    /// Removes the chains of unloaded code and returns how many there were.
    pub fn purge(&mut self, unloaded: &UnloadedCode) -> usize {
        self.0.purge(&unloaded.0).len()
    }
}

impl UnloadedCode {
    /// Compiled methods.
    pub fn new(compile_ids: impl Iterator<Item = u32>) -> Self {
        let units = compile_ids.filter_map(CodeUnit::compiled);
        Self(unloaded_code::UnloadedCode::new(units.collect()))
    }

    /// The frame is of one of them.
    pub fn contains(&self, frame: u64) -> bool {
        self.0.contains(frame)
    }
}
