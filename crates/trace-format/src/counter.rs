//! What the tracer counted about itself: the payload of a counters chunk.
//!
//! The payload is a sequence of pairs of varints, a counter's id and its value.
//! The tracer writes all counters again and again; the last value of each holds.

use crate::segment::DecodeError;
use crate::varint;
use crate::wire::ByteReader;

/// A counter of the tracer. The discriminant is its id in the file and is never
/// given to another counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[non_exhaustive]
pub enum Counter {
    /// Events lost because the drainer could not keep up or memory ran out.
    LostEvents = 1,
    /// Buffers lost for the same reasons.
    LostBuffers = 2,
    /// Those among [`LostBuffers`](Self::LostBuffers) that held metadata, which
    /// was then written again.
    LostMetadataBuffers = 3,
    /// Events in the file.
    Events = 4,
    /// Buffers in the file.
    Buffers = 5,
    /// Chunks of events in the file.
    Chunks = 6,
    /// Bytes of the chunks of events, before compression.
    RawBytes = 7,
    /// Bytes of the file.
    FileBytes = 8,
    /// Most buffers in existence at once.
    PeakBuffers = 9,
    /// Most bytes in buffers at once.
    PeakBufferBytes = 10,
    /// Processor time of the drainer in nanoseconds.
    DrainerCpuNs = 11,
    /// Threads that had a tracer.
    Threads = 12,
    /// Locks that got an identifier.
    Locks = 13,
    /// Call chains that got an identifier.
    Chains = 14,
    /// Times that the set of call chains was full and emptied.
    ChainSetResets = 15,
    /// Times that all metadata was described again after a loss.
    MetadataRepeats = 16,
    /// Call chains that hooks recorded for their events.
    ChainsRecorded = 17,
    /// Those among [`ChainsRecorded`](Self::ChainsRecorded) that the set of call
    /// chains knew.
    ChainsFound = 18,
    /// Call chains forgotten because the code of one of their frames is gone.
    ChainsPurged = 19,
    /// Physical frames that stack walks visited.
    FramesVisited = 20,
    /// Physical frames that a return barrier on the stack made it unnecessary to visit.
    FramesSaved = 21,
    /// Cycles of the processor's time stamp counter since the trace's start: what
    /// the other numbers of cycles are converted to time with.
    ElapsedCycles = 22,
    /// Runs of the hook of contended enter, interrupted ones excluded. The cycles
    /// here and below are estimates: they are counted in each of a thread's first
    /// runs and then in a sample.
    EnterHooks = 23,
    /// Cycles spent in [`EnterHooks`](Self::EnterHooks).
    EnterCycles = 24,
    /// Runs of the hook of contended entered, interrupted ones excluded.
    EnteredHooks = 25,
    /// Cycles spent in [`EnteredHooks`](Self::EnteredHooks).
    EnteredCycles = 26,
    /// Runs of the hook of contended exit, interrupted ones excluded.
    ExitHooks = 27,
    /// Cycles spent in [`ExitHooks`](Self::ExitHooks).
    ExitCycles = 28,
    /// Runs of the hook of park begin, interrupted ones excluded.
    ParkBeginHooks = 29,
    /// Cycles spent in [`ParkBeginHooks`](Self::ParkBeginHooks).
    ParkBeginCycles = 30,
    /// Runs of the hook of park end, interrupted ones excluded.
    ParkEndHooks = 31,
    /// Cycles spent in [`ParkEndHooks`](Self::ParkEndHooks).
    ParkEndCycles = 32,
    /// Runs of the hook of unpark, interrupted ones excluded.
    UnparkHooks = 33,
    /// Cycles spent in [`UnparkHooks`](Self::UnparkHooks).
    UnparkCycles = 34,
    /// Runs of hooks of any kind that took more than 100,000 cycles: the thread
    /// was descheduled or had much to describe. Counted here only.
    InterruptedHooks = 35,
    /// Cycles spent in [`InterruptedHooks`](Self::InterruptedHooks).
    InterruptedCycles = 36,
}

