//! Every event decodes to what was encoded.

mod support;

use proptest::prelude::*;
use support::{events, number, segment};
use trace_format::{
    Blocker, ChainId, ChainRef, ClassId, ContendedEnter, ContendedEntered, ContendedExit,
    DoesNotFit, Event, ExclusiveRelease, Hold, JavaThreadId, LockId, LockOwner, ParkBegin, ParkEnd,
    ParkEndReason, ParkTimeout, Permit, SegmentDecoder, SegmentEncoder, Unpark, varint,
};

proptest! {
    #[test]
    fn events_come_back(events in events()) {
        let bytes = segment(&events);
        let decoded: Result<Vec<_>, _> = SegmentDecoder::new(&bytes).collect();
        prop_assert_eq!(decoded.unwrap(), events);
    }

    /// An event that is refused for lack of space changes nothing: those accepted before and after
    /// it come back.
    #[test]
    fn a_refused_event_leaves_no_trace(events in events(), share in 0.0..1.0) {
        let len = (segment(&events).len() as f64 * share) as usize;
        let mut buffer = vec![0; len];
        let mut encoder = SegmentEncoder::new();
        let mut accepted = events.clone();
        accepted.retain(|event| encoder.encode(&mut buffer, event) != Err(DoesNotFit));

        prop_assert_eq!(encoder.events() as usize, accepted.len());
        prop_assert_eq!(encoder.contains_metadata(), accepted.iter().any(Event::is_metadata));
        let decoded: Result<Vec<_>, _> = SegmentDecoder::new(&buffer[..encoder.len()]).collect();
        prop_assert_eq!(decoded.unwrap(), accepted);
    }

    /// Exits that stand for several are equivalent to these.
    #[test]
    fn added_exits_tell_the_same(exits in short_holds(), share in 0.1..1.0) {
        let mut single = SegmentEncoder::new();
        let mut buffer = vec![0; 64 * exits.len()];
        for exit in &exits {
            single.encode(&mut buffer, &Event::ContendedExit(*exit)).unwrap();
        }
        let len = (single.len() as f64 * share) as usize;
        let mut buffer = vec![0; len];
        let mut encoder = SegmentEncoder::new();
        let mut accepted = exits;
        accepted.retain(|exit| encoder.encode_exit(&mut buffer, exit) != Err(DoesNotFit));
        encoder.flush(&mut buffer);

        let mut rest = accepted.iter();
        let decoder = SegmentDecoder::new(&buffer[..encoder.len()]);
        prop_assert_eq!(decoder.clone().count(), encoder.events() as usize);
        for event in decoder {
            let Event::ContendedExit(found) = event.unwrap() else {
                panic!("not an exit");
            };
            let first = rest.next().unwrap();
            let (mut sum, _) = first.hold.held_and_span_ns().unwrap();
            let mut last = first;
            for _ in 1..found.hold.holds() {
                last = rest.next().unwrap();
                prop_assert_eq!((last.lock, last.chain), (first.lock, first.chain));
                sum += last.hold.held_and_span_ns().unwrap().0;
            }
            let began_ns = first.time_ns - first.hold.held_and_span_ns().unwrap().1;
            prop_assert_eq!(found.sequence, first.sequence);
            prop_assert_eq!(last.sequence, first.sequence + u64::from(found.hold.holds()) - 1);
            prop_assert_eq!(found.time_ns, last.time_ns);
            prop_assert_eq!(found.hold.held_and_span_ns(), Some((sum, last.time_ns - began_ns)));
            let is_short = last.time_ns - began_ns <= Hold::MAX_SPAN_NS;
            prop_assert!(is_short || found.hold.holds() == 1);
        }
        prop_assert!(rest.next().is_none());
    }

    #[test]
    fn varints_are_those_of_leb128(value in number(), tail: [u8; 3]) {
        let mut expected = Vec::new();
        let len = leb128::write::unsigned(&mut expected, value).unwrap();
        let mut actual = Vec::new();
        varint::push(&mut actual, value);
        prop_assert_eq!(&actual, &expected);
        actual.extend(tail);
        prop_assert_eq!(varint::decode(&actual), Ok((value, len)));
    }

    #[test]
    fn malformed_varints_are_those_of_leb128(
        bytes in prop::collection::vec(prop_oneof![Just(0x80), Just(1), any::<u8>()], 0..12)
    ) {
        let mut rest = bytes.as_slice();
        let expected = leb128::read::unsigned(&mut rest).ok();
        let expected = expected.map(|value| (value, bytes.len() - rest.len()));
        prop_assert_eq!(varint::decode(&bytes).ok(), expected);
    }
}

