//! Traces made to take time or memory: the analysis bounds both. Each of them took many
//! times as much once.
//!
//! The bounds leave room for a busy machine: what they exclude is work that grows faster
//! than the trace.

mod meter;

use std::io::Write;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use meter::metered;
use tempfile::NamedTempFile;
use trace_analysis::{Analysis, Counter, Counters, Detail, Entities, TraceFile, Wait};
use trace_format::file::VERSION;
use trace_format::{
    Blocker, Capabilities, ChainDescription, ChainId, ChainRef, ChunkWriter, ClassDescription,
    ClassId, ContendedEnter, ContendedEntered, ContendedExit, Event, ExclusiveRelease, FileHeader,
    ForwardRef, ForwardResolved, Frame, Hold, JavaThreadId, LoaderId, LockDescription, LockId,
    LockOwner, MethodId, PARK_DOMAINS, ParkBegin, ParkEnd, ParkEndReason, Permit, SegmentEncoder,
    StackRange, ThreadId, ThreadStart, Unpark,
};

const MIB: usize = 1 << 20;

/// What each of these traces may take. They take at most a few seconds.
const MAX_TIME: Duration = Duration::from_secs(20);
const MAX_BYTES: usize = 256 * MIB;

/// What the analysis of a trace took and counted.
struct Cost {
    time: Duration,
    bytes: usize,
    counters: Counters,
}

impl Cost {
    fn of(work: impl FnOnce() -> Counters) -> Self {
        let start = Instant::now();
        let (bytes, counters) = metered(work);
        let time = start.elapsed();
        println!("{:.2} s, {} MiB", time.as_secs_f64(), bytes / MIB);
        Self {
            time,
            bytes,
            counters,
        }
    }

    #[track_caller]
    fn is_below(&self, max_bytes: usize) {
        assert!(self.time < MAX_TIME, "{:?}", self.time);
        assert!(self.bytes < max_bytes, "{} MiB", self.bytes / MIB);
    }
}

/// Analyzes events as they come, within the default limits.
fn analyze(events: impl Iterator<Item = (u32, Event<'static>)>) -> Cost {
    Cost::of(|| {
        let mut analysis = Analysis::default();
        let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
        for (thread, event) in events {
            trace.event(ThreadId(thread), &event, &mut ());
        }
        trace.finish(&mut ()).counters
    })
}

fn description(lock: LockId) -> Event<'static> {
    Event::LockDescription(LockDescription {
        lock,
        class: ClassId(1),
        mirrored_class: ClassId::NONE,
        identity_hash: 1,
        monitor_address: 0,
    })
}

fn enter(lock: LockId, sequence: u64) -> Event<'static> {
    Event::ContendedEnter(ContendedEnter {
        lock,
        sequence,
        time_ns: sequence,
        chain: ChainId(1),
        after_wait: false,
        owner: LockOwner::NotKnown,
    })
}

fn entered(lock: LockId, sequence: u64) -> Event<'static> {
    Event::ContendedEntered(ContendedEntered {
        lock,
        sequence,
        time_ns: sequence,
        safepoint_ns: 0,
    })
}

fn exit(lock: LockId, sequence: u64, chain: ChainRef) -> Event<'static> {
    Event::ContendedExit(ContendedExit {
        lock,
        sequence,
        time_ns: sequence,
        hold: Hold::NotKnown,
        chain,
    })
}

/// Numbers of which the product with a constant has the same bits where an unseeded
/// multiplicative hash looks: this is the constant of one that is widely used.
fn colliding() -> impl Iterator<Item = u64> {
    const MULTIPLIER: u64 = 0xf135_7aea_2e62_a9c5;
    // Newton's method doubles the number of right bits: 3, 6, 12...
    let better = |inverse: u64, _| {
        let error = 2_u64.wrapping_sub(MULTIPLIER.wrapping_mul(inverse));
        inverse.wrapping_mul(error)
    };
    let inverse = (0..5).fold(MULTIPLIER, better);
    assert_eq!(MULTIPLIER.wrapping_mul(inverse), 1);
    (1..).map(move |product: u64| product.wrapping_mul(inverse))
}

