//! Any events, for tests that must hold for all.

// Each test file compiles this module for itself and uses a part of it.
#![allow(dead_code)]

use std::fmt::Debug;

use proptest::prelude::*;
use trace_format::{
    Blocker, ChainDescription, ChainRef, ChainRetired, ClassDescription, ContendedEnter,
    ContendedEntered, ContendedExit, Event, ExclusiveRelease, ForwardResolved, Frame, Hold,
    JavaThreadId, LoaderUnload, LockDescription, LockId, LockOwner, LockRetired, LockSite,
    LostEvents, LostNumbers, MethodDescription, MethodRetired, OwnerSample, ParkBegin, ParkEnd,
    ParkEndReason, ParkTimeout, Permit, SegmentEncoder, StackRange, ThreadEnd, ThreadId,
    ThreadRename, ThreadStart, Unpark,
};

/// Numbers of every length, near ones often repeated.
pub(crate) fn number<T: TryFrom<u64> + Debug>() -> impl Strategy<Value = T> {
    let numbers = prop_oneof![4 => 0..20u64, 2 => 0..100_000u64, 1 => any::<u64>()];
    numbers.prop_filter_map("not of the type", |number| T::try_from(number).ok())
}

/// Returns the same for types of 32 bits.
fn id<T: TryFrom<u64> + Debug>() -> impl Strategy<Value = T> {
    let numbers = prop_oneof![3 => 0..20u32, 1 => any::<u32>()];
    numbers.prop_filter_map("not of the type", |number| T::try_from(number.into()).ok())
}

/// Text whose length takes two bytes.
const LONG: &str = match std::str::from_utf8(&[b'x'; 200]) {
    Ok(text) => text,
    Err(_) => unreachable!(),
};

fn text() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        LONG,
        "",
        "main",
        "java.util.Hashtable",
        "naïve – \u{10ffff}\0",
    ])
}

fn frame() -> impl Strategy<Value = Frame> {
    let position = || prop_oneof![Just(-1), 0..3000, any::<i32>()];
    (id(), position(), position()).prop_map(|(method, bci, line)| Frame { method, bci, line })
}

fn frames(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Frame>> {
    prop::collection::vec(frame(), count)
}

fn chain_ref() -> impl Strategy<Value = ChainRef> {
    prop_oneof![
        id().prop_map(ChainRef::Chain),
        number().prop_map(ChainRef::Forward)
    ]
}

fn owner() -> impl Strategy<Value = LockOwner> {
    prop_oneof![
        Just(LockOwner::NotKnown),
        id().prop_map(|ThreadId(thread)| LockOwner::Thread(ThreadId(thread.max(1)))),
        number().prop_map(LockOwner::OnStack),
    ]
}

fn hold() -> impl Strategy<Value = Hold> {
    prop_oneof![
        Just(Hold::NotKnown),
        Just(Hold::BeforeContention),
        number().prop_map(|duration_ns: u64| Hold::For {
            duration_ns: duration_ns.min(Hold::MAX_NS),
        }),
        (2_u16.., 0..=Hold::MAX_SUM_NS, number()).prop_map(|(holds, held_ns, span_ns)| {
            Hold::Several {
                holds,
                held_ns,
                span_ns,
            }
        }),
    ]
}

fn lock_event() -> impl Strategy<Value = Event<'static>> {
    let safepoint_ns = || prop_oneof![Just(0), number()];
    prop_oneof![
        (number(), number(), number(), id(), any::<bool>(), owner()).prop_map(
            |(lock, sequence, time_ns, chain, after_wait, owner)| {
                Event::ContendedEnter(ContendedEnter {
                    lock,
                    sequence,
                    time_ns,
                    chain,
                    after_wait,
                    owner,
                })
            }
        ),
        (number(), number(), number(), safepoint_ns()).prop_map(
            |(lock, sequence, time_ns, safepoint_ns)| Event::ContendedEntered(ContendedEntered {
                lock,
                sequence,
                time_ns,
                safepoint_ns
            })
        ),
        (number(), number(), number(), hold(), chain_ref()).prop_map(
            |(lock, sequence, time_ns, hold, chain)| {
                Event::ContendedExit(ContendedExit {
                    lock,
                    sequence,
                    time_ns,
                    hold,
                    chain,
                })
            }
        ),
        (number(), number(), number()).prop_map(|(lock, first, count): (_, u64, u64)| {
            Event::LostNumbers(LostNumbers {
                lock,
                first,
                count: count.min(u64::MAX - first).max(1),
            })
        }),
    ]
}