/// Returns the events of one thread about holds of two locks, while others write some events, too.
fn short_holds() -> impl Strategy<Value = Vec<ContendedExit>> {
    let hold = (0..2_u64, 1..3_u32, 0..8_u64, 0..4_000_u64, 0..500_u64);
    prop::collection::vec(hold, 1..40).prop_map(|holds| {
        let mut sequences = [0; 2];
        let mut time_ns = 10_000_000;
        let exit = |(lock, chain, others, duration_ns, pause_ns): (u64, u32, u64, u64, u64)| {
            let sequence = &mut sequences[lock as usize];
            *sequence += 1 + others.saturating_sub(5);
            time_ns += duration_ns + pause_ns;
            ContendedExit {
                lock: LockId(lock + 300),
                sequence: *sequence,
                time_ns,
                hold: Hold::For { duration_ns },
                chain: ChainRef::Chain(ChainId(chain)),
            }
        };
        holds.into_iter().map(exit).collect()
    })
}

/// A loop that takes a lock again and again while others wait needs little space.
#[test]
fn a_thread_that_keeps_a_lock_to_itself_writes_few_events() {
    let (events, len) = loop_of_holds(10_000, 700, 200);
    assert_eq!(events.len(), 1 + 9_999_usize.div_ceil(11));
    let second = ContendedExit {
        lock: LockId(300),
        sequence: 6,
        time_ns: 12 * 900,
        hold: Hold::Several {
            holds: 11,
            held_ns: 11 * 700,
            span_ns: 11 * 900 - 200,
        },
        chain: ChainRef::Chain(ChainId(9)),
    };
    assert_eq!(events[1], second);
    assert_eq!(count(&events), 10_000);
    assert!(len < 10_000, "{len} bytes");
}

/// Holds that no clock resolves.
#[test]
fn an_event_has_at_most_65535_holds() {
    let (events, _) = loop_of_holds(1_000_000, 0, 0);
    assert_eq!(events.len(), 1 + 999_999_usize.div_ceil(65_535));
    assert_eq!(events[1].hold.holds(), 65_535);
    assert_eq!(count(&events), 1_000_000);
}

/// Returns the exits that a thread writes which takes one lock again and again, and their length in
/// bytes.
fn loop_of_holds(holds: u64, duration_ns: u64, pause_ns: u64) -> (Vec<ContendedExit>, usize) {
    let mut buffer = vec![0; 1 << 16];
    let mut encoder = SegmentEncoder::new();
    for round in 0..holds {
        let exit = ContendedExit {
            lock: LockId(300),
            sequence: 5 + round,
            time_ns: (duration_ns + pause_ns) * (1 + round),
            hold: Hold::For { duration_ns },
            chain: ChainRef::Chain(ChainId(9)),
        };
        encoder.encode_exit(&mut buffer, &exit).unwrap();
    }
    encoder.flush(&mut buffer);
    let events = SegmentDecoder::new(&buffer[..encoder.len()]);
    let exits = events.map(|event| match event.unwrap() {
        Event::ContendedExit(exit) => exit,
        other => panic!("not an exit: {other:?}"),
    });
    (exits.collect(), encoder.len())
}

