//! Traces in files, and what it takes to analyze them.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

use tempfile::NamedTempFile;
use trace_analysis::{Aggregation, Analysis, Aspect, Detail, TraceInput, TraceSummary};
use trace_format::{Capabilities, ChunkWriter, Event, FileHeader, SegmentEncoder, ThreadId};

use crate::meter::{Cost, Meter};

/// Writes events in the order in which an analysis shall find them.
pub(crate) struct TraceWriter {
    file: BufWriter<NamedTempFile>,
    chunk: ChunkWriter,
    chunk_len: usize,
    chunks: u64,
    /// Events in a row of one thread, in one buffer.
    thread: ThreadId,
    encoder: SegmentEncoder,
    bytes: Vec<u8>,
    buffers: BTreeMap<ThreadId, u64>,
}

impl TraceWriter {
    const BUFFER_LEN: usize = 64 << 10;
    const CHUNK_LEN: usize = 256 << 10;

    pub(crate) fn new(capabilities: Capabilities) -> Self {
        let header = FileHeader {
            compressed: true,
            capabilities,
            ..FileHeader::default()
        };
        let file = NamedTempFile::new().expect("a temporary file");
        let mut file = BufWriter::new(file);
        file.write_all(&header.encode()).expect("it fits");
        Self {
            file,
            chunk: ChunkWriter::new(true),
            chunk_len: 0,
            chunks: 0,
            thread: ThreadId::NONE,
            encoder: SegmentEncoder::new(),
            bytes: vec![0; Self::BUFFER_LEN],
            buffers: BTreeMap::new(),
        }
    }

    pub(crate) fn event(&mut self, thread: ThreadId, event: &Event<'_>) {
        if thread != self.thread {
            self.end_buffer();
            self.thread = thread;
        }
        if self.encoder.encode(&mut self.bytes, event).is_err() {
            self.end_buffer();
            let encoded = self.encoder.encode(&mut self.bytes, event);
            encoded.expect("an event fits");
        }
    }

    fn end_buffer(&mut self) {
        let events = &self.bytes[..self.encoder.len()];
        if events.is_empty() {
            return;
        }
        let next_index = self.buffers.entry(self.thread).or_default();
        let index = *next_index;
        *next_index += 1;
        let is_metadata = self.encoder.contains_metadata();
        let pushed = self
            .chunk
            .push_segment(self.thread, index, events, is_metadata);
        pushed.expect("a buffer fits");
        self.chunk_len += events.len();
        self.encoder = SegmentEncoder::new();
        if self.chunk_len > Self::CHUNK_LEN {
            self.end_chunk();
        }
    }

    fn end_chunk(&mut self) {
        self.file.write_all(self.chunk.events()).expect("it fits");
        self.chunk_len = 0;
        self.chunks += 1;
    }

    pub(crate) fn finish(mut self) -> Trace {
        self.end_buffer();
        self.end_chunk();
        let end = self.chunk.end(u64::MAX, self.chunks);
        self.file.write_all(end).expect("it fits");
        let file = self.file.into_inner().expect("it fits");
        Trace { file }
    }
}

/// A trace in a file that is deleted in the end.
pub(crate) struct Trace {
    file: NamedTempFile,
}

impl Trace {
    /// The trace of `events` in this order.
    pub(crate) fn of(
        capabilities: Capabilities,
        events: impl Iterator<Item = (ThreadId, Event<'static>)>,
    ) -> Self {
        let mut writer = TraceWriter::new(capabilities);
        for (thread, event) in events {
            writer.event(thread, &event);
        }
        writer.finish()
    }

    pub(crate) fn byte_len(&self) -> usize {
        let metadata = self.file.as_file().metadata();
        metadata.map(|metadata| metadata.len()).expect("there") as usize
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }
}

/// Does what `locktrace report` does, with `threads` threads. Returns the sums, the summary, and
/// the cost.
pub(crate) fn report(
    meter: &Meter,
    trace: &Path,
    threads: usize,
) -> (Aggregation, TraceSummary, Cost) {
    let threads = NonZeroUsize::new(threads).expect("not 0");
    let (cost, (sums, summary)) = meter.measure(|| {
        let mut sums = Aggregation::new([Aspect::LockClass, Aspect::OwnerMethod, Aspect::Method]);
        let mut analysis = Analysis::default().with_detail(Detail::CODE);
        let input = TraceInput::open(trace).expect("a trace");
        let go_on = |_| ControlFlow::Continue(());
        let summary = input.analyze_with(threads, &mut analysis, &mut sums, go_on);
        (sums, summary.expect("readable"))
    });
    (sums, summary, cost)
}