impl Counter {
    /// All counters in the order of their ids.
    pub const ALL: [Self; 36] = [
        Self::LostEvents,
        Self::LostBuffers,
        Self::LostMetadataBuffers,
        Self::Events,
        Self::Buffers,
        Self::Chunks,
        Self::RawBytes,
        Self::FileBytes,
        Self::PeakBuffers,
        Self::PeakBufferBytes,
        Self::DrainerCpuNs,
        Self::Threads,
        Self::Locks,
        Self::Chains,
        Self::ChainSetResets,
        Self::MetadataRepeats,
        Self::ChainsRecorded,
        Self::ChainsFound,
        Self::ChainsPurged,
        Self::FramesVisited,
        Self::FramesSaved,
        Self::ElapsedCycles,
        Self::EnterHooks,
        Self::EnterCycles,
        Self::EnteredHooks,
        Self::EnteredCycles,
        Self::ExitHooks,
        Self::ExitCycles,
        Self::ParkBeginHooks,
        Self::ParkBeginCycles,
        Self::ParkEndHooks,
        Self::ParkEndCycles,
        Self::UnparkHooks,
        Self::UnparkCycles,
        Self::InterruptedHooks,
        Self::InterruptedCycles,
    ];

    /// The counter with the given id in the file.
    pub fn from_id(id: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|counter| counter.id() == id)
    }

    /// The counter's id in the file.
    pub const fn id(self) -> u64 {
        self as u64
    }

    /// The counter's name in `snake_case`, with its unit.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LostEvents => "lost_events",
            Self::LostBuffers => "lost_buffers",
            Self::LostMetadataBuffers => "lost_metadata_buffers",
            Self::Events => "events",
            Self::Buffers => "buffers",
            Self::Chunks => "chunks",
            Self::RawBytes => "raw_bytes",
            Self::FileBytes => "file_bytes",
            Self::PeakBuffers => "peak_buffers",
            Self::PeakBufferBytes => "peak_buffer_bytes",
            Self::DrainerCpuNs => "drainer_cpu_ns",
            Self::Threads => "threads",
            Self::Locks => "locks",
            Self::Chains => "chains",
            Self::ChainSetResets => "chain_set_resets",
            Self::MetadataRepeats => "metadata_repeats",
            Self::ChainsRecorded => "chains_recorded",
            Self::ChainsFound => "chains_found",
            Self::ChainsPurged => "chains_purged",
            Self::FramesVisited => "frames_visited",
            Self::FramesSaved => "frames_saved",
            Self::ElapsedCycles => "elapsed_cycles",
            Self::EnterHooks => "enter_hooks",
            Self::EnterCycles => "enter_cycles",
            Self::EnteredHooks => "entered_hooks",
            Self::EnteredCycles => "entered_cycles",
            Self::ExitHooks => "exit_hooks",
            Self::ExitCycles => "exit_cycles",
            Self::ParkBeginHooks => "park_begin_hooks",
            Self::ParkBeginCycles => "park_begin_cycles",
            Self::ParkEndHooks => "park_end_hooks",
            Self::ParkEndCycles => "park_end_cycles",
            Self::UnparkHooks => "unpark_hooks",
            Self::UnparkCycles => "unpark_cycles",
            Self::InterruptedHooks => "interrupted_hooks",
            Self::InterruptedCycles => "interrupted_cycles",
        }
    }
}

/// Appends one pair to a payload.
pub(crate) fn push(payload: &mut Vec<u8>, counter: Counter, value: u64) {
    varint::push(payload, counter.id());
    varint::push(payload, value);
}

/// The pairs of a counters chunk. Counters that this version does not know are
/// passed over.
#[derive(Clone, Debug)]
pub struct Counters<'a> {
    input: ByteReader<'a>,
    len: usize,
}

impl<'a> Counters<'a> {
    pub(crate) fn new(payload: &'a [u8]) -> Self {
        Self {
            input: ByteReader::new(payload),
            len: payload.len(),
        }
    }
}

impl Iterator for Counters<'_> {
    type Item = Result<(Counter, u64), DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.input.is_empty() {
            let offset = self.len - self.input.remaining();
            let id = self.input.varint();
            let pair = id.and_then(|id| Ok((Counter::from_id(id), self.input.varint()?)));
            match pair {
                Ok((Some(counter), value)) => return Some(Ok((counter, value))),
                Ok((None, _)) => {}
                Err(cause) => {
                    self.input = ByteReader::new(&[]);
                    return Some(Err(DecodeError { offset, cause }));
                }
            }
        }
        None
    }
}
