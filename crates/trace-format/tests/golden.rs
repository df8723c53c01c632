//! Traces that earlier versions wrote can still be read.
//!
//! `tests/golden` holds one small trace per version of the format, compressed and not, which is
//! never changed. `cargo test -p trace-format --test golden -- --ignored` writes the trace of a new
//! version.

mod support;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use support::segment;
use trace_format::{
    Blocker, Capabilities, ChainDescription, ChainId, ChainRef, ChainRetired, Chunk, ChunkWriter,
    ClassDescription, ClassId, ContendedEnter, ContendedEntered, ContendedExit, Counter, Event,
    ExclusiveRelease, FileHeader, ForwardRef, ForwardResolved, Frame, Hold, JavaThreadId, LoaderId,
    LoaderUnload, LockDescription, LockId, LockOwner, LockRetired, LockSite, LostEvents,
    LostNumbers, MethodDescription, MethodId, MethodRetired, OwnerSample, ParkBegin, ParkEnd,
    ParkEndReason, ParkTimeout, Permit, StackRange, ThreadEnd, ThreadId, ThreadRename, ThreadStart,
    TraceReader, Unpark, file,
};

const BLOCKER: Blocker = Blocker {
    class: ClassId(1),
    identity_hash: 0x1234_5678,
};

fn wait_begin(sequence: u64, time_ns: u64, timeout: ParkTimeout) -> Event<'static> {
    Event::ParkBegin(ParkBegin {
        domain: LockId(42),
        sequence,
        time_ns,
        blocker: BLOCKER,
        timeout,
        monitor: true,
        chain: ChainId(1),
        ..ParkBegin::default()
    })
}

fn wait_end(sequence: u64, time_ns: u64, reason: ParkEndReason, permit: Permit) -> Event<'static> {
    Event::ParkEnd(ParkEnd {
        domain: LockId(42),
        sequence,
        time_ns,
        reason,
        permit,
        monitor: true,
        ..ParkEnd::default()
    })
}

fn notification(sequence: u64, time_ns: u64, target: JavaThreadId, waiters: u32) -> Event<'static> {
    Event::Unpark(Unpark {
        domain: LockId(42),
        sequence,
        time_ns,
        target,
        waiters,
        blocker: BLOCKER,
        chain: ChainId(1),
        ..Unpark::default()
    })
}

