//! Reading of a trace as a stream of chunks.
//!
//! The reader needs memory for one chunk, whatever the file says: it rejects lengths beyond the
//! format's limits, and memory grows only as bytes arrive. Where a chunk is damaged it goes on with
//! the next one and notes what it skipped; a trace that is torn off or still being written simply
//! ends.

use std::io::{self, Read};
use std::ops::Range;

use crate::buffer_file::LeftBuffers;
use crate::chunk::{self, Chunk, ChunkHeader, ChunkKind, EndReason, HEADER_LEN};
use crate::counter::Counter;
use crate::error::DecodeError;
use crate::file::{FileHeader, HeaderError};

/// Skipped ranges that are kept one by one; a file of garbage has an unlimited number of them.
const MAX_SKIPPED: usize = 64;

/// Reads the chunks of a trace.
pub struct TraceReader<R> {
    window: Window<R>,
    header: FileHeader,
    version: u16,
    only_metadata: bool,
    raw: Vec<u8>,
    snappy: snap::raw::Decoder,
    damage: Damage,
    left_buffers: LeftState,
    /// Values in the last counters chunk.
    counters: Vec<(Counter, u64)>,
}

/// Finds the buffers that the traced process left behind.
type FindLeft = Box<dyn FnOnce() -> Option<LeftBuffers> + Send>;

/// The state of the search for buffers that the traced process left behind.
enum LeftState {
    /// To be looked for where the trace breaks off.
    Unknown(Option<FindLeft>),
    /// They are being read.
    Found(Box<LeftBuffers>),
}

/// The missing parts of a trace, as far as the chunks show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// The trace was ended in an orderly way, and nothing is cut off.
    pub end_seen: bool,
    /// The reason why the trace ended before the JVM, if it did.
    pub ended_early: Option<EndReason>,
    /// Chunks that could be read, the end included.
    pub chunks_read: u64,
    /// Chunks of kinds that only later versions know. They are no damage.
    pub chunks_unknown: u64,
    /// Chunks that the end chunk counts but that were not found. Only known once the end was read.
    pub chunks_missing: u64,
    /// The first ranges of bytes that could not be read.
    pub skipped: Vec<Skipped>,
    /// All bytes that could not be read.
    pub skipped_bytes: u64,
    /// Buffers that were read although the trace does not have them: the traced process
    /// left them behind.
    pub recovered_buffers: u64,
}

/// A range of bytes in the file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Position in the file.
    pub range: Range<u64>,
    /// The reason.
    pub reason: SkipReason,
}

/// The reason why a range of bytes could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkipReason {
    /// No chunk begins there.
    #[error("not a chunk")]
    NotAChunk,
    /// The payload does not match its checksum.
    #[error("wrong checksum")]
    Checksum,
    /// The payload cannot be decompressed.
    #[error("cannot be decompressed")]
    Compression,
    /// The payload does not follow the layout of its kind.
    #[error("{0}")]
    Malformed(#[from] DecodeError),
    /// The file ends inside a chunk.
    #[error("torn off")]
    TornOff,
}

impl Damage {
    /// Returns whether everything that was written could be read.
    pub fn is_none(&self) -> bool {
        self.end_seen && self.chunks_missing == 0 && self.skipped_bytes == 0
    }

    fn skip(&mut self, range: Range<u64>, reason: SkipReason) {
        self.skipped_bytes += range.end - range.start;
        if let Some(last) = self.skipped.last_mut()
            && last.range.end == range.start
            && last.reason == reason
        {
            last.range.end = range.end;
        } else if self.skipped.len() < MAX_SKIPPED {
            self.skipped.push(Skipped { range, reason });
        }
    }
}

impl<R: Read> TraceReader<R> {
    /// Reads the header of a trace.
    ///
    /// # Errors
    ///
    /// If the source fails, or does not begin with the header of a trace that
    /// this version can read.
    pub fn new(mut source: R) -> Result<Self, HeaderError> {
        let (header, version, len) = FileHeader::read(&mut source)?;
        Ok(Self {
            window: Window::new(source, len as u64),
            header,
            version,
            only_metadata: false,
            raw: Vec::new(),
            snappy: snap::raw::Decoder::new(),
            damage: Damage::default(),
            left_buffers: LeftState::Unknown(None),
            counters: Vec::new(),
        })
    }

    /// Skips the chunks that hold neither metadata nor counters nor the end, without looking at
    /// their payload: a cheap way to learn all names before the events are analyzed.
    pub fn only_metadata(mut self) -> Self {
        self.only_metadata = true;
        self
    }

