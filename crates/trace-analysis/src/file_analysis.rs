//! The analysis of a trace file.

use std::ops::ControlFlow;

use trace_format::{Chunk, Counter as TracerCounter, Damage, Event, EventsChunk, Segment};

use crate::analysis::{Analysis, Findings, TraceAnalysis};
use crate::counter::{Counter, Counters, Severity};
use crate::metadata::Metadata;
use crate::statistics::Statistics;
use crate::still_blocked::StillBlocked;
use crate::tally::WaitTally;
use crate::time_range::TimeRange;
use crate::trace_file::{TraceError, TraceFile};
use crate::wait_sink::WaitSink;

/// What there is to say about a trace beside its waits.
#[derive(Clone, Debug)]
pub struct TraceSummary {
    /// The file.
    pub file: TraceFile,
    /// From the trace's start to its end, or to its last event if the end is
    /// missing, in nanoseconds.
    pub duration_ns: u64,
    /// The part of the time that was considered.
    pub range: TimeRange,
    /// What the tracer counted, in the order of its counters.
    pub tracer: Vec<(TracerCounter, u64)>,
    /// What the trace consists of.
    pub statistics: Statistics,
    /// The waits found, of all kinds.
    pub waits: WaitTally,
    /// The threads that still waited for a lock when the trace ended.
    pub still_blocked: StillBlocked,
    /// What the analysis counted.
    pub counters: Counters,
    /// What could not be read.
    pub damage: Damage,
}

impl TraceSummary {
    /// Returns whether nothing is missing: the [whole](Self::is_whole) file
    /// could be read, the tracer dropped no event, and the analysis found no
    /// gap and no defect.
    pub fn is_complete(&self) -> bool {
        let mut counters = self.counters.iter();
        self.is_whole()
            && self.lost_events() == 0
            && counters.all(|(counter, value)| value == 0 || counter.severity() == Severity::Normal)
    }

    /// Returns whether the whole file could be read, up to the tracer's end
    /// marker.
    pub fn is_whole(&self) -> bool {
        self.damage.is_none() && self.counters.value(Counter::MalformedSegments) == 0
    }

    /// Returns how many events the tracer had to drop.
    pub fn lost_events(&self) -> u64 {
        let counted = self.tracer_value(TracerCounter::LostEvents);
        let listed = self.counters.value(Counter::LostNumbers);
        let seen = listed.saturating_add(self.statistics.unlisted_lost_events);
        counted.unwrap_or(0).max(seen)
    }

    /// Returns what the tracer counted; `None` if it did not count that.
    pub fn tracer_value(&self, wanted: TracerCounter) -> Option<u64> {
        let mut counted = self.tracer.iter();
        let found = counted.find(|&&(counter, _)| counter == wanted);
        found.map(|&(_, value)| value)
    }
}

/// How far the analysis of a file has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Bytes read; the file is read twice.
    pub bytes: u64,
    /// Bytes to read.
    pub total_bytes: u64,
}

