//! The state of a trace that all threads share.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicU8;
use std::thread;
use std::time::{Duration, Instant};

use trace_format::{FileHeader, PARK_DOMAINS};

use crate::buffer::{Buffer, BufferBudget};
use crate::buffer_file::{BufferFile, NoBufferFile};
use crate::buffer_pool::BufferPool;
use crate::buffer_queue::BufferQueue;
use crate::buffer_slot::CheckedOut;
use crate::chain_set::ChainSet;
use crate::counters::{Losses, MemoryCount, Serial};
use crate::cycles;
use crate::destination::OpenError;
use crate::drainer::{self, StopSignal};
use crate::park_domains::ParkDomains;
use crate::primitive::{AtomicBool, AtomicU32, Ordering};
use crate::thread_numbers::ThreadNumbers;
use crate::thread_slots::{ThreadSlot, ThreadSlots};
use crate::trace_file::TraceFile;
use crate::unload_queue::UnloadQueue;

/// Default of [`Config::max_buffer_bytes`].
const DEFAULT_MAX_BUFFER_BYTES: u64 = 64 << 20;
/// Memory that the set of call chains may take.
const MAX_CHAIN_BYTES: u64 = 64 << 20;

/// How long the end of the trace waits for a reader that does not read.
const MAX_STALL: Duration = Duration::from_secs(2);

/// How to trace.
#[derive(Debug)]
pub(crate) struct Config {
    /// The trace file to be created.
    pub(crate) path: PathBuf,
    /// What the file says about the trace.
    pub(crate) header: FileHeader,
    /// Monotonic clock at the trace's start; the clock of all times.
    pub(crate) start_ns: u64,
    /// Set to 0 when tracing goes off by itself.
    pub(crate) enabled: Option<&'static AtomicU8>,
    /// Bound of all buffers together; 0 for the default.
    pub(crate) max_buffer_bytes: u64,
    /// Keep the buffers in a file beside the trace.
    pub(crate) crash_safe: bool,
}

/// One trace. Lives as long as the process: threads may use it at any time.
#[derive(Debug)]
pub struct Runtime {
    /// The trace file.
    path: PathBuf,
    /// How long the end of the trace waits while nothing can be written.
    max_stall: Duration,
    /// Clock of the JVM when the trace began.
    start_ns: u64,
    started: Instant,
    start_cycles: u64,
    max_buffer_bytes: u64,
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
    pub(crate) buffer_file: Option<&'static BufferFile>,
    pub(crate) budget: BufferBudget,
    pub(crate) losses: Losses,
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
    pub(crate) stop_signal: StopSignal,
}

/// Why no trace was started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("cannot create the drainer thread: {0}")]
    Thread(#[source] io::Error),
}

