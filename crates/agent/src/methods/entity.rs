//! Identifiers of methods and classes.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rust_tracer::Runtime;

/// An identifier, and the metadata epoch in which it was last described, 0 at first.
#[derive(Debug)]
pub(super) struct Entity {
    pub(super) id: u32,
    described_in: AtomicU32,
}

impl Entity {
    pub(super) fn new(runtime: &Runtime) -> Self {
        Self {
            id: runtime.new_entity_id(),
            described_in: AtomicU32::new(0),
        }
    }

    /// Returns another entry for the same entity.
    pub(super) fn again(&self) -> Self {
        Self {
            id: self.id,
            // Relaxed: see below.
            described_in: AtomicU32::new(self.described_in.load(Relaxed)),
        }
    }

    /// Returns `true` to the one caller that has to describe it in this epoch.
    pub(super) fn claim(&self, runtime: &Runtime) -> bool {
        // Relaxed: guards no other memory, and descriptions may come in any order.
        let epoch = runtime.metadata_epoch();
        self.described_in.load(Relaxed) != epoch && self.described_in.swap(epoch, Relaxed) != epoch
    }
}
