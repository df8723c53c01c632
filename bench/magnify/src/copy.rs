//! Writes copies of a trace.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use anyhow::{Context, ensure};
use trace_analysis::TraceFile;
use trace_format::chunk::MAX_STORED_LEN;
use trace_format::{
    ChainRef, Chunk, ChunkWriter, ContendedEnter, ContendedEntered, ContendedExit, Counter, Event,
    ExclusiveRelease, FileHeader, ForwardRef, ForwardResolved, JavaThreadId, LockDescription,
    LockId, LockOwner, LockRetired, OwnerSample, PARK_DOMAINS, ParkBegin, ParkEnd, SegmentEncoder,
    ThreadEnd, ThreadId, ThreadRename, ThreadStart, Unpark,
};

use crate::survey::{Survey, malformed};

/// A long trace under construction.
pub(crate) struct Copies<'a> {
    trace: &'a TraceFile,
    survey: &'a Survey,
    output: Output,
    /// The number of copies.
    count: u64,
}

impl<'a> Copies<'a> {
    /// Begins a trace in `file`, which says `header` of itself.
    pub(crate) fn new(
        trace: &'a TraceFile,
        survey: &'a Survey,
        header: &FileHeader,
        file: BufWriter<File>,
    ) -> io::Result<Self> {
        Ok(Self {
            trace,
            survey,
            output: Output::new(header, file)?,
            count: 0,
        })
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn bytes_written(&self) -> u64 {
        self.output.bytes
    }

    /// Writes one more copy.
    pub(crate) fn write_next(&mut self) -> anyhow::Result<()> {
        let renumbering = Renumbering {
            survey: self.survey,
            copy: self.count,
        };
        let last_thread = renumbering.shifted(
            self.survey.last_thread.into(),
            self.survey.last_thread.into(),
        );
        ensure!(
            ThreadId::try_from(last_thread).is_ok(),
            "{}: the copies have more threads than a trace can have, {}",
            self.trace.path().display(),
            u32::MAX
        );
        let mut reader = self.trace.read()?;
        while let Some(chunk) = self.trace.next_chunk(&mut reader)? {
            let Chunk::Events(events) = chunk else {
                continue;
            };
            for segment in events.segments() {
                let segment = segment.map_err(|error| malformed(self.trace, error))?;
                let (thread, index) = renumbering.buffer(segment.thread, segment.buffer_index);
                self.output.begin_segment(thread, index);
                for event in segment.events() {
                    let event = event.map_err(|error| malformed(self.trace, error))?;
                    if let Some(event) = renumbering.event(event) {
                        self.output.event(&event)?;
                    }
                }
                self.output.end_segment()?;
            }
            self.output.end_chunk()?;
        }
        for (&thread, events) in &self.survey.closing {
            let filled = self.survey.buffers.get(&thread).copied().unwrap_or(0);
            let (thread, index) = renumbering.buffer(thread, filled);
            self.output.begin_segment(thread, index);
            for event in events {
                if let Some(event) = renumbering.event(event.clone()) {
                    self.output.event(&event)?;
                }
            }
            self.output.end_segment()?;
        }
        self.output.end_chunk()?;
        self.count += 1;
        Ok(())
    }

    /// Ends the trace. Returns how many copies there are, and the file.
    pub(crate) fn finish(self) -> io::Result<(u64, BufWriter<File>)> {
        let end_ns = self.survey.duration_ns * self.count;
        Ok((self.count, self.output.finish(end_ns)?))
    }
}

/// The numbers of one copy.
struct Renumbering<'a> {
    survey: &'a Survey,
    /// The number of copies before this one.
    copy: u64,
}