impl TraceFile {
    /// Runs the trace through `analysis`.
    ///
    /// Passes each wait to `sink`, and calls `on_progress` now and then; the
    /// analysis ends early if that breaks. A damaged file is analyzed as far as
    /// it can be read, and the summary says what is missing.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn analyze(
        &self,
        analysis: &mut Analysis,
        sink: &mut impl WaitSink,
        mut on_progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<TraceSummary, TraceError> {
        let total_bytes = 2 * self.byte_len();
        let mut reader = self.read()?.only_metadata();
        let capabilities = self.header().capabilities;
        let mut metadata = Metadata::of_version(reader.version()).with_capabilities(capabilities);
        while let Some(chunk) = self.next_chunk(&mut reader)? {
            if let Chunk::Events(events) = chunk {
                collect_metadata(&events, &mut metadata, analysis);
            }
            let bytes = reader.offset();
            if on_progress(Progress { bytes, total_bytes }).is_break() {
                break;
            }
        }

        let mut pass = EventPass::new(analysis.begin_trace_of_file(metadata, self));
        let mut reader = self.read()?;
        while let Some(chunk) = self.next_chunk(&mut reader)? {
            pass.chunk(chunk, sink)?;
            let bytes = self.byte_len() + reader.offset();
            if on_progress(Progress { bytes, total_bytes }).is_break() {
                break;
            }
        }
        let end_ns = pass.end_ns();
        let range = pass.trace.range();
        pass.trace.goes_on_until(end_ns);
        let Findings {
            mut counters,
            waits,
            still_blocked,
        } = pass.trace.finish(sink);
        counters.add(Counter::MalformedSegments, pass.malformed_segments);
        counters.add(Counter::MissingBuffers, pass.statistics.missing_buffers());
        Ok(TraceSummary {
            file: self.clone(),
            duration_ns: end_ns,
            range,
            tracer: pass.tracer,
            statistics: pass.statistics,
            waits,
            still_blocked,
            counters,
            damage: reader.damage().clone(),
        })
    }
}

/// The first pass: over the chunks marked to contain metadata. Any chunk may resolve a
/// forward reference, so that is not its business.
fn collect_metadata(events: &EventsChunk<'_>, metadata: &mut Metadata, analysis: &mut Analysis) {
    for segment in events.segments().flatten() {
        for event in segment.events().flatten() {
            if !matches!(event, Event::ForwardResolved(_)) {
                analysis.collect(metadata, segment.thread, &event);
            }
        }
    }
}

/// The second pass.
struct EventPass<'a> {
    trace: TraceAnalysis<'a>,
    statistics: Statistics,
    tracer: Vec<(TracerCounter, u64)>,
    end_ns: Option<u64>,
    malformed_segments: u64,
}

impl<'a> EventPass<'a> {
    fn new(trace: TraceAnalysis<'a>) -> Self {
        Self {
            trace,
            statistics: Statistics::default(),
            tracer: Vec::new(),
            end_ns: None,
            malformed_segments: 0,
        }
    }

    fn chunk(&mut self, chunk: Chunk<'_>, sink: &mut impl WaitSink) -> Result<(), TraceError> {
        match chunk {
            Chunk::Events(events) => {
                self.events(&events, sink);
                self.trace.next_chunk()?;
            }
            Chunk::Counters(counters) => self.tracer = counters.flatten().collect(),
            Chunk::End { time_ns, .. } => self.end_ns = Some(time_ns),
        }
        Ok(())
    }

    /// When the trace ended; without an end chunk, when it went on for certain.
    fn end_ns(&self) -> u64 {
        let complete = |&&(counter, _): &&(_, u64)| counter == TracerCounter::CompleteUntilNs;
        let complete_until_ns = self.tracer.iter().find(complete);
        let last_ns = self.statistics.last_event_ns;
        let known_ns = complete_until_ns.map_or(last_ns, |&(_, time_ns)| last_ns.max(time_ns));
        self.end_ns.unwrap_or(known_ns)
    }

    fn events(&mut self, events: &EventsChunk<'_>, sink: &mut impl WaitSink) {
        self.statistics.add_chunk(events);
        for segment in events.segments() {
            match segment {
                Ok(segment) => self.segment(&segment, sink),
                Err(_) => self.malformed_segments += 1,
            }
        }
    }

    fn segment(&mut self, segment: &Segment<'_>, sink: &mut impl WaitSink) {
        self.statistics.add_segment(segment);
        let mut decoder = segment.events();
        let mut start = decoder.offset();
        while let Some(event) = decoder.next() {
            let Ok(event) = event else {
                self.malformed_segments += 1;
                return;
            };
            self.statistics.add_event(&event, decoder.offset() - start);
            start = decoder.offset();
            self.trace.event(segment.thread, &event, sink);
        }
    }
}
