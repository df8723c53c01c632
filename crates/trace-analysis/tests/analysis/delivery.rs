//! How events get from the threads into a trace: encoded into buffers, which
//! are delayed, arrive in another order, and get lost.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::NamedTempFile;
use trace_format::{
    Capabilities, ChunkWriter, DoesNotFit, Event, FileHeader, LostEvents, LostNumbers,
    SegmentDecoder, SegmentEncoder, ThreadId,
};

use crate::history::Written;
use crate::{park::script as park_script, script};

/// Decides what becomes of the events. Each list is used in turn.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    /// Sizes of buffers in bytes.
    buffer_sizes: Vec<usize>,
    /// How many steps a buffer is held up after it was taken from its thread.
    delays: Vec<usize>,
    /// What becomes of a buffer.
    losses: Vec<Loss>,
    /// How many buffers a chunk holds.
    chunk_sizes: Vec<usize>,
    compressed: bool,
}

/// What becomes of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// It arrives.
    None,
    /// Its events are lost, and their numbers are listed in their place.
    Listed,
    /// Its events are lost and counted.
    Counted,
    /// It is not in the trace.
    Missing,
}

/// Of a hundred buffers, `lost` get lost.
pub(crate) fn delivery(lost: u32) -> impl Strategy<Value = Delivery> {
    delivery_in(24..200, lost, &LOSSES)
}

/// The same in buffers that fit a park event.
pub(crate) fn park_delivery(lost: u32) -> impl Strategy<Value = Delivery> {
    delivery_in(64..400, lost, &LOSSES)
}

/// The same where all that gets lost is listed.
pub(crate) fn listed_park_delivery(lost: u32) -> impl Strategy<Value = Delivery> {
    delivery_in(64..400, lost, &[Loss::Listed])
}

/// All arrives, as soon as a buffer is full.
pub(crate) fn prompt_delivery() -> Delivery {
    Delivery {
        buffer_sizes: vec![400],
        delays: vec![0],
        losses: vec![Loss::None],
        chunk_sizes: vec![3],
        compressed: false,
    }
}

const LOSSES: [Loss; 3] = [Loss::Listed, Loss::Counted, Loss::Missing];

fn delivery_in(
    sizes: Range<usize>,
    lost: u32,
    losses: &'static [Loss],
) -> impl Strategy<Value = Delivery> {
    let delay = prop_oneof![3 => 0..10usize, 2 => 0..100usize, 1 => 0..1000usize];
    let kind = prop::sample::select(losses);
    let loss = (0..100u32, kind).prop_map(move |(roll, kind)| match roll >= 100 - lost {
        true => kind,
        false => Loss::None,
    });
    let parts = (
        vec(sizes, 1..8),
        vec(delay, 1..40),
        vec(loss, 1..40),
        vec(1..6usize, 1..8),
        any::<bool>(),
    );
    parts.prop_map(
        |(buffer_sizes, delays, losses, chunk_sizes, compressed)| Delivery {
            buffer_sizes,
            delays,
            losses,
            chunk_sizes,
            compressed,
        },
    )
}

/// What one thread wrote into one buffer.
struct Buffer {
    thread: ThreadId,
    index: u64,
    /// The step of the last event.
    taken_at: usize,
    bytes: Vec<u8>,
}

/// What arrived, in the order of arrival.
pub(crate) struct Arrived {
    buffers: Vec<Buffer>,
    chunk_sizes: Vec<usize>,
    compressed: bool,
    pub(crate) capabilities: Capabilities,
}

impl Delivery {
    pub(crate) fn deliver(&self, events: &[Vec<Written>]) -> Arrived {
        let mut sizes = self.buffer_sizes.iter().copied().cycle();
        let mut buffers = Vec::new();
        for (thread, events) in (0..).zip(events) {
            buffers.extend(fill_buffers(ThreadId(thread), events, &mut sizes));
        }
        for (buffer, loss) in buffers.iter_mut().zip(self.losses.iter().cycle()) {
            lose_events(buffer, *loss);
        }
        let mut arriving: Vec<_> = buffers
            .into_iter()
            .zip(self.losses.iter().cycle())
            .zip(self.delays.iter().cycle())
            .filter(|((_, loss), _)| **loss != Loss::Missing)
            .map(|((buffer, _), delay)| (buffer.taken_at + delay, buffer))
            .collect();
        arriving.sort_by_key(|&(arrives_at, _)| arrives_at);
        Arrived {
            buffers: arriving.into_iter().map(|(_, buffer)| buffer).collect(),
            chunk_sizes: self.chunk_sizes.clone(),
            compressed: self.compressed,
            capabilities: Capabilities::default(),
        }
    }
}