fn count(exits: &[ContendedExit]) -> u64 {
    exits.iter().map(|exit| u64::from(exit.hold.holds())).sum()
}

/// Exits that were added to the last event precede the next one.
#[test]
fn added_exits_are_written_before_the_next_event() {
    let exit = |sequence| ContendedExit {
        lock: LockId(300),
        sequence,
        time_ns: 1_000 * sequence,
        hold: Hold::For { duration_ns: 700 },
        chain: ChainRef::Chain(ChainId(9)),
    };
    let next = Event::ContendedEntered(ContendedEntered {
        lock: LockId(300),
        sequence: 9,
        time_ns: 9_000,
        safepoint_ns: 0,
    });
    let mut buffer = vec![0; 512];
    let mut encoder = SegmentEncoder::new();
    for sequence in 5..9 {
        encoder.encode_exit(&mut buffer, &exit(sequence)).unwrap();
    }
    encoder.encode(&mut buffer, &next).unwrap();

    let events: Result<Vec<_>, _> = SegmentDecoder::new(&buffer[..encoder.len()]).collect();
    let several = ContendedExit {
        sequence: 6,
        time_ns: 8_000,
        hold: Hold::Several {
            holds: 3,
            held_ns: 2_100,
            span_ns: 2_700,
        },
        ..exit(6)
    };
    let expected = [
        Event::ContendedExit(exit(5)),
        Event::ContendedExit(several),
        next,
    ];
    assert_eq!(events.unwrap(), expected);
}

/// Events of a thread that contends for two locks under the usual conditions: 15 µs between events,
/// a thousand chains, twenty threads on each lock.
#[test]
fn a_contended_thread_needs_less_than_six_bytes_an_event() {
    const ROUNDS: u64 = 1000;
    let mut buffer = vec![0; 1 << 20];
    let mut encoder = SegmentEncoder::new();
    for round in 0..ROUNDS {
        let lock = 1_000_000 + round % 2;
        let sequence = 60 * round;
        let time_ns = 60_000_000_000 + 45_000 * round;
        let chain = 1000 + (round / 7 % 3) as u32;
        let enter = Event::ContendedEnter(ContendedEnter {
            lock: LockId(lock),
            sequence,
            time_ns,
            chain: ChainId(chain),
            after_wait: false,
            owner: LockOwner::NotKnown,
        });
        let entered = Event::ContendedEntered(ContendedEntered {
            lock: LockId(lock),
            sequence: sequence + 40,
            time_ns: time_ns + 30_000,
            safepoint_ns: 0,
        });
        let exit = Event::ContendedExit(ContendedExit {
            lock: LockId(lock),
            sequence: sequence + 41,
            time_ns: time_ns + 31_000,
            hold: Hold::For { duration_ns: 900 },
            chain: ChainRef::Chain(ChainId(chain + 1)),
        });
        for event in [enter, entered, exit] {
            encoder.encode(&mut buffer, &event).unwrap();
        }
    }
    let bytes_per_event = encoder.len() as f64 / f64::from(encoder.events());
    assert!(bytes_per_event < 6.0, "{bytes_per_event}");
}

/// Events of a thread that releases a lock on which others are parked, and unparks one.
#[test]
fn a_release_and_its_unpark_need_six_bytes_an_event() {
    const ROUNDS: u64 = 1000;
    let mut buffer = vec![0; 1 << 20];
    let mut encoder = SegmentEncoder::new();
    let blocker = Blocker {
        class: ClassId(1000),
        identity_hash: 0x1234_5678,
    };
    for round in 0..ROUNDS {
        let (sequence, time_ns) = (10 * round, 20_000 * round);
        let release = Event::ExclusiveRelease(ExclusiveRelease {
            domain: LockId(7),
            sequence,
            time_ns,
            blocker,
            hold: Hold::For { duration_ns: 900 },
            chain: ChainId(1000),
        });
        let unpark = Event::Unpark(Unpark {
            domain: LockId(7),
            sequence: sequence + 1,
            time_ns: time_ns + 200,
            target: JavaThreadId(12),
            permit: Permit(8 * (round + 1) as u32),
            blocker,
            chain: ChainId(1001),
            ..Unpark::default()
        });
        for event in [release, unpark] {
            encoder.encode(&mut buffer, &event).unwrap();
        }
    }
    let bytes_per_event = encoder.len() as f64 / f64::from(encoder.events());
    assert!(bytes_per_event < 6.02, "{bytes_per_event}");
}

