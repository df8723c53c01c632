//! The file of buffers: the events that the tracer had not yet written to the trace when its
//! process was killed.
//!
//! It stands beside the trace, has its name and [`EXTENSION`], and is memory that the traced
//! process shares with the file: the kernel keeps what was stored there, however the process ends.
//! The tracer removes the file when it ends the trace, and holds a lock (`flock`) on it as long as
//! it lives.
//!
//! All numbers are little-endian. The file begins with [`HEADER_LEN`] bytes:
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 8 | [`MAGIC`] |
//! | 8 | 4 | [`VERSION`] |
//! | 12 | 4 | process id, as in the trace's header |
//! | 16 | 8 | wall clock at the trace's start, as in the trace's header |
//! | 24 | 4 | CRC-32C of bytes 0 to 23 |
//! | 64 | 8 | the process lived until then at least, nanoseconds since the trace's start |
//!
//! The slots follow, one for each buffer. A slot begins at a multiple of [`SLOT_ALIGN`], with a
//! header of sixteen words ([`word`]); the events follow. The rest of the file is holes or zeroes.
//!
//! An event counts as written once [`word::COMMIT`] covers it. Its lower half is the number of
//! bytes of the segment that are final, its upper half selects one of two records with which the
//! segment ends ([`GrownTail`]): 0 for none. So a slot holds a whole segment at any moment. It is
//! also in the trace if the trace is as long as [`word::WRITTEN_END`] says.

use std::io::{self, Read, Seek, SeekFrom};

use crate::chunk::ChunkWriter;
use crate::counter::Counter;
use crate::file::FileHeader;
use crate::id::ThreadId;
use crate::segment::{GrownTail, SegmentDecoder};

/// Suffix of the trace's name.
pub const EXTENSION: &str = ".buffers";
/// First bytes of the file.
pub const MAGIC: [u8; 8] = *b"\x89LCB\r\n\x1a\n";
/// Version of the layout.
pub const VERSION: u32 = 1;
/// Length of the file before the first slot, in bytes.
pub const HEADER_LEN: usize = SLOT_ALIGN;
/// Offset of the time until which the process lived.
pub const ALIVE_OFFSET: usize = 64;
/// Alignment of slots, in bytes.
pub const SLOT_ALIGN: usize = 8 << 10;
/// Length of a slot's header in bytes.
pub const SLOT_HEADER_LEN: usize = word::COUNT * 8;
/// Greatest length of the file, in bytes.
pub const MAX_LEN: u64 = 1 << 30;

/// The words of a slot's header.
pub mod word {
    use crate::segment::GrownTail;

    /// [`SLOT_MAGIC`] and the length of the slot in bytes, as [`slot_tag`].
    ///
    /// [`SLOT_MAGIC`]: super::SLOT_MAGIC
    /// [`slot_tag`]: super::slot_tag
    pub const TAG: usize = 0;
    /// The thread that wrote the events.
    pub const THREAD: usize = 1;
    /// Number of buffers that the thread had before.
    pub const INDEX: usize = 2;
    /// Length of the trace with the chunk that has these events, in bytes; 0 if none has.
    pub const WRITTEN_END: usize = 3;
    /// The written part of the segment; 0 if the slot has no events.
    pub const COMMIT: usize = 4;
    /// The first of two records, which are used in turn: one is complete while the other is
    /// written.
    pub const RECORDS: [usize; 2] = [6, 6 + GrownTail::NUMBERS];
    /// Number of words.
    pub const COUNT: usize = 16;
}

/// The upper half of a slot's first word.
pub const SLOT_MAGIC: u32 = u32::from_le_bytes(*b"LcBf");

/// Returns the first word of a slot with `len` bytes, the header included.
pub const fn slot_tag(len: u32) -> u64 {
    (SLOT_MAGIC as u64) << 32 | len as u64
}

/// Returns [`word::COMMIT`] for a segment of which `len` bytes are final, followed by `record`: 0
/// for none, 1 or 2.
pub const fn commit(len: u32, record: u32) -> u64 {
    (record as u64) << 32 | len as u64
}

const CHECKED_LEN: usize = 24;
/// Length of the events that make a chunk, in bytes.
const CHUNK_LEN: usize = 64 << 10;