impl Renumbering<'_> {
    /// The number after those of the copies before, each of which used numbers up to
    /// `last`. 0 stands for none.
    fn shifted(&self, number: u64, last: u64) -> u64 {
        if number == 0 {
            return 0;
        }
        number + self.copy * last
    }

    fn thread(&self, thread: ThreadId) -> ThreadId {
        let last = u64::from(self.survey.last_thread);
        ThreadId(self.shifted(thread.into(), last) as u32)
    }

    fn buffer(&self, thread: ThreadId, index: u64) -> (ThreadId, u64) {
        if thread.is_none() {
            // Goes on through all copies; the last buffer closes the copy.
            let filled = self.survey.buffers.get(&thread).copied().unwrap_or(0);
            let of_copy = filled + 1;
            return (thread, index + self.copy * of_copy);
        }
        (self.thread(thread), index)
    }

    fn lock(&self, lock: LockId) -> LockId {
        let of_copy = self.survey.last_lock.0.saturating_sub(PARK_DOMAINS);
        LockId(lock.0 + self.copy * of_copy)
    }

    fn domain_sequence(&self, domain: LockId, sequence: u64) -> u64 {
        sequence + self.copy * self.survey.domains.get(&domain).copied().unwrap_or(0)
    }

    fn time_ns(&self, time_ns: u64) -> u64 {
        time_ns + self.copy * self.survey.duration_ns
    }

    fn java_id(&self, java_id: JavaThreadId) -> JavaThreadId {
        JavaThreadId(self.shifted(java_id.0, self.survey.last_java_id.0))
    }

    fn forward_ref(&self, forward_ref: ForwardRef) -> ForwardRef {
        ForwardRef(self.shifted(forward_ref.0, self.survey.last_forward_ref.0))
    }

    /// The event in this copy; `None` if it describes what the first copy has
    /// described, or ends what later copies refer to.
    fn event<'e>(&self, event: Event<'e>) -> Option<Event<'e>> {
        Some(match event {
            Event::Class(_) | Event::Method(_) | Event::Chain(_) => {
                return Some(event).filter(|_| self.copy == 0);
            }
            Event::LoaderUnload(_) | Event::ChainRetired(_) | Event::MethodRetired(_) => {
                return None;
            }
            // Surveyed traces have none.
            Event::LostNumbers(_) | Event::LostEvents(_) => return None,
            // The objects of all copies are called the same.
            Event::LockSite(_) => event,
            Event::LockDescription(description) => Event::LockDescription(LockDescription {
                lock: self.lock(description.lock),
                ..description
            }),
            Event::ContendedEnter(enter) => Event::ContendedEnter(ContendedEnter {
                lock: self.lock(enter.lock),
                time_ns: self.time_ns(enter.time_ns),
                owner: match enter.owner {
                    LockOwner::Thread(thread) => LockOwner::Thread(self.thread(thread)),
                    // Each copy is of another time.
                    owner => owner,
                },
                ..enter
            }),
            Event::ContendedEntered(entered) => Event::ContendedEntered(ContendedEntered {
                lock: self.lock(entered.lock),
                time_ns: self.time_ns(entered.time_ns),
                ..entered
            }),
            Event::ContendedExit(exit) => Event::ContendedExit(ContendedExit {
                lock: self.lock(exit.lock),
                time_ns: self.time_ns(exit.time_ns),
                chain: match exit.chain {
                    ChainRef::Chain(chain) => ChainRef::Chain(chain),
                    ChainRef::Forward(forward_ref) => {
                        ChainRef::Forward(self.forward_ref(forward_ref))
                    }
                },
                ..exit
            }),
            Event::LockRetired(retired) => Event::LockRetired(LockRetired {
                lock: self.lock(retired.lock),
                ..retired
            }),
            Event::ForwardResolved(resolved) => Event::ForwardResolved(ForwardResolved {
                forward_ref: self.forward_ref(resolved.forward_ref),
                ..resolved
            }),
            Event::ThreadStart(start) => Event::ThreadStart(ThreadStart {
                time_ns: self.time_ns(start.time_ns),
                java_id: self.java_id(start.java_id),
                ..start
            }),
            Event::ThreadRename(rename) => Event::ThreadRename(ThreadRename {
                java_id: self.java_id(rename.java_id),
                ..rename
            }),
            Event::ThreadEnd(end) => Event::ThreadEnd(ThreadEnd {
                time_ns: self.time_ns(end.time_ns),
            }),
            Event::ParkBegin(park) => Event::ParkBegin(ParkBegin {
                sequence: self.domain_sequence(park.domain, park.sequence),
                time_ns: self.time_ns(park.time_ns),
                owner: self.java_id(park.owner),
                ..park
            }),
            Event::ParkEnd(park) => Event::ParkEnd(ParkEnd {
                sequence: self.domain_sequence(park.domain, park.sequence),
                time_ns: self.time_ns(park.time_ns),
                owner: self.java_id(park.owner),
                ..park
            }),
            Event::Unpark(unpark) => Event::Unpark(Unpark {
                sequence: self.domain_sequence(unpark.domain, unpark.sequence),
                time_ns: self.time_ns(unpark.time_ns),
                target: self.java_id(unpark.target),
                owner: self.java_id(unpark.owner),
                ..unpark
            }),
            Event::ExclusiveRelease(release) => Event::ExclusiveRelease(ExclusiveRelease {
                sequence: self.domain_sequence(release.domain, release.sequence),
                time_ns: self.time_ns(release.time_ns),
                ..release
            }),
            Event::OwnerSample(sample) => Event::OwnerSample(OwnerSample {
                time_ns: self.time_ns(sample.time_ns),
                owner: self.thread(sample.owner),
                since_ns: self.time_ns(sample.since_ns),
                ..sample
            }),
        })
    }
}