/// Events of one of two threads that unpark each other in turns.
#[test]
fn a_park_as_usual_needs_four_bytes_an_event() {
    const ROUNDS: u64 = 1000;
    let mut buffer = vec![0; 1 << 20];
    let mut encoder = SegmentEncoder::new();
    for round in 0..ROUNDS {
        let (domain, sequence, time_ns) = (7, 6 * round, 20_000 * round);
        let permit = 8 * (round + 1) as u32;
        let (blocker, chain) = (
            Blocker {
                class: ClassId(1000),
                identity_hash: 0x1234_5678,
            },
            1000,
        );
        let unpark = Event::Unpark(Unpark {
            domain: LockId(domain),
            sequence,
            time_ns,
            target: JavaThreadId(12),
            permit: Permit(permit),
            blocker,
            chain: ChainId(chain),
            ..Unpark::default()
        });
        let begin = Event::ParkBegin(ParkBegin {
            domain: LockId(domain),
            sequence: sequence + 1,
            time_ns: time_ns + 2_000,
            blocker,
            chain: ChainId(chain),
            ..ParkBegin::default()
        });
        let end = Event::ParkEnd(ParkEnd {
            domain: LockId(domain),
            sequence: sequence + 5,
            time_ns: time_ns + 15_000,
            reason: ParkEndReason::Unparked,
            permit: Permit(permit),
            ..ParkEnd::default()
        });
        for event in [unpark, begin, end] {
            encoder.encode(&mut buffer, &event).unwrap();
        }
    }
    let bytes_per_event = encoder.len() as f64 / f64::from(encoder.events());
    assert!(bytes_per_event < 4.02, "{bytes_per_event}");
}

/// Events of one of two threads that notify each other in turns.
#[test]
fn a_wait_as_usual_needs_four_bytes_an_event() {
    const ROUNDS: u64 = 1000;
    let mut buffer = vec![0; 1 << 20];
    let mut encoder = SegmentEncoder::new();
    let blocker = Blocker {
        class: ClassId(1000),
        identity_hash: 0x1234_5678,
    };
    for round in 0..ROUNDS {
        let (sequence, time_ns) = (6 * round, 20_000 * round);
        let notification = Event::Unpark(Unpark {
            domain: LockId(7),
            sequence,
            time_ns,
            target: JavaThreadId(12),
            waiters: 1,
            blocker,
            chain: ChainId(1000),
            ..Unpark::default()
        });
        let begin = Event::ParkBegin(ParkBegin {
            domain: LockId(7),
            sequence: sequence + 1,
            time_ns: time_ns + 2_000,
            blocker,
            timeout: ParkTimeout::After(1_000_000_000),
            monitor: true,
            chain: ChainId(1000),
            ..ParkBegin::default()
        });
        let end = Event::ParkEnd(ParkEnd {
            domain: LockId(7),
            sequence: sequence + 5,
            time_ns: time_ns + 15_000,
            reason: ParkEndReason::Unparked,
            permit: Permit::of_notification(sequence + 4),
            monitor: true,
            ..ParkEnd::default()
        });
        for event in [notification, begin, end] {
            encoder.encode(&mut buffer, &event).unwrap();
        }
    }
    let bytes_per_event = encoder.len() as f64 / f64::from(encoder.events());
    assert!(bytes_per_event < 4.02, "{bytes_per_event}");
}
