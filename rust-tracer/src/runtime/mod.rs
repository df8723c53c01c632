//! The state of a trace that all threads share.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use trace_format::{JavaThreadId, LockId, PARK_DOMAINS};

use crate::buffers::buffer::{Buffer, BufferBudget};
use crate::buffers::buffer_slot::CheckedOut;
use crate::buffers::file::BufferFile;
use crate::buffers::pool::BufferPool;
use crate::buffers::queue::BufferQueue;
use crate::chains::set::ChainSet;
use crate::chains::unload_queue::UnloadQueue;
use crate::counters::{AgentCounts, Losses, MemoryCount, SampleCounts, Serial, SiteCounts};
use crate::cycles;
use crate::facts::hook_parts::HookParts;
use crate::facts::safepoints::Safepoints;
use crate::os;
use crate::output::feed::Feed;
use crate::output::progress::Progress;
use crate::output::stop_signal::StopSignal;
use crate::park_domains::ParkDomains;
use crate::primitive::{AtomicBool, AtomicU32, Ordering};
use crate::site_table::SiteTable;
use crate::threads::numbers::ThreadNumbers;
use crate::threads::owners_seen::{OwnersSeen, SeenOwner};
use crate::threads::thread_slot::ThreadSlot;
use crate::threads::thread_slots::ThreadSlots;

/// Numbers that outlive a trace, because the JVM keeps them in its classes and methods.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used {
    /// The last epoch of metadata. What was described in it is not in the next trace.
    pub metadata_epoch: u32,
    /// The last identifier of a class or a method.
    pub entity_id: u32,
}

/// One trace. Threads may use it at any time until [`Runtime::end`].
#[derive(Debug)]
pub struct Runtime {
    /// The trace file.
    pub(crate) path: PathBuf,
    /// It is a file, not a pipe or a device.
    pub(crate) is_file: bool,
    /// How long the end of the trace waits while nothing can be written.
    pub(crate) max_stall: Duration,
    /// Clock of the JVM when the trace began.
    start_ns: u64,
    started: Instant,
    start_cycles: u64,
    max_buffer_bytes: u64,
    first_metadata_epoch: u32,
    metadata_epoch: AtomicU32,
    metadata_lost: AtomicBool,
    /// Nobody takes buffers from the queue any more.
    closed: AtomicBool,
    /// How many threads are in `reclaim_all`.
    reclaiming: AtomicU32,
    pub(crate) thread_slots: &'static ThreadSlots,
    pub(crate) thread_numbers: ThreadNumbers,
    pub(crate) queue: BufferQueue,
    pub(crate) pool: BufferPool,
    /// Where buffers outlive the process.
    pub(crate) buffer_file: Option<Arc<BufferFile>>,
    /// What goes to the analysis in this process.
    pub(crate) feed: Option<Arc<Feed>>,
    pub(crate) budget: BufferBudget,
    pub(crate) losses: Losses,
    /// What is counted if the runtime is that of an agent.
    pub agent_counts: AgentCounts,
    /// What is kept for threads, besides buffers.
    pub(crate) thread_memory: MemoryCount,
    /// How often the buffers of all threads were taken.
    pub(crate) reclaims: Serial,
    pub(crate) chains: ChainSet,
    pub(crate) unload_queue: UnloadQueue,
    pub(crate) thread_ids: Serial,
    pub(crate) lock_ids: Serial,
    pub(crate) park_domains: ParkDomains,
    pub(crate) forward_refs: Serial,
    /// Identifiers of classes and methods.
    pub(crate) entity_ids: Serial,
    pub(crate) safepoints: Safepoints,
    pub(crate) hook_parts: HookParts,
    pub(crate) owners_seen: OwnersSeen,
    pub(crate) sample_counts: SampleCounts,
    pub(crate) site_counts: SiteCounts,
    /// Where objects were allocated, if that is recorded.
    pub(crate) sites: Option<SiteTable>,
    pub(crate) stop_signal: StopSignal,
    pub(crate) progress: Progress,
    pub(crate) drainer: Mutex<Option<JoinHandle<()>>>,
}

