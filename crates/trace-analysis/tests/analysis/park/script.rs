//! Traces of parked threads, written as text.

use std::collections::{BTreeMap, BTreeSet};

use trace_format::{
    Blocker, ChainDescription, ChainId, ClassDescription, ClassId, Event, ExclusiveRelease, Frame,
    Hold, JavaThreadId, LoaderId, LockId, LostNumbers, MethodDescription, MethodId, ParkBegin,
    ParkEnd, ParkEndReason, ParkTimeout, Permit, ThreadId, Unpark,
};

use crate::script::{self, MISSING};

/// The classes that threads park on, by what scripts call them, with their
/// superclasses.
const CLASSES: [(&str, &[&str]); 9] = [
    (
        "ReentrantLock",
        &[
            "java.util.concurrent.locks.ReentrantLock$NonfairSync",
            "java.util.concurrent.locks.ReentrantLock$Sync",
            QUEUED,
        ],
    ),
    (
        "ReadWriteLock",
        &[
            "java.util.concurrent.locks.ReentrantReadWriteLock$FairSync",
            "java.util.concurrent.locks.ReentrantReadWriteLock$Sync",
            QUEUED,
        ],
    ),
    ("StampedLock", &["java.util.concurrent.locks.StampedLock"]),
    (
        "Semaphore",
        &[
            "java.util.concurrent.Semaphore$NonfairSync",
            "java.util.concurrent.Semaphore$Sync",
            QUEUED,
        ],
    ),
    (
        "Latch",
        &["java.util.concurrent.CountDownLatch$Sync", QUEUED],
    ),
    (
        "Condition",
        &["java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"],
    ),
    ("Custom", &["com.example.Mutex$Sync", QUEUED]),
    ("Pool", &["java.util.concurrent.ForkJoinPool"]),
    ("Other", &["com.example.Thing"]),
];
const QUEUED: &str = "java.util.concurrent.locks.AbstractQueuedSynchronizer";

/// The frames below a method that show what it does, by their names in scripts.
const ROLES: [(&str, &[(&str, &str)]); 12] = [
    ("share", &[(QUEUED, "doAcquireShared")]),
    ("pass", &[(QUEUED, "setHeadAndPropagate")]),
    (
        "unshare",
        &[(QUEUED, "releaseShared"), (QUEUED, "fullyRelease")],
    ),
    ("cancel", &[(QUEUED, "cancelAcquire")]),
    (
        "await",
        &[(
            "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject",
            "await",
        )],
    ),
    (
        "idle",
        &[("java.util.concurrent.ThreadPoolExecutor", "getTask")],
    ),
    ("lock", &[(QUEUED, "acquireQueued")]),
    ("wait", &[("java.lang.Object", "wait")]),
    (
        "join",
        &[("java.lang.Object", "wait"), ("java.lang.Thread", "join")],
    ),
    ("release", &[(QUEUED, "release"), (QUEUED, "fullyRelease")]),
    (
        "unlock",
        &[
            (QUEUED, "release"),
            ("java.util.concurrent.locks.ReentrantLock", "unlock"),
        ],
    ),
    (
        "report",
        &[
            (
                "java.util.concurrent.locks.AbstractOwnableSynchronizer",
                "setExclusiveOwnerThread",
            ),
            (QUEUED, "release"),
        ],
    ),
];
/// Most frames of a role.
const MAX_FRAMES: usize = 2;

const FIRST_CLASS: u32 = 100;
const FIRST_ROLE: u32 = 200;

/// Parses a trace, one event a line, in the order in which things happened:
///
/// ```text
/// 10 T2 park b                thread 2 parks, in method b
/// 10 T2 park b again          ... and has not got the lock since it was woken
/// 10 T2 park b timed          ... for some time
/// 20 T1 unpark T2 a           thread 1 unparks thread 2, in method a
/// 20 T1 unpark T2 a elsewhere ... and does not see what that is parked on
/// 20 T1 unpark T2 a signal    ... and has never acquired what it releases
/// 20 T1 release a for 5       thread 1, which has the lock for 5 ns, releases it
/// 20 T1 release a before      ... which has it since before the waits that are open
/// 20 T1 release a             ... and it is not known since when
/// 25 T2 woken                 thread 2 goes on because of the unpark before
/// 25 T2 timeout               thread 2 goes on because the time is over
/// 25 T2 interrupted
/// 25 T2 spurious
/// 10 T2 wait b                thread 2 waits in Object.wait, also `timed`
/// 20 T1 notify T2 a           thread 1 notifies thread 2
/// 20 T1 notify-all a          thread 1 notifies all that wait
/// 25 T2 notified              thread 2 goes on because of that
/// 25 T2 waited timeout        ... because the time is over, or `interrupted`
/// 70 T2 lost                  an event of thread 2 is lost and listed
/// 70 -- missing               an event is lost
/// ```
///
/// A method is a letter, or one with a role: `share/b`. Any event may end with
/// `owner T1`: thread 1 owns the lock then. The script's first line is the class of
/// what all park on. Sequence numbers count the lines of a domain from 1.
pub(crate) fn parse(script: &str) -> Vec<(ThreadId, Event<'static>)> {
    let mut lines = script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let class = lines.next().expect("a class");
    let mut events = metadata_events();
    let mut trace = Trace {
        blocker: blocker(class),
        sequences: BTreeMap::new(),
        permits: BTreeMap::new(),
        waiting: BTreeSet::new(),
        notified: BTreeMap::new(),
    };
    events.extend(lines.filter_map(|line| trace.event(line)));
    events
}