    /// Reads the rest of the trace from a wrapper of the source.
    pub fn map_source<S>(self, wrap: impl FnOnce(R) -> S) -> TraceReader<S> {
        let Window {
            source,
            buffer,
            unread,
            offset,
        } = self.window;
        TraceReader {
            window: Window {
                source: wrap(source),
                buffer,
                unread,
                offset,
            },
            header: self.header,
            version: self.version,
            only_metadata: self.only_metadata,
            raw: self.raw,
            snappy: self.snappy,
            damage: self.damage,
            left_buffers: self.left_buffers,
            counters: self.counters,
        }
    }

    /// Goes on with the [buffers](crate::buffer_file) of the traced process, if `find` finds some,
    /// where the trace breaks off.
    pub fn with_left_buffers(
        mut self,
        find: impl FnOnce() -> Option<LeftBuffers> + Send + 'static,
    ) -> Self {
        self.left_buffers = LeftState::Unknown(Some(Box::new(find)));
        self
    }

    /// Returns the header of the trace.
    pub fn header(&self) -> &FileHeader {
        &self.header
    }

    /// Returns the [version](crate::file::VERSION) of the trace's format.
    pub fn version(&self) -> u16 {
        self.version
    }

    /// Returns the damage in the part read so far.
    pub fn damage(&self) -> &Damage {
        &self.damage
    }

    /// Returns the reader's position in the file, in bytes.
    pub fn offset(&self) -> u64 {
        self.window.offset
    }

    /// Returns the next chunk that can be read, or `None` at the end of the
    /// file.
    ///
    /// # Errors
    ///
    /// If the source fails. No data is lost: if the source has no data yet
    /// ([`WouldBlock`](io::ErrorKind::WouldBlock)), ask for the chunk again. Damage in the trace is
    /// not an error: see [`damage`](Self::damage).
    pub fn next_chunk(&mut self) -> io::Result<Option<Chunk<'_>>> {
        // Found first, borrowed afterwards: the chunk borrows from the reader,
        // which the search changes.
        let Some(found) = self.find_chunk()? else {
            return Ok(None);
        };
        let payload = self.payload(&found);
        Ok(
            Chunk::new(self.version, &found.header, found.offset, payload)
                .ok()
                .flatten(),
        )
    }

    fn find_chunk(&mut self) -> io::Result<Option<LocatedChunk>> {
        loop {
            let offset = self.window.offset;
            self.window.fill(HEADER_LEN)?;
            let Some(header_bytes) = self.window.bytes().first_chunk() else {
                if self.go_on_with_left_buffers()? {
                    continue;
                }
                return Ok(None);
            };
            let Some(header) = ChunkHeader::decode(header_bytes) else {
                self.skip(self.distance_to_magic(), SkipReason::NotAChunk);
                continue;
            };
            let len = HEADER_LEN + header.stored_len as usize;
            if self.only_metadata && header.kind == ChunkKind::Events && !header.contains_metadata {
                self.pass_over(len)?;
                continue;
            }
            if self.window.fill(len)? < len {
                if self.go_on_with_left_buffers()? {
                    continue;
                }
                return Ok(None);
            }
            let found = LocatedChunk { header, offset };
            if let Err(reason) = self.unpack(&found) {
                self.skip(len, reason);
                continue;
            }
            self.window.consume(len);
            if let ChunkKind::Unknown(_) = found.header.kind {
                self.damage.chunks_unknown += 1;
                continue;
            }
            self.damage.chunks_read += 1;
            return Ok(Some(found));
        }
    }

    /// Handles the end of the source, maybe inside a chunk. Replaces the rest by the next chunk of
    /// buffers that the traced process left behind, if there is one. They have the contents of the
    /// torn chunk.
    fn go_on_with_left_buffers(&mut self) -> io::Result<bool> {
        if let LeftState::Unknown(find) = &mut self.left_buffers
            && let Some(find) = find.take()
            && !self.damage.end_seen
            && self.damage.ended_early.is_none()
            && let Some(found) = find()
        {
            self.damage.recovered_buffers = found.buffers() as u64;
            self.left_buffers = LeftState::Found(Box::new(found));
        }
        let LeftState::Found(left) = &mut self.left_buffers else {
            self.skip(self.window.bytes().len(), SkipReason::TornOff);
            return Ok(false);
        };
        let Some(chunk) = left.next_chunk(&self.counters)? else {
            return Ok(false);
        };
        self.window.replace(chunk);
        Ok(true)
    }

    /// Returns the distance to the next place where a chunk could begin, the present one excluded.
    fn distance_to_magic(&self) -> usize {
        let bytes = self.window.bytes();
        let magic = bytes
            .windows(chunk::MAGIC.len())
            .skip(1)
            .position(|at| at == chunk::MAGIC);
        // Without a magic, the last bytes may still be the first ones of one.
        magic.map_or(bytes.len() - (chunk::MAGIC.len() - 1), |position| {
            position + 1
        })
    }

    /// Verifies the chunk at the window's start and decompresses it.
    fn unpack(&mut self, found: &LocatedChunk) -> Result<(), SkipReason> {
        let header = &found.header;
        let stored = &self.window.bytes()[HEADER_LEN..][..header.stored_len as usize];
        if crc32c::crc32c(stored) != header.payload_checksum {
            return Err(SkipReason::Checksum);
        }
        let mut payload = stored;
        if header.compressed && !matches!(header.kind, ChunkKind::Unknown(_)) {
            // Limited by the header, so asked first.
            if snap::raw::decompress_len(stored) != Ok(header.raw_len as usize) {
                return Err(SkipReason::Compression);
            }
            self.raw.resize(header.raw_len as usize, 0);
            let result = self.snappy.decompress(stored, &mut self.raw);
            result.map_err(|_| SkipReason::Compression)?;
            payload = &self.raw;
        }
        let chunk = Chunk::new(self.version, header, found.offset, payload)?;
        if let Some(Chunk::Counters(counters)) = &chunk {
            let counters = counters.clone().flatten();
            self.counters = counters.take(Counter::ALL.len()).collect();
        }
        if let Some(Chunk::End { chunks, reason, .. }) = chunk {
            self.damage.end_seen = reason == EndReason::Orderly;
            self.damage.ended_early = (!self.damage.end_seen).then_some(reason);
            let passed = self.damage.chunks_read + self.damage.chunks_unknown;
            self.damage.chunks_missing = chunks.saturating_sub(passed);
        }
        Ok(())
    }

    /// Returns the payload of the chunk that was consumed last.
    fn payload(&self, found: &LocatedChunk) -> &[u8] {
        if found.header.compressed {
            &self.raw
        } else {
            self.window.consumed(found.header.stored_len as usize)
        }
    }

    /// Skips an unwanted chunk of `len` bytes.
    fn pass_over(&mut self, len: usize) -> io::Result<()> {
        let offset = self.window.offset;
        let mut rest = len;
        while rest > 0 {
            let available = self.window.fill(1)?.min(rest);
            if available == 0 {
                self.damage
                    .skip(offset..self.window.offset, SkipReason::TornOff);
                return Ok(());
            }
            self.window.consume(available);
            rest -= available;
        }
        self.damage.chunks_read += 1;
        Ok(())
    }

    fn skip(&mut self, len: usize, reason: SkipReason) {
        let start = self.window.offset;
        if len > 0 {
            self.damage.skip(start..start + len as u64, reason);
        }
        self.window.consume(len);
    }
}