impl Runtime {
    pub(crate) fn new(start_ns: u64, max_buffer_bytes: u64, max_chain_bytes: u64) -> Self {
        let thread_slots: &ThreadSlots = Box::leak(Box::default());
        Self {
            path: PathBuf::new(),
            is_file: false,
            max_stall: Duration::MAX,
            start_ns,
            started: Instant::now(),
            start_cycles: cycles::now(),
            max_buffer_bytes,
            first_metadata_epoch: 1,
            metadata_epoch: AtomicU32::new(1),
            metadata_lost: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            reclaiming: AtomicU32::new(0),
            thread_slots,
            thread_numbers: ThreadNumbers::new(),
            queue: BufferQueue::default(),
            pool: BufferPool::default(),
            buffer_file: None,
            feed: None,
            budget: BufferBudget::default(),
            losses: Losses::default(),
            agent_counts: AgentCounts::default(),
            thread_memory: MemoryCount::default(),
            reclaims: Serial::default(),
            chains: ChainSet::new(thread_slots, max_chain_bytes),
            unload_queue: UnloadQueue::default(),
            thread_ids: Serial::default(),
            lock_ids: Serial::after(PARK_DOMAINS),
            park_domains: ParkDomains::default(),
            forward_refs: Serial::default(),
            entity_ids: Serial::default(),
            safepoints: Safepoints::default(),
            hook_parts: HookParts::default(),
            owners_seen: OwnersSeen::default(),
            sample_counts: SampleCounts::default(),
            site_counts: SiteCounts::default(),
            sites: None,
            stop_signal: StopSignal::default(),
            progress: Progress::default(),
            drainer: Mutex::default(),
        }
    }

    /// Numbers epochs of metadata, classes and methods from where earlier traces of the process have stopped.
    pub(crate) fn number_after(&mut self, used: Used) {
        self.first_metadata_epoch = used.metadata_epoch.saturating_add(1);
        self.metadata_epoch = AtomicU32::new(self.first_metadata_epoch);
        self.entity_ids = Serial::after(used.entity_id.into());
    }

    /// The trace file, under the name that was free.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The trace file is one, not a pipe or a device.
    pub(crate) fn writes_file(&self) -> bool {
        self.is_file
    }

    /// Events are analyzed, and written nowhere.
    pub(crate) fn only_analyzes(&self) -> bool {
        self.path == Path::new(NO_FILE)
    }

    /// Hands the buffers of all threads to the drainer, but for those that are
    /// being written to at this moment.
    pub(crate) fn reclaim_all(&self) {
        self.reclaims.next();
        // Relaxed: whoever finds a slot emptied by this sees it all the same.
        self.reclaiming.fetch_add(1, Ordering::Relaxed);
        self.thread_slots.empty(|slot| self.reclaim(slot).is_ok());
        // Release: whoever sees that this is over sees the buffers in the queue.
        self.reclaiming.fetch_sub(1, Ordering::Release);
    }

    /// Hands the buffer of one thread, if it has one, to the drainer.
    pub(crate) fn reclaim(&self, slot: &ThreadSlot) -> Result<(), CheckedOut> {
        if let Some(buffer) = slot.reclaim()? {
            self.submit(buffer);
        }
        Ok(())
    }

    /// The thread of the JVM at this address, if it has a tracer, is called otherwise from now on.
    pub fn rename_thread(&self, vm_thread: u64, java_id: JavaThreadId, name: &str) {
        let slot = self.thread_numbers.find_slot(vm_thread);
        let slot = match slot {
            Some(number) => self.thread_slots.get(number),
            None if self.thread_numbers.are_complete() => None,
            None => self
                .thread_slots
                .iter()
                .find(|slot| slot.identity().is(SeenOwner::Java(java_id))),
        };
        if let Some(slot) = slot {
            self.rename(slot, java_id, name);
        }
    }