struct Trace {
    blocker: Blocker,
    sequences: BTreeMap<LockId, u64>,
    /// The last permit of each thread, and whether its unpark is elsewhere.
    permits: BTreeMap<u64, (Permit, bool)>,
    /// The threads in `Object.wait`.
    waiting: BTreeSet<u64>,
    /// The last notification of each thread.
    notified: BTreeMap<u64, Permit>,
}

impl Trace {
    fn event(&mut self, line: &str) -> Option<(ThreadId, Event<'static>)> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (&[time, thread, verb], arguments) = words.split_first_chunk().expect("three words");
        let (arguments, owner) = match arguments {
            [arguments @ .., "owner", owner] => (arguments, thread_number(owner)),
            arguments => (arguments, 0),
        };
        let time_ns = time.parse().expect("a time");
        let writer = thread.trim_start_matches('T').parse().unwrap_or(0);
        let domain = match arguments {
            ["elsewhere", ..] | [_, _, "elsewhere"] => 100 + thread_number(arguments[0]),
            _ => 1,
        };
        let sequence = self.sequences.entry(LockId(domain)).or_default();
        *sequence += 1;
        let sequence = *sequence;
        let end = |reason, (permit, unpark_elsewhere): (Permit, bool)| {
            Event::ParkEnd(ParkEnd {
                domain: LockId(domain),
                sequence,
                time_ns,
                reason,
                permit,
                unpark_elsewhere,
                owner: JavaThreadId(owner),
                safepoint_ns: 0,
                monitor: false,
            })
        };
        let no_permit = (Permit::NONE, false);
        let wait_end = |reason, permit| {
            Event::ParkEnd(ParkEnd {
                domain: LockId(domain),
                sequence,
                time_ns,
                reason,
                permit,
                monitor: true,
                ..ParkEnd::default()
            })
        };
        let event = match (verb, arguments) {
            ("park", [method, options @ ..]) => Event::ParkBegin(ParkBegin {
                domain: LockId(domain),
                sequence,
                time_ns,
                blocker: self.blocker,
                timeout: if options.contains(&"timed") {
                    ParkTimeout::After(1)
                } else {
                    ParkTimeout::None
                },
                owner: JavaThreadId(owner),
                continued: options.contains(&"again"),
                monitor: false,
                chain: chain_id(method),
            }),
            ("unpark", [target, method, options @ ..]) => {
                let target = thread_number(target);
                let elsewhere = options.contains(&"elsewhere");
                let permit = self.permits.entry(target).or_default();
                *permit = (Permit(permit.0.0 + 1), elsewhere);
                Event::Unpark(Unpark {
                    domain: LockId(domain),
                    sequence,
                    time_ns,
                    target: JavaThreadId(target),
                    permit: permit.0,
                    blocker: if elsewhere {
                        Blocker::NONE
                    } else {
                        self.blocker
                    },
                    owner: JavaThreadId(owner),
                    interrupt: false,
                    never_acquired: options.contains(&"signal"),
                    waiters: 0,
                    chain: chain_id(method),
                })
            }
            ("release", [method, hold @ ..]) => Event::ExclusiveRelease(ExclusiveRelease {
                domain: LockId(domain),
                sequence,
                time_ns,
                blocker: self.blocker,
                hold: match hold {
                    [] => Hold::NotKnown,
                    ["before"] => Hold::BeforeContention,
                    ["for", duration_ns] => Hold::For {
                        duration_ns: duration_ns.parse().expect("a duration"),
                    },
                    _ => panic!("unknown hold {line}"),
                },
                chain: chain_id(&format!("report/{method}")),
            }),
            ("wait", [method, options @ ..]) => {
                self.waiting.insert(writer.into());
                Event::ParkBegin(ParkBegin {
                    domain: LockId(domain),
                    sequence,
                    time_ns,
                    blocker: self.blocker,
                    timeout: if options.contains(&"timed") {
                        ParkTimeout::After(1)
                    } else {
                        ParkTimeout::None
                    },
                    monitor: true,
                    chain: chain_id(method),
                    ..ParkBegin::default()
                })
            }
            ("notify", [_, method]) | ("notify-all", [method]) => {
                let all = verb == "notify-all";
                let target = if all { 0 } else { thread_number(arguments[0]) };
                let waiters = self.waiting.len() as u32;
                let taken = std::mem::take(&mut self.waiting);
                let (taken, others) = taken.into_iter().partition(|&one| all || one == target);
                self.waiting = others;
                let taken: BTreeSet<u64> = taken;
                let permit = Permit::of_notification(sequence);
                self.notified
                    .extend(taken.into_iter().map(|one| (one, permit)));
                Event::Unpark(Unpark {
                    domain: LockId(domain),
                    sequence,
                    time_ns,
                    target: JavaThreadId(target),
                    blocker: self.blocker,
                    chain: chain_id(method),
                    waiters,
                    ..Unpark::default()
                })
            }
            ("notified", []) => {
                wait_end(ParkEndReason::Unparked, self.notified[&u64::from(writer)])
            }
            ("waited", [reason]) => {
                self.waiting.remove(&u64::from(writer));
                let reason = match *reason {
                    "timeout" => ParkEndReason::TimedOut,
                    "interrupted" => ParkEndReason::Interrupted,
                    _ => panic!("unknown reason {line}"),
                };
                wait_end(reason, Permit::NONE)
            }
            ("woken", []) => end(ParkEndReason::Unparked, self.permits[&u64::from(writer)]),
            ("timeout", []) => end(ParkEndReason::TimedOut, no_permit),
            ("interrupted", []) => end(ParkEndReason::Interrupted, no_permit),
            ("spurious", []) => end(ParkEndReason::Spurious, no_permit),
            ("lost", []) => Event::LostNumbers(LostNumbers {
                lock: LockId(domain),
                first: sequence,
                count: 1,
            }),
            (MISSING, []) => return None,
            _ => panic!("unknown event {line}"),
        };
        Some((ThreadId(writer), event))
    }
}

