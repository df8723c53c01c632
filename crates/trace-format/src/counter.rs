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
}

impl Counter {
    /// All counters in the order of their ids.
    pub const ALL: [Self; 16] = [
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
