use std::fs;
use std::ops::ControlFlow;

use tempfile::TempDir;
use trace_analysis::{Analysis, Counter, TraceFile, TraceSummary};
use trace_format::{
    Blocker, ChainDescription, ChainId, ChainRef, ChunkWriter, ClassDescription, ClassId,
    ContendedEnter, ContendedEntered, ContendedExit, Event, FileHeader, ForwardRef,
    ForwardResolved, Frame, Hold, JavaThreadId, LoaderId, LockDescription, LockId, LockOwner,
    LostEvents, MethodDescription, MethodId, PARK_DOMAINS, ParkBegin, ParkEnd, ParkEndReason,
    Permit, SegmentEncoder, StackRange, ThreadId, ThreadStart, Unpark,
};

use crate::survey::Survey;
use crate::{Length, magnify};

const LOCK: u64 = PARK_DOMAINS + 1;
const DOMAIN: u64 = 7;
const BLOCKER: Blocker = Blocker {
    class: ClassId(1),
    identity_hash: 6,
};

/// Two threads contend for a monitor that one of them waits for, and one unparks the
/// other. At the end one is blocked, and the other parked.
fn events() -> Vec<(ThreadId, Vec<Event<'static>>)> {
    let start = |java_id, name| {
        Event::ThreadStart(ThreadStart {
            time_ns: 0,
            java_id,
            name,
            stack: StackRange::default(),
        })
    };
    let class = Event::Class(ClassDescription {
        class: ClassId(1),
        super_class: ClassId::NONE,
        loader: LoaderId::NONE,
        name: "Program",
        source_file: "Program.java",
        loader_class: "",
    });
    let method = Event::Method(MethodDescription {
        method: MethodId(1),
        class: ClassId(1),
        name: "run",
        signature: "()V",
    });
    let frames = vec![Frame {
        method: MethodId(1),
        bci: 0,
        line: 1,
    }];
    let chain = Event::Chain(ChainDescription {
        chain: ChainId(1),
        frames,
        truncated: false,
    });
    let description = Event::LockDescription(LockDescription {
        lock: LockId(LOCK),
        class: ClassId(1),
        mirrored_class: ClassId::NONE,
        identity_hash: 5,
        monitor_address: 0,
    });
    let enter = |sequence, time_ns| {
        Event::ContendedEnter(ContendedEnter {
            lock: LockId(LOCK),
            sequence,
            time_ns,
            chain: ChainId(1),
            after_wait: false,
            owner: LockOwner::NotKnown,
        })
    };
    let exit = Event::ContendedExit(ContendedExit {
        lock: LockId(LOCK),
        sequence: 2,
        time_ns: 20,
        hold: Hold::NotKnown,
        chain: ChainRef::Forward(ForwardRef(1)),
    });
    let resolved = Event::ForwardResolved(ForwardResolved {
        forward_ref: ForwardRef(1),
        chain: ChainId(1),
    });
    let entered = Event::ContendedEntered(ContendedEntered {
        lock: LockId(LOCK),
        sequence: 3,
        time_ns: 25,
        safepoint_ns: 0,
    });
    let park = |sequence, time_ns| {
        Event::ParkBegin(ParkBegin {
            domain: LockId(DOMAIN),
            sequence,
            time_ns,
            blocker: BLOCKER,
            chain: ChainId(1),
            ..ParkBegin::default()
        })
    };
    let unpark = Event::Unpark(Unpark {
        domain: LockId(DOMAIN),
        sequence: 2,
        time_ns: 40,
        target: JavaThreadId(12),
        permit: Permit(1),
        blocker: BLOCKER,
        chain: ChainId(1),
        ..Unpark::default()
    });
    let park_end = Event::ParkEnd(ParkEnd {
        domain: LockId(DOMAIN),
        sequence: 3,
        time_ns: 45,
        reason: ParkEndReason::Unparked,
        permit: Permit(1),
        ..ParkEnd::default()
    });
    let first = [
        start(JavaThreadId(11), "first"),
        class,
        method,
        chain,
        description,
    ];
    let first = first
        .into_iter()
        .chain([exit, resolved, unpark, enter(4, 50)]);
    let second = [start(JavaThreadId(12), "second"), enter(1, 10), entered];
    let second = second
        .into_iter()
        .chain([park(1, 30), park_end, park(4, 60)]);
    vec![
        (ThreadId(1), first.collect()),
        (ThreadId(2), second.collect()),
    ]
}

