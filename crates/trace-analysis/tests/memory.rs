//! The analysis needs a bounded amount of memory, whatever is missing from the
//! trace and however late it comes.

mod meter;

use std::io::Write;
use std::ops::ControlFlow;

use meter::metered;
use tempfile::NamedTempFile;
use trace_analysis::{Analysis, Counter, Counters, Entities, Limits, TraceFile, Wait};
use trace_format::file::VERSION;
use trace_format::{
    Capabilities, ChainDescription, ChainId, ChainRef, ChainRetired, ChunkWriter, ClassDescription,
    ClassId, ContendedEnter, ContendedEntered, ContendedExit, Event, FileHeader, ForwardRef,
    ForwardResolved, Frame, Hold, JavaThreadId, LoaderId, LoaderUnload, LockDescription, LockId,
    LockOwner, LockRetired, LostNumbers, MethodDescription, MethodId, MethodRetired, PARK_DOMAINS,
    ParkBegin, ParkEnd, ParkEndReason, Permit, SegmentEncoder, StackRange, ThreadId, ThreadStart,
    Unpark,
};

/// How many bytes the analysis of `events` has at most, and what it counts.
fn peak_bytes(
    max_pending_events: usize,
    events: impl Iterator<Item = (ThreadId, Event<'static>)>,
) -> (usize, Counters) {
    metered(|| {
        let mut analysis = Analysis::new(Limits { max_pending_events });
        let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
        for (thread, event) in descriptions().into_iter().chain(events) {
            trace.event(thread, &event, &mut ());
        }
        trace.finish(&mut ()).counters
    })
}

/// Describes the threads, the class and the chain that events here refer to.
fn descriptions() -> Vec<(ThreadId, Event<'static>)> {
    let threads = (0..8).map(|thread| {
        let start = Event::ThreadStart(ThreadStart {
            java_id: JavaThreadId(u64::from(thread) + 1),
            name: "",
            time_ns: 0,
            stack: StackRange::default(),
        });
        (ThreadId(thread), start)
    });
    let class = Event::Class(ClassDescription {
        class: ClassId(1),
        super_class: ClassId::NONE,
        loader: LoaderId::NONE,
        name: "Lock",
        source_file: "",
        loader_class: "",
    });
    let chain = Event::Chain(ChainDescription {
        chain: ChainId(1),
        frames: Vec::new(),
        truncated: false,
    });
    let code = [class, chain].map(|event| (ThreadId(1), event));
    threads.chain(code).collect()
}

const MAX_PENDING: usize = 100_000;
/// An event that is held back takes 32 bytes, and a queue is used to a quarter at
/// least; beside it there is the one that it replaces.
const MAX_PENDING_BYTES: usize = MAX_PENDING * 32 * 5;

fn description(lock: LockId) -> (ThreadId, Event<'static>) {
    let event = Event::LockDescription(LockDescription {
        lock,
        class: ClassId(1),
        mirrored_class: ClassId::NONE,
        identity_hash: 1,
        monitor_address: 0,
    });
    (ThreadId(1), event)
}

/// The event of a number: three threads take turns, and each waits once before
/// it exits.
fn event(lock: LockId, sequence: u64) -> (ThreadId, Event<'static>) {
    let time_ns = sequence * 100;
    let thread = ThreadId((sequence / 3 % 3) as u32);
    let event = match sequence % 3 {
        0 => Event::ContendedEnter(ContendedEnter {
            lock,
            sequence,
            time_ns,
            chain: ChainId(1),
            after_wait: false,
            owner: LockOwner::NotKnown,
        }),
        1 => Event::ContendedEntered(ContendedEntered {
            lock,
            sequence,
            time_ns,
            safepoint_ns: 0,
        }),
        _ => Event::ContendedExit(ContendedExit {
            lock,
            sequence,
            time_ns,
            hold: Hold::NotKnown,
            chain: ChainRef::Chain(ChainId(1)),
        }),
    };
    (thread, event)
}

#[test]
fn events_behind_one_that_never_comes_are_not_all_held_back() {
    let events = [description(LockId(1))]
        .into_iter()
        .chain((2..2_000_000).map(|number| event(LockId(1), number)));
    let (bytes, counters) = peak_bytes(MAX_PENDING, events);
    assert!(bytes < MAX_PENDING_BYTES, "{bytes} bytes");
    assert_eq!(counters.value(Counter::NumbersSkipped), 1);
    assert_eq!(counters.value(Counter::GapsSkippedEarly), 1);
}

#[test]
fn a_chunk_that_comes_last_does_not_hold_back_all_others() {
    // Of each lock, it has the first number and every thousandth.
    let late = |number: u64| number % 1000 == 1;
    let locks = 1..=100;
    let numbers = || {
        locks
            .clone()
            .flat_map(|lock| (1..20_000).map(move |number| (lock, number)))
    };
    let events = locks.clone().map(|lock| description(LockId(lock)));
    let events = events.chain(
        numbers()
            .filter(|&(_, number)| !late(number))
            .map(|(lock, number)| event(LockId(lock), number)),
    );
    let events = events.chain(
        numbers()
            .filter(|&(_, number)| late(number))
            .map(|(lock, number)| event(LockId(lock), number)),
    );
    let (bytes, counters) = peak_bytes(MAX_PENDING, events);
    assert!(bytes < MAX_PENDING_BYTES, "{bytes} bytes");
    assert_eq!(
        counters.value(Counter::LateEvents),
        counters.value(Counter::NumbersSkipped)
    );
}

/// Each lock has many events held back once, all of which are released.
#[test]
fn a_lock_that_is_quiet_again_needs_little() {
    const LOCKS: u64 = 2_000;
    let events = (1..=LOCKS).map(LockId).flat_map(|lock| {
        let late = [description(lock)];
        (1..=1_500)
            .map(move |number| event(lock, number))
            .chain(late)
    });
    let (bytes, counters) = peak_bytes(MAX_PENDING, events);
    assert!(bytes < LOCKS as usize * 10_000, "{bytes} bytes");
    assert_eq!(counters.value(Counter::GapsSkipped), 0);
}

#[test]
fn a_retired_lock_needs_nothing() {
    let events = (1..=200_000).map(LockId).flat_map(|lock| {
        let retired = Event::LockRetired(LockRetired { lock, sequence: 9 });
        let numbers = (1..9).map(move |number| event(lock, number));
        [description(lock)]
            .into_iter()
            .chain(numbers)
            .chain([(ThreadId(1), retired)])
    });
    let (bytes, counters) = peak_bytes(MAX_PENDING, events);
    assert!(bytes < 100_000, "{bytes} bytes");
    assert_eq!(counters.value(Counter::GapsSkipped), 0);
}

/// A thread waits while two others take turns a million times.
#[test]
fn a_thread_that_starves_does_not_remember_all_owners() {
    let wait = Event::ContendedEnter(ContendedEnter {
        lock: LockId(1),
        sequence: 1,
        time_ns: 0,
        chain: ChainId(1),
        after_wait: false,
        owner: LockOwner::NotKnown,
    });
    let others = (2..1_000_000).map(|sequence| {
        let (lock, time_ns) = (LockId(1), sequence);
        let chain = ChainRef::Chain(ChainId(1));
        (
            ThreadId(sequence as u32 % 2),
            Event::ContendedExit(ContendedExit {
                lock,
                sequence,
                time_ns,
                hold: Hold::NotKnown,
                chain,
            }),
        )
    });
    let events = [description(LockId(1)), (ThreadId(7), wait)]
        .into_iter()
        .chain(others);
    let (bytes, counters) = peak_bytes(MAX_PENDING, events);
    assert!(bytes < 50_000_000, "{bytes} bytes");
    assert!(counters.value(Counter::IntervalsCollapsed) > 0);
}

/// Thread 5 is woken by an unpark that is lost. Behind it, thread 2 is woken many
/// times.
#[test]
fn a_lost_unpark_does_not_hold_back_all_others() {
    const PARKS: u64 = 100_000;
    let (domain, chain) = (1, 1);
    let begin = |sequence| {
        Event::ParkBegin(ParkBegin {
            domain: LockId(domain),
            sequence,
            time_ns: sequence,
            chain: ChainId(chain),
            ..ParkBegin::default()
        })
    };
    let end = |sequence, permit| {
        Event::ParkEnd(ParkEnd {
            domain: LockId(domain),
            sequence,
            time_ns: sequence,
            reason: ParkEndReason::Unparked,
            permit,
            ..ParkEnd::default()
        })
    };
    let unpark = |sequence, permit| {
        Event::Unpark(Unpark {
            domain: LockId(domain),
            sequence,
            time_ns: sequence,
            target: JavaThreadId(2),
            permit,
            chain: ChainId(chain),
            ..Unpark::default()
        })
    };
    let threads = [2, 5].map(|thread| {
        let event = Event::ThreadStart(ThreadStart {
            java_id: JavaThreadId(thread.into()),
            name: "",
            time_ns: 0,
            stack: StackRange::default(),
        });
        (thread, event)
    });
    let lost = Event::LostNumbers(LostNumbers {
        lock: LockId(domain + 1),
        first: 1,
        count: 1,
    });
    let events = [(1, lost), (5, begin(1)), (5, end(2, Permit(7)))];
    let others = (1..=PARKS).flat_map(|park| {
        let (sequence, permit) = (park * 3, Permit(park as u32));
        let woken = (2, end(sequence + 2, permit));
        [
            (2, begin(sequence)),
            (1, unpark(sequence + 1, permit)),
            woken,
        ]
    });
    let mut waits = 0;
    let max_pending_events = MAX_PENDING / 10;
    let (bytes, counters) = metered(|| {
        let mut analysis = Analysis::new(Limits { max_pending_events });
        let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
        for (thread, event) in threads.into_iter().chain(events).chain(others) {
            trace.event(ThreadId(thread), &event, &mut |_: &Wait, _: &Entities| {
                waits += 1
            });
        }
        trace
            .finish(&mut |_: &Wait, _: &Entities| waits += 1)
            .counters
    });
    assert!(bytes < MAX_PENDING_BYTES / 10, "{bytes} bytes");
    assert_eq!(waits, PARKS + 1);
    for counter in [Counter::GapsSkipped, Counter::LateEvents] {
        assert_eq!(counters.value(counter), 0, "{}", counter.name());
    }
}

/// How often the same plug-in is loaded, contends, and is unloaded.
const LOADERS: u32 = 20_000;
/// Methods on the stack when it does, half of them its own.
const DEPTH: u32 = 60;

/// The life of the loader `number`, all at one address.
fn plugin(number: u32) -> Vec<(ThreadId, Event<'static>)> {
    let (class, chain) = (ClassId(2 + number), ChainId(2 + number));
    let first_method = DEPTH + number * DEPTH;
    let lock = LockId(PARK_DOMAINS + u64::from(number) + 1);
    let (loader, time_ns) = (LoaderId(0x7f00_0000_1000), 0);
    let own = first_method..first_method + DEPTH / 2;
    let description = Event::Class(ClassDescription {
        class,
        super_class: ClassId::NONE,
        loader,
        name: "com.example.Plugin",
        source_file: "Plugin.java",
        loader_class: "com.example.PluginLoader",
    });
    let methods = own.clone().map(|method| {
        Event::Method(MethodDescription {
            method: MethodId(method),
            class,
            name: "work",
            signature: "()V",
        })
    });
    let frame = |method| Frame {
        method: MethodId(method),
        bci: 1,
        line: 1,
    };
    let described_chain = Event::Chain(ChainDescription {
        chain,
        frames: own.clone().chain(1..DEPTH / 2).map(frame).collect(),
        truncated: false,
    });
    let wait = [
        Event::LockDescription(LockDescription {
            lock,
            class,
            mirrored_class: ClassId::NONE,
            identity_hash: 1,
            monitor_address: 0,
        }),
        Event::ContendedEnter(ContendedEnter {
            lock,
            sequence: 1,
            time_ns,
            chain,
            after_wait: false,
            owner: LockOwner::NotKnown,
        }),
        Event::ContendedEntered(ContendedEntered {
            lock,
            sequence: 2,
            time_ns,
            safepoint_ns: 0,
        }),
        Event::LockRetired(LockRetired { lock, sequence: 3 }),
    ];
    let life = [description]
        .into_iter()
        .chain(methods)
        .chain([described_chain]);
    let ends = [Event::ChainRetired(ChainRetired { chain })]
        .into_iter()
        .chain(own.map(|method| {
            Event::MethodRetired(MethodRetired {
                method: MethodId(method),
            })
        }));
    let life = life.chain(wait).map(|event| (ThreadId(2), event));
    let ends = ends.map(|event| (ThreadId::NONE, event));
    let unload = Event::LoaderUnload(LoaderUnload { loader, time_ns });
    let unload = (ThreadId(1), unload);
    life.chain(ends).chain([unload]).collect()
}

/// The trace of [`LOADERS`] plug-ins in a living program.
fn churn() -> NamedTempFile {
    let method = |method| {
        Event::Method(MethodDescription {
            method: MethodId(method),
            class: ClassId(1),
            name: "run",
            signature: "()V",
        })
    };
    let program = Event::Class(ClassDescription {
        class: ClassId(1),
        super_class: ClassId::NONE,
        loader: LoaderId::NONE,
        name: "com.example.Program",
        source_file: "Program.java",
        loader_class: "",
    });
    let methods = (1..DEPTH / 2).map(method);
    let program = [program].into_iter().chain(methods);
    let program = program.map(|event| (ThreadId(2), event));
    let mut file = NamedTempFile::new().expect("a temporary file");
    let header = FileHeader {
        compressed: true,
        ..FileHeader::default()
    };
    file.write_all(&header.encode()).expect("room for it");
    let mut writer = ChunkWriter::new(true);
    let plugins = (0..LOADERS).map(plugin);
    for events in [program.collect()].into_iter().chain(plugins) {
        for run in events.chunk_by(|(a, _), (b, _)| a == b) {
            let mut bytes = [0; 4096];
            let mut encoder = SegmentEncoder::new();
            for (_, event) in run {
                encoder.encode(&mut bytes, event).expect("room for it");
            }
            let segment = &bytes[..encoder.len()];
            writer
                .push_segment(run[0].0, 0, segment, encoder.contains_metadata())
                .expect("room for it");
        }
        file.write_all(writer.events()).expect("room for it");
    }
    file
}

#[test]
fn classes_that_come_and_go_leave_little() {
    let file = churn();
    let mut waits = 0;
    let (bytes, summary) = metered(|| {
        TraceFile::open(file.path())
            .expect("a trace")
            .analyze(
                &mut Analysis::default(),
                &mut |_: &Wait, _: &Entities| waits += 1,
                |_| ControlFlow::Continue(()),
            )
            .expect("readable")
    });
    assert_eq!(waits, LOADERS);
    for counter in [Counter::RetiredReferences, Counter::MethodsNotDescribed] {
        assert_eq!(summary.counters.value(counter), 0, "{}", counter.name());
    }
    // What remains of an identifier is its number and that of an entity.
    let identifiers = (LOADERS * (2 + DEPTH / 2)) as usize;
    assert!(bytes < identifiers * 32, "{bytes} bytes");
}

/// Chunks of a trace, and how often threads wait in each and notify each other.
const CHUNKS: u64 = 16_000;
const NOTIFICATIONS: u64 = 250;

/// A thread contends with one that waits for it.
fn notification(number: u64) -> [Event<'static>; 4] {
    let (lock, sequence, time_ns) = (PARK_DOMAINS + 1, number * 3, number * 100);
    [
        Event::ContendedEnter(ContendedEnter {
            lock: LockId(lock),
            sequence,
            time_ns,
            chain: ChainId(1),
            after_wait: false,
            owner: LockOwner::NotKnown,
        }),
        Event::ContendedExit(ContendedExit {
            lock: LockId(lock),
            sequence: sequence + 1,
            time_ns,
            hold: Hold::NotKnown,
            chain: ChainRef::Forward(ForwardRef(number)),
        }),
        Event::ContendedEntered(ContendedEntered {
            lock: LockId(lock),
            sequence: sequence + 2,
            time_ns,
            safepoint_ns: 0,
        }),
        Event::ForwardResolved(ForwardResolved {
            forward_ref: ForwardRef(number),
            chain: ChainId(1),
        }),
    ]
}

#[test]
fn chains_behind_forward_references_are_forgotten() {
    let mut file = NamedTempFile::new().expect("a temporary file");
    let header = FileHeader {
        compressed: false,
        start_unix_ns: 0,
        pid: 1,
        jvm: String::new(),
        ..FileHeader::default()
    };
    file.write_all(&header.encode()).expect("room for it");
    let mut writer = ChunkWriter::new(false);
    for (thread, event) in descriptions() {
        let mut bytes = [0; 256];
        let mut encoder = SegmentEncoder::new();
        encoder.encode(&mut bytes, &event).expect("room for it");
        let segment = &bytes[..encoder.len()];
        let pushed = writer.push_segment(thread, 0, segment, true);
        pushed.expect("room for it");
    }
    for chunk in 0..CHUNKS {
        let mut bytes = [0; 1 << 14];
        let mut encoder = SegmentEncoder::new();
        let numbers = chunk * NOTIFICATIONS..(chunk + 1) * NOTIFICATIONS;
        for event in numbers.flat_map(notification) {
            encoder.encode(&mut bytes, &event).expect("room for it");
        }
        let segment = &bytes[..encoder.len()];
        let pushed = writer.push_segment(ThreadId(1), chunk, segment, false);
        pushed.expect("room for it");
        file.write_all(writer.events()).expect("room for it");
    }
    let (bytes, summary) = metered(|| {
        TraceFile::open(file.path())
            .expect("a trace")
            .analyze(&mut Analysis::default(), &mut (), |_| {
                ControlFlow::Continue(())
            })
            .expect("readable")
    });
    let unresolved = summary.counters.value(Counter::ForwardRefsUnresolved);
    assert_eq!(unresolved, 0);
    // Six bytes for each would be more.
    let references = (CHUNKS * NOTIFICATIONS) as usize;
    assert!(bytes < references * 5, "{bytes} bytes");
}
