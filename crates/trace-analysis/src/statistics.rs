//! What a trace consists of.

use rustc_hash::FxHashMap;
use trace_format::{ChainId, ChainRef, Event, EventsChunk, Segment, ThreadId};

use crate::id_set::IdSet;

/// A type of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventType {
    /// Name of the type.
    pub name: &'static str,
    /// Events of the type [are metadata](Event::is_metadata).
    pub metadata: bool,
}

impl EventType {
    /// Returns the type of `event`.
    pub fn of(event: &Event<'_>) -> &'static Self {
        &EVENT_TYPES[position(event)]
    }
}

/// All types of events.
pub const EVENT_TYPES: [EventType; 20] = [
    data("LockDescription"),
    data("ContendedEnter"),
    data("ContendedEntered"),
    data("ContendedExit"),
    data("LockRetired"),
    data("ForwardResolved"),
    data("ThreadEnd"),
    data("LostNumber"),
    data("LostEvents"),
    data("ParkBegin"),
    data("ParkEnd"),
    data("Unpark"),
    metadata("ThreadStart"),
    metadata("ThreadRename"),
    metadata("Class"),
    metadata("Method"),
    metadata("Chain"),
    metadata("LoaderUnload"),
    metadata("ChainRetired"),
    metadata("MethodRetired"),
];

const fn data(name: &'static str) -> EventType {
    EventType {
        name,
        metadata: false,
    }
}

const fn metadata(name: &'static str) -> EventType {
    EventType {
        name,
        metadata: true,
    }
}

/// Position of the event's type in [`EVENT_TYPES`].
fn position(event: &Event<'_>) -> usize {
    match event {
        Event::LockDescription(_) => 0,
        Event::ContendedEnter(_) => 1,
        Event::ContendedEntered(_) => 2,
        Event::ContendedExit(_) => 3,
        Event::LockRetired(_) => 4,
        Event::ForwardResolved(_) => 5,
        Event::ThreadEnd(_) => 6,
        Event::LostNumber(_) => 7,
        Event::LostEvents(_) => 8,
        Event::ParkBegin(_) => 9,
        Event::ParkEnd(_) => 10,
        Event::Unpark(_) => 11,
        Event::ThreadStart(_) => 12,
        Event::ThreadRename(_) => 13,
        Event::Class(_) => 14,
        Event::Method(_) => 15,
        Event::Chain(_) => 16,
        Event::LoaderUnload(_) => 17,
        Event::ChainRetired(_) => 18,
        Event::MethodRetired(_) => 19,
    }
}

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
    buffers_of_thread: FxHashMap<ThreadId, Buffers>,
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

    /// Counts an event of `bytes` bytes.
    #[inline]
    pub(crate) fn add_event(&mut self, event: &Event<'_>, bytes: usize) {
        let count = &mut self.events[position(event)];
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
            Event::ForwardResolved(resolved) => resolved.chain,
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

#[cfg(test)]
mod tests {
    use trace_format::{
        ChainDescription, ChainRetired, ClassDescription, ClassId, ContendedEnter,
        ContendedEntered, ContendedExit, ForwardRef, ForwardResolved, JavaThreadId, LoaderId,
        LoaderUnload, LockDescription, LockId, LockRetired, LostEvents, LostNumber,
        MethodDescription, MethodId, MethodRetired, ParkBegin, ParkEnd, ThreadEnd, ThreadRename,
        ThreadStart, Unpark,
    };

    use super::*;

    #[test]
    fn types_are_those_of_the_format() {
        let (lock, sequence, time_ns) = (1, 1, 1);
        let (name, source_file, loader_class, signature) = ("", "", "", "");
        let events = [
            Event::LockDescription(LockDescription {
                lock: LockId(lock),
                class: ClassId(1),
                mirrored_class: ClassId::NONE,
                identity_hash: 1,
                monitor_address: 1,
            }),
            Event::ContendedEnter(ContendedEnter {
                lock: LockId(lock),
                sequence,
                time_ns,
                chain: ChainId(1),
                after_wait: true,
            }),
            Event::ContendedEntered(ContendedEntered {
                lock: LockId(lock),
                sequence,
                time_ns,
                safepoint_ns: 0,
            }),
            Event::ContendedExit(ContendedExit {
                lock: LockId(lock),
                sequence,
                time_ns,
                chain: ChainRef::Chain(ChainId(1)),
            }),
            Event::LockRetired(LockRetired {
                lock: LockId(lock),
                sequence,
            }),
            Event::ForwardResolved(ForwardResolved {
                forward_ref: ForwardRef(1),
                chain: ChainId(1),
            }),
            Event::ThreadEnd(ThreadEnd { time_ns }),
            Event::LostNumber(LostNumber {
                lock: LockId(lock),
                sequence,
            }),
            Event::LostEvents(LostEvents { events: 1 }),
            Event::ParkBegin(ParkBegin::default()),
            Event::ParkEnd(ParkEnd::default()),
            Event::Unpark(Unpark::default()),
            Event::ThreadStart(ThreadStart {
                time_ns,
                java_id: JavaThreadId(1),
                name,
            }),
            Event::ThreadRename(ThreadRename {
                java_id: JavaThreadId(1),
                name,
            }),
            Event::Class(ClassDescription {
                class: ClassId(1),
                super_class: ClassId::NONE,
                loader: LoaderId::NONE,
                name,
                source_file,
                loader_class,
            }),
            Event::Method(MethodDescription {
                method: MethodId(1),
                class: ClassId(1),
                name,
                signature,
            }),
            Event::Chain(ChainDescription {
                chain: ChainId(1),
                frames: Vec::new(),
                truncated: false,
            }),
            Event::LoaderUnload(LoaderUnload {
                loader: LoaderId(1),
                time_ns,
            }),
            Event::ChainRetired(ChainRetired { chain: ChainId(1) }),
            Event::MethodRetired(MethodRetired {
                method: MethodId(1),
            }),
        ];
        for (event, event_type) in events.iter().zip(&EVENT_TYPES) {
            assert_eq!(EventType::of(event), event_type);
            assert!(
                format!("{event:?}").starts_with(event_type.name),
                "{event:?}"
            );
            assert_eq!(event.is_metadata(), event_type.metadata, "{event:?}");
        }
    }
}
