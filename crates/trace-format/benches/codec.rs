//! Encoding and decoding of the events of a contended thread.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use trace_format::{
    ChainId, ChainRef, ChunkWriter, ContendedEnter, ContendedEntered, ContendedExit, Event,
    FileHeader, Hold, LockId, LockOwner, SegmentDecoder, SegmentEncoder, ThreadId, TraceReader,
};

/// Waits of one thread for four locks.
fn events() -> Vec<Event<'static>> {
    let waits = (0..1000u64).map(|wait| {
        let lock = 1000 + wait % 4;
        let sequence = 30 * wait;
        let time_ns = 45_000 * wait;
        let chain = 500 + (wait / 7 % 5) as u32;
        [
            Event::ContendedEnter(ContendedEnter {
                lock: LockId(lock),
                sequence,
                time_ns,
                chain: ChainId(chain),
                after_wait: false,
                owner: LockOwner::NotKnown,
            }),
            Event::ContendedEntered(ContendedEntered {
                lock: LockId(lock),
                sequence: sequence + 20,
                time_ns: time_ns + 30_000,
                safepoint_ns: 0,
            }),
            Event::ContendedExit(ContendedExit {
                lock: LockId(lock),
                sequence: sequence + 21,
                time_ns: time_ns + 31_000,
                hold: Hold::For { duration_ns: 1_000 },
                chain: ChainRef::Chain(ChainId(chain + 1)),
            }),
        ]
    });
    waits.flatten().collect()
}

fn encode(events: &[Event<'_>], buffer: &mut [u8]) -> usize {
    let mut encoder = SegmentEncoder::new();
    for event in events {
        encoder
            .encode(buffer, event)
            .expect("the buffer is large enough");
    }
    encoder.len()
}

fn codec(criterion: &mut Criterion) {
    let events = events();
    let mut buffer = vec![0; 64 << 10];
    let len = encode(&events, &mut buffer);
    let segment = buffer[..len].to_vec();
    println!("{:.2} bytes an event", len as f64 / events.len() as f64);

    let header = FileHeader {
        compressed: true,
        ..FileHeader::default()
    };
    let mut file = header.encode();
    let mut writer = ChunkWriter::new(true);
    for chunk in 0..16 {
        for index in 0..4 {
            writer
                .push_segment(ThreadId(1), chunk * 4 + index, &segment, false)
                .expect("the chunk is short");
        }
        file.extend(writer.events());
    }

    let mut group = criterion.benchmark_group("codec");
    group.throughput(Throughput::Elements(events.len() as u64));
    group.bench_function("encode", |bencher| {
        bencher.iter(|| encode(black_box(&events), &mut buffer));
    });
    group.bench_function("decode", |bencher| {
        bencher.iter(|| {
            SegmentDecoder::new(black_box(&segment))
                .flatten()
                .map(black_box)
                .count()
        });
    });
    group.throughput(Throughput::Elements(64 * events.len() as u64));
    group.bench_function("read a compressed file", |bencher| {
        bencher.iter(|| {
            let mut reader = TraceReader::new(black_box(file.as_slice())).expect("a trace");
            let mut events = 0;
            while let Some(chunk) = reader.next_chunk().expect("memory does not fail") {
                if let trace_format::Chunk::Events(chunk) = chunk {
                    for segment in chunk.segments().flatten() {
                        events += segment.events().flatten().map(black_box).count();
                    }
                }
            }
            events
        });
    });
    group.finish();
}

criterion_group!(benches, codec);
criterion_main!(benches);