impl Runtime {
    /// Opens the trace file and starts the drainer.
    pub(crate) fn start(config: Config) -> Result<&'static Self, StartError> {
        let max_buffer_bytes = match config.max_buffer_bytes {
            0 => DEFAULT_MAX_BUFFER_BYTES,
            bytes => bytes,
        };
        let file = TraceFile::create(config.path, config.enabled)?;
        let buffer_file = if config.crash_safe {
            new_buffer_file(&file, &config.header, max_buffer_bytes)
        } else {
            None
        };
        cycles::calibrate();
        let runtime = Self::new(config.start_ns, max_buffer_bytes, MAX_CHAIN_BYTES);
        let runtime = Box::leak(Box::new(Self {
            path: file.path().to_owned(),
            max_stall: if file.has_reader() {
                MAX_STALL
            } else {
                Duration::MAX
            },
            pool: buffer_file.map_or_else(BufferPool::default, BufferPool::in_file),
            buffer_file,
            ..runtime
        }));
        if let Err(error) = drainer::spawn(runtime, file, &config.header) {
            buffer_file.inspect(|file| file.remove());
            return Err(StartError::Thread(error));
        }
        Ok(runtime)
    }

    pub(crate) fn new(start_ns: u64, max_buffer_bytes: u64, max_chain_bytes: u64) -> Self {
        let thread_slots: &ThreadSlots = Box::leak(Box::default());
        Self {
            path: PathBuf::new(),
            max_stall: Duration::MAX,
            start_ns,
            started: Instant::now(),
            start_cycles: cycles::now(),
            max_buffer_bytes,
            metadata_epoch: AtomicU32::new(1),
            metadata_lost: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            reclaiming: AtomicU32::new(0),
            thread_slots,
            thread_numbers: ThreadNumbers::new(),
            queue: BufferQueue::default(),
            pool: BufferPool::default(),
            buffer_file: None,
            budget: BufferBudget::default(),
            losses: Losses::default(),
            thread_memory: MemoryCount::default(),
            reclaims: Serial::default(),
            chains: ChainSet::new(thread_slots, max_chain_bytes),
            unload_queue: UnloadQueue::default(),
            thread_ids: Serial::default(),
            lock_ids: Serial::after(PARK_DOMAINS),
            park_domains: ParkDomains::default(),
            forward_refs: Serial::default(),
            entity_ids: Serial::default(),
            stop_signal: StopSignal::default(),
        }
    }

    /// Ends the trace: everything written so far goes to the file. Gives up
    /// waiting for that after `timeout`, or earlier if nobody reads a pipe. Further
    /// calls do nothing.
    pub(crate) fn stop(&self, timeout: Duration) {
        if !self.stop_signal.stop(timeout, self.max_stall) {
            let path = self.path.display();
            // There is nobody to tell that standard error cannot be written.
            let _ = writeln!(
                io::stderr(),
                "locktrace: the end of '{path}' is missing: writing takes too long"
            );
        }
    }

    /// Hands the buffers of all threads to the drainer, but for those that are
    /// being written to at this moment. Returns whether there were none.
    pub(crate) fn reclaim_all(&self) -> bool {
        self.reclaims.next();
        // Relaxed: whoever finds a slot emptied by this sees it all the same.
        self.reclaiming.fetch_add(1, Ordering::Relaxed);
        let mut is_complete = true;
        for slot in self.thread_slots.iter() {
            is_complete &= self.reclaim(slot).is_ok();
        }
        // Release: whoever sees that this is over sees the buffers in the queue.
        self.reclaiming.fetch_sub(1, Ordering::Release);
        is_complete
    }

    /// As [`reclaim_all`](Self::reclaim_all), but lets threads that write to their
    /// buffers finish, if they do so soon.
    pub(crate) fn reclaim_all_patiently(&self) {
        const MAX_YIELDS: usize = 100;
        for _ in 0..MAX_YIELDS {
            if self.reclaim_all() {
                return;
            }
            thread::yield_now();
        }
    }

    /// Hands the buffer of one thread, if it has one, to the drainer.
    pub(crate) fn reclaim(&self, slot: &ThreadSlot) -> Result<(), CheckedOut> {
        if let Some(buffer) = slot.reclaim()? {
            self.submit(buffer);
        }
        Ok(())
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
    pub(crate) fn metadata_epoch(&self) -> u32 {
        // Relaxed: an epoch seen late only delays the repetition.
        self.metadata_epoch.load(Ordering::Relaxed)
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

    /// Nanoseconds since the trace's start.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Cycles since the trace's start.
    pub(crate) fn elapsed_cycles(&self) -> u64 {
        cycles::now().saturating_sub(self.start_cycles)
    }
}

/// Creates the file of buffers beside a trace that is a file, or says in one line why there
/// is none.
fn new_buffer_file(
    trace: &TraceFile,
    header: &FileHeader,
    max_buffer_bytes: u64,
) -> Option<&'static BufferFile> {
    if trace.has_reader() {
        return None;
    }
    // Buffers with metadata may go twice as far.
    let max_bytes = max_buffer_bytes.saturating_mul(2);
    match BufferFile::create(trace.path(), header, max_bytes) {
        Ok(file) => Some(Box::leak(Box::new(file))),
        Err(reason) => {
            complain_of_no_buffer_file(&reason);
            None
        }
    }
}

fn complain_of_no_buffer_file(reason: &NoBufferFile) {
    // There is nobody to tell that standard error cannot be written.
    let _ = writeln!(
        io::stderr(),
        "locktrace: {reason}; the last second of events would be lost if the JVM were killed"
    );
}