    /// The thread that has the slot is called otherwise from now on.
    pub(crate) fn rename(&self, slot: &ThreadSlot, java_id: JavaThreadId, name: &str) {
        match slot.rename(java_id, name) {
            Some(()) => self.thread_slots.note_renamed(),
            None => self.losses.add_events(1),
        }
    }

    /// Buffers may be on their way from a slot to the queue.
    pub(crate) fn is_reclaiming(&self) -> bool {
        // Acquire: see `reclaim_all`.
        self.reclaiming.load(Ordering::Acquire) > 0
    }

    /// Hands a buffer to the drainer.
    pub(crate) fn submit(&self, buffer: Box<Buffer>) {
        if !self.is_closed() {
            self.queue.push(buffer);
        }
    }

    /// The trace has ended; what is written goes nowhere.
    pub(crate) fn is_closed(&self) -> bool {
        // Relaxed: only saves memory and work.
        self.closed.load(Ordering::Relaxed)
    }

    /// Lets threads know that the trace has ended.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Metadata that was written in an older epoch must be written again.
    pub fn metadata_epoch(&self) -> u32 {
        // Relaxed: an epoch seen late only delays the repetition.
        self.metadata_epoch.load(Ordering::Relaxed)
    }

    /// The domain of a park event, and its place in the order there: by the identity hash of the
    /// blocker, or without one by the `Thread.getId()` of the thread that parks.
    pub fn park_number(&self, key: u64) -> (LockId, u64) {
        self.park_domains.next_number(key)
    }

    /// A fresh identifier for a class or a method; never 0, never the same again.
    pub fn new_entity_id(&self) -> u32 {
        self.entity_ids.next_u32()
    }

    /// How often metadata had to be written again.
    pub(crate) fn metadata_repeats(&self) -> u64 {
        self.metadata_epoch()
            .saturating_sub(self.first_metadata_epoch)
            .into()
    }

    /// Notes that metadata was lost.
    pub(crate) fn note_metadata_loss(&self) {
        self.metadata_lost.store(true, Ordering::Relaxed);
    }

    /// Begins a new epoch if metadata was lost. Left to the drainer, so that
    /// metadata is repeated only once somebody takes it again.
    pub(crate) fn repeat_lost_metadata(&self) {
        if self.metadata_lost.swap(false, Ordering::Relaxed) {
            self.metadata_epoch.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Most bytes that all buffers may take. Buffers that hold metadata may go
    /// up to twice as far.
    pub(crate) fn max_buffer_bytes(&self, for_metadata: bool) -> u64 {
        if for_metadata {
            self.max_buffer_bytes.saturating_mul(2)
        } else {
            self.max_buffer_bytes
        }
    }

    /// Buffers take more than half of the memory that they may take.
    pub(crate) fn buffers_are_scarce(&self) -> bool {
        self.budget.bytes() > self.max_buffer_bytes / 2
    }

    /// A time of the JVM's clock as nanoseconds since the trace's start.
    pub(crate) fn since_start_ns(&self, time_ns: u64) -> u64 {
        time_ns.saturating_sub(self.start_ns)
    }

    /// How many classes, methods, chains and threads there were to describe so far.
    pub(crate) fn described(&self) -> u64 {
        let entities = self.entity_ids.count();
        let threads = self.thread_ids.count();
        let chains = self.chains.chains();
        entities.saturating_add(threads).saturating_add(chains)
    }

    /// Nanoseconds since the trace's start.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// The JVM's clock, as nanoseconds since the trace's start.
    pub(crate) fn now_ns(&self) -> u64 {
        self.since_start_ns(os::monotonic_ns())
    }

    /// How long a cycle takes, in nanoseconds, by what it took on the average so far.
    pub(crate) fn ns_per_cycle(&self) -> f64 {
        let elapsed_cycles = self.elapsed_cycles().max(1);
        self.elapsed_ns() as f64 / elapsed_cycles as f64
    }

    /// Cycles since the trace's start.
    pub(crate) fn elapsed_cycles(&self) -> u64 {
        cycles::now().saturating_sub(self.start_cycles)
    }
}

/// What a trace without a file is called.
pub(crate) const NO_FILE: &str = "<online analysis>";