impl Arrived {
    /// The events as a reader of the trace finds them.
    pub(crate) fn events(&self) -> Vec<(ThreadId, Event<'_>)> {
        let mut events = Vec::new();
        for buffer in &self.buffers {
            let decoded = SegmentDecoder::new(&buffer.bytes);
            events.extend(decoded.map(|event| (buffer.thread, event.expect("what was encoded"))));
        }
        events
    }

    /// The trace. The first buffers of all threads, with the names, come last.
    pub(crate) fn write_file(&self) -> NamedTempFile {
        self.write(false)
    }

    /// The same, but what events refer to is described before them.
    pub(crate) fn write_file_with_names_first(&self) -> NamedTempFile {
        self.write(true)
    }

    fn write(&self, names_first: bool) -> NamedTempFile {
        let header = FileHeader {
            compressed: self.compressed,
            capabilities: self.capabilities,
            start_unix_ns: 0,
            pid: 1,
            jvm: String::new(),
        };
        let mut bytes = header.encode();
        let mut writer = ChunkWriter::new(self.compressed);
        let mut chunks = 0;
        if names_first {
            push_names(&mut writer);
            bytes.extend(writer.events());
            chunks += 1;
        }
        let mut rest = self.buffers.as_slice();
        for &size in self.chunk_sizes.iter().cycle() {
            let (chunk, later) = rest.split_at(size.min(rest.len()));
            for buffer in chunk {
                writer
                    .push_segment(buffer.thread, buffer.index, &buffer.bytes, false)
                    .expect("it fits");
            }
            bytes.extend(writer.events());
            chunks += 1;
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        if !names_first {
            push_names(&mut writer);
            bytes.extend(writer.events());
            chunks += 1;
        }
        bytes.extend(writer.end(0, chunks));
        let mut file = NamedTempFile::new().expect("a temporary file");
        file.write_all(&bytes).expect("it fits");
        file
    }
}

/// Adds the buffers that describe what events refer to.
fn push_names(writer: &mut ChunkWriter) {
    let mut names: BTreeMap<ThreadId, Vec<Event<'_>>> = BTreeMap::new();
    let described = script::metadata_events().into_iter();
    for (thread, event) in described.chain(park_script::metadata_events()) {
        names.entry(thread).or_default().push(event);
    }
    for (thread, events) in names {
        writer
            .push_segment(thread, 0, &encode(&events), true)
            .expect("it fits");
    }
}

/// The buffers that `events` of `thread` fill.
fn fill_buffers(
    thread: ThreadId,
    events: &[Written],
    sizes: &mut impl Iterator<Item = usize>,
) -> Vec<Buffer> {
    let mut buffers = Vec::new();
    let mut rest = events;
    while !rest.is_empty() {
        let mut bytes = vec![0; sizes.next().expect("endless")];
        let mut encoder = SegmentEncoder::new();
        let fitting = rest
            .iter()
            .take_while(|written| encoder.encode(&mut bytes, &written.event) != Err(DoesNotFit))
            .count();
        let (written, later) = rest.split_at(fitting);
        bytes.truncate(encoder.len());
        buffers.push(Buffer {
            thread,
            index: buffers.len() as u64 + 1,
            taken_at: written.last().expect("one event fits").step,
            bytes,
        });
        rest = later;
    }
    buffers
}

/// Does what the tracer does when it has no memory for another buffer.
fn lose_events(buffer: &mut Buffer, loss: Loss) {
    let lost = SegmentDecoder::new(&buffer.bytes).map(|event| event.expect("what was encoded"));
    let numbers = lost.filter_map(|event| event.lock_and_sequence());
    let remains: Vec<Event<'static>> = match loss {
        Loss::None | Loss::Missing => return,
        Loss::Listed => numbers
            .map(|(lock, sequence)| {
                Event::LostNumbers(LostNumbers {
                    lock,
                    first: sequence,
                    count: 1,
                })
            })
            .collect(),
        Loss::Counted => {
            let events = numbers.count() as u64;
            vec![Event::LostEvents(LostEvents { events })]
        }
    };
    buffer.bytes = encode(&remains);
}

/// A buffer with these events.
pub(crate) fn encode(events: &[Event<'_>]) -> Vec<u8> {
    let mut bytes = vec![0; 1 << 16];
    let mut encoder = SegmentEncoder::new();
    for event in events {
        encoder.encode(&mut bytes, event).expect("it fits");
    }
    bytes.truncate(encoder.len());
    bytes
}
