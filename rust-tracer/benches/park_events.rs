//! What the order of park events costs, with up to 64 threads.
//!
//! A time is the wall time of the whole program for each operation: on two
//! processors, threads that do not disturb each other take half of what one
//! thread takes. Everything runs twice, so that a change of the machine's speed
//! is seen as a difference between the rounds.

use std::hint::black_box;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use rust_tracer::ffi::{
    LCT_PARK_UNPARKED, LCT_TIMEOUT_NONE, LctConfig, LctNumber, LctParkBegin, LctParkEnd, LctStack,
    LctStr, LctThreadStart, LctUnpark, lct_park_begin, lct_park_end, lct_park_number, lct_start,
    lct_stop, lct_thread_end, lct_thread_start, lct_unpark,
};

const ROUNDS: u32 = 2;
const THREADS: [u64; 4] = [1, 2, 8, 64];

fn park_events(criterion: &mut Criterion) {
    let config = LctConfig {
        path: text("/dev/null"),
        compress: true,
        crash_safe: false,
        start_unix_ns: 0,
        start_ns: 0,
        pid: 0,
        jvm: text(""),
        enabled: ptr::null_mut(),
        max_buffer_bytes: 1 << 30,
        last_metadata_epoch: 0,
        last_id: 0,
        missing: 0,
        analysis: 0,
        owner_samples: false,
        lock_sites: false,
        analysis_bytes: 0,
        report: LctStr {
            ptr: ptr::null(),
            len: 0,
        },
    };
    // SAFETY: all pointers are valid, the message is not wanted.
    let runtime = unsafe { &*lct_start(&config, ptr::null_mut(), 0) };

    let counter = OneCounter::default();
    let one_counter = |_blocker| LctNumber {
        domain: 1,
        sequence: counter.0.fetch_add(1, Relaxed),
    };
    // SAFETY: the runtime comes from `lct_start`.
    let domains = |blocker| unsafe { lct_park_number(runtime, hash_of(blocker)) };

    // A number for each of the three events with which a thread lets another one
    // go on, parks and goes on itself.
    let numbers = |numbering: Numbering, blocker: u64, times: u64| {
        for _ in 0..times {
            black_box(numbering(blocker));
            black_box(numbering(blocker));
            black_box(numbering(blocker));
        }
    };
    let events = |numbering: Numbering, blocker: u64, times: u64| {
        let start = LctThreadStart {
            java_id: 1,
            name: text("bench"),
            vm_thread: 0,
            stack: LctStack { lowest: 0, size: 0 },
            time_ns: 0,
        };
        // SAFETY: the runtime comes from `lct_start`, the name is valid.
        let mut tracer = unsafe { lct_thread_start(runtime, &start) };
        let blocker_hash = hash_of(blocker) as u32;
        for turn in 0..times {
            let time_ns = turn * 10_000;
            let permit = turn as u32;
            let unpark = LctUnpark {
                number: numbering(blocker),
                time_ns,
                target: 2,
                owner: 0,
                permit,
                blocker_class: 1,
                blocker_hash,
                chain: 1,
                interrupt: false,
                never_acquired: false,
                waiters: 0,
            };
            // SAFETY: the tracer is used by this thread only, here and below.
            unsafe { lct_unpark(tracer.as_deref_mut(), &unpark) };
            let begin = LctParkBegin {
                number: numbering(blocker),
                time_ns: time_ns + 1_000,
                timeout: 0,
                owner: 2,
                blocker_class: 1,
                blocker_hash,
                chain: 2,
                timeout_kind: LCT_TIMEOUT_NONE,
                continued: false,
                monitor: false,
            };
            // SAFETY: see above.
            unsafe { lct_park_begin(tracer.as_deref_mut(), &begin) };
            let end = LctParkEnd {
                number: numbering(blocker),
                time_ns: time_ns + 6_000,
                safepoint_ns: 0,
                owner: 0,
                permit,
                reason: LCT_PARK_UNPARKED,
                unpark_elsewhere: false,
                monitor: false,
            };
            // SAFETY: see above.
            unsafe { lct_park_end(tracer.as_deref_mut(), &end) };
        }
        // SAFETY: the tracer is not used afterwards.
        unsafe { lct_thread_end(tracer, 0) };
    };

    // And whether all threads have the same blocker.
    let variants: [(&str, Numbering, bool); 3] = [
        ("one counter", &one_counter, true),
        ("domains, one blocker", &domains, true),
        ("domains, own blockers", &domains, false),
    ];
    // And how long it takes to write what one operation records. Samples wait for
    // that, because to lose events would be cheaper.
    let works: [(&str, &Work, Duration); 2] = [
        ("3 numbers", &numbers, Duration::ZERO),
        ("3 events", &events, Duration::from_nanos(100)),
    ];
    for (what, work, drain_time) in works {
        for round in 1..=ROUNDS {
            let mut group = criterion.benchmark_group(format!("{what}, round {round}"));
            // The same number of operations in each sample: starting threads
            // weighs the same in all of them.
            group.sampling_mode(SamplingMode::Flat).sample_size(15);
            group.warm_up_time(Duration::from_secs(1));
            group.measurement_time(Duration::from_secs(3));
            for threads in THREADS {
                for (name, numbering, one_blocker) in variants {
                    group.bench_function(BenchmarkId::new(name, threads), |bencher| {
                        bencher.iter_custom(|operations| {
                            let times = operations.div_ceil(threads);
                            let duration = time(threads, |thread| {
                                let blocker = if one_blocker { 0 } else { thread };
                                work(numbering, blocker, times);
                            });
                            thread::sleep(drain_time.mul_f64(operations as f64));
                            duration
                        });
                    });
                }
            }
            group.finish();
        }
    }

    // SAFETY: the tracer is not used afterwards.
    unsafe { lct_stop(runtime, 5_000) };
}

/// One order for all events. As far from other data as the counters of the
/// domains.
#[derive(Default)]
#[repr(align(128))]
struct OneCounter(AtomicU64);

/// Gives the next event of a blocker its number.
type Numbering<'a> = &'a (dyn Fn(u64) -> LctNumber + Sync);
/// What a thread does, for which blocker, how often.
type Work<'a> = dyn Fn(Numbering, u64, u64) + Sync + 'a;

/// The time that some threads take together.
fn time(threads: u64, work: impl Fn(u64) + Sync) -> Duration {
    let work = &work;
    let start = Instant::now();
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || work(thread));
        }
    });
    start.elapsed()
}

/// An identity hash as HotSpot's: 31 bits without a pattern.
fn hash_of(blocker: u64) -> u64 {
    (blocker + 1).wrapping_mul(0xd134_2543_de82_ef95) >> 33
}

fn text(text: &'static str) -> LctStr {
    LctStr {
        ptr: text.as_ptr(),
        len: text.len(),
    }
}

criterion_group!(benches, park_events);
criterion_main!(benches);
