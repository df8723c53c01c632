//! Layout of a chunk.
//!
//! A chunk is a header of [`HEADER_LEN`] bytes and a payload. It can be read
//! without any other chunk.
//!
//! | offset | length | field |
//! |---|---|---|
//! | 0 | 4 | [`MAGIC`] |
//! | 4 | 1 | kind: 1 events, 2 counters, 3 end, 4 system; readers pass over others |
//! | 5 | 1 | flags: bit 0 compressed, bit 1 contains metadata |
//! | 6 | 2 | 0 |
//! | 8 | 4 | length of the payload as stored, at most [`MAX_STORED_LEN`] |
//! | 12 | 4 | length of the payload before compression, at most [`MAX_RAW_LEN`] |
//! | 16 | 4 | CRC-32C of the payload as stored |
//! | 20 | 4 | CRC-32C of bytes 0 to 19 |
//! | 24 | | payload |
//!
//! Compression is snappy's raw format. The header has a checksum of its own so
//! that a reader can trust the length of a chunk whose payload is damaged: a
//! search for the next magic inside it could be made to take quadratic time.
//!
//! The payload of an **events** chunk is a sequence of segments: thread, index of the buffer among
//! the thread's buffers, length in bytes (three varints), then the events
//! ([`segment`](crate::segment)). The payload of a **counters** chunk is described in [`counter`],
//! of a **system** chunk in [`system`]. The payload of the **end** chunk, the last one of a trace,
//! is two varints: the time of the end in nanoseconds since the trace's start, and the number of
//! chunks before this one. If tracing had to end before the JVM did, the reason follows
//! ([`EndReason`]): its number, and for a write error the number of the error, both varints.

use std::collections::TryReserveError;
use std::mem;

use crate::counter::{self, Counter, Counters};
use crate::error::{DecodeError, DoesNotFit, Malformed};
use crate::id::ThreadId;
use crate::segment::SegmentDecoder;
use crate::system::{self, SystemRecord, SystemRecords};
use crate::varint;
use crate::wire::ByteReader;

/// First bytes of a chunk. Not ASCII and not UTF-8, so that text in a payload
/// never looks like it.
pub const MAGIC: [u8; 4] = [0xfe, b'L', b'c', 0xfd];
/// Length of a chunk's header.
pub const HEADER_LEN: usize = 24;
/// Greatest length of a payload as stored.
pub const MAX_STORED_LEN: usize = 1 << 20;
/// Greatest length of a payload before compression.
pub const MAX_RAW_LEN: usize = 4 << 20;

/// Greatest length of a segment before its events.
const MAX_SEGMENT_HEADER_LEN: usize = 3 * varint::MAX_LEN;
/// More than the counters of a chunk take.
const USUAL_PAYLOAD_LEN: usize = 2 << 10;
/// Length of the blocks that snappy compresses.
const SNAPPY_BLOCK_LEN: usize = 64 << 10;

const FLAG_COMPRESSED: u8 = 1;
const FLAG_METADATA: u8 = 2;

/// The kind of a chunk's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkKind {
    /// Segments of events.
    Events,
    /// Values of [`Counter`]s.
    Counters,
    /// Nothing follows.
    End,
    /// What the JVM and the system did with threads.
    System,
    /// A kind that only later versions know, with its number.
    Unknown(u8),
}

impl ChunkKind {
    const fn id(self) -> u8 {
        match self {
            Self::Events => 1,
            Self::Counters => 2,
            Self::End => 3,
            Self::System => 4,
            Self::Unknown(id) => id,
        }
    }

    fn from_id(id: u8) -> Self {
        [Self::Events, Self::Counters, Self::End, Self::System]
            .into_iter()
            .find(|kind| kind.id() == id)
            .unwrap_or(Self::Unknown(id))
    }
}

/// The reason for the end of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndReason {
    /// The JVM has ended in an orderly way.
    #[default]
    Orderly,
    /// The file could not be written any more.
    WriteError {
        /// Number of the system's error (`errno`), 0 if the system did not report one.
        error: u32,
    },
    /// The tracer could not allocate memory.
    MemoryShort,
    /// The file is a copy of a trace that went on.
    Copied,
    /// A reason of a later version.
    Other {
        /// Its number.
        number: u64,
    },
}

impl EndReason {
    const WRITE_ERROR: u64 = 1;
    const MEMORY_SHORT: u64 = 2;
    const COPIED: u64 = 3;

