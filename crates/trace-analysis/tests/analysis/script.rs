//! Traces written as text.

use std::collections::BTreeMap;

use trace_analysis::{TraceAnalysis, WaitSink};
use trace_format::{
    ChainDescription, ChainId, ChainRef, Chunk, ChunkWriter, ClassDescription, ClassId,
    ContendedEnter, ContendedEntered, ContendedExit, Event, FileHeader, ForwardRef,
    ForwardResolved, Frame, Hold, JavaThreadId, LoaderId, LockDescription, LockId, LockOwner,
    LockRetired, LostNumbers, MethodDescription, MethodId, PARK_DOMAINS, StackRange, SystemRecord,
    ThreadId, ThreadStart, TraceReader,
};

/// Passes what the system did to the analysis of a trace.
pub(crate) fn take_system(
    trace: &mut TraceAnalysis<'_>,
    records: &[SystemRecord],
    sink: &mut impl WaitSink,
) {
    let mut file = FileHeader::default().encode();
    file.extend_from_slice(ChunkWriter::new(false).system(records.iter().copied()));
    let mut reader = TraceReader::new(file.as_slice()).expect("a header");
    while let Some(chunk) = reader.next_chunk().expect("memory does not fail") {
        assert!(matches!(chunk, Chunk::System(_)));
        trace.chunk(chunk, sink);
    }
}

/// A number that was taken but whose event is not in the trace.
pub(crate) const MISSING: &str = "missing";

/// Parses a trace, one event a line, in the order in which things happened:
///
/// ```text
/// 10 T2 enter b          thread 2 begins to wait, in method b
/// 10 T2 reenter b        the same, after Object.wait
/// 50 T1 exit a           thread 1, holding the lock in method a, releases it
/// 10 T2 enter b by:T1    the same; it sees that thread 1 has the lock
/// 10 T2 enter b by:s1    the same; it sees an address on the stack of thread 1
/// 50 T1 exit a held:30   the same; it says that it acquired the lock 30 ns before
/// 50 T1 exit a held:30/3 the same; the last one of three, which took 30 ns in all
/// 50 T1 exit a held:long the same; it acquired the lock before anybody waited
/// 50 T1 exit ->7         the same with a forward reference
/// 90 T1 resolve 7 a      which was to method a
/// 60 T2 entered          thread 2 acquires the lock
/// 60 T2 entered 5        the same; 5 ns of the wait were safepoints
/// 70 T2 lost             an event of thread 2 is lost and listed
/// 70 -- missing          an event is lost
/// 99 -- retire           the lock is deflated
/// ```
///
/// Events are of lock 1 unless they end with `on L2`. Sequence numbers count
/// the events of a lock from 1; a description precedes its first line.
pub(crate) fn parse(script: &str) -> Vec<(ThreadId, Event<'static>)> {
    let mut sequences: BTreeMap<LockId, u64> = BTreeMap::new();
    let mut events = Vec::new();
    for line in script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let (line, lock) = line.split_once(" on L").unwrap_or((line, "1"));
        let lock: u64 = lock.trim().parse().expect("a lock");
        let lock = LockId(PARK_DOMAINS + lock);
        let words: Vec<&str> = line.split_whitespace().collect();
        let (&[time, thread, verb], arguments) = words.split_first_chunk().expect("three words");
        let time_ns = time.parse().expect("a time");
        let thread = ThreadId(thread.trim_start_matches('T').parse().unwrap_or(0));
        if verb == "resolve" {
            let forward_ref = forward_ref(arguments[0]);
            let chain = chain_id(arguments[1]);
            events.push((
                thread,
                Event::ForwardResolved(ForwardResolved { forward_ref, chain }),
            ));
            continue;
        }
        let sequence = sequences.entry(lock).or_insert_with(|| {
            events.push((thread, description(lock)));
            0
        });
        let last = sequence;
        let sequence = *last + 1;
        *last = sequence;
        events.push((
            thread,
            match verb {
                "enter" | "reenter" => Event::ContendedEnter(ContendedEnter {
                    lock,
                    sequence,
                    time_ns,
                    chain: chain_id(arguments[0]),
                    after_wait: verb == "reenter",
                    owner: owner_named(arguments.get(1)),
                }),
                "entered" => Event::ContendedEntered(ContendedEntered {
                    lock,
                    sequence,
                    time_ns,
                    safepoint_ns: arguments
                        .first()
                        .map_or(0, |ns| ns.parse().expect("a duration")),
                }),
                "exit" => {
                    let hold = hold(arguments.get(1));
                    *last += u64::from(hold.holds()) - 1;
                    Event::ContendedExit(ContendedExit {
                        lock,
                        sequence,
                        time_ns,
                        hold,
                        chain: match arguments[0].strip_prefix("->") {
                            Some(number) => ChainRef::Forward(forward_ref(number)),
                            None => ChainRef::Chain(chain_id(arguments[0])),
                        },
                    })
                }
                "lost" => Event::LostNumbers(LostNumbers {
                    lock,
                    first: sequence,
                    count: 1,
                }),
                "retire" => Event::LockRetired(LockRetired { lock, sequence }),
                MISSING => continue,
                _ => panic!("unknown event {verb}"),
            },
        ));
    }
    events
}

