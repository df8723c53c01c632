//! Memory of sums and of the last waits, by an allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use trace_analysis::{Analysis, Entities, Limits, Wait, WaitSink};
use trace_format::file::VERSION;
use trace_format::{
    Capabilities, ChainDescription, ChainId, ChainRef, ClassDescription, ClassId, ContendedEnter,
    ContendedEntered, ContendedExit, Event, Frame, Hold, JavaThreadId, LoaderId, LockDescription,
    LockId, LockOwner, MethodDescription, MethodId, PARK_DOMAINS, StackRange, ThreadId,
    ThreadStart,
};
use trace_report::LiveSums;

/// Counts the bytes allocated.
struct Allocator;

static BYTES: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: leaves allocation to `System`.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Relaxed);
        // SAFETY: `memory` comes from `System.alloc` with the same layout.
        unsafe { System.dealloc(memory, layout) }
    }
}

const METHODS: u32 = 400;
const WAITS: u64 = 60_000;
const LOCK: LockId = LockId(PARK_DOMAINS + 1);

/// Descriptions of two threads, a lock, and methods of which each is a call chain.
fn describe(mut event: impl FnMut(ThreadId, &Event<'_>)) {
    let class = ClassId(1);
    for thread in [1, 2] {
        let start = ThreadStart {
            time_ns: 0,
            java_id: JavaThreadId(thread.into()),
            name: "worker",
            stack: StackRange::default(),
        };
        event(ThreadId(thread), &Event::ThreadStart(start));
    }
    let description = ClassDescription {
        class,
        super_class: ClassId::default(),
        loader: LoaderId::default(),
        name: "Lock",
        source_file: "",
        loader_class: "",
    };
    event(ThreadId(1), &Event::Class(description));
    for number in 1..=METHODS {
        let method = MethodId(number);
        let name = format!("method{number}");
        let description = MethodDescription {
            method,
            class,
            name: &name,
            signature: "()V",
        };
        event(ThreadId(1), &Event::Method(description));
        let chain = ChainDescription {
            chain: ChainId(number),
            frames: vec![Frame {
                method,
                bci: 0,
                line: 1,
            }],
            truncated: false,
        };
        event(ThreadId(1), &Event::Chain(chain));
    }
    let description = LockDescription {
        lock: LOCK,
        class,
        mirrored_class: ClassId::default(),
        identity_hash: 7,
        monitor_address: 0,
    };
    event(ThreadId(1), &Event::LockDescription(description));
}

/// One wait after the other, each with another pair of methods.
fn wait(mut event: impl FnMut(ThreadId, &Event<'_>)) {
    for at in 0..WAITS {
        let chain = |number: u64| ChainId((number % u64::from(METHODS)) as u32 + 1);
        let (sequence, time_ns) = (3 * at, 1000 * at);
        let enter = ContendedEnter {
            lock: LOCK,
            sequence: sequence + 1,
            time_ns: time_ns + 1,
            chain: chain(at),
            after_wait: false,
            owner: LockOwner::NotKnown,
        };
        event(ThreadId(1), &Event::ContendedEnter(enter));
        let exit = ContendedExit {
            lock: LOCK,
            sequence: sequence + 2,
            time_ns: time_ns + 700,
            hold: Hold::NotKnown,
            chain: ChainRef::Chain(chain(at / u64::from(METHODS))),
        };
        event(ThreadId(2), &Event::ContendedExit(exit));
        let entered = ContendedEntered {
            lock: LOCK,
            sequence: sequence + 3,
            time_ns: time_ns + 750,
            safepoint_ns: 0,
        };
        event(ThreadId(1), &Event::ContendedEntered(entered));
    }
}

/// Returns the memory of an analysis with sums that are limited to `sum_bytes`, in bytes.
fn analyze(sum_bytes: usize) -> usize {
    let before = BYTES.load(Relaxed);
    let mut sums = LiveSums::within(sum_bytes);
    let mut waits = 0;
    let mut sink = |wait: &Wait, entities: &Entities| {
        waits += 1;
        sums.wait(wait, entities);
    };
    let mut analysis = Analysis::new(Limits::within(1 << 20)).with_detail(LiveSums::DETAIL);
    let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
    describe(|thread, event| trace.event(thread, event, &mut sink));
    wait(|thread, event| trace.event(thread, event, &mut sink));
    let taken = BYTES.load(Relaxed) - before;
    trace.finish(&mut sink);
    assert_eq!(waits, WAITS);
    taken
}

#[test]
fn sums_and_waits_keep_within_their_memory() {
    // The memory taken in any case: names, chains, tables.
    let least = analyze(0);
    for bytes in [1 << 18, 1 << 20, 1 << 22] {
        let taken = analyze(bytes) - least;
        println!("{bytes} given, {taken} taken");
        assert!(taken <= bytes, "{taken} of {bytes}");
        // And they use what they have.
        assert!(taken >= bytes / 4, "{taken} of {bytes}");
    }
}