fn trace(events: &[(ThreadId, Vec<Event<'static>>)]) -> Vec<u8> {
    let header = FileHeader {
        compressed: true,
        start_unix_ns: 0,
        pid: 1,
        jvm: String::new(),
        ..FileHeader::default()
    };
    let mut writer = ChunkWriter::new(true);
    for (thread, events) in events {
        let mut bytes = [0; 1024];
        let mut encoder = SegmentEncoder::new();
        for event in events {
            encoder.encode(&mut bytes, event).expect("fits");
        }
        let segment = &bytes[..encoder.len()];
        let pushed = writer.push_segment(*thread, 0, segment, encoder.contains_metadata());
        pushed.expect("fits");
    }
    let mut file = header.encode();
    file.extend_from_slice(writer.events());
    file.extend_from_slice(writer.end(100, 1));
    file
}

#[test]
fn each_copy_has_the_waits_of_the_trace_and_leaves_nothing_open() {
    let folder = TempDir::new().expect("a temporary folder");
    let [short, long] = ["short", "long"].map(|name| folder.path().join(name));
    fs::write(&short, trace(&events())).expect("written");
    let copies =
        magnify(&short, &long, Length::Bytes(1_000_000), Some(1_000)).expect("a complete trace");
    assert!(fs::metadata(&long).expect("written").len() >= 1_000_000);

    let mut analysis = Analysis::default();
    let mut sums = Vec::new();
    let mut on_wait =
        |wait: &trace_analysis::Wait, _: &_| sums.push((wait.start_ns, wait.duration_ns));
    let trace = TraceFile::open(&long).expect("a trace");
    assert_eq!(trace.header().start_unix_ns, 1_000);
    let summary: TraceSummary = trace
        .analyze(&mut analysis, &mut on_wait, |_| ControlFlow::Continue(()))
        .expect("readable");
    assert!(summary.is_complete());
    for (counter, value) in summary.counters.iter() {
        assert_eq!(value, 0, "{}", counter.name());
    }
    assert_eq!(summary.counters.value(Counter::OpenWaits), 0);
    assert_eq!(summary.duration_ns, copies * 101);

    // Those of the trace, and those that are open at its end.
    sums.sort_unstable();
    let expected = (0..copies).flat_map(|copy| {
        let waits = [(10, 15), (30, 15), (50, 51), (60, 41)];
        waits.map(|(start_ns, duration_ns)| (start_ns + copy * 101, duration_ns))
    });
    assert_eq!(sums, expected.collect::<Vec<_>>());
    assert_eq!(analysis.entities().lock_count(), 2, "the same objects");
    assert_eq!(analysis.entities().thread_count() as u64, 2 * copies);
}

#[test]
fn copies_are_as_many_as_are_asked_for() {
    let folder = TempDir::new().expect("a temporary folder");
    let [short, long] = ["short", "long"].map(|name| folder.path().join(name));
    fs::write(&short, trace(&events())).expect("written");
    let copies = magnify(&short, &long, Length::Copies(3), None).expect("a complete trace");
    assert_eq!(copies, 3);
    let trace = TraceFile::open(&long).expect("a trace");
    let survey = Survey::of(&trace).expect("a complete trace");
    assert_eq!(survey.duration_ns, 3 * 101 + 1);
}

#[test]
fn trace_that_lacks_events_is_refused() {
    let folder = TempDir::new().expect("a temporary folder");
    let [short, long] = ["short", "long"].map(|name| folder.path().join(name));
    let mut events = events();
    events[0]
        .1
        .push(Event::LostEvents(LostEvents { events: 1 }));
    fs::write(&short, trace(&events)).expect("written");
    let error = magnify(&short, &long, Length::Copies(1), None).expect_err("events are lost");
    let expected = "expected a complete trace, found one that lacks events";
    assert!(error.to_string().ends_with(expected), "{error:#}");
    assert!(!long.exists());
}
