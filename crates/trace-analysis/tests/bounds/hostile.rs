//! Traces made to take time or memory. Each of them took many times as much once.

use std::time::Duration;

use trace_analysis::{Aggregation, Counter, TraceSummary};
use trace_format::{
    Blocker, Capabilities, ChainId, ChainRef, Event, ExclusiveRelease, ForwardRef, ForwardResolved,
    Hold, JavaThreadId, LockId, LockOwner, PARK_DOMAINS, ParkBegin, ParkEnd, ParkEndReason, Permit,
    ThreadId, Unpark,
};

use crate::events::{
    CHAIN, CLASS, LOCK, chain, code, enter, entered, exit, lock_description, thread_start,
};
use crate::meter::Meter;
use crate::trace::{Trace, report};

const MIB: usize = 1 << 20;

/// What each of these traces may take.
const MAX_TIME: Duration = Duration::from_secs(if cfg!(debug_assertions) { 4 } else { 1 });
/// The same where it takes millions of events to make the point, each of another lock or
/// thread, so that hardly anything of it is in the processor's caches.
const MAX_TIME_OF_MILLIONS: Duration = MAX_TIME.saturating_mul(8);
const MAX_BYTES: usize = 256 * MIB;
/// The same where events of as many locks are held back as there may be.
const MAX_BYTES_OF_LOCKS: usize = 512 * MIB;
/// What may be on the way to a second thread, besides: batches of events, and blocks read ahead.
const MAX_BYTES_OF_QUEUES: usize = 8 * MIB;

