//! What a trace consists of.

use trace_format::{ChainId, ChainRef, EVENT_TYPES, Event, EventsChunk, Segment, ThreadId};

use crate::collections::hash::SeededMap;
use crate::collections::id_set::IdSet;
use crate::collections::shrink::shrink_map;

/// How many events of a type, and their size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCount {
    /// How many.
    pub events: u64,
    /// Bytes before compression.
    pub bytes: u64,
}

/// What a trace consists of.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Per type of event, in the order of [`EVENT_TYPES`].
    pub events: [EventCount; EVENT_TYPES.len()],
    /// Chunks of events.
    pub chunks: u64,
    /// Buffers of threads.
    pub buffers: u64,
    /// Bytes of the chunks of events before compression.
    pub raw_bytes: u64,
    /// Bytes of the chunks of events as stored.
    pub stored_bytes: u64,
    /// Events that name a call chain.
    pub chain_references: u64,
    /// Events lost that no other event lists.
    pub unlisted_lost_events: u64,
    /// Time of the last event, in nanoseconds since the trace's start.
    pub last_event_ns: u64,
    chains: IdSet<ChainId>,
    buffers_of_thread: SeededMap<ThreadId, Buffers>,
}

/// The buffers of one thread.
#[derive(Clone, Copy, Debug, Default)]
struct Buffers {
    seen: u64,
    /// The greatest index plus one.
    end: u64,
}

impl Statistics {
    /// Counts a chunk of events, but not what is in it.
    pub(crate) fn add_chunk(&mut self, chunk: &EventsChunk<'_>) {
        self.chunks += 1;
        self.raw_bytes += chunk.raw_len() as u64;
        self.stored_bytes += u64::from(chunk.stored_len);
    }

    /// Counts a buffer, but not the events in it.
    pub(crate) fn add_segment(&mut self, segment: &Segment<'_>) {
        self.buffers += 1;
        let buffers = self.buffers_of_thread.entry(segment.thread).or_default();
        buffers.seen += 1;
        buffers.end = buffers.end.max(segment.buffer_index.saturating_add(1));
    }

    /// Forgets the buffers of threads that have ended, unless some are missing.
    pub(crate) fn forget(&mut self, has_ended: impl Fn(ThreadId) -> bool) {
        self.buffers_of_thread
            .retain(|&thread, buffers| buffers.seen < buffers.end || !has_ended(thread));
        shrink_map(&mut self.buffers_of_thread);
    }

    /// Counts an event of `bytes` bytes.
    #[inline(always)]
    pub(crate) fn add_event(&mut self, event: &Event<'_>, bytes: usize) {
        let count = &mut self.events[event.type_index()];
        count.events += 1;
        count.bytes += bytes as u64;
        if let Some(time_ns) = event.time_ns() {
            self.last_event_ns = self.last_event_ns.max(time_ns);
        }
        let referred = match event {
            Event::ContendedEnter(enter) => enter.chain,
            Event::ContendedExit(exit) => match exit.chain {
                ChainRef::Chain(chain) => chain,
                ChainRef::Forward(_) => ChainId::NONE,
            },
            Event::ParkBegin(park) => park.chain,
            Event::Unpark(unpark) => unpark.chain,
            Event::ExclusiveRelease(release) => release.chain,
            Event::ForwardResolved(resolved) => resolved.chain,
            Event::OwnerSample(sample) => sample.chain,
            Event::LockSite(site) => site.chain,
            Event::Chain(description) => {
                self.chains.insert(description.chain);
                ChainId::NONE
            }
            Event::LostEvents(lost) => {
                self.unlisted_lost_events = self.unlisted_lost_events.saturating_add(lost.events);
                ChainId::NONE
            }
            _ => ChainId::NONE,
        };
        self.chain_references += u64::from(!referred.is_none());
    }

    /// Returns how many call chains are described.
    pub fn distinct_chains(&self) -> u64 {
        self.chains.len()
    }

    /// Returns how many buffers are missing between those of the same thread.
    pub fn missing_buffers(&self) -> u64 {
        self.buffers_of_thread
            .values()
            .map(|buffers| buffers.end.saturating_sub(buffers.seen))
            .fold(0, u64::saturating_add)
    }
}
