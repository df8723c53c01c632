//! The events that a killed process left in its file of buffers are read after its trace.

use std::io::Cursor;

use trace_format::buffer_file::{
    self, ALIVE_OFFSET, HEADER_LEN, MAX_LEN, SLOT_ALIGN, SLOT_HEADER_LEN, word,
};
use trace_format::{
    ChainId, ChainRef, Chunk, ChunkWriter, ContendedEntered, ContendedExit, Counter, Event,
    FileHeader, Hold, LeftBuffers, LockId, SegmentEncoder, ThreadId, TraceReader,
};

const SLOT_LEN: usize = 3 * SLOT_ALIGN;

/// A file of buffers in memory.
struct File(Vec<u8>);

impl File {
    fn new(trace: &FileHeader, slots: usize) -> Self {
        let mut bytes = vec![0; HEADER_LEN + slots * SLOT_LEN];
        let header = buffer_file::header(trace);
        bytes[..header.len()].copy_from_slice(&header);
        bytes[ALIVE_OFFSET..][..8].copy_from_slice(&900_u64.to_le_bytes());
        Self(bytes)
    }

    fn set(&mut self, slot: usize, word: usize, value: u64) {
        let at = HEADER_LEN + slot * SLOT_LEN + word * 8;
        self.0[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// Puts a buffer of thread 7 into a slot, without a commit.
    fn put(&mut self, slot: usize, index: u64, segment: &[u8]) {
        self.set(slot, word::TAG, buffer_file::slot_tag(SLOT_LEN as u32));
        self.set(slot, word::THREAD, 7);
        self.set(slot, word::INDEX, index);
        let at = HEADER_LEN + slot * SLOT_LEN + SLOT_HEADER_LEN;
        self.0[at..at + segment.len()].copy_from_slice(segment);
    }

    fn commit(&mut self, slot: usize, len: usize) {
        self.set(slot, word::COMMIT, buffer_file::commit(len as u32, 0));
    }
}

fn trace_header() -> FileHeader {
    FileHeader {
        start_unix_ns: 77,
        pid: 4711,
        ..FileHeader::default()
    }
}

fn entered(sequence: u64) -> Event<'static> {
    Event::ContendedEntered(ContendedEntered {
        lock: LockId(300),
        sequence,
        time_ns: 1000 + sequence,
        safepoint_ns: 0,
    })
}

fn exit(sequence: u64, chain: u32) -> ContendedExit {
    ContendedExit {
        lock: LockId(300),
        sequence,
        time_ns: 1000 + 10 * sequence,
        hold: Hold::For { duration_ns: 3 },
        chain: ChainRef::Chain(ChainId(chain)),
    }
}

fn segment(events: &[Event<'_>]) -> Vec<u8> {
    let mut bytes = vec![0; 4096];
    let mut encoder = SegmentEncoder::new();
    for event in events {
        encoder.encode(&mut bytes, event).unwrap();
    }
    bytes.truncate(encoder.len());
    bytes
}

/// Returns a trace that breaks off after `chunks`.
fn trace(chunks: &[&[u8]]) -> Vec<u8> {
    let mut trace = trace_header().encode();
    chunks
        .iter()
        .for_each(|chunk| trace.extend_from_slice(chunk));
    trace
}

/// The events as text, by the index of the buffer.
type Buffers = Vec<(u64, Vec<String>)>;

/// Reads a trace, then the buffers, and the last counters.
fn read(trace: &[u8], file: File) -> (Buffers, Vec<(Counter, u64)>) {
    let trace_len = trace.len() as u64;
    let find = move || LeftBuffers::find(Cursor::new(file.0), &trace_header(), trace_len).unwrap();
    let mut reader = TraceReader::new(trace).unwrap().with_left_buffers(find);
    let (mut buffers, mut last_counters) = (Vec::new(), Vec::new());
    while let Some(chunk) = reader.next_chunk().unwrap() {
        match chunk {
            Chunk::Events(events) => {
                for segment in events.segments().map(Result::unwrap) {
                    let events = segment.events().map(|event| format!("{event:?}"));
                    buffers.push((segment.buffer_index, events.collect()));
                }
            }
            Chunk::Counters(counters) => last_counters = counters.flatten().collect(),
            Chunk::End { .. } | Chunk::System(_) => {}
        }
    }
    (buffers, last_counters)
}

fn in_words(events: &[Event<'_>]) -> Vec<String> {
    events
        .iter()
        .map(|event| format!("{:?}", Ok::<_, ()>(event)))
        .collect()
}

#[test]
fn buffers_follow_the_trace_in_the_order_of_the_thread() {
    let mut file = File::new(&trace_header(), 4);
    for (slot, index) in [(0, 5), (2, 3), (3, 4)] {
        let segment = segment(&[entered(index)]);
        file.put(slot, index, &segment);
        file.commit(slot, segment.len());
    }
    let mut writer = ChunkWriter::new(false);
    let counters = writer
        .counters([(Counter::Events, 9), (Counter::CompleteUntilNs, 5)])
        .to_vec();
    let (buffers, counters) = read(&trace(&[&counters]), file);
    let expected = [3, 4, 5].map(|index| (index, in_words(&[entered(index)])));
    assert_eq!(buffers, expected);
    let expected = [(Counter::Events, 9), (Counter::CompleteUntilNs, 1005)];
    assert_eq!(counters, expected);
}

/// A buffer that the drainer has marked is in the trace if its chunk is complete.
#[test]
fn a_torn_chunk_is_replaced_by_its_buffers() {
    let first = segment(&[entered(1)]);
    let mut writer = ChunkWriter::new(false);
    writer.push_segment(ThreadId(7), 0, &first, false).unwrap();
    let chunk = writer.events().to_vec();
    let whole = trace(&[&chunk]);
    for cut in 0..chunk.len() {
        let mut file = File::new(&trace_header(), 1);
        file.put(0, 0, &first);
        file.set(0, word::WRITTEN_END, whole.len() as u64);
        file.commit(0, first.len());
        let (buffers, _) = read(&whole[..whole.len() - cut], file);
        assert_eq!(
            buffers,
            [(0, in_words(&[entered(1)]))],
            "{cut} bytes cut off"
        );
    }
}

/// Only committed events count, at each moment.
#[test]
fn an_event_that_is_being_written_is_left_out() {
    let two = segment(&[entered(1), entered(2)]);
    let one = segment(&[entered(1)]);
    let mut file = File::new(&trace_header(), 1);
    file.put(0, 0, &two);
    let (buffers, _) = read(&trace(&[]), File(file.0.clone()));
    assert_eq!(buffers, []);
    file.commit(0, one.len());
    let (buffers, _) = read(&trace(&[]), file);
    assert_eq!(buffers, [(0, in_words(&[entered(1)]))]);
}

/// Exits that were added to the last one are not in the segment until the next event. The bytes in
/// their place may be half overwritten.
#[test]
fn grown_exits_are_whole() {
    for chains in [[9, 9], [8, 9]] {
        let mut bytes = vec![0; 4096];
        let mut encoder = SegmentEncoder::new();
        for (sequence, chain) in (1..).zip(chains) {
            encoder
                .encode_exit(&mut bytes, &exit(sequence, chain))
                .unwrap();
        }
        for sequence in 3..500 {
            encoder.encode_exit(&mut bytes, &exit(sequence, 9)).unwrap();
            let Some(tail) = encoder.grown_tail() else {
                panic!("exit {sequence} is an event of its own");
            };
            let mut flushed = bytes.clone();
            let mut flusher = encoder.clone();
            flusher.flush(&mut flushed);
            assert!(flusher.grown_tail().is_none());
            flushed.truncate(flusher.len());

            let at = tail.at as usize;
            let mut file = File::new(&trace_header(), 1);
            let mut torn = bytes.clone();
            torn[at..at + 8].fill(0xff);
            file.put(0, 0, &torn);
            let record = 1 + (sequence % 2) as u32;
            for (number, value) in tail.numbers.into_iter().enumerate() {
                file.set(0, word::RECORDS[record as usize - 1] + number, value);
            }
            file.set(0, word::COMMIT, buffer_file::commit(tail.at, record));
            let mut expected = File::new(&trace_header(), 1);
            expected.put(0, 0, &flushed);
            expected.commit(0, flushed.len());
            assert_eq!(read(&trace(&[]), file), read(&trace(&[]), expected));
        }
    }
}

#[test]
fn other_files_are_not_taken() {
    let other_run = FileHeader {
        start_unix_ns: 78,
        ..trace_header()
    };
    let found = |bytes: Vec<u8>| LeftBuffers::find(Cursor::new(bytes), &trace_header(), 0);
    assert!(found(File::new(&trace_header(), 1).0).unwrap().is_some());
    assert!(found(File::new(&other_run, 1).0).unwrap().is_none());
    assert!(found(Vec::new()).unwrap().is_none());
    assert!(found(vec![0; 100]).unwrap().is_none());
    assert!(found(trace_header().encode()).unwrap().is_none());
}

/// Reading ends whatever the words of a slot say, and takes no more than the file has.
#[test]
fn hostile_slots_are_read_or_left_out() {
    let values = [
        0,
        1,
        127,
        1 << 20,
        1 << 30,
        u64::from(u32::MAX),
        MAX_LEN,
        u64::MAX,
    ];
    for first in 0..word::COUNT {
        for second in 0..word::COUNT {
            for value in values {
                let mut file = File::new(&trace_header(), 3);
                let one = segment(&[entered(1)]);
                file.put(1, 0, &one);
                file.commit(1, one.len());
                file.set(1, first, value);
                file.set(1, second, value);
                file.set(1, word::TAG, buffer_file::slot_tag(SLOT_LEN as u32));
                let (buffers, _) = read(&trace(&[]), file);
                assert!(buffers.len() <= 1);
            }
        }
    }
    for tag in values {
        let mut file = File::new(&trace_header(), 3);
        file.commit(0, 1);
        file.set(0, word::TAG, u64::from(buffer_file::SLOT_MAGIC) << 32 | tag);
        read(&trace(&[]), file);
    }
}