/// The file, and the part of it that is not written yet.
struct Output {
    file: BufWriter<File>,
    chunk: ChunkWriter,
    segment: SegmentEncoder,
    bytes_of_segment: Vec<u8>,
    thread: ThreadId,
    buffer_index: u64,
    /// The size of the file.
    bytes: u64,
    events: u64,
    buffers: u64,
    chunks: u64,
    raw_bytes: u64,
}

impl Output {
    /// Space for the events that one thread writes between two chunks.
    const SEGMENT_LEN: usize = MAX_STORED_LEN / 2;

    fn new(header: &FileHeader, mut file: BufWriter<File>) -> io::Result<Self> {
        let header_bytes = header.encode();
        file.write_all(&header_bytes)?;
        Ok(Self {
            file,
            chunk: ChunkWriter::new(header.compressed),
            segment: SegmentEncoder::new(),
            bytes_of_segment: vec![0; Self::SEGMENT_LEN],
            thread: ThreadId::NONE,
            buffer_index: 0,
            bytes: header_bytes.len() as u64,
            events: 0,
            buffers: 0,
            chunks: 0,
            raw_bytes: 0,
        })
    }

    fn begin_segment(&mut self, thread: ThreadId, buffer_index: u64) {
        self.thread = thread;
        self.buffer_index = buffer_index;
        self.segment = SegmentEncoder::new();
    }

    fn event(&mut self, event: &Event<'_>) -> anyhow::Result<()> {
        self.segment
            .encode(&mut self.bytes_of_segment, event)
            .context("a buffer of the trace is too long")
    }

    fn end_segment(&mut self) -> anyhow::Result<()> {
        if !self.push_segment() {
            self.end_chunk()?;
            ensure!(self.push_segment(), "a buffer of the trace is too long");
        }
        self.events += u64::from(self.segment.events());
        self.buffers += 1;
        Ok(())
    }

    fn push_segment(&mut self) -> bool {
        let events = &self.bytes_of_segment[..self.segment.len()];
        let contains_metadata = self.segment.contains_metadata();
        let pushed =
            self.chunk
                .push_segment(self.thread, self.buffer_index, events, contains_metadata);
        pushed.is_ok()
    }

    fn end_chunk(&mut self) -> io::Result<()> {
        let raw_len = self.chunk.raw_len() as u64;
        if raw_len > 0 {
            let chunk = self.chunk.events();
            self.file.write_all(chunk)?;
            self.bytes += chunk.len() as u64;
            self.raw_bytes += raw_len;
            self.chunks += 1;
        }
        Ok(())
    }

    fn finish(mut self, end_ns: u64) -> io::Result<BufWriter<File>> {
        let counters = [
            (Counter::Events, self.events),
            (Counter::Buffers, self.buffers),
            (Counter::Chunks, self.chunks),
            (Counter::RawBytes, self.raw_bytes),
            (Counter::FileBytes, self.bytes),
        ];
        self.file.write_all(self.chunk.counters(counters))?;
        self.file
            .write_all(self.chunk.end(end_ns, self.chunks + 1))?;
        Ok(self.file)
    }
}
