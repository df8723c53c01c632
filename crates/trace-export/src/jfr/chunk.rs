//! A chunk: a recording of its own (JDK: `jdk.jfr.internal.consumer.ChunkHeader`,
//! `jfrChunkWriter.cpp`).
//!
//! ```text
//! header       where the other parts are, time
//! metadata     the types
//! events
//! checkpoint   the constants
//! ```

use std::io::{self, Write};
use std::iter;

use super::constants::Constants;
use super::encoding::Encoder;
use super::metadata;

/// Converts a time in a trace that began `start_unix_ns` nanoseconds after 1970 to ticks: nanoseconds since 1970.
/// Readers count ticks from the start of a chunk, and the JDK even from the start of another chunk with the same types;
/// so this base is the same in all chunks.
pub(super) fn ticks(start_unix_ns: u64, time_ns: u64) -> u64 {
    start_unix_ns.wrapping_add(time_ns)
}

/// A chunk under construction. Times are in nanoseconds since the trace's start.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    start_ns: u64,
    end_ns: u64,
    events: Encoder,
    /// The time at which each event ended, and its end in `events`.
    ends: Vec<(u64, usize)>,
    pub(super) constants: Constants,
}

impl Chunk {
    const MAGIC: [u8; 4] = *b"FLR\0";
    const VERSION: [u16; 2] = [2, 1];
    const TICKS_PER_SECOND: u64 = 1_000_000_000;
    const HEADER_BYTES: usize = 68;
    /// The last four bytes of the header: the chunk is complete, its numbers are compressed.
    const STATE: [u8; 4] = [0, 0, 0, 1];

    /// The most kept in memory, a thousand times the size of the types.
    const MAX_BYTES: usize = 4 << 20;

    /// Creates a chunk that begins at a time. The numbers of its constants follow `before_constants`.
    pub(super) fn new(start_ns: u64, before_constants: u64) -> Self {
        Self {
            start_ns,
            end_ns: start_ns,
            constants: Constants::new(before_constants),
            ..Self::default()
        }
    }

    pub(super) fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// Begins a nanosecond later; events may be from before.
    pub(super) fn begin_later(&mut self) {
        self.start_ns = self.start_ns.wrapping_add(1);
        self.extend_to(self.start_ns);
    }

    pub(super) fn end_ns(&self) -> u64 {
        self.end_ns
    }

    pub(super) fn is_full(&self) -> bool {
        self.events.bytes.len() + self.constants.byte_len() > Self::MAX_BYTES
    }

    /// Extends the chunk to that time at least.
    pub(super) fn extend_to(&mut self, time_ns: u64) {
        self.end_ns = self.end_ns.max(time_ns);
    }

    /// Adds an event that was written at a time.
    pub(super) fn event(
        &mut self,
        event_type: u64,
        time_ns: u64,
        write: impl FnOnce(&mut Encoder),
    ) {
        self.extend_to(time_ns);
        self.events.event(event_type, write);
        self.ends.push((time_ns, self.events.bytes.len()));
    }

    /// Returns the bytes of each event, by the time of its end. Mission Control, which lays the events of a type out in
    /// lanes in the order of the file, loses some and duplicates others if one ends before its predecessor, and two at
    /// the same time.
    fn events_by_end(&self) -> impl Iterator<Item = &[u8]> {
        let starts = iter::once(0).chain(self.ends.iter().map(|&(_, end)| end));
        let mut events: Vec<_> = self.ends.iter().zip(starts).collect();
        events.sort_by_key(|&(&(time_ns, _), _)| time_ns);
        events
            .into_iter()
            .map(|(&(_, end), start)| &self.events.bytes[start..end])
    }

    /// Writes the chunk of a trace that began `start_unix_ns` nanoseconds after 1970.
    pub(super) fn write(&self, start_unix_ns: u64, out: &mut impl Write) -> io::Result<()> {
        let (mut types, mut checkpoint) = (Encoder::default(), Encoder::default());
        let [start, end] =
            [self.start_ns, self.end_ns].map(|time_ns| ticks(start_unix_ns, time_ns));
        metadata::write(end, &mut types);
        self.constants.write(end, &mut checkpoint);
        let parts = [&types, &self.events, &checkpoint];
        let size = Self::HEADER_BYTES + parts.iter().map(|part| part.bytes.len()).sum::<usize>();
        let numbers = [
            size as u64,
            (size - checkpoint.bytes.len()) as u64,
            Self::HEADER_BYTES as u64, // where the metadata begins
            start,                     // in nanoseconds
            self.end_ns - self.start_ns,
            start, // in ticks
            Self::TICKS_PER_SECOND,
        ];
        out.write_all(&Self::MAGIC)?;
        for number in Self::VERSION {
            out.write_all(&number.to_be_bytes())?;
        }
        for number in numbers {
            out.write_all(&number.to_be_bytes())?;
        }
        out.write_all(&Self::STATE)?;
        out.write_all(&types.bytes)?;
        self.events_by_end()
            .try_for_each(|event| out.write_all(event))?;
        out.write_all(&checkpoint.bytes)
    }
}