#[test]
fn chosen_identifiers_do_not_collide() {
    let locks = || {
        colliding()
            .filter(|&lock| lock > PARK_DOMAINS)
            .take(40_000)
            .map(LockId)
    };
    let chain = ChainRef::Chain(ChainId(1));
    let events = (0..4).flat_map(|round| {
        let event = move |lock| match round {
            0 => (1, description(lock)),
            1 => (2, enter(lock, 1)),
            2 => (1, exit(lock, 2, chain)),
            _ => (2, entered(lock, 3)),
        };
        locks().map(event)
    });
    analyze(events).is_below(MAX_BYTES);
}

/// Forward references that stand alone and are never resolved, or resolved although
/// nothing refers to them.
#[test]
fn forward_references_are_bounded() {
    const CHUNKS: u64 = 200;
    const EXITS: u64 = 10_000;
    let mut file = NamedTempFile::new().expect("a temporary file");
    let header = FileHeader {
        compressed: true,
        ..FileHeader::default()
    };
    file.write_all(&header.encode()).expect("room for it");
    let lock = LockId(PARK_DOMAINS + 1);
    let mut writer = ChunkWriter::new(true);
    let mut bytes = vec![0; 1 << 20];
    for chunk in 0..CHUNKS {
        let mut encoder = SegmentEncoder::new();
        for number in chunk * EXITS..(chunk + 1) * EXITS {
            let forward_ref = ForwardRef(number * 16);
            let unknown = ForwardRef(u64::MAX / 2 + number * 16);
            let exit = exit(lock, number, ChainRef::Forward(forward_ref));
            let resolved = Event::ForwardResolved(ForwardResolved {
                forward_ref: unknown,
                chain: ChainId(1),
            });
            for event in [exit, resolved] {
                encoder.encode(&mut bytes, &event).expect("room for it");
            }
        }
        let segment = &bytes[..encoder.len()];
        let pushed = writer.push_segment(ThreadId(1), chunk, segment, false);
        pushed.expect("room for it");
        file.write_all(writer.events()).expect("room for it");
    }
    let cost = Cost::of(|| {
        let trace = TraceFile::open(file.path()).expect("a trace");
        let go_on = |_| ControlFlow::Continue(());
        let summary = trace.analyze(&mut Analysis::default(), &mut (), go_on);
        summary.expect("readable").counters
    });
    let unresolved = cost.counters.value(Counter::ForwardRefsUnresolved);
    assert_eq!(unresolved, CHUNKS * EXITS);
    let forgotten = cost.counters.value(Counter::ForwardRefsForgotten);
    assert!(forgotten > 0);
    cost.is_below(MAX_BYTES);
}

/// The same chain again and again, under one number after the other.
#[test]
fn equal_descriptions_are_kept_once() {
    const CHAINS: u32 = 1_000_000;
    let frame = |depth| Frame {
        method: MethodId(depth),
        bci: 1,
        line: 1,
    };
    let chain = |number| {
        Event::Chain(ChainDescription {
            chain: ChainId(number),
            frames: (1..40).map(frame).collect(),
            truncated: false,
        })
    };
    let cost = Cost::of(|| {
        let mut analysis = Analysis::default();
        let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
        for number in 1..=CHAINS {
            trace.event(ThreadId(1), &chain(number), &mut ());
        }
        trace.finish(&mut ()).counters
    });
    // A number, and which chain it stands for.
    cost.is_below(CHAINS as usize * 64);
}