    fn push(self, payload: &mut Vec<u8>) {
        match self {
            Self::Orderly => {}
            Self::WriteError { error } => {
                varint::push(payload, Self::WRITE_ERROR);
                varint::push(payload, error.into());
            }
            Self::MemoryShort => varint::push(payload, Self::MEMORY_SHORT),
            Self::Copied => varint::push(payload, Self::COPIED),
            Self::Other { number } => varint::push(payload, number),
        }
    }

    fn read(input: &mut ByteReader<'_>) -> Result<Self, Malformed> {
        if input.is_empty() {
            return Ok(Self::Orderly);
        }
        Ok(match input.varint()? {
            0 => Self::Orderly,
            Self::WRITE_ERROR => Self::WriteError {
                error: input.number()?,
            },
            Self::MEMORY_SHORT => Self::MemoryShort,
            Self::COPIED => Self::Copied,
            number => Self::Other { number },
        })
    }
}

/// The header of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHeader {
    /// The kind of the payload.
    pub kind: ChunkKind,
    /// The payload is stored in snappy's raw format.
    pub compressed: bool,
    /// The payload holds an event that [is metadata](crate::Event::is_metadata).
    pub contains_metadata: bool,
    /// Length of the payload as stored.
    pub stored_len: u32,
    /// Length of the payload before compression.
    pub raw_len: u32,
    /// CRC-32C of the payload as stored.
    pub payload_checksum: u32,
}

impl ChunkHeader {
    /// Returns the header's bytes.
    pub fn encode(&self) -> [u8; HEADER_LEN] {
        let flags = if self.compressed { FLAG_COMPRESSED } else { 0 }
            | if self.contains_metadata {
                FLAG_METADATA
            } else {
                0
            };
        let mut bytes = [0; HEADER_LEN];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = self.kind.id();
        bytes[5] = flags;
        bytes[8..12].copy_from_slice(&self.stored_len.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.raw_len.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.payload_checksum.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..20]);
        bytes[20..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Returns the header in `bytes`; `None` if they are not the header of a
    /// chunk.
    pub fn decode(bytes: &[u8; HEADER_LEN]) -> Option<Self> {
        let u32_at = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        if bytes[..4] != MAGIC || u32_at(20) != crc32c::crc32c(&bytes[..20]) {
            return None;
        }
        let header = Self {
            kind: ChunkKind::from_id(bytes[4]),
            compressed: bytes[5] & FLAG_COMPRESSED != 0,
            contains_metadata: bytes[5] & FLAG_METADATA != 0,
            stored_len: u32_at(8),
            raw_len: u32_at(12),
            payload_checksum: u32_at(16),
        };
        let lengths_agree = header.compressed || header.stored_len == header.raw_len;
        let lengths_allowed =
            header.stored_len as usize <= MAX_STORED_LEN && header.raw_len as usize <= MAX_RAW_LEN;
        (lengths_agree && lengths_allowed).then_some(header)
    }
}

/// Builds chunks. One writer serves for all chunks of a trace, one after the
/// other, and keeps its memory.
pub struct ChunkWriter {
    /// Compresses payloads, unless the trace is not to be compressed.
    snappy: Option<snap::raw::Encoder>,
    /// Payload of the events chunk that is being collected.
    segments: Vec<u8>,
    contains_metadata: bool,
    /// The chunk built last.
    chunk: Vec<u8>,
    /// Payload of a chunk of another kind.
    payload: Vec<u8>,
}

impl ChunkWriter {
    /// Creates a writer whose chunks are compressed if `compress` is set. Chunks of counters and
    /// the end take no more memory than is allocated here.
    pub fn new(compress: bool) -> Self {
        let mut writer = Self {
            snappy: compress.then(snap::raw::Encoder::new),
            segments: Vec::new(),
            contains_metadata: false,
            chunk: Vec::new(),
            payload: Vec::with_capacity(USUAL_PAYLOAD_LEN),
        };
        // The encoder allocates its table when it first meets a block of full length.
        writer.build(ChunkKind::Events, false, &[0; SNAPPY_BLOCK_LEN]);
        writer
    }

    /// Reserves the memory to push a segment with `len` bytes of events and to build the chunk.
    ///
    /// # Errors
    ///
    /// Memory is short.
    pub fn try_reserve(&mut self, len: usize) -> Result<(), TryReserveError> {
        let added_len = MAX_SEGMENT_HEADER_LEN + len;
        self.segments.try_reserve(added_len)?;
        let chunk_len = max_chunk_len(self.segments.len() + added_len);
        self.chunk
            .try_reserve(chunk_len.saturating_sub(self.chunk.len()))
    }

    /// Returns the length of the segments collected, before compression.
    pub fn raw_len(&self) -> usize {
        self.segments.len()
    }