fn thread_number(name: &str) -> u64 {
    name.trim_start_matches('T').parse().expect("a thread")
}

/// The object with identity hash code 1; none of class `-`.
pub(crate) fn blocker(class: &str) -> Blocker {
    let Some(at) = CLASSES.iter().position(|&(name, _)| name == class) else {
        assert_eq!(class, "-", "a class");
        return Blocker::NONE;
    };
    Blocker {
        class: ClassId(FIRST_CLASS + 10 * at as u32),
        identity_hash: 1,
    }
}

/// The chain of a method, below it the frame of its role.
pub(crate) fn chain_id(method: &str) -> ChainId {
    let Some((role, method)) = method.split_once('/') else {
        return script::chain_id(method);
    };
    let role = ROLES.iter().position(|&(name, ..)| name == role);
    role_chain(role.expect("a role") as u32, script::chain_id(method))
}

fn role_chain(role: u32, method: ChainId) -> ChainId {
    ChainId(FIRST_ROLE * (role + 1) + method.0)
}

/// Describes the classes, and each method with each role.
pub(crate) fn metadata_events() -> Vec<(ThreadId, Event<'static>)> {
    let class = |class, super_class, name| {
        Event::Class(ClassDescription {
            class: ClassId(class),
            super_class: ClassId(super_class),
            loader: LoaderId::NONE,
            name,
            source_file: "",
            loader_class: "",
        })
    };
    let mut events = Vec::new();
    for (first, (_, names)) in (FIRST_CLASS..).step_by(10).zip(CLASSES) {
        for (id, name) in (first..).zip(names) {
            let is_last = id + 1 == first + names.len() as u32;
            events.push(class(id, if is_last { 0 } else { id + 1 }, name));
        }
    }
    for (role, (_, role_frames)) in (0..).zip(ROLES) {
        let first = FIRST_ROLE + role * MAX_FRAMES as u32;
        for (id, (class_name, name)) in (first..).zip(role_frames) {
            events.push(class(id, 0, class_name));
            events.push(Event::Method(MethodDescription {
                method: MethodId(id),
                class: ClassId(id),
                name,
                signature: "()V",
            }));
        }
        for method in b'a'..=b'z' {
            let method = u32::from(method);
            let frame = |method| Frame {
                method: MethodId(method),
                bci: 0,
                line: 1,
            };
            let role_methods = first..first + role_frames.len() as u32;
            events.push(Event::Chain(ChainDescription {
                chain: role_chain(role, ChainId(method)),
                frames: role_methods.chain([method]).map(frame).collect(),
                truncated: false,
            }));
        }
    }
    events
        .into_iter()
        .map(|event| (ThreadId::NONE, event))
        .collect()
}
