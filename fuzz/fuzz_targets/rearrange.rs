//! Any events of few locks and domains in any order: the analysis ends, its sums agree, and
//! the order of arrival makes no difference as long as memory lasts. Time and memory are in
//! proportion to the events, also if they come many times over.

#![no_main]

mod cost;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use arbitrary::Arbitrary;
use cost::Budget;
use libfuzzer_sys::fuzz_target;
use trace_analysis::{Analysis, Counter, Counters, Detail, Entities, Limits, Owner, Wait};
use trace_format::file::VERSION;
use trace_format::{
    Blocker, Capabilities, ChainDescription, ChainId, ChainRef, ClassDescription, ClassId,
    ContendedEnter, ContendedEntered, ContendedExit, Event, ExclusiveRelease, ForwardRef, Hold,
    JavaThreadId, LoaderId, LockDescription, LockId, LockOwner, LockRetired, LostNumbers,
    PARK_DOMAINS, ParkBegin, ParkEnd, ParkEndReason, ParkTimeout, Permit, StackRange, ThreadId,
    ThreadStart, Unpark,
};

/// Classes of blockers, one for each way in which they are analyzed.
const BLOCKER_CLASSES: [&str; 5] = [
    "java.util.concurrent.locks.ReentrantLock$Sync",
    "java.util.concurrent.locks.ReentrantReadWriteLock$Sync",
    "java.util.concurrent.Semaphore$Sync",
    "java.util.concurrent.locks.AbstractQueuedSynchronizer",
    "java.util.concurrent.CountDownLatch$Sync",
];

const THREADS: u32 = 8;