/// A chunk and its position.
struct LocatedChunk {
    header: ChunkHeader,
    offset: u64,
}

/// The part of the source that is in memory.
struct Window<R> {
    source: R,
    buffer: Vec<u8>,
    /// The unconsumed part of `buffer`.
    unread: Range<usize>,
    /// Where the unconsumed part begins in the file.
    offset: u64,
}

impl<R: Read> Window<R> {
    /// A few chunks of the usual size.
    const INITIAL_LEN: usize = 256 << 10;

    fn new(source: R, offset: u64) -> Self {
        Self {
            source,
            buffer: vec![0; Self::INITIAL_LEN],
            unread: 0..0,
            offset,
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[self.unread.clone()]
    }

    /// Returns the last `len` bytes that were consumed; valid until the next `fill`.
    fn consumed(&self, len: usize) -> &[u8] {
        &self.buffer[self.unread.start - len..self.unread.start]
    }

    fn consume(&mut self, len: usize) {
        self.unread.start += len;
        self.offset += len as u64;
    }

    /// Replaces the unconsumed bytes by `bytes`.
    fn replace(&mut self, bytes: &[u8]) {
        self.buffer.resize(self.buffer.len().max(bytes.len()), 0);
        self.buffer[..bytes.len()].copy_from_slice(bytes);
        self.unread = 0..bytes.len();
    }

    /// Reads until `wanted` bytes are available or the file ends; returns the number available.
    fn fill(&mut self, wanted: usize) -> io::Result<usize> {
        if self.unread.start + wanted > self.buffer.len() {
            self.buffer.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
            let len = self.buffer.len().max(wanted);
            self.buffer.resize(len, 0);
        }
        while self.unread.len() < wanted {
            match self.source.read(&mut self.buffer[self.unread.end..]) {
                Ok(0) => break,
                Ok(len) => self.unread.end += len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.unread.len())
    }
}
