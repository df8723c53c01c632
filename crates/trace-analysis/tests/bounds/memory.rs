//! The analysis needs a bounded amount of memory, whatever is missing from the
//! trace and however late it comes.

use trace_analysis::{Analysis, Counter, Counters, Entities, Limits, Wait};
use trace_format::file::VERSION;
use trace_format::{
    Capabilities, ChainId, ChainRef, ChainRetired, ClassDescription, ClassId, ContendedEnter,
    Event, ForwardRef, ForwardResolved, JavaThreadId, LoaderId, LoaderUnload, LockId, LockOwner,
    LockRetired, LostNumbers, MethodId, MethodRetired, PARK_DOMAINS, ParkBegin, ParkEnd,
    ParkEndReason, Permit, ThreadId, Unpark,
};

use crate::events::{
    CHAIN, CLASS, LOCK, chain, class, code, enter, entered, exit, lock_description, method,
    thread_start,
};
use crate::meter::Meter;
use crate::trace::{Trace, report};

/// How many bytes the analysis of `events` has at most, and what it counts.
fn peak_bytes(
    max_pending_events: usize,
    events: impl Iterator<Item = (ThreadId, Event<'static>)>,
) -> (usize, Counters) {
    let (cost, counters) = Meter::alone().measure(|| {
        let mut analysis = Analysis::new(Limits { max_pending_events });
        let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
        for (thread, event) in descriptions().chain(events) {
            trace.event(thread, &event, &mut ());
        }
        trace.finish(&mut ()).counters
    });
    (cost.bytes, counters)
}

/// Describes the threads, the class and the chain that events here refer to.
fn descriptions() -> impl Iterator<Item = (ThreadId, Event<'static>)> {
    let code = code("Lock").map(|event| (ThreadId(1), event));
    (1..8).map(thread_start).chain(code)
}

const MAX_PENDING: usize = 100_000;
/// An event that is held back takes 32 bytes, and a queue is used to a quarter at
/// least; while it grows, the queue that it replaces takes memory, too.
const MAX_PENDING_BYTES: usize = MAX_PENDING * 32 * 5;

fn description(lock: LockId) -> (ThreadId, Event<'static>) {
    (ThreadId(1), lock_description(lock, CLASS))
}

/// The event of a number: three threads take turns, and each waits once before
/// it exits.
fn event(lock: LockId, sequence: u64) -> (ThreadId, Event<'static>) {
    let thread = ThreadId((sequence / 3 % 3) as u32 + 1);
    let event = match sequence % 3 {
        0 => enter(lock, sequence, LockOwner::NotKnown),
        1 => entered(lock, sequence),
        _ => exit(lock, sequence, ChainRef::Chain(CHAIN)),
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

/// Threads waited for each lock, but do not any more.
#[test]
fn locks_that_nobody_waits_for_need_little() {
    const LOCKS: u64 = 100_000;
    let events = (1..=LOCKS).map(LockId).flat_map(|lock| {
        let numbers = (1..9).map(move |number| event(lock, number));
        [description(lock)].into_iter().chain(numbers)
    });
    let (bytes, counters) = peak_bytes(MAX_PENDING, events);
    assert!(bytes < LOCKS as usize * 450, "{bytes} bytes");
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
    let lock = LockId(1);
    let wait = (ThreadId(7), enter(lock, 1, LockOwner::NotKnown));
    let others = (2..1_000_000).map(|sequence| {
        let thread = ThreadId(sequence as u32 % 2 + 1);
        (thread, exit(lock, sequence, ChainRef::Chain(CHAIN)))
    });
    let events = [description(lock), wait].into_iter().chain(others);
    let (bytes, counters) = peak_bytes(MAX_PENDING, events);
    assert!(bytes < 50_000_000, "{bytes} bytes");
    assert!(counters.value(Counter::IntervalsCollapsed) > 0);
}

/// Thread 5 is woken by an unpark that is lost. Behind it, thread 2 is woken many
/// times.
#[test]
fn a_lost_unpark_does_not_hold_back_all_others() {
    const PARKS: u64 = 100_000;
    let domain = 1;
    let begin = |sequence| {
        Event::ParkBegin(ParkBegin {
            domain: LockId(domain),
            sequence,
            time_ns: sequence,
            chain: CHAIN,
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
            chain: CHAIN,
            ..Unpark::default()
        })
    };
    let threads = [2, 5].map(thread_start);
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
    let events = events.into_iter().chain(others);
    let events = events.map(|(thread, event)| (ThreadId(thread), event));
    let (cost, counters) = Meter::alone().measure(|| {
        let mut analysis = Analysis::new(Limits { max_pending_events });
        let mut trace = analysis.begin_trace(VERSION, Capabilities::default());
        for (thread, event) in threads.into_iter().chain(events) {
            trace.event(thread, &event, &mut |_: &Wait, _: &Entities| waits += 1);
        }
        trace
            .finish(&mut |_: &Wait, _: &Entities| waits += 1)
            .counters
    });
    assert!(cost.bytes < MAX_PENDING_BYTES / 10, "{cost:?}");
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
    let (class, chain_id) = (ClassId(2 + number), ChainId(2 + number));
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
    let methods = own
        .clone()
        .map(|number| method(MethodId(number), class, "work"));
    let described_chain = chain(chain_id, own.clone().chain(1..DEPTH / 2));
    let wait = [
        lock_description(lock, class),
        Event::ContendedEnter(ContendedEnter {
            lock,
            sequence: 1,
            time_ns,
            chain: chain_id,
            after_wait: false,
            owner: LockOwner::NotKnown,
        }),
        entered(lock, 2),
        Event::LockRetired(LockRetired { lock, sequence: 3 }),
    ];
    let life = [description]
        .into_iter()
        .chain(methods)
        .chain([described_chain]);
    let ends = [Event::ChainRetired(ChainRetired { chain: chain_id })]
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
fn churn() -> Trace {
    let methods = (1..DEPTH / 2).map(|number| method(MethodId(number), CLASS, "run"));
    let program = [class(CLASS, "com.example.Program")]
        .into_iter()
        .chain(methods);
    let program = program.map(|event| (ThreadId(2), event));
    let program = [1, 2].map(thread_start).into_iter().chain(program);
    let plugins = (0..LOADERS).flat_map(plugin);
    Trace::of(Capabilities::default(), program.chain(plugins))
}

#[test]
fn classes_that_come_and_go_leave_little() {
    let meter = Meter::alone();
    let (sums, summary, cost) = report(&meter, churn().path(), 1);
    assert_eq!(sums.totals().all.waits, u64::from(LOADERS));
    for counter in [Counter::RetiredReferences, Counter::MethodsNotDescribed] {
        assert_eq!(summary.counters.value(counter), 0, "{}", counter.name());
    }
    // What remains of an identifier is its number and the entity's.
    let identifiers = (LOADERS * (2 + DEPTH / 2)) as usize;
    assert!(cost.bytes < identifiers * 32, "{cost:?}");
}

/// How often threads wait and notify each other.
const NOTIFICATIONS: u64 = 4_000_000;

/// A thread contends with one that waits for it.
fn notification(number: u64) -> [Event<'static>; 4] {
    let sequence = number * 3;
    let forward_ref = ForwardRef(number);
    [
        enter(LOCK, sequence, LockOwner::NotKnown),
        exit(LOCK, sequence + 1, ChainRef::Forward(forward_ref)),
        entered(LOCK, sequence + 2),
        Event::ForwardResolved(ForwardResolved {
            forward_ref,
            chain: CHAIN,
        }),
    ]
}

#[test]
fn chains_behind_forward_references_are_forgotten() {
    let meter = Meter::alone();
    let events = (0..NOTIFICATIONS).flat_map(notification);
    let events = events.map(|event| (ThreadId(1), event));
    let trace = Trace::of(Capabilities::default(), descriptions().chain(events));
    let (_, summary, cost) = report(&meter, trace.path(), 1);
    let unresolved = summary.counters.value(Counter::ForwardRefsUnresolved);
    assert_eq!(unresolved, 0);
    // Six bytes for each would be more.
    assert!(cost.bytes < NOTIFICATIONS as usize * 5, "{cost:?}");
}