    /// Adds a segment to the events chunk that is being collected. It fits if
    /// the chunk stays within [`MAX_STORED_LEN`].
    ///
    /// # Errors
    ///
    /// [`DoesNotFit`] if the segment does not fit into the chunk.
    pub fn push_segment(
        &mut self,
        thread: ThreadId,
        buffer_index: u64,
        events: &[u8],
        contains_metadata: bool,
    ) -> Result<(), DoesNotFit> {
        if self.segments.len() + MAX_SEGMENT_HEADER_LEN + events.len() > MAX_STORED_LEN {
            return Err(DoesNotFit);
        }
        varint::push(&mut self.segments, thread.into());
        varint::push(&mut self.segments, buffer_index);
        varint::push(&mut self.segments, events.len() as u64);
        self.segments.extend_from_slice(events);
        self.contains_metadata |= contains_metadata;
        Ok(())
    }

    /// Returns the events chunk with the segments added since the last call.
    pub fn events(&mut self) -> &[u8] {
        let mut segments = mem::take(&mut self.segments);
        let contains_metadata = mem::take(&mut self.contains_metadata);
        self.build(ChunkKind::Events, contains_metadata, &segments);
        segments.clear();
        self.segments = segments;
        &self.chunk
    }

    /// Returns a counters chunk.
    pub fn counters(&mut self, values: impl IntoIterator<Item = (Counter, u64)>) -> &[u8] {
        let mut payload = mem::take(&mut self.payload);
        for (counter, value) in values {
            counter::push(&mut payload, counter, value);
        }
        self.build_of_payload(ChunkKind::Counters, payload)
    }

    /// Reserves the memory for a chunk of `records` records.
    ///
    /// # Errors
    ///
    /// Memory is short.
    pub fn try_reserve_system(&mut self, records: usize) -> Result<(), TryReserveError> {
        self.try_reserve_payload(records.saturating_mul(system::MAX_RECORD_LEN))
    }

    /// Returns a system chunk.
    pub fn system(&mut self, records: impl IntoIterator<Item = SystemRecord>) -> &[u8] {
        let mut payload = mem::take(&mut self.payload);
        for record in records {
            record.push(&mut payload);
        }
        self.build_of_payload(ChunkKind::System, payload)
    }

    /// Reserves the memory for a chunk with a payload of `len` bytes.
    pub(crate) fn try_reserve_payload(&mut self, len: usize) -> Result<(), TryReserveError> {
        self.payload.try_reserve(len)?;
        let chunk_len = max_chunk_len(len);
        self.chunk
            .try_reserve(chunk_len.saturating_sub(self.chunk.len()))
    }

    /// Returns the end chunk of a trace that ends with the JVM, at `time_ns` after `chunks`
    /// chunks.
    pub fn end(&mut self, time_ns: u64, chunks: u64) -> &[u8] {
        self.early_end(time_ns, chunks, EndReason::Orderly)
    }

    /// Returns the end chunk of a trace that ends before the JVM does.
    pub fn early_end(&mut self, time_ns: u64, chunks: u64, reason: EndReason) -> &[u8] {
        let mut payload = mem::take(&mut self.payload);
        varint::push(&mut payload, time_ns);
        varint::push(&mut payload, chunks);
        reason.push(&mut payload);
        self.build_of_payload(ChunkKind::End, payload)
    }

    fn build_of_payload(&mut self, kind: ChunkKind, mut payload: Vec<u8>) -> &[u8] {
        self.build(kind, false, &payload);
        payload.clear();
        self.payload = payload;
        &self.chunk
    }

    /// Sets `chunk` to a chunk with the given payload.
    fn build(&mut self, kind: ChunkKind, contains_metadata: bool, payload: &[u8]) {
        self.chunk.clear();
        self.chunk.resize(HEADER_LEN, 0);
        let compressed = self.append_compressed(payload);
        if !compressed {
            self.chunk.truncate(HEADER_LEN);
            self.chunk.extend_from_slice(payload);
        }
        let (header, stored) = self.chunk.split_at_mut(HEADER_LEN);
        let fields = ChunkHeader {
            kind,
            compressed,
            contains_metadata,
            stored_len: stored.len() as u32,
            raw_len: payload.len() as u32,
            payload_checksum: crc32c::crc32c(stored),
        };
        header.copy_from_slice(&fields.encode());
    }