#[derive(Arbitrary, Debug)]
struct Input {
    max_pending_events: u8,
    arrivals: Vec<Arrival>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Arrival {
    lock: u8,
    sequence: u8,
    thread: u8,
    time_ns: u16,
    what: What,
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum What {
    Enter {
        chain: u8,
        after_wait: bool,
    },
    Entered {
        safepoint_ns: u8,
    },
    Exit {
        chain: u8,
        hold: u8,
    },
    ForwardExit {
        forward_ref: u8,
        hold: u8,
    },
    Lost {
        more: u8,
    },
    Retired,
    ParkBegin {
        blocker: u8,
        owner: u8,
        timed: bool,
        continued: bool,
        chain: u8,
    },
    ParkEnd {
        reason: u8,
        permit: u8,
        owner: u8,
    },
    Unpark {
        target: u8,
        permit: u8,
        blocker: u8,
        owner: u8,
        chain: u8,
    },
    Release {
        blocker: u8,
        hold: u8,
        chain: u8,
    },
}

/// For each event.
const BUDGET: Budget = Budget {
    bytes: 1 << 20,
    bytes_of_each: 4 << 10,
    time_of_each: Duration::from_micros(20),
};

/// The number of times that the same events are repeated, of other threads and with the numbers
/// that follow: this shows costs that grow with the square of their number.
const REPETITIONS: u64 = 64;

fuzz_target!(|input: Input| {
    let max_pending_events = input.max_pending_events.into();
    let limits = Limits { max_pending_events };
    let (_, counters) = BUDGET.check(input.arrivals.len(), || analyze(&input.arrivals, limits));
    assert_eq!(counters.value(Counter::UnbalancedWaits), 0);
    // Not always: it takes as long as many other inputs.
    if input.max_pending_events.is_multiple_of(16) {
        let events = input.arrivals.len() * REPETITIONS as usize;
        BUDGET.check(events, || analyze_repeatedly(&input.arrivals));
    }

    let mut arrived = without_contradictions(&input.arrivals);
    // A lost event can be an unpark that would have been found in time.
    let losses = arrived
        .iter()
        .any(|arrival| matches!(arrival.what, What::Lost { .. }));
    if losses {
        arrived.retain(|arrival| !arrival.is_park());
    }
    let mut ordered = arrived.clone();
    ordered.sort_by_key(|arrival| (arrival.lock, arrival.sequence));
    assert_eq!(
        analyze(&arrived, Limits::default()),
        analyze(&ordered, Limits::default())
    );
});

impl Arrival {
    /// Two domains, for park events only, and two locks.
    fn lock(&self) -> LockId {
        match u64::from(self.lock % 4) {
            domain @ 0..=1 if self.is_park() => LockId(1 + domain),
            lock => LockId(PARK_DOMAINS + 1 + lock),
        }
    }

    /// The numbers that it takes.
    fn numbers(&self) -> impl Iterator<Item = u8> + Clone + use<> {
        let more = match self.what {
            What::Lost { more } if self.sequence > 0 => more % 4,
            _ => 0,
        };
        self.sequence..=self.sequence.saturating_add(more)
    }

    fn is_park(&self) -> bool {
        matches!(
            self.what,
            What::ParkBegin { .. }
                | What::ParkEnd { .. }
                | What::Unpark { .. }
                | What::Release { .. }
        ) && self.lock % 4 < 2
    }

    fn thread(&self) -> ThreadId {
        ThreadId(u32::from(self.thread) % THREADS)
    }

    fn event(&self) -> Event<'static> {
        self.event_after(0)
    }

    /// Returns the event after this many numbers of its lock.
    fn event_after(&self, numbers: u64) -> Event<'static> {
        let sequence = numbers + u64::from(self.sequence);
        let (lock, time_ns) = (self.lock(), numbers + u64::from(self.time_ns));
        match self.what {
            What::ParkBegin {
                blocker,
                owner,
                timed,
                continued,
                chain,
            } if self.is_park() => Event::ParkBegin(ParkBegin {
                domain: lock,
                sequence,
                time_ns,
                blocker: blocker_in(lock, blocker),
                timeout: if timed {
                    ParkTimeout::After(1)
                } else {
                    ParkTimeout::None
                },
                owner: java_thread(owner),
                continued,
                chain: ChainId(chain.into()),
                monitor: false,
            }),
            What::ParkEnd {
                reason,
                permit,
                owner,
            } if self.is_park() => Event::ParkEnd(ParkEnd {
                domain: lock,
                sequence,
                time_ns,
                reason: ParkEndReason::from_number(reason % 5).unwrap_or_default(),
                permit: Permit(permit.into()),
                unpark_elsewhere: domain_of_permit(permit) != lock,
                owner: java_thread(owner),
                safepoint_ns: 0,
                monitor: false,
            }),
            What::Unpark {
                target,
                permit,
                blocker,
                owner,
                chain,
            } if self.is_park() => {
                let permit = if domain_of_permit(permit) == lock {
                    permit
                } else {
                    0
                };
                Event::Unpark(Unpark {
                    domain: lock,
                    sequence,
                    time_ns,
                    target: java_thread(target),
                    permit: Permit(permit.into()),
                    blocker: blocker_in(lock, blocker),
                    owner: java_thread(owner),
                    interrupt: false,
                    never_acquired: false,
                    waiters: 0,
                    chain: ChainId(chain.into()),
                })
            }
            What::Release {
                blocker,
                hold,
                chain,
            } if self.is_park() => Event::ExclusiveRelease(ExclusiveRelease {
                domain: lock,
                sequence,
                time_ns,
                blocker: blocker_in(lock, blocker),
                hold: hold_of(hold),
                chain: ChainId(chain.into()),
            }),
            _ if sequence == 0 => Event::LockDescription(LockDescription {
                lock,
                class: ClassId(1),
                mirrored_class: ClassId(0),
                identity_hash: self.lock.into(),
                monitor_address: 0,
            }),
            What::Enter { chain, after_wait } => Event::ContendedEnter(ContendedEnter {
                lock,
                sequence,
                time_ns,
                chain: ChainId(chain.into()),
                after_wait,
                owner: LockOwner::NotKnown,
            }),
            What::Entered { safepoint_ns } => Event::ContendedEntered(ContendedEntered {
                lock,
                sequence,
                time_ns,
                safepoint_ns: safepoint_ns.into(),
            }),
            What::Exit { chain, hold } => Event::ContendedExit(ContendedExit {
                lock,
                sequence,
                time_ns,
                hold: hold_of(hold),
                chain: ChainRef::Chain(ChainId(chain.into())),
            }),
            What::ForwardExit { forward_ref, hold } => Event::ContendedExit(ContendedExit {
                lock,
                sequence,
                time_ns,
                hold: hold_of(hold),
                chain: ChainRef::Forward(ForwardRef(forward_ref.into())),
            }),
            What::Lost { .. } => Event::LostNumbers(LostNumbers {
                lock,
                first: sequence,
                count: self.numbers().count() as u64,
            }),
            _ => Event::LockRetired(LockRetired { lock, sequence }),
        }
    }
}

/// One of the threads, or perhaps one that nobody knows.
fn java_thread(thread: u8) -> JavaThreadId {
    JavaThreadId(u64::from(thread) % (u64::from(THREADS) + 1))
}

/// A hold of each kind.
fn hold_of(hold: u8) -> Hold {
    match hold {
        0 => Hold::NotKnown,
        1 => Hold::BeforeContention,
        duration => Hold::For {
            duration_ns: u64::from(duration) * 100,
        },
    }
}

/// The domain in which a permit is given.
fn domain_of_permit(permit: u8) -> LockId {
    LockId(1 + u64::from(permit % 2))
}

/// One of few blockers. A blocker is of one domain only.
fn blocker_in(domain: LockId, number: u8) -> Blocker {
    Blocker {
        class: ClassId(u32::from(number) % (BLOCKER_CLASSES.len() as u32 + 1)),
        identity_hash: domain.0 as u32,
    }
}

