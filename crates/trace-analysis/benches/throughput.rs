//! How many events the analysis takes in a second, from file to tree.

use std::fs;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tempfile::NamedTempFile;
use trace_analysis::{Aggregation, Analysis, Aspect, Limits, TraceFile};
use trace_format::{
    ChainDescription, ChainId, ChainRef, ChunkWriter, ClassDescription, ClassId, ContendedEnter,
    ContendedEntered, ContendedExit, Event, FileHeader, Frame, Hold, LoaderId, LockDescription,
    LockId, LockOwner, MethodDescription, MethodId, SegmentEncoder, ThreadId,
};

const THREADS: usize = 16;
const LOCKS: usize = 64;
const CHAINS: u32 = 500;
const EVENTS: u64 = 2_000_000;
const BUFFER_BYTES: usize = 16 << 10;

/// Threads of a JVM that fill buffers at different times.
struct Workload {
    file: Vec<u8>,
    chunk: ChunkWriter,
    threads: Vec<Writer>,
    sequences: Vec<u64>,
    time_ns: u64,
    events: u64,
    random: u64,
}

struct Writer {
    encoder: SegmentEncoder,
    bytes: Vec<u8>,
    buffer_index: u64,
}

impl Workload {
    /// Waits with `queued` threads on average, most of them for a few hot locks.
    fn generate(queued: usize) -> Vec<u8> {
        let (start_unix_ns, pid, jvm) = (0, 1, String::new());
        let header = FileHeader {
            compressed: true,
            start_unix_ns,
            pid,
            jvm,
            ..FileHeader::default()
        };
        let writer = || Writer {
            encoder: SegmentEncoder::new(),
            bytes: vec![0; BUFFER_BYTES],
            buffer_index: 0,
        };
        let mut workload = Self {
            file: header.encode(),
            chunk: ChunkWriter::new(true),
            threads: (0..THREADS).map(|_| writer()).collect(),
            sequences: vec![0; LOCKS],
            time_ns: 0,
            events: 0,
            random: 1,
        };
        workload.describe();
        while workload.events < EVENTS {
            workload.contend(queued);
        }
        for thread in 0..THREADS {
            workload.submit(thread);
        }
        workload.file
    }

    fn describe(&mut self) {
        for chain in 1..=CHAINS {
            let method = Event::Method(MethodDescription {
                method: MethodId(chain),
                class: ClassId(1),
                name: "m",
                signature: "()V",
            });
            self.write(0, &method);
            let frame = |depth: u32| Frame {
                method: MethodId(chain.saturating_sub(depth).max(1)),
                bci: 0,
                line: 1,
            };
            let frames = (0..20).map(frame).collect();
            self.write(
                0,
                &Event::Chain(ChainDescription {
                    chain: ChainId(chain),
                    frames,
                    truncated: false,
                }),
            );
        }
        let (name, source_file, loader_class) = ("C", "C.java", "");
        self.write(
            0,
            &Event::Class(ClassDescription {
                class: ClassId(1),
                super_class: ClassId::NONE,
                loader: LoaderId::NONE,
                name,
                source_file,
                loader_class,
            }),
        );
        for lock in 0..LOCKS {
            let identity_hash = lock as u32;
            let (class, mirrored_class, monitor_address) = (1, 0, 0);
            let lock = LockId(lock as u64);
            self.write(
                0,
                &Event::LockDescription(LockDescription {
                    lock,
                    class: ClassId(class),
                    mirrored_class: ClassId(mirrored_class),
                    identity_hash,
                    monitor_address,
                }),
            );
        }
    }

    /// Some threads queue on a lock and get it in turn.
    fn contend(&mut self, queued: usize) {
        // The smaller of two random numbers: some locks are hot.
        let lock = self
            .random(LOCKS)
            .min(self.random(LOCKS))
            .min(self.random(LOCKS));
        let first = self.random(THREADS);
        let chain = ChainId(self.random(CHAINS as usize) as u32 + 1);
        let threads = (0..=queued).map(|at| (first + at) % THREADS);
        let after_wait = false;
        for thread in threads.clone().skip(1) {
            let (lock, sequence, time_ns) = self.next(lock);
            let enter = Event::ContendedEnter(ContendedEnter {
                lock,
                sequence,
                time_ns,
                chain,
                after_wait,
                owner: LockOwner::NotKnown,
            });
            self.write(thread, &enter);
        }
        for (owner, next) in threads.clone().zip(threads.skip(1)) {
            let chain = ChainRef::Chain(chain);
            let (lock_id, sequence, time_ns) = self.next(lock);
            let exit = Event::ContendedExit(ContendedExit {
                lock: lock_id,
                sequence,
                time_ns,
                hold: Hold::NotKnown,
                chain,
            });
            self.write(owner, &exit);
            let (lock, sequence, time_ns) = self.next(lock);
            let entered = Event::ContendedEntered(ContendedEntered {
                lock,
                sequence,
                time_ns,
                safepoint_ns: 0,
            });
            self.write(next, &entered);
        }
    }

    fn next(&mut self, lock: usize) -> (LockId, u64, u64) {
        self.sequences[lock] += 1;
        self.time_ns += 700;
        (LockId(lock as u64), self.sequences[lock], self.time_ns)
    }

    fn write(&mut self, thread: usize, event: &Event<'_>) {
        self.events += 1;
        let writer = &mut self.threads[thread];
        if writer.encoder.encode(&mut writer.bytes, event).is_ok() {
            return;
        }
        self.submit(thread);
        let writer = &mut self.threads[thread];
        writer
            .encoder
            .encode(&mut writer.bytes, event)
            .expect("fits an empty buffer");
    }

    fn submit(&mut self, thread: usize) {
        let writer = &mut self.threads[thread];
        let events = &writer.bytes[..writer.encoder.len()];
        let contains_metadata = writer.encoder.contains_metadata();
        self.chunk
            .push_segment(
                ThreadId(thread as u32),
                writer.buffer_index,
                events,
                contains_metadata,
            )
            .expect("fits an empty chunk");
        self.file.extend_from_slice(self.chunk.events());
        writer.buffer_index += 1;
        writer.encoder = SegmentEncoder::new();
    }

    /// A number below `limit` (xorshift).
    fn random(&mut self, limit: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % limit as u64) as usize
    }
}

fn analyze(path: &Path) -> u64 {
    let file = TraceFile::open(path).expect("a trace");
    let mut analysis = Analysis::new(Limits::default());
    let aspects = [Aspect::LockClass, Aspect::OwnerMethod, Aspect::Method];
    let mut aggregation = Aggregation::new(aspects);
    let mut on_wait = |wait: &_, entities: &_| aggregation.add(wait, entities);
    file.analyze(&mut analysis, &mut on_wait, |_| ControlFlow::Continue(()))
        .expect("readable");
    aggregation.totals().all.duration_ns
}

fn throughput(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("analyze");
    group
        .throughput(Throughput::Elements(EVENTS))
        .sample_size(10);
    for queued in [1, 4, 15] {
        let file = NamedTempFile::new().expect("a temporary file");
        fs::write(file.path(), Workload::generate(queued)).expect("a writable file");
        group.bench_function(format!("{queued} queued"), |bencher| {
            bencher.iter(|| black_box(analyze(file.path())));
        });
    }
    group.finish();
}

criterion_group!(benches, throughput);
criterion_main!(benches);