/// Returns a trace with every event in every form.
fn trace(compressed: bool) -> Vec<u8> {
    let worker = [
        Event::ThreadStart(ThreadStart {
            time_ns: 1_000,
            java_id: JavaThreadId(12),
            name: "worker-0",
            stack: StackRange {
                lowest: 0x7f00_0012_0000,
                size: 1 << 20,
            },
        }),
        Event::Class(ClassDescription {
            class: ClassId(1),
            super_class: ClassId(9),
            loader: LoaderId(0x7f00_1234_5678),
            name: "com.example.Queue",
            source_file: "Queue.java",
            loader_class: "sun.misc.Launcher$AppClassLoader",
        }),
        Event::Method(MethodDescription {
            method: MethodId(2),
            class: ClassId(1),
            name: "take",
            signature: "()Ljava/lang/Object;",
        }),
        Event::Chain(ChainDescription {
            chain: ChainId(1),
            frames: vec![
                Frame {
                    method: MethodId(2),
                    bci: 17,
                    line: 40,
                },
                Frame {
                    method: MethodId(3),
                    bci: -1,
                    line: -1,
                },
            ],
            truncated: true,
        }),
        Event::LockDescription(LockDescription {
            lock: LockId(257),
            class: ClassId(1),
            mirrored_class: ClassId::NONE,
            identity_hash: 0x49ab_f544,
            monitor_address: 0x7f00_0000_1000,
        }),
        Event::ContendedEnter(ContendedEnter {
            lock: LockId(257),
            sequence: 1,
            time_ns: 2_000,
            chain: ChainId(1),
            after_wait: false,
            owner: LockOwner::Thread(ThreadId(3)),
        }),
        Event::ContendedEntered(ContendedEntered {
            lock: LockId(257),
            sequence: 3,
            time_ns: 9_000,
            safepoint_ns: 0,
        }),
        Event::ContendedExit(ContendedExit {
            lock: LockId(257),
            sequence: 4,
            time_ns: 9_500,
            hold: Hold::For { duration_ns: 500 },
            chain: ChainRef::Chain(ChainId(1)),
        }),
        Event::ContendedEnter(ContendedEnter {
            lock: LockId(257),
            sequence: 5,
            time_ns: 9_600,
            chain: ChainId(1),
            after_wait: false,
            owner: LockOwner::OnStack(0x7f00_0012_3456),
        }),
        Event::ContendedEntered(ContendedEntered {
            lock: LockId(257),
            sequence: 7,
            time_ns: 80_000,
            safepoint_ns: 512,
        }),
        Event::ContendedExit(ContendedExit {
            lock: LockId(257),
            sequence: 8,
            time_ns: 80_100,
            hold: Hold::BeforeContention,
            chain: ChainRef::Chain(ChainId(1)),
        }),
        Event::ContendedExit(ContendedExit {
            lock: LockId(257),
            sequence: 9,
            time_ns: 81_000,
            hold: Hold::Several {
                holds: 3,
                held_ns: 600,
                span_ns: 850,
            },
            chain: ChainRef::Chain(ChainId(1)),
        }),
        Event::ContendedExit(ContendedExit {
            lock: LockId(257),
            sequence: 12,
            time_ns: 81_200,
            hold: Hold::NotKnown,
            chain: ChainRef::Forward(ForwardRef(3)),
        }),
        Event::ContendedEnter(ContendedEnter {
            lock: LockId(257),
            sequence: 13,
            time_ns: 90_000,
            chain: ChainId(1),
            after_wait: true,
            owner: LockOwner::NotKnown,
        }),
        Event::ForwardResolved(ForwardResolved {
            forward_ref: ForwardRef(3),
            chain: ChainId(1),
        }),
        Event::ThreadRename(ThreadRename {
            java_id: JavaThreadId(12),
            name: "Arbeiter-ü",
        }),
        Event::Class(ClassDescription {
            class: ClassId(9),
            super_class: ClassId::NONE,
            loader: LoaderId::NONE,
            name: "java.util.concurrent.locks.AbstractQueuedSynchronizer",
            source_file: "AbstractQueuedSynchronizer.java",
            loader_class: "",
        }),
        Event::ParkBegin(ParkBegin {
            domain: LockId(42),
            sequence: 1,
            time_ns: 90_100,
            blocker: BLOCKER,
            timeout: ParkTimeout::None,
            owner: JavaThreadId(13),
            continued: false,
            monitor: false,
            chain: ChainId(1),
        }),
        Event::ParkEnd(ParkEnd {
            domain: LockId(42),
            sequence: 3,
            time_ns: 90_900,
            reason: ParkEndReason::Unparked,
            permit: Permit(4),
            unpark_elsewhere: false,
            monitor: false,
            owner: JavaThreadId(14),
            safepoint_ns: 300,
        }),
        Event::ParkBegin(ParkBegin {
            domain: LockId(42),
            sequence: 4,
            time_ns: 91_000,
            blocker: BLOCKER,
            timeout: ParkTimeout::After(1_000_000),
            owner: JavaThreadId(14),
            continued: true,
            monitor: false,
            chain: ChainId(1),
        }),
        Event::ParkEnd(ParkEnd {
            domain: LockId(42),
            sequence: 5,
            time_ns: 99_000,
            reason: ParkEndReason::PermitAvailable,
            permit: Permit(8),
            unpark_elsewhere: true,
            monitor: false,
            owner: JavaThreadId::NONE,
            safepoint_ns: 0,
        }),
        Event::ParkBegin(ParkBegin {
            domain: LockId(7),
            sequence: 1,
            time_ns: 99_100,
            blocker: Blocker::NONE,
            timeout: ParkTimeout::At(1_456_000_000_100),
            owner: JavaThreadId::NONE,
            continued: false,
            monitor: false,
            chain: ChainId::NONE,
        }),
        Event::ParkEnd(ParkEnd {
            domain: LockId(7),
            sequence: 2,
            time_ns: 99_900,
            reason: ParkEndReason::TimedOut,
            permit: Permit::NONE,
            unpark_elsewhere: false,
            monitor: false,
            owner: JavaThreadId::NONE,
            safepoint_ns: 0,
        }),
        Event::Unpark(Unpark {
            domain: LockId(42),
            sequence: 6,
            time_ns: 99_950,
            target: JavaThreadId(13),
            permit: Permit(12),
            blocker: BLOCKER,
            owner: JavaThreadId(14),
            interrupt: false,
            never_acquired: false,
            waiters: 0,
            chain: ChainId(1),
        }),
        Event::Unpark(Unpark {
            domain: LockId(7),
            sequence: 3,
            time_ns: 99_960,
            target: JavaThreadId(12),
            permit: Permit(15),
            blocker: Blocker::NONE,
            owner: JavaThreadId::NONE,
            interrupt: true,
            never_acquired: false,
            waiters: 0,
            chain: ChainId(1),
        }),
        Event::Unpark(Unpark {
            domain: LockId(7),
            sequence: 4,
            time_ns: 99_970,
            target: JavaThreadId(12),
            permit: Permit(23),
            blocker: Blocker::NONE,
            owner: JavaThreadId::NONE,
            interrupt: false,
            never_acquired: false,
            waiters: 0,
            chain: ChainId(1),
        }),
        Event::ParkBegin(ParkBegin {
            domain: LockId(42),
            sequence: 7,
            time_ns: 99_980,
            blocker: BLOCKER,
            timeout: ParkTimeout::None,
            owner: JavaThreadId::NONE,
            continued: false,
            monitor: false,
            chain: ChainId(1),
        }),
        Event::ParkEnd(ParkEnd {
            domain: LockId(42),
            sequence: 8,
            time_ns: 99_990,
            reason: ParkEndReason::Unparked,
            permit: Permit(16),
            unpark_elsewhere: false,
            monitor: false,
            owner: JavaThreadId::NONE,
            safepoint_ns: 0,
        }),
        Event::ExclusiveRelease(ExclusiveRelease {
            domain: LockId(42),
            sequence: 9,
            time_ns: 99_992,
            blocker: BLOCKER,
            hold: Hold::For { duration_ns: 2 },
            chain: ChainId(1),
        }),
        Event::ExclusiveRelease(ExclusiveRelease {
            domain: LockId(42),
            sequence: 10,
            time_ns: 99_994,
            blocker: BLOCKER,
            hold: Hold::BeforeContention,
            chain: ChainId(1),
        }),
        wait_begin(11, 99_995, ParkTimeout::After(5_000_000)),
        notification(12, 99_996, JavaThreadId(12), 1),
        wait_end(
            13,
            99_997,
            ParkEndReason::Unparked,
            Permit::of_notification(12),
        ),
        wait_begin(14, 99_998, ParkTimeout::After(5_000_000)),
        wait_end(15, 99_999, ParkEndReason::TimedOut, Permit::NONE),
        wait_begin(16, 100_000, ParkTimeout::None),
        notification(17, 100_001, JavaThreadId::NONE, 3),
        notification(18, 100_002, JavaThreadId::NONE, 3),
        wait_end(
            19,
            100_003,
            ParkEndReason::Unparked,
            Permit::of_notification(17),
        ),
        Event::ThreadEnd(ThreadEnd { time_ns: 100_004 }),
    ];
    let vm_thread = [
        Event::LockRetired(LockRetired {
            lock: LockId(257),
            sequence: 11,
        }),
        Event::LoaderUnload(LoaderUnload {
            loader: LoaderId(0x7f00_1234_5678),
            time_ns: 120_000,
        }),
        Event::LostNumbers(LostNumbers {
            lock: LockId(258),
            first: 1,
            count: 1,
        }),
        Event::LostNumbers(LostNumbers {
            lock: LockId(258),
            first: 2,
            count: 300,
        }),
        Event::LostEvents(LostEvents { events: 70 }),
        Event::OwnerSample(OwnerSample {
            time_ns: 125_000,
            owner: ThreadId(2),
            chain: ChainId(1),
            since_ns: 110_000,
            interval_ns: 20_000_000,
        }),
        Event::LockSite(LockSite {
            class: ClassId(1),
            identity_hash: 0x1234_5678,
            chain: ChainId(1),
        }),
    ];
    let drainer = [
        Event::ChainRetired(ChainRetired { chain: ChainId(1) }),
        Event::MethodRetired(MethodRetired {
            method: MethodId(2),
        }),
    ];

    // Enough of the same that compression pays.
    let renames = vec![
        Event::ThreadRename(ThreadRename {
            java_id: JavaThreadId(12),
            name: "pool-1-thread-1"
        });
        20
    ];

    let jvm = "OpenJDK 64-Bit Server VM 25.504-b01".to_owned();
    let header = FileHeader {
        compressed,
        capabilities: Capabilities::HOLDS
            .union(Capabilities::ORDERED)
            .union(Capabilities::PERMITS),
        start_unix_ns: 1_456_000_000_000_000_000,
        pid: 4711,
        jvm,
    };
    let mut file = header.encode();
    let mut writer = ChunkWriter::new(compressed);
    writer
        .push_segment(ThreadId(2), 0, &segment(&worker), true)
        .unwrap();
    file.extend(writer.events());
    writer
        .push_segment(ThreadId(1), 0, &segment(&vm_thread[..2]), true)
        .unwrap();
    writer
        .push_segment(ThreadId(1), 1, &segment(&vm_thread[2..]), false)
        .unwrap();
    writer
        .push_segment(ThreadId(2), 1, &segment(&renames), true)
        .unwrap();
    writer
        .push_segment(ThreadId::NONE, 0, &segment(&drainer), true)
        .unwrap();
    file.extend(writer.events());
    // A later counter is no change of the layout.
    let counters = Counter::ALL
        .into_iter()
        .filter(|&counter| counter <= Counter::InterruptedCycles);
    file.extend(writer.counters(counters.map(|counter| (counter, 100 + counter.id()))));
    file.extend(writer.end(130_000, 3));
    file
}