/// The arrivals whose number no other one has and that do not follow the end of
/// their lock: of those that contradict each other, the first one counts.
fn without_contradictions(arrivals: &[Arrival]) -> Vec<Arrival> {
    let ends = arrivals
        .iter()
        .filter(|arrival| matches!(arrival.event(), Event::LockRetired(_)));
    let mut last_number: BTreeMap<LockId, u8> = BTreeMap::new();
    for end in ends {
        let last = last_number.entry(end.lock()).or_insert(end.sequence);
        *last = end.sequence.min(*last);
    }
    let mut taken = BTreeSet::new();
    let mut kept = arrivals.to_vec();
    kept.retain(|arrival| {
        let follows_end = last_number
            .get(&arrival.lock())
            .is_some_and(|&last| arrival.sequence > last);
        let numbers = arrival.numbers().map(|number| (arrival.lock(), number));
        let is_kept = !follows_end && !numbers.clone().any(|number| taken.contains(&number));
        if is_kept {
            taken.extend(numbers);
        }
        is_kept
    });
    kept
}

/// Sums up what the events say if they come again and again.
fn analyze_repeatedly(arrivals: &[Arrival]) {
    let mut last_numbers: BTreeMap<LockId, u8> = BTreeMap::new();
    for arrival in arrivals {
        let last = last_numbers.entry(arrival.lock()).or_default();
        *last = arrival.numbers().last().unwrap_or(0).max(*last);
    }
    let mut analysis = Analysis::default().with_detail(Detail::CODE);
    let mut trace = analysis.begin_trace(VERSION, Capabilities::HOLDS);
    for (thread, event) in descriptions(THREADS * REPETITIONS as u32) {
        trace.event(thread, &event, &mut ());
    }
    for repetition in 0..REPETITIONS {
        for arrival in arrivals {
            // The numbers of a domain begin with 1.
            let numbers = repetition * (u64::from(last_numbers[&arrival.lock()]) + 1);
            let thread = ThreadId(arrival.thread().0 + repetition as u32 * THREADS);
            trace.event(thread, &arrival.event_after(numbers), &mut ());
        }
    }
    let counters = trace.finish(&mut ()).counters;
    assert_eq!(counters.value(Counter::UnbalancedWaits), 0);
}

/// Describes most of the entities that events of `threads` threads refer to. Events that refer to
/// other entities wait for them until the end.
fn descriptions(threads: u32) -> impl Iterator<Item = (ThreadId, Event<'static>)> {
    const CHAINS: u32 = 192;
    let classes = (1..).zip(BLOCKER_CLASSES).map(|(class, name)| {
        Event::Class(ClassDescription {
            class: ClassId(class),
            super_class: ClassId(0),
            loader: LoaderId(0),
            name,
            source_file: "",
            loader_class: "",
        })
    });
    let chains = (1..CHAINS).map(|chain| {
        Event::Chain(ChainDescription {
            chain: ChainId(chain),
            frames: Vec::new(),
            truncated: false,
        })
    });
    let starts = (1..threads).map(|thread| {
        let start = Event::ThreadStart(ThreadStart {
            java_id: JavaThreadId(thread.into()),
            name: "",
            time_ns: 0,
            stack: StackRange::default(),
        });
        (ThreadId(thread), start)
    });
    let code = classes.chain(chains).map(|event| (ThreadId(0), event));
    code.chain(starts)
}

fn analyze(arrivals: &[Arrival], limits: Limits) -> (Vec<String>, Counters) {
    let mut waits = Vec::new();
    let mut on_wait = |wait: &Wait, entities: &Entities| {
        let sum_ns: u64 = wait.contentions.iter().map(|part| part.duration_ns).sum();
        assert_eq!(sum_ns, wait.duration_ns);
        waits.push(describe(wait, entities));
    };
    let mut analysis = Analysis::new(limits);
    let mut trace = analysis.begin_trace(VERSION, Capabilities::HOLDS);
    for (thread, event) in descriptions(THREADS) {
        trace.event(thread, &event, &mut on_wait);
    }
    for arrival in arrivals {
        trace.event(arrival.thread(), &arrival.event(), &mut on_wait);
    }
    let counters = trace.finish(&mut on_wait).counters;
    waits.sort();
    (waits, counters)
}

/// The wait in words: indexes depend on the order of arrival.
fn describe(wait: &Wait, entities: &Entities) -> String {
    let mut text = format!(
        "{} {} {} {} {:?} {}+{} ({})",
        entities.lock_label(wait.lock),
        entities.thread(wait.thread).name,
        wait.mechanism.name(),
        wait.kind.name(),
        entities.chain(wait.chain),
        wait.start_ns,
        wait.duration_ns,
        wait.safepoint_ns,
    );
    for part in &wait.contentions {
        text += &format!(" {}+{} ", part.start_ns, part.duration_ns);
        text += &match part.owner {
            Owner::Thread { thread, chain } => {
                format!(
                    "{} {:?}",
                    entities.thread(thread).name,
                    entities.chain(chain)
                )
            }
            Owner::Free => "free".to_owned(),
            Owner::Frozen => "frozen".to_owned(),
            Owner::Unknown(reason) => reason.name().to_owned(),
        };
    }
    text
}
