//! What the chunks of a trace consist of.

use trace_format::{
    Chunk, Counter as TracerCounter, Event, Segment, SystemRecord, TakeEvent, ThreadId,
};

use crate::aggregate::statistics::Statistics;
use crate::blame::facts::trace_end::LastEvents;

/// What there is in the chunks read so far, whatever it refers to.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) statistics: Statistics,
    /// What the tracer counted, in the order of its counters.
    pub(crate) tracer: Vec<(TracerCounter, u64)>,
    pub(crate) end_ns: Option<u64>,
    /// Buffers that could be decoded only in part.
    pub(crate) malformed_segments: u64,
    pub(crate) last_events: LastEvents,
}

impl Contents {
    /// Takes a chunk into account, and passes its events on. Returns whether it is one of
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

    /// Until when the trace has everything, as far as the tracer has said.
    pub(crate) fn complete_until_ns(&self) -> u64 {
        let mut counters = self.tracer.iter();
        let complete = counters.find(|&&(counter, _)| counter == TracerCounter::CompleteUntilNs);
        let complete_ns = complete.map_or(0, |&(_, time_ns)| time_ns);
        self.end_ns.unwrap_or(complete_ns)
    }

    /// When the trace ended; without an end chunk, when it went on for certain.
    pub(crate) fn last_ns(&self) -> u64 {
        let known_ns = self.complete_until_ns().max(self.statistics.last_event_ns);
        self.end_ns.unwrap_or(known_ns)
    }
}

/// What to do with each event of a chunk.
pub(crate) trait OnEvent {
    /// The events to come are of that buffer of the thread.
    fn begin_buffer(&mut self, thread: ThreadId, index: u64);

    /// Takes an event of the thread. To be inlined, so that it is compiled for each type of events.
    fn event(&mut self, thread: ThreadId, event: &Event<'_>);

    /// Takes what the JVM or the system did.
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
