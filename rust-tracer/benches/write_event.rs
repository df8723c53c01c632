//! What tracing costs a Java thread, without what HotSpot adds to it.

use std::ptr;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rust_tracer::ffi::{
    LctChainKey, LctConfig, LctContendedEnter, LctContendedEntered, LctContendedExit, LctFrame,
    LctLock, LctOwner, LctStack, LctStr, LctThreadStart, lct_chain_add, lct_chain_find,
    lct_chain_hash, lct_contended_enter, lct_contended_entered, lct_contended_exit, lct_lock_claim,
    lct_lock_next_sequence, lct_start, lct_stop, lct_thread_end, lct_thread_start,
};

fn text(text: &'static str) -> LctStr {
    LctStr {
        ptr: text.as_ptr(),
        len: text.len(),
    }
}

fn chain_key(frames: &[u64]) -> LctChainKey {
    // SAFETY: the number of frames is the length of the slice.
    let hash = unsafe { lct_chain_hash(0, frames.as_ptr(), frames.len()) };
    LctChainKey {
        frames: frames.as_ptr(),
        len: frames.len(),
        hash,
    }
}

fn write_event(criterion: &mut Criterion) {
    let config = LctConfig {
        path: text("/dev/null"),
        compress: true,
        crash_safe: false,
        start_unix_ns: 0,
        start_ns: 0,
        pid: 0,
        jvm: text(""),
        enabled: ptr::null_mut(),
        max_buffer_bytes: 0,
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
    let mut lock = LctLock::default();
    // SAFETY: the lock is used by this thread only.
    unsafe { lct_lock_claim(runtime, &raw mut lock) };
    let id = lock.id;

    let start = LctThreadStart {
        java_id: 1,
        name: text("bench"),
        vm_thread: 64,
        stack: LctStack { lowest: 0, size: 0 },
        time_ns: 0,
    };
    let owner = LctOwner {
        thread: 2,
        stack_address: 0,
    };
    // SAFETY: the name is valid.
    let mut thread = unsafe { lct_thread_start(runtime, &start) }.unwrap();
    let frames = [LctFrame {
        method: 1,
        bci: 1,
        line: 1,
    }; 30];
    let keys: Vec<[u64; 20]> = (0..1000).map(|key| [key; 20]).collect();
    for key in &keys {
        // SAFETY: key and frames are as long as stated.
        unsafe {
            let frames = frames.as_slice();
            lct_chain_add(
                Some(&mut thread),
                chain_key(key),
                frames.as_ptr(),
                30,
                false,
            )
        };
    }

    let mut group = criterion.benchmark_group("write");
    let mut time_ns = 0;
    group.throughput(Throughput::Elements(3));
    group.bench_function("enter, entered, exit", |bencher| {
        bencher.iter(|| {
            time_ns += 10_000;
            // SAFETY: lock and thread are valid and used by this thread only.
            unsafe {
                let enter = LctContendedEnter {
                    lock: id,
                    sequence: lct_lock_next_sequence(&raw mut lock),
                    time_ns,
                    owner,
                    chain: 7,
                    after_wait: false,
                };
                lct_contended_enter(Some(&mut thread), &enter);
                let entered = LctContendedEntered {
                    lock: id,
                    sequence: lct_lock_next_sequence(&raw mut lock),
                    time_ns: time_ns + 5_000,
                    safepoint_ns: 0,
                };
                lct_contended_entered(Some(&mut thread), &entered);
                let exit = LctContendedExit {
                    lock: id,
                    sequence: lct_lock_next_sequence(&raw mut lock),
                    time_ns: time_ns + 6_000,
                    hold_ns: 500,
                };
                lct_contended_exit(Some(&mut thread), &exit, 8);
            }
        });
    });
    group.throughput(Throughput::Elements(1));
    let mut number = 0;
    group.bench_function("find a chain of 20 physical frames among 1000", |bencher| {
        bencher.iter(|| {
            number = (number + 7) % keys.len();
            // SAFETY: the key is as long as stated.
            unsafe { lct_chain_find(Some(&mut thread), chain_key(&keys[number]), 0) }
        });
    });
    group.finish();

    // SAFETY: the tracer is not used afterwards.
    unsafe {
        lct_thread_end(Some(thread), time_ns);
        lct_stop(runtime, 5_000);
    }
}

criterion_group!(benches, write_event);
criterion_main!(benches);