fn blocker() -> impl Strategy<Value = Blocker> {
    (id(), 0..3u32).prop_map(|(class, identity_hash)| Blocker {
        class,
        identity_hash,
    })
}

fn park_event() -> impl Strategy<Value = Event<'static>> {
    let numbers = || ((1..4u64).prop_map(LockId), number(), number());
    let timeout = prop_oneof![
        Just(ParkTimeout::None),
        number().prop_map(ParkTimeout::After),
        number().prop_map(ParkTimeout::At)
    ];
    let reason = (0..5u8).prop_map(|number| ParkEndReason::from_number(number).unwrap());
    prop_oneof![
        (
            numbers(),
            blocker(),
            timeout,
            number(),
            any::<(bool, bool)>(),
            id()
        )
            .prop_map(
                |(
                    (domain, sequence, time_ns),
                    blocker,
                    timeout,
                    owner,
                    (continued, monitor),
                    chain,
                )| {
                    Event::ParkBegin(ParkBegin {
                        domain,
                        sequence,
                        time_ns,
                        blocker,
                        timeout,
                        owner,
                        continued,
                        chain,
                        monitor,
                    })
                }
            ),
        (
            numbers(),
            reason,
            id(),
            any::<(bool, bool)>(),
            number(),
            number()
        )
            .prop_map(
                |(
                    (domain, sequence, time_ns),
                    reason,
                    permit,
                    (unpark_elsewhere, monitor),
                    owner,
                    safepoint_ns,
                )| {
                    Event::ParkEnd(ParkEnd {
                        domain,
                        sequence,
                        time_ns,
                        reason,
                        permit,
                        unpark_elsewhere,
                        owner,
                        safepoint_ns,
                        monitor,
                    })
                }
            ),
        (
            numbers(),
            number(),
            id(),
            blocker(),
            number(),
            any::<bool>(),
            id(),
            prop_oneof![Just(0), number()]
        )
            .prop_map(
                |(
                    (domain, sequence, time_ns),
                    target,
                    permit,
                    blocker,
                    owner,
                    interrupt,
                    chain,
                    waiters,
                )| {
                    Event::Unpark(Unpark {
                        domain,
                        sequence,
                        time_ns,
                        target,
                        permit: if waiters == 0 { permit } else { Permit::NONE },
                        blocker,
                        owner,
                        interrupt,
                        never_acquired: false,
                        waiters,
                        chain,
                    })
                }
            ),
        (numbers(), blocker(), hold(), id()).prop_map(
            |((domain, sequence, time_ns), blocker, hold, chain)| {
                Event::ExclusiveRelease(ExclusiveRelease {
                    domain,
                    sequence,
                    time_ns,
                    blocker,
                    hold,
                    chain,
                })
            }
        ),
    ]
}