/// Returns the content of a trace as text.
fn describe(file: &[u8]) -> String {
    let mut reader = TraceReader::new(file).unwrap();
    let mut text = format!("{:#?}\n", reader.header());
    while let Some(chunk) = reader.next_chunk().unwrap() {
        match chunk {
            Chunk::Events(chunk) => {
                writeln!(text, "events, metadata {}", chunk.contains_metadata).unwrap();
                for segment in chunk.segments() {
                    let segment = segment.unwrap();
                    writeln!(
                        text,
                        "  thread {} buffer {}",
                        segment.thread, segment.buffer_index
                    )
                    .unwrap();
                    for event in segment.events() {
                        writeln!(text, "    {:?}", event.unwrap()).unwrap();
                    }
                }
            }
            Chunk::Counters(counters) => {
                for pair in counters {
                    let (counter, value) = pair.unwrap();
                    writeln!(text, "{} {value}", counter.name()).unwrap();
                }
            }
            Chunk::End {
                time_ns, chunks, ..
            } => writeln!(text, "end {time_ns} {chunks}").unwrap(),
            Chunk::System(records) => {
                for record in records {
                    writeln!(text, "{:?}", record.unwrap()).unwrap();
                }
            }
        }
    }
    assert!(reader.damage().is_none());
    text
}

fn golden(version: u16, compressed: bool) -> PathBuf {
    let name = format!(
        "v{version}{}.lct",
        if compressed { "-compressed" } else { "" }
    );
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name)
}

#[test]
fn every_version_can_be_read() {
    for compressed in [false, true] {
        for version in 1..=file::VERSION {
            let path = golden(version, compressed);
            let name = path.file_stem().unwrap().to_str().unwrap();
            insta::assert_snapshot!(name, describe(&std::fs::read(&path).unwrap()));
        }
    }
}

/// The present version writes the same bytes as when it was introduced. If this fails, the layout
/// has changed without a new version. Snappy's output is not part of the layout.
#[test]
fn the_layout_matches_its_version() {
    assert!(trace(false) == std::fs::read(golden(file::VERSION, false)).unwrap());
}

#[test]
#[ignore = "writes the golden trace of a new version"]
fn write_golden_trace() {
    for compressed in [false, true] {
        let path = golden(file::VERSION, compressed);
        assert!(!path.exists(), "a golden trace is never changed");
        std::fs::write(path, trace(compressed)).unwrap();
    }
}
