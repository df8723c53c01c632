//! The state of a trace that all threads share.

mod clock;
mod drainer_control;
mod identifiers;
mod metadata_epoch;

#[cfg(not(loom))]
use std::mem::offset_of;
use std::path::Path;
use std::sync::Arc;

use trace_format::{JavaThreadId, LockId};

use crate::buffers::buffer_slot::CheckedOut;
use crate::buffers::file::BufferFile;
use crate::buffers::shared::SharedBuffers;
use crate::chains::set::ChainSet;
use crate::chains::unload_queue::UnloadQueue;
use crate::counters::{AgentCounts, Counts};
use crate::facts::Facts;
use crate::output::sink::Sink;
use crate::park_domains::ParkDomains;
use crate::runtime::clock::TraceClock;
use crate::runtime::drainer_control::DrainerControl;
use crate::runtime::identifiers::Identifiers;
use crate::runtime::metadata_epoch::MetadataEpoch;
use crate::site_table::SiteTable;
use crate::threads::thread_slot::ThreadSlot;
use crate::threads::traced_threads::TracedThreads;

/// Numbers that outlive a trace, because the JVM keeps them in its classes and methods.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used {
    /// The last epoch of metadata. Descriptions in it are not in the next trace.
    pub metadata_epoch: u32,
    /// The last identifier of a class or a method.
    pub entity_id: u32,
}

/// The settings of a trace.
#[derive(Debug, Default)]
pub(crate) struct Setup {
    /// The JVM's clock at the trace's start.
    pub(crate) start_ns: u64,
    pub(crate) max_buffer_bytes: u64,
    pub(crate) max_chain_bytes: u64,
    /// The numbers that earlier traces of the process have used up.
    pub(crate) used: Used,
    /// The memory of buffers that outlive the process.
    pub(crate) buffer_file: Option<Arc<BufferFile>>,
    /// Where objects were allocated, if that is recorded.
    pub(crate) sites: Option<SiteTable>,
    pub(crate) sink: Sink,
}

/// One trace. Threads may use it at any time until [`Runtime::end`].
// The fields are in memory in this order. The first three are read at nearly every event and
// hardly ever written. Together they fill one pair of cache lines, which processors fetch
// at once. State that threads write often follows, in lines of its own: the domains of parks and
// the owners seen are aligned to pairs, too.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Runtime {
    pub(crate) clock: TraceClock,
    pub(crate) metadata: MetadataEpoch,
    pub(crate) chains: ChainSet,
    pub(crate) park_domains: ParkDomains,
    pub(crate) threads: TracedThreads,
    /// Where objects were allocated, if that is recorded.
    pub(crate) sites: Option<SiteTable>,
    pub(crate) unload_queue: UnloadQueue,
    pub(crate) ids: Identifiers,
    pub(crate) buffers: SharedBuffers,
    pub(crate) facts: Facts,
    pub(crate) counts: Counts,
    /// Counted in the runtime of an agent.
    pub agent_counts: AgentCounts,
    pub(crate) sink: Sink,
    pub(crate) drainer: DrainerControl,
}

// The model checker's atomics are larger.
#[cfg(not(loom))]
const _: () = assert!(offset_of!(Runtime, park_domains) == 128);

impl Runtime {
    pub(crate) fn new(setup: Setup) -> Self {
        let threads = TracedThreads::new();
        Self {
            clock: TraceClock::new(setup.start_ns),
            metadata: MetadataEpoch::after(setup.used.metadata_epoch),
            chains: ChainSet::new(threads.slots, setup.max_chain_bytes),
            park_domains: ParkDomains::default(),
            threads,
            sites: setup.sites,
            unload_queue: UnloadQueue::default(),
            ids: Identifiers::after(setup.used.entity_id),
            buffers: SharedBuffers::new(setup.max_buffer_bytes, setup.buffer_file),
            facts: Facts::default(),
            counts: Counts::default(),
            agent_counts: AgentCounts::default(),
            sink: setup.sink,
            drainer: DrainerControl::default(),
        }
    }

    /// Returns the trace file, under the name that was free.
    pub fn path(&self) -> &Path {
        &self.sink.path
    }

    /// Hands the buffers of all threads to the drainer, except those that are
    /// being written to at this moment.
    pub(crate) fn reclaim_all(&self) {
        let slots = self.threads.slots;
        self.buffers
            .while_reclaiming(|| slots.empty(|slot| self.reclaim(slot).is_ok()));
    }

    /// Hands the buffer of one thread, if it has one, to the drainer.
    pub(crate) fn reclaim(&self, slot: &ThreadSlot) -> Result<(), CheckedOut> {
        if let Some(buffer) = slot.reclaim()? {
            self.buffers.submit(buffer);
        }
        Ok(())
    }

    /// Renames the thread of the JVM at this address, if it has a tracer.
    pub fn rename_thread(&self, vm_thread: u64, java_id: JavaThreadId, name: &str) {
        if let Some(slot) = self.threads.find_slot(vm_thread, java_id) {
            self.rename(slot, java_id, name);
        }
    }

    /// Renames the thread that has the slot.
    pub(crate) fn rename(&self, slot: &ThreadSlot, java_id: JavaThreadId, name: &str) {
        match slot.rename(java_id, name) {
            Some(()) => self.threads.slots.note_renamed(),
            None => self.counts.losses.add_events(1),
        }
    }

    /// Returns the epoch of metadata: what was described in an older one must be described again.
    pub fn metadata_epoch(&self) -> u32 {
        self.metadata.current()
    }

    /// Takes the place of a park event: its domain, and the next number there. `key` is the
    /// identity hash of the blocker, or without one the `Thread.getId()` of the thread that parks.
    pub fn park_number(&self, key: u64) -> (LockId, u64) {
        self.park_domains.next_number(key)
    }

    /// Returns a fresh identifier for a class or a method; never 0, never the same again.
    pub fn new_entity_id(&self) -> u32 {
        self.ids.entities.next_u32()
    }

    /// Returns how many classes, methods, chains and threads had to be described so far.
    pub(crate) fn described(&self) -> u64 {
        let entities = self.ids.entities.count();
        let threads = self.ids.threads.count();
        let chains = self.chains.chains();
        entities.saturating_add(threads).saturating_add(chains)
    }
}