fn other_event() -> impl Strategy<Value = Event<'static>> {
    prop_oneof![
        (number(), id(), id(), any::<u32>(), any::<u64>()).prop_map(
            |(lock, class, mirrored_class, identity_hash, monitor_address)| {
                Event::LockDescription(LockDescription {
                    lock,
                    class,
                    mirrored_class,
                    identity_hash,
                    monitor_address,
                })
            }
        ),
        (number(), number())
            .prop_map(|(lock, sequence)| Event::LockRetired(LockRetired { lock, sequence })),
        (number(), id()).prop_map(
            |(forward_ref, chain)| Event::ForwardResolved(ForwardResolved { forward_ref, chain })
        ),
        (number(), number(), text(), number(), number()).prop_map(
            |(time_ns, java_id, name, lowest, size)| Event::ThreadStart(ThreadStart {
                time_ns,
                java_id,
                name,
                stack: StackRange { lowest, size },
            })
        ),
        (number(), text())
            .prop_map(|(java_id, name)| Event::ThreadRename(ThreadRename { java_id, name })),
        number().prop_map(|time_ns| Event::ThreadEnd(ThreadEnd { time_ns })),
        (id(), id(), number(), text(), text(), text()).prop_map(
            |(class, super_class, loader, name, source_file, loader_class)| Event::Class(
                ClassDescription {
                    class,
                    super_class,
                    loader,
                    name,
                    source_file,
                    loader_class
                }
            )
        ),
        (id(), id(), text(), text()).prop_map(|(method, class, name, signature)| Event::Method(
            MethodDescription {
                method,
                class,
                name,
                signature
            }
        )),
        (
            id(),
            prop_oneof![9 => frames(0..20), 1 => frames(60..70)],
            any::<bool>()
        )
            .prop_map(|(chain, frames, truncated)| Event::Chain(ChainDescription {
                chain,
                frames,
                truncated
            })),
        (number(), number())
            .prop_map(|(loader, time_ns)| Event::LoaderUnload(LoaderUnload { loader, time_ns })),
        id().prop_map(|chain| Event::ChainRetired(ChainRetired { chain })),
        id().prop_map(|method| Event::MethodRetired(MethodRetired { method })),
        number().prop_map(|events| Event::LostEvents(LostEvents { events })),
        (number(), id(), id(), number(), number()).prop_map(
            |(time_ns, owner, chain, since_ns, interval_ns)| Event::OwnerSample(OwnerSample {
                time_ns,
                owner,
                chain,
                since_ns,
                interval_ns,
            })
        ),
        (id(), id(), id()).prop_map(|(class, identity_hash, chain)| {
            Event::LockSite(LockSite {
                class,
                identity_hash,
                chain,
            })
        }),
    ]
}

/// Returns parks with the usual values: few of them ever differ.
fn usual_park_event() -> impl Strategy<Value = Event<'static>> {
    let rarely = |value: u64| prop_oneof![9 => Just(0), 1 => Just(value)];
    (
        0..4u8,
        1..3u64,
        1..4u32,
        rarely(1),
        rarely(2),
        any::<bool>(),
    )
        .prop_map(|(what, domain, permit, owner, other, monitor)| {
            let (domain, owner, permit) = (LockId(domain), JavaThreadId(owner), Permit(8 * permit));
            let (sequence, time_ns) = (11, 1);
            match what {
                0 => Event::ParkBegin(ParkBegin {
                    domain,
                    sequence,
                    time_ns,
                    owner,
                    continued: other != 0,
                    monitor,
                    ..ParkBegin::default()
                }),
                1 => Event::ParkEnd(ParkEnd {
                    domain,
                    sequence,
                    time_ns,
                    reason: ParkEndReason::Unparked,
                    permit: if monitor { Permit(10) } else { permit },
                    monitor,
                    owner,
                    safepoint_ns: other,
                    ..ParkEnd::default()
                }),
                2 => Event::Unpark(Unpark {
                    domain,
                    sequence,
                    time_ns,
                    permit: if monitor { Permit::NONE } else { permit },
                    waiters: monitor.into(),
                    target: owner,
                    interrupt: other != 0,
                    never_acquired: other % 2 != 0,
                    ..Unpark::default()
                }),
                _ => Event::ExclusiveRelease(ExclusiveRelease {
                    domain,
                    sequence,
                    time_ns,
                    hold: Hold::For { duration_ns: other },
                    ..ExclusiveRelease::default()
                }),
            }
        })
}

/// Any events, those of locks more often than others.
pub(crate) fn events() -> impl Strategy<Value = Vec<Event<'static>>> {
    let any = prop_oneof![3 => lock_event(), 2 => park_event(), 1 => other_event()];
    prop_oneof![
        2 => prop::collection::vec(any, 0..200),
        1 => prop::collection::vec(usual_park_event(), 0..200),
    ]
}

/// Encodes `events` as a segment.
pub(crate) fn segment(events: &[Event<'_>]) -> Vec<u8> {
    let mut bytes = vec![0; 1 << 20];
    let mut encoder = SegmentEncoder::new();
    for event in events {
        encoder
            .encode(&mut bytes, event)
            .expect("a MiB holds the events of a test");
    }
    bytes.truncate(encoder.len());
    bytes
}