    /// Appends `payload` in compressed form, or returns `false` where that is not wanted or not
    /// shorter.
    fn append_compressed(&mut self, payload: &[u8]) -> bool {
        let Some(snappy) = &mut self.snappy else {
            return false;
        };
        self.chunk.resize(max_chunk_len(payload.len()), 0);
        match snappy.compress(payload, &mut self.chunk[HEADER_LEN..]) {
            Ok(len) if len < payload.len() => {
                self.chunk.truncate(HEADER_LEN + len);
                true
            }
            _ => false,
        }
    }
}

/// Returns the length of a chunk with a payload that does not become shorter.
fn max_chunk_len(raw_len: usize) -> usize {
    HEADER_LEN + snap::raw::max_compress_len(raw_len)
}

/// A chunk, its checksums verified.
#[derive(Clone, Debug)]
pub enum Chunk<'a> {
    /// Segments of events.
    Events(EventsChunk<'a>),
    /// Values of the tracer's counters.
    Counters(Counters<'a>),
    /// Nothing follows.
    End {
        /// The time of the end, in nanoseconds since the trace's start.
        time_ns: u64,
        /// Number of chunks written before this one.
        chunks: u64,
        /// The reason.
        reason: EndReason,
    },
    /// What the JVM and the system did with threads.
    System(SystemRecords<'a>),
}

impl<'a> Chunk<'a> {
    /// Creates the chunk with the given header and uncompressed payload, which begins at byte
    /// `offset` of a file in this version of the format; `None` if its kind is unknown.
    pub(crate) fn new(
        version: u16,
        header: &ChunkHeader,
        offset: u64,
        payload: &'a [u8],
    ) -> Result<Option<Self>, DecodeError> {
        Ok(Some(match header.kind {
            ChunkKind::Events => Self::Events(EventsChunk {
                version,
                payload,
                offset,
                contains_metadata: header.contains_metadata,
                stored_len: header.stored_len,
            }),
            ChunkKind::Counters => Self::Counters(Counters::new(payload)),
            ChunkKind::End => {
                let mut input = ByteReader::new(payload);
                Self::end(&mut input).map_err(|cause| DecodeError { offset: 0, cause })?
            }
            ChunkKind::System => Self::System(SystemRecords::new(payload)),
            ChunkKind::Unknown(_) => return Ok(None),
        }))
    }

    fn end(input: &mut ByteReader<'_>) -> Result<Self, Malformed> {
        Ok(Self::End {
            time_ns: input.varint()?,
            chunks: input.varint()?,
            reason: EndReason::read(input)?,
        })
    }
}

/// A chunk of events.
#[derive(Clone, Debug)]
pub struct EventsChunk<'a> {
    version: u16,
    payload: &'a [u8],
    /// Position of the chunk in the file.
    pub offset: u64,
    /// An event in it [is metadata](crate::Event::is_metadata).
    pub contains_metadata: bool,
    /// Length of the payload in the file.
    pub stored_len: u32,
}

impl<'a> EventsChunk<'a> {
    /// Returns the length of the payload before compression.
    pub fn raw_len(&self) -> usize {
        self.payload.len()
    }

    /// Returns the segments; ends after the first error.
    pub fn segments(&self) -> Segments<'a> {
        Segments {
            version: self.version,
            input: ByteReader::new(self.payload),
            len: self.payload.len(),
        }
    }
}

/// The events that one thread wrote into one buffer.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The writer.
    pub thread: ThreadId,
    /// Number of buffers that the writer filled before this one. Ascends without
    /// gaps in a thread; a gap is a lost buffer.
    pub buffer_index: u64,
    version: u16,
    bytes: &'a [u8],
}

impl<'a> Segment<'a> {
    /// Returns the length of the events in bytes.
    pub fn raw_len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the events.
    pub fn events(&self) -> SegmentDecoder<'a> {
        SegmentDecoder::of_version(self.version, self.bytes)
    }
}

/// Iterates over the segments of a chunk.
#[derive(Clone, Debug)]
pub struct Segments<'a> {
    version: u16,
    input: ByteReader<'a>,
    len: usize,
}

impl<'a> Segments<'a> {
    fn segment(&mut self) -> Result<Segment<'a>, Malformed> {
        let thread = self.input.number()?;
        let buffer_index = self.input.varint()?;
        let len = self.input.varint()?;
        Ok(Segment {
            thread,
            buffer_index,
            version: self.version,
            bytes: self.input.slice(len)?,
        })
    }
}

impl<'a> Iterator for Segments<'a> {
    type Item = Result<Segment<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.input.is_empty() {
            return None;
        }
        let offset = self.len - self.input.remaining();
        Some(self.segment().map_err(|cause| {
            self.input = ByteReader::new(&[]);
            DecodeError { offset, cause }
        }))
    }
}