/// Returns the first bytes of the file of buffers of a trace.
pub fn header(trace: &FileHeader) -> [u8; CHECKED_LEN + 4] {
    let mut bytes = [0; CHECKED_LEN + 4];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(&trace.pid.to_le_bytes());
    bytes[16..24].copy_from_slice(&trace.start_unix_ns.to_le_bytes());
    let checksum = crc32c::crc32c(&bytes[..CHECKED_LEN]);
    bytes[CHECKED_LEN..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// A source that a file of buffers can be read from.
pub trait Source: Read + Seek + Send {}

impl<T: Read + Seek + Send> Source for T {}

/// The buffers that a process left behind and that are not in its trace.
pub struct LeftBuffers {
    source: Box<dyn Source>,
    /// The slots still to be read, the next one last.
    slots: Vec<Slot>,
    chunks: ChunkWriter,
    alive_ns: u64,
    has_ended: bool,
}

/// The place of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    thread: u32,
    index: u64,
    offset: u64,
    len: u32,
    tail: Option<[u64; GrownTail::NUMBERS]>,
}

impl LeftBuffers {
    /// Finds the buffers in a file that belongs to the trace with the header `trace` and a length
    /// of `trace_len` bytes; `None` if the file belongs to another one.
    ///
    /// # Errors
    ///
    /// If the source fails.
    pub fn find(
        mut source: impl Source + 'static,
        trace: &FileHeader,
        trace_len: u64,
    ) -> io::Result<Option<Self>> {
        let mut first = [0; ALIVE_OFFSET + 8];
        if !read_at(&mut source, 0, &mut first)? || !first.starts_with(&header(trace)) {
            return Ok(None);
        }
        let alive_ns = word_at(&first, ALIVE_OFFSET / 8);
        let file_len = source.seek(SeekFrom::End(0))?.min(MAX_LEN);
        let mut slots = Vec::new();
        let mut offset = HEADER_LEN as u64;
        while offset < file_len {
            let mut header = [0; SLOT_HEADER_LEN];
            let is_whole = read_at(&mut source, offset, &mut header)?;
            let slot_len = if is_whole { slot_len(&header) } else { None };
            if let Some(slot_len) = slot_len {
                slots.extend(Slot::find(&header, offset, slot_len, trace_len));
            }
            let slot_len = slot_len.map_or(SLOT_ALIGN, |len| len as usize);
            offset += slot_len.next_multiple_of(SLOT_ALIGN) as u64;
        }
        slots.sort_unstable();
        slots.reverse();
        Ok(Some(Self {
            source: Box::new(source),
            slots,
            chunks: ChunkWriter::new(false),
            alive_ns,
            has_ended: false,
        }))
    }

    /// Returns the number of buffers that are still to be read.
    pub fn buffers(&self) -> usize {
        self.slots.len()
    }

    /// Returns the bytes of the next chunk that the tracer would have written to the trace. The
    /// last one has `counters`, the last ones of the trace, with the time until which all events
    /// are there.
    ///
    /// # Errors
    ///
    /// If the source fails.
    pub(crate) fn next_chunk(&mut self, counters: &[(Counter, u64)]) -> io::Result<Option<&[u8]>> {
        while let Some(slot) = self.slots.pop() {
            if let Some(segment) = self.segment(slot)? {
                let last_ns = SegmentDecoder::new(&segment)
                    .map_while(Result::ok)
                    .filter_map(|event| event.time_ns())
                    .max();
                self.alive_ns = self.alive_ns.max(last_ns.unwrap_or(0));
                let thread = ThreadId(slot.thread);
                // Metadata or not: readers that want only names have to look at it.
                let pushed = self.chunks.push_segment(thread, slot.index, &segment, true);
                // Longer than any chunk; the tracer has no such buffer.
                let _ = pushed;
                if self.chunks.raw_len() > CHUNK_LEN {
                    break;
                }
            }
        }
        if self.chunks.raw_len() > 0 {
            return Ok(Some(self.chunks.events()));
        }
        if self.has_ended {
            return Ok(None);
        }
        self.has_ended = true;
        let others = counters
            .iter()
            .filter(|(counter, _)| *counter != Counter::CompleteUntilNs);
        let complete = (Counter::CompleteUntilNs, self.alive_ns);
        Ok(Some(
            self.chunks.counters(others.copied().chain([complete])),
        ))
    }

    /// Returns the segment in a slot; `None` if the file ends inside it.
    fn segment(&mut self, slot: Slot) -> io::Result<Option<Vec<u8>>> {
        let mut segment = vec![0; slot.len as usize];
        let offset = slot.offset + SLOT_HEADER_LEN as u64;
        if !read_at(&mut self.source, offset, &mut segment)? {
            return Ok(None);
        }
        if let Some(numbers) = slot.tail {
            let at = slot.len;
            // Without it, the decoder finds the last event torn and says so.
            let tail = GrownTail { at, numbers }.encode();
            segment.extend(tail.unwrap_or_default());
        }
        Ok(Some(segment))
    }
}

impl Slot {
    /// Returns the slot of `slot_len` bytes with the given header, if it has events that are not in
    /// the trace.
    fn find(
        header: &[u8; SLOT_HEADER_LEN],
        offset: u64,
        slot_len: u32,
        trace_len: u64,
    ) -> Option<Self> {
        let commit = word_at(header, word::COMMIT);
        let (len, record) = (commit as u32, (commit >> 32) as usize);
        let written_end = word_at(header, word::WRITTEN_END);
        let is_in_trace = written_end != 0 && written_end <= trace_len;
        let fits = len as usize <= slot_len as usize - SLOT_HEADER_LEN;
        if commit == 0 || is_in_trace || !fits {
            return None;
        }
        let tail = match record.checked_sub(1) {
            Some(record) => {
                let first = *word::RECORDS.get(record)?;
                Some(std::array::from_fn(|number| {
                    word_at(header, first + number)
                }))
            }
            None => None,
        };
        Some(Self {
            thread: u32::try_from(word_at(header, word::THREAD)).ok()?,
            index: word_at(header, word::INDEX),
            offset,
            len,
            tail,
        })
    }
}

/// Returns the length of the slot with the given header; `None` if the header is invalid.
fn slot_len(header: &[u8; SLOT_HEADER_LEN]) -> Option<u32> {
    let tag = word_at(header, word::TAG);
    let len = tag as u32;
    let is_slot = tag == slot_tag(len) && len as usize >= SLOT_HEADER_LEN;
    (is_slot && len as usize <= crate::chunk::MAX_STORED_LEN).then_some(len)
}

fn word_at(bytes: &[u8], word: usize) -> u64 {
    let bytes = bytes[word * 8..].first_chunk();
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Reads all of `bytes`; returns `false` if the source ends before.
fn read_at(source: &mut impl Source, offset: u64, bytes: &mut [u8]) -> io::Result<bool> {
    source.seek(SeekFrom::Start(offset))?;
    match source.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
