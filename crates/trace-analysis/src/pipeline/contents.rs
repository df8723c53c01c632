//! The contents of a trace's chunks.

use trace_format::{
    Chunk, Counter as TracerCounter, Event, Segment, SystemRecord, TakeEvent, ThreadId,
};

use crate::aggregate::statistics::Statistics;
use crate::blame::facts::trace_end::LastEvents;

/// The contents of the chunks read so far, whatever they refer to.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) statistics: Statistics,
    /// The tracer's counters, in their order.
    pub(crate) tracer: Vec<(TracerCounter, u64)>,
    pub(crate) end_ns: Option<u64>,
    /// Buffers that could be decoded only in part.
    pub(crate) malformed_segments: u64,
    pub(crate) last_events: LastEvents,
}

impl Contents {
    /// Takes a chunk into account, and passes its events on. Returns whether it is a chunk of
    /// events.
    #[inline]
    pub(crate) fn chunk(&mut self, chunk: Chunk<'_>, on_event: &mut impl OnEvent) -> bool {
        match chunk {
            Chunk::Events(events) => {
                self.statistics.add_chunk(&events);
                for segment in events.segments() {
                    match segment {
                        Ok(segment) => self.segment(&segment, on_event),
                        Err(_) => self.malformed_segments += 1,
                    }
                }
                return true;
            }
            Chunk::Counters(counters) => self.tracer = counters.flatten().collect(),
            Chunk::End { time_ns, .. } => self.end_ns = Some(time_ns),
            Chunk::System(records) => {
                for record in records {
                    match record {
                        Ok(record) => on_event.system(record),
                        Err(_) => self.malformed_segments += 1,
                    }
                }
            }
        }
        false
    }

    fn segment(&mut self, segment: &Segment<'_>, on_event: &mut impl OnEvent) {
        self.statistics.add_segment(segment);
        on_event.begin_buffer(segment.thread, segment.buffer_index);
        let mut decoder = segment.events();
        while let Some(taken) = decoder.next_with(Taker {
            contents: self,
            thread: segment.thread,
            on_event,
        }) {
            if taken.is_err() {
                self.malformed_segments += 1;
                return;
            }
        }
    }

    /// Notes when the thread wrote an event.
    #[inline(always)]
    pub(crate) fn add_time(&mut self, thread: ThreadId, event: &Event<'_>) {
        if let Some(time_ns) = event.time_ns() {
            self.last_events.add(thread, time_ns);
        }
    }

    /// Forgets threads that have ended.
    pub(crate) fn forget(&mut self, has_ended: impl Fn(ThreadId) -> bool) {
        self.statistics.forget(&has_ended);
        self.last_events.forget(&has_ended);
    }

    /// Returns the time until which the trace is complete, as reported by the tracer.
    pub(crate) fn complete_until_ns(&self) -> u64 {
        let mut counters = self.tracer.iter();
        let complete = counters.find(|&&(counter, _)| counter == TracerCounter::CompleteUntilNs);
        let complete_ns = complete.map_or(0, |&(_, time_ns)| time_ns);
        self.end_ns.unwrap_or(complete_ns)
    }

    /// Returns when the trace ended; without an end chunk, until when it certainly went on.
    pub(crate) fn last_ns(&self) -> u64 {
        let known_ns = self.complete_until_ns().max(self.statistics.last_event_ns);
        self.end_ns.unwrap_or(known_ns)
    }
}

/// A receiver of the events of a chunk.
pub(crate) trait OnEvent {
    /// Begins a buffer of the thread: the next events belong to it.
    fn begin_buffer(&mut self, thread: ThreadId, index: u64);

    /// Takes an event of the thread. To be inlined, so that it is compiled for each type of event.
    fn event(&mut self, thread: ThreadId, event: &Event<'_>);

    /// Takes an action of the JVM or the system.
    fn system(&mut self, record: SystemRecord);
}

/// Takes an event into account before it is passed on.
struct Taker<'c, 'e, E> {
    contents: &'c mut Contents,
    thread: ThreadId,
    on_event: &'e mut E,
}

impl<E: OnEvent> TakeEvent<'_> for Taker<'_, '_, E> {
    #[inline(always)]
    fn take(self, event: &Event<'_>, bytes: usize) {
        self.contents.statistics.add_event(event, bytes);
        self.contents.add_time(self.thread, event);
        self.on_event.event(self.thread, event);
    }
}
