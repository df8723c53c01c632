//! What the chunks of a trace consist of.

use trace_format::{Chunk, Counter as TracerCounter, EventsChunk};

use crate::statistics::Statistics;

/// What there is in the chunks read so far beside the events themselves.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) statistics: Statistics,
    /// What the tracer counted, in the order of its counters.
    pub(crate) tracer: Vec<(TracerCounter, u64)>,
    pub(crate) end_ns: Option<u64>,
    /// Buffers that could be decoded only in part.
    pub(crate) malformed_segments: u64,
}

impl Contents {
    /// Takes a chunk into account. Returns it if it has events.
    pub(crate) fn chunk<'c>(&mut self, chunk: Chunk<'c>) -> Option<EventsChunk<'c>> {
        match chunk {
            Chunk::Events(events) => {
                self.statistics.add_chunk(&events);
                return Some(events);
            }
            Chunk::Counters(counters) => self.tracer = counters.flatten().collect(),
            Chunk::End { time_ns, .. } => self.end_ns = Some(time_ns),
        }
        None
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