fn hold(word: Option<&&str>) -> Hold {
    match word.map(|word| word.strip_prefix("held:").expect("a hold")) {
        None => Hold::NotKnown,
        Some("long") => Hold::BeforeContention,
        Some(duration) => {
            let (duration, holds) = duration.split_once('/').unwrap_or((duration, "1"));
            let duration_ns = duration.parse().expect("a duration");
            match holds.parse().expect("a number of holds") {
                1 => Hold::For { duration_ns },
                holds => Hold::Several {
                    holds,
                    held_ns: duration_ns,
                    span_ns: duration_ns,
                },
            }
        }
    }
}

/// `by:T3` is thread 3, `by:s3` an address on its stack.
fn owner_named(word: Option<&&str>) -> LockOwner {
    let Some(word) = word else {
        return LockOwner::NotKnown;
    };
    let owner = word.strip_prefix("by:").expect("an owner");
    let thread = ThreadId(owner[1..].parse().expect("a thread"));
    match &owner[..1] {
        "s" => LockOwner::OnStack(stack_of(thread).lowest),
        _ => LockOwner::Thread(thread),
    }
}

/// Lock *n* is the object with identity hash code *n* of class `Lock`.
fn description(lock: LockId) -> Event<'static> {
    Event::LockDescription(LockDescription {
        lock,
        class: ClassId(1),
        mirrored_class: ClassId::NONE,
        identity_hash: (lock.0 - PARK_DOMAINS) as u32,
        monitor_address: 0,
    })
}

/// The chain of the single method `a`, `b`...
pub(crate) fn chain_id(method: &str) -> ChainId {
    ChainId(method.as_bytes()[0].into())
}

fn forward_ref(number: &str) -> ForwardRef {
    ForwardRef(number.parse().expect("a reference"))
}

/// The stack of a thread.
pub(crate) fn stack_of(thread: ThreadId) -> StackRange {
    StackRange {
        lowest: (u64::from(thread.0) + 1) << 16,
        size: 1 << 12,
    }
}

/// Describes threads `T0` to `T9`, class `Lock`, and the methods and chains `a`
/// to `z`.
pub(crate) fn metadata_events() -> Vec<(ThreadId, Event<'static>)> {
    const NAMES: [&str; 10] = ["T0", "T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8", "T9"];
    const METHODS: &str = "abcdefghijklmnopqrstuvwxyz";
    let threads = (0..).zip(NAMES).map(|(thread, name)| {
        let (time_ns, java_id) = (0, JavaThreadId(thread.into()));
        (
            ThreadId(thread),
            Event::ThreadStart(ThreadStart {
                time_ns,
                java_id,
                name,
                stack: stack_of(ThreadId(thread)),
            }),
        )
    });
    let class = Event::Class(ClassDescription {
        class: ClassId(1),
        super_class: ClassId::NONE,
        loader: LoaderId::NONE,
        name: "Lock",
        source_file: "Lock.java",
        loader_class: "",
    });
    let methods = METHODS.bytes().enumerate().flat_map(|(at, method)| {
        let id = u32::from(method);
        let method = Event::Method(MethodDescription {
            method: MethodId(id),
            class: ClassId(1),
            name: &METHODS[at..=at],
            signature: "()V",
        });
        let frames = vec![Frame {
            method: MethodId(id),
            bci: 0,
            line: 1,
        }];
        let chain = Event::Chain(ChainDescription {
            chain: ChainId(id),
            frames,
            truncated: false,
        });
        [method, chain]
    });
    let code = [class].into_iter().chain(methods);
    threads
        .chain(code.map(|event| (ThreadId::NONE, event)))
        .collect()
}