/// Threads that park in every domain, one after the other.
#[test]
fn threads_that_parked_somewhere_are_forgotten() {
    const THREADS: u32 = 10_000;
    let parks = (0..PARK_DOMAINS).flat_map(|domain| {
        (1..=THREADS).flat_map(move |thread| {
            let blocker = Blocker {
                class: ClassId(1),
                identity_hash: domain as u32,
            };
            let domain = LockId(domain + 1);
            let sequence = u64::from(thread) * 3 - 2;
            let permit = Permit(thread);
            let begin = Event::ParkBegin(ParkBegin {
                domain,
                sequence,
                time_ns: sequence,
                blocker,
                chain: ChainId(1),
                ..ParkBegin::default()
            });
            let unpark = Event::Unpark(Unpark {
                domain,
                sequence: sequence + 1,
                time_ns: sequence,
                blocker,
                target: JavaThreadId(u64::from(thread)),
                permit,
                chain: ChainId(1),
                ..Unpark::default()
            });
            let end = Event::ParkEnd(ParkEnd {
                domain,
                sequence: sequence + 2,
                time_ns: sequence,
                reason: ParkEndReason::Unparked,
                permit,
                ..ParkEnd::default()
            });
            [(thread, begin), (THREADS + 1, unpark), (thread, end)]
        })
    });
    // The last one only unparks the others.
    let starts = (1..=THREADS + 1).map(|thread| {
        let start = Event::ThreadStart(ThreadStart {
            java_id: JavaThreadId(thread.into()),
            name: "",
            time_ns: 0,
            stack: StackRange::default(),
        });
        (thread, start)
    });
    // What is not described would be waited for, which is another matter.
    let class = Event::Class(ClassDescription {
        class: ClassId(1),
        super_class: ClassId::NONE,
        loader: LoaderId::NONE,
        name: "Thing",
        source_file: "",
        loader_class: "",
    });
    let chain = Event::Chain(ChainDescription {
        chain: ChainId(1),
        frames: Vec::new(),
        truncated: false,
    });
    let starts = starts.chain([(1, class), (1, chain)]);
    let mut waits = 0;
    let cost = Cost::of(|| {
        let mut analysis = Analysis::default().with_detail(Detail::OwnerCode);
        let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
        for (thread, event) in starts.chain(parks) {
            trace.event(ThreadId(thread), &event, &mut |_: &Wait, _: &Entities| {
                waits += 1
            });
        }
        trace
            .finish(&mut |_: &Wait, _: &Entities| waits += 1)
            .counters
    });
    assert_eq!(waits, PARK_DOMAINS * u64::from(THREADS));
    cost.is_below(64 * MIB);
}

/// Every second number of one lock is missing. They come one by one, and now and then one
/// more event as far away as a window spans.
#[test]
fn events_far_apart_are_not_sorted_again_and_again() {
    const PENDING: u64 = 800_000;
    const SPREAD: u64 = 16;
    let lock = LockId(PARK_DOMAINS + 1);
    let even = (1..PENDING).map(|number| number * 2);
    // Each odd number releases the even one behind it.
    let in_turns = (0..PENDING / 8).flat_map(|turn| {
        let next = turn * 4 + 1;
        let pending = PENDING - turn;
        [next, next + 2, next + 4 + (pending - 4) * SPREAD]
    });
    let numbers = even.chain(in_turns);
    let events = numbers.map(|number| (1, exit(lock, number, ChainRef::Chain(ChainId(1)))));
    let cost = analyze([(1, description(lock))].into_iter().chain(events));
    assert_eq!(cost.counters.value(Counter::GapsSkippedEarly), 0);
    cost.is_below(MAX_BYTES);
}

