//! The buffers of all threads.

use std::sync::Arc;

use crate::buffers::buffer::{Buffer, BufferBudget};
use crate::buffers::file::BufferFile;
use crate::buffers::pool::BufferPool;
use crate::buffers::queue::BufferQueue;
use crate::counters::Serial;
use crate::primitive::{AtomicBool, AtomicU32, Ordering};

/// Where threads get their buffers from, and where those go.
#[derive(Debug)]
pub(crate) struct SharedBuffers {
    pub(crate) queue: BufferQueue,
    pub(crate) pool: BufferPool,
    pub(crate) budget: BufferBudget,
    /// The memory of buffers that outlive the process.
    pub(crate) file: Option<Arc<BufferFile>>,
    max_bytes: u64,
    /// Counts how often the buffers of all threads were taken.
    reclaims: Serial,
    /// How many threads take the buffers of all threads at present.
    reclaiming: AtomicU32,
    /// The queue is not emptied any more.
    closed: AtomicBool,
}

impl SharedBuffers {
    /// Buffers that take up to `max_bytes`, in `file` as far as there is one.
    pub(crate) fn new(max_bytes: u64, file: Option<Arc<BufferFile>>) -> Self {
        Self {
            queue: BufferQueue::default(),
            pool: BufferPool::new(file.clone()),
            budget: BufferBudget::default(),
            file,
            max_bytes,
            reclaims: Serial::default(),
            reclaiming: AtomicU32::new(0),
            closed: AtomicBool::new(false),
        }
    }

    /// Hands a buffer to the drainer.
    pub(crate) fn submit(&self, buffer: Box<Buffer>) {
        if !self.are_closed() {
            self.queue.push(buffer);
        }
    }

    /// The trace has ended; what is written goes nowhere.
    pub(crate) fn are_closed(&self) -> bool {
        // Relaxed: only saves memory and work.
        self.closed.load(Ordering::Relaxed)
    }

    /// Lets threads know that the trace has ended.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Runs `reclaim`, which submits the buffers of all threads.
    pub(crate) fn while_reclaiming(&self, reclaim: impl FnOnce()) {
        self.reclaims.next();
        // Relaxed: a thread that finds a slot emptied by this sees it all the same.
        self.reclaiming.fetch_add(1, Ordering::Relaxed);
        reclaim();
        // Release: a thread that sees that this is over sees the buffers in the queue.
        self.reclaiming.fetch_sub(1, Ordering::Release);
    }

    /// Buffers may be on their way from a slot to the queue.
    pub(crate) fn are_reclaimed(&self) -> bool {
        // Acquire: see `while_reclaiming`.
        self.reclaiming.load(Ordering::Acquire) > 0
    }

    /// Returns how often the buffers of all threads were taken.
    pub(crate) fn reclaims(&self) -> u64 {
        self.reclaims.count()
    }

    /// Returns the most bytes that all buffers may take. Buffers that hold metadata may go
    /// up to twice as far.
    pub(crate) fn max_bytes(&self, for_metadata: bool) -> u64 {
        match for_metadata {
            true => self.max_bytes.saturating_mul(2),
            false => self.max_bytes,
        }
    }

    /// Buffers take more than half of the memory that they may take.
    pub(crate) fn are_scarce(&self) -> bool {
        self.budget.bytes() > self.max_bytes / 2
    }
}