/// Asserts that a report of the trace is cheap with one thread and with two, and that it says
/// the same.
fn assert_cheap(
    meter: &Meter,
    (max_time, max_bytes): (Duration, usize),
    events: impl Iterator<Item = (u32, Event<'static>)>,
) -> (Aggregation, TraceSummary) {
    let events = events.map(|(thread, event)| (ThreadId(thread), event));
    let trace = Trace::of(Capabilities::default(), events);
    let [alone, shared] = [1, 2].map(|threads| {
        let (sums, summary, cost) = report(meter, trace.path(), threads);
        println!(
            "{} bytes, {threads} threads: {:.2} s, {} MiB",
            trace.byte_len(),
            cost.time.as_secs_f64(),
            cost.bytes / MIB
        );
        // Of all threads together.
        assert!(
            cost.time < max_time * threads as u32,
            "{threads} threads: {:?}",
            cost.time
        );
        let max_bytes = max_bytes + (threads - 1) * MAX_BYTES_OF_QUEUES;
        assert!(
            cost.bytes < max_bytes,
            "{threads} threads: {} MiB",
            cost.bytes / MIB
        );
        (sums, summary)
    });
    assert_eq!(alone.0.totals(), shared.0.totals());
    assert_eq!(alone.1.counters, shared.1.counters);
    alone
}

/// What threads wait for.
const OBJECT: &str = "java.lang.Object";
const REENTRANT_LOCK: &str = "java.util.concurrent.locks.ReentrantLock$Sync";

/// Describes `threads` threads, and the class, the chain and the lock that most events here are
/// about.
fn descriptions(threads: u32, class: &'static str) -> impl Iterator<Item = (u32, Event<'static>)> {
    let starts = (1..=threads).map(thread_start);
    let starts = starts.map(|(thread, start)| (thread.0, start));
    let lock = [lock_description(LOCK, CLASS)];
    let code = code(class).into_iter().chain(lock);
    starts.chain(code.map(|event| (1, event)))
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
    const LOCKS: u64 = 40_000;
    let meter = Meter::alone();
    let locks = || {
        colliding()
            .filter(|&lock| lock > PARK_DOMAINS)
            .take(LOCKS as usize)
            .map(LockId)
    };
    let events = (0..4).flat_map(|round| {
        let event = move |lock| match round {
            0 => (1, lock_description(lock, CLASS)),
            1 => (2, enter(lock, 1, LockOwner::NotKnown)),
            2 => (1, exit(lock, 2, ChainRef::Chain(CHAIN))),
            _ => (2, entered(lock, 3)),
        };
        locks().map(event)
    });
    let (sums, _) = assert_cheap(
        &meter,
        (MAX_TIME, MAX_BYTES),
        descriptions(2, OBJECT).chain(events),
    );
    assert_eq!(sums.totals().all.waits, LOCKS);
}

/// Forward references that stand alone and are never resolved, or resolved although
/// nothing refers to them.
#[test]
fn forward_references_are_bounded() {
    const EXITS: u64 = 1_250_000;
    let meter = Meter::alone();
    let events = (0..EXITS).flat_map(|number| {
        let forward_ref = ForwardRef(number * 16);
        let unknown = ForwardRef(u64::MAX / 2 + number * 16);
        let resolved = Event::ForwardResolved(ForwardResolved {
            forward_ref: unknown,
            chain: CHAIN,
        });
        let exit = exit(LOCK, number + 1, ChainRef::Forward(forward_ref));
        [(1, exit), (1, resolved)]
    });
    let (_, summary) = assert_cheap(
        &meter,
        (MAX_TIME, MAX_BYTES),
        descriptions(2, OBJECT).chain(events),
    );
    let unresolved = summary.counters.value(Counter::ForwardRefsUnresolved);
    assert_eq!(unresolved, EXITS);
    assert!(summary.counters.value(Counter::ForwardRefsForgotten) > 0);
}

/// The same with waits that are all blamed on such references.
#[test]
fn waits_for_forward_references_are_bounded() {
    const WAITS: u64 = 200_000;
    let meter = Meter::alone();
    let events = (0..WAITS).flat_map(|wait| {
        let number = wait * 3 + 1;
        let forward_ref = ChainRef::Forward(ForwardRef(wait * 16));
        [
            (2, enter(LOCK, number, LockOwner::NotKnown)),
            (1, exit(LOCK, number + 1, forward_ref)),
            (2, entered(LOCK, number + 2)),
        ]
    });
    let (sums, _) = assert_cheap(
        &meter,
        (MAX_TIME, MAX_BYTES),
        descriptions(2, OBJECT).chain(events),
    );
    assert_eq!(sums.totals().all.waits, WAITS);
}

/// The same chain again and again, under one number after the other.
#[test]
fn equal_descriptions_are_kept_once() {
    const CHAINS: u32 = 1_000_000;
    let meter = Meter::alone();
    let chains = (2..CHAINS + 2).map(|number| (1, chain(ChainId(number), 1..10)));
    let (_, summary) = assert_cheap(
        &meter,
        (MAX_TIME, MAX_BYTES),
        descriptions(2, OBJECT).chain(chains),
    );
    assert!(summary.is_whole());
}

#[test]
fn threads_that_parked_somewhere_are_forgotten() {
    assert_parks_are_cheap(OBJECT);
}

/// Of a lock, more is remembered: who was woken may park again, still in the same wait.
#[test]
fn threads_that_waited_for_a_lock_are_forgotten() {
    assert_parks_are_cheap(REENTRANT_LOCK);
}

/// Threads that park in every domain, one after the other, and all at once in each, on an object
/// of this class.
fn assert_parks_are_cheap(class: &'static str) {
    const THREADS: u32 = 10_000;
    let meter = Meter::alone();
    let blocker = |domain: u64| Blocker {
        class: CLASS,
        identity_hash: domain as u32 - 1,
    };
    let begin = move |thread: u32, domain| {
        Event::ParkBegin(ParkBegin {
            domain: LockId(domain),
            sequence: u64::from(thread),
            time_ns: u64::from(thread),
            blocker: blocker(domain),
            chain: CHAIN,
            ..ParkBegin::default()
        })
    };
    let unpark = move |thread: u32, domain| {
        Event::Unpark(Unpark {
            domain: LockId(domain),
            sequence: u64::from(THREADS + thread),
            time_ns: u64::from(THREADS + thread),
            blocker: blocker(domain),
            target: JavaThreadId(u64::from(thread)),
            permit: Permit(thread),
            chain: CHAIN,
            ..Unpark::default()
        })
    };
    let end = move |thread: u32, domain| {
        Event::ParkEnd(ParkEnd {
            domain: LockId(domain),
            sequence: u64::from(THREADS * 2 + thread),
            time_ns: u64::from(THREADS * 2 + thread),
            reason: ParkEndReason::Unparked,
            permit: Permit(thread),
            ..ParkEnd::default()
        })
    };
    let parks = (1..=PARK_DOMAINS + 1).flat_map(move |domain| {
        let of_thread = move |thread| {
            let end = (domain > 1).then(|| (thread, end(thread, domain - 1)));
            let begin = (domain <= PARK_DOMAINS).then(|| (thread, begin(thread, domain)));
            end.into_iter().chain(begin)
        };
        let unpark = move |thread| (THREADS + 1, unpark(thread, domain));
        let unparks = (1..=THREADS)
            .map(unpark)
            .filter(move |_| domain <= PARK_DOMAINS);
        (1..=THREADS).flat_map(of_thread).chain(unparks)
    });
    // The last one unparks the others.
    let events = descriptions(THREADS + 1, class).chain(parks);
    let (sums, _) = assert_cheap(&meter, (MAX_TIME_OF_MILLIONS, MAX_BYTES), events);
    assert_eq!(sums.totals().all.waits, PARK_DOMAINS * u64::from(THREADS));
}

/// Every second number of one lock is missing. They come one by one, and now and then one
/// more event as far away as a window spans.
#[test]
fn events_far_apart_are_not_sorted_again_and_again() {
    const PENDING: u64 = 800_000;
    const SPREAD: u64 = 16;
    let meter = Meter::alone();
    let even = (1..PENDING).map(|number| number * 2);
    // Each odd number releases the even one after it.
    let in_turns = (0..PENDING / 8).flat_map(|turn| {
        let next = turn * 4 + 1;
        let pending = PENDING - turn;
        [next, next + 2, next + 4 + (pending - 4) * SPREAD]
    });
    let numbers = even.chain(in_turns);
    let events = numbers.map(|number| (1, exit(LOCK, number, ChainRef::Chain(CHAIN))));
    let (_, summary) = assert_cheap(
        &meter,
        (MAX_TIME, MAX_BYTES),
        descriptions(2, OBJECT).chain(events),
    );
    assert_eq!(summary.counters.value(Counter::GapsSkippedEarly), 0);
}

/// Threads wait while others release the lock as often, and get it one after the other.
#[test]
fn waits_and_releases_do_not_multiply() {
    const THREADS: u32 = 40_000;
    let meter = Meter::alone();
    let chain = ChainRef::Chain(CHAIN);
    let mut sequence = 0;
    let mut next = move || {
        sequence += 1;
        sequence
    };
    let enters: Vec<_> = (1..=THREADS)
        .map(|thread| (thread, enter(LOCK, next(), LockOwner::NotKnown)))
        .collect();
    let exits: Vec<_> = (0..THREADS)
        .map(|_| (THREADS + 1, exit(LOCK, next(), chain)))
        .collect();
    let ends = (0..THREADS).flat_map(|turn| {
        // Neither in the order in which they came, nor in the opposite one.
        let thread = (turn * 7) % THREADS + 1;
        [
            (thread, entered(LOCK, next())),
            (thread, exit(LOCK, next(), chain)),
        ]
    });
    let events = descriptions(THREADS + 1, OBJECT);
    let events = events.chain(enters).chain(exits).chain(ends);
    let (sums, _) = assert_cheap(&meter, (MAX_TIME, MAX_BYTES), events);
    assert_eq!(sums.totals().all.waits, u64::from(THREADS));
}

/// Nothing is described that events refer to: they wait for it.
#[test]
fn events_wait_for_descriptions_only_so_long() {
    const EVENTS: u64 = 350_000;
    let meter = Meter::alone();
    let events = (0..EVENTS).map(|number| {
        let (thread, lock) = (
            number as u32 % 50_000 + 1,
            LockId(PARK_DOMAINS + number % 90_000),
        );
        (
            thread,
            exit(lock, number / 90_000 + 1, ChainRef::Chain(ChainId(thread))),
        )
    });
    let (_, summary) = assert_cheap(&meter, (MAX_TIME, MAX_BYTES), events);
    assert!(summary.counters.value(Counter::ChainsNotDescribed) > 0);
}

/// The same with threads that park.
#[test]
fn parks_and_unparks_do_not_multiply() {
    const THREADS: u32 = 40_000;
    let meter = Meter::alone();
    let domain = LockId(1);
    let blocker = Blocker {
        class: CLASS,
        identity_hash: 1,
    };
    let begin = |thread: u32| {
        let sequence = u64::from(thread);
        Event::ParkBegin(ParkBegin {
            domain,
            sequence,
            time_ns: sequence,
            blocker,
            chain: CHAIN,
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
            chain: CHAIN,
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
    let releases = (0..THREADS).map(|turn| (THREADS + 1, release(first + u64::from(turn))));
    let first = first + u64::from(THREADS);
    let ends = (0..THREADS).flat_map(|turn| {
        let thread = (turn * 7) % THREADS + 1;
        let number = first + u64::from(turn) * 2;
        [(thread, end(number)), (thread, release(number + 1))]
    });
    let events = descriptions(THREADS + 1, REENTRANT_LOCK);
    let events = events.chain(begins).chain(releases).chain(ends);
    let (sums, _) = assert_cheap(&meter, (MAX_TIME, MAX_BYTES), events);
    assert_eq!(sums.totals().all.waits, u64::from(THREADS));
}

/// Of each lock a few events come, and never those before them.
#[test]
fn events_of_many_locks_are_not_all_held_back() {
    const LOCKS: u64 = 900_000;
    let meter = Meter::alone();
    let numbers = [2, 4, 6, 8].into_iter();
    let events = numbers.flat_map(|number| {
        let locks = (1..=LOCKS).map(|lock| LockId(PARK_DOMAINS + lock));
        locks.map(move |lock| (1, exit(lock, number, ChainRef::Chain(CHAIN))))
    });
    let events = descriptions(2, OBJECT).chain(events);
    let (_, summary) = assert_cheap(&meter, (MAX_TIME_OF_MILLIONS, MAX_BYTES_OF_LOCKS), events);
    assert!(summary.counters.value(Counter::GapsSkippedEarly) > 0);
}