/// Threads wait while others release the lock as often, and get it one after the other.
#[test]
fn waits_and_releases_do_not_multiply() {
    const THREADS: u32 = 40_000;
    let lock = LockId(PARK_DOMAINS + 1);
    let chain = ChainRef::Chain(ChainId(1));
    let enters = (0..THREADS).map(|thread| (thread + 1, enter(lock, u64::from(thread) + 1)));
    let first = u64::from(THREADS) + 1;
    let exits = (0..THREADS).map(|turn| (0, exit(lock, first + u64::from(turn), chain)));
    let first = u64::from(THREADS) * 2 + 1;
    let ends = (0..THREADS).flat_map(|turn| {
        // Neither in the order in which they came, nor in the opposite one.
        let thread = (turn * 7) % THREADS + 1;
        let number = first + u64::from(turn) * 2;
        [
            (thread, entered(lock, number)),
            (thread, exit(lock, number + 1, chain)),
        ]
    });
    let description = [(1, description(lock))].into_iter();
    let mut waits = 0;
    let cost = Cost::of(|| {
        let mut analysis = Analysis::default().with_detail(Detail::OwnerCode);
        let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
        let mut on_wait = |wait: &Wait, _: &Entities| {
            waits += 1;
            assert!(wait.blame.len() < 4);
        };
        for (thread, event) in description.chain(enters).chain(exits).chain(ends) {
            trace.event(ThreadId(thread), &event, &mut on_wait);
        }
        trace.finish(&mut on_wait).counters
    });
    assert_eq!(waits, THREADS);
    cost.is_below(MAX_BYTES);
}

/// The same with threads that park.
#[test]
fn parks_and_unparks_do_not_multiply() {
    const THREADS: u32 = 40_000;
    let domain = LockId(1);
    let blocker = Blocker {
        class: ClassId(1),
        identity_hash: 1,
    };
    let class = Event::Class(ClassDescription {
        class: ClassId(1),
        super_class: ClassId::NONE,
        loader: LoaderId::NONE,
        name: "java.util.concurrent.locks.ReentrantLock$Sync",
        source_file: "",
        loader_class: "",
    });
    let begin = |thread: u32| {
        let sequence = u64::from(thread);
        Event::ParkBegin(ParkBegin {
            domain,
            sequence,
            time_ns: sequence,
            blocker,
            chain: ChainId(1),
            ..ParkBegin::default()
        })
    };
    let release = |sequence: u64| {
        Event::ExclusiveRelease(ExclusiveRelease {
            domain,
            sequence,
            time_ns: sequence,
            blocker,
            hold: Hold::For { duration_ns: 0 },
            chain: ChainId(1),
        })
    };
    let end = |sequence: u64| {
        Event::ParkEnd(ParkEnd {
            domain,
            sequence,
            time_ns: sequence,
            reason: ParkEndReason::Unparked,
            ..ParkEnd::default()
        })
    };
    let begins = (1..=THREADS).map(|thread| (thread, begin(thread)));
    let first = u64::from(THREADS) + 1;
    let releases = (0..THREADS).map(|turn| (0, release(first + u64::from(turn))));
    let first = first + u64::from(THREADS);
    let ends = (0..THREADS).flat_map(|turn| {
        let thread = (turn * 7) % THREADS + 1;
        let number = first + u64::from(turn) * 2;
        [(thread, end(number)), (thread, release(number + 1))]
    });
    let mut waits = 0;
    let cost = Cost::of(|| {
        let mut analysis = Analysis::default().with_detail(Detail::OwnerCode);
        let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
        trace.event(ThreadId(1), &class, &mut ());
        let mut on_wait = |_: &Wait, _: &Entities| waits += 1;
        for (thread, event) in begins.chain(releases).chain(ends) {
            trace.event(ThreadId(thread), &event, &mut on_wait);
        }
        trace.finish(&mut on_wait).counters
    });
    assert_eq!(waits, THREADS);
    cost.is_below(MAX_BYTES);
}

/// Of each lock a few events come, and never those before them.
#[test]
fn events_of_many_locks_are_not_all_held_back() {
    const LOCKS: u64 = 900_000;
    let numbers = [2, 4, 6, 8].into_iter();
    let events = numbers.flat_map(|number| {
        let locks = (1..=LOCKS).map(|lock| LockId(PARK_DOMAINS + lock));
        locks.map(move |lock| (1, exit(lock, number, ChainRef::Chain(ChainId(1)))))
    });
    let cost = analyze(events);
    assert!(cost.counters.value(Counter::GapsSkippedEarly) > 0);
    // What the limit promises, and what is known of so many locks.
    cost.is_below(512 * MIB);
}
