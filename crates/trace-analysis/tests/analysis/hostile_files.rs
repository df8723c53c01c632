//! Files that no tracer writes: the analysis must end, and its sums agree.

use std::io::Write;
use std::ops::ControlFlow;

use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::NamedTempFile;
use trace_analysis::{Aggregation, Analysis, Aspect, Counter, Limits, RowLimits, TraceFile};
use trace_format::{
    ChainDescription, ChainId, ChainRef, ChunkWriter, ClassId, ContendedEnter, ContendedEntered,
    ContendedExit, Event, FileHeader, ForwardRef, ForwardResolved, Frame, Hold, JavaThreadId,
    LockDescription, LockId, LockOwner, LockRetired, LockSite, LostEvents, LostNumbers,
    MethodDescription, MethodId, OwnerSample, SegmentEncoder, StackRange, ThreadId, ThreadRename,
    ThreadStart,
};

/// Numbers near the bounds of their type.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..4u64, u64::MAX - 3..=u64::MAX, any::<u64>()]
}

fn small() -> impl Strategy<Value = u32> {
    prop_oneof![0..4u32, u32::MAX - 1..=u32::MAX]
}

/// Events of few locks and threads with any values.
fn event() -> impl Strategy<Value = Event<'static>> {
    let lock = 0..3u64;
    let sequence = prop_oneof![8 => 0..20u64, 1 => number()];
    let chain = prop_oneof![
        small().prop_map(ChainId).prop_map(ChainRef::Chain),
        number().prop_map(ForwardRef).prop_map(ChainRef::Forward)
    ];
    prop_oneof![
        (
            lock.clone(),
            sequence.clone(),
            number(),
            small(),
            any::<bool>()
        )
            .prop_map(|(lock, sequence, time_ns, chain, after_wait)| {
                Event::ContendedEnter(ContendedEnter {
                    lock: LockId(lock),
                    sequence,
                    time_ns,
                    chain: ChainId(chain),
                    after_wait,
                    owner: LockOwner::NotKnown,
                })
            }),
        (lock.clone(), sequence.clone(), number(), number()).prop_map(
            |(lock, sequence, time_ns, safepoint_ns)| {
                Event::ContendedEntered(ContendedEntered {
                    lock: LockId(lock),
                    sequence,
                    time_ns,
                    safepoint_ns,
                })
            }
        ),
        (lock.clone(), sequence.clone(), number(), chain).prop_map(
            |(lock, sequence, time_ns, chain)| {
                Event::ContendedExit(ContendedExit {
                    lock: LockId(lock),
                    sequence,
                    time_ns,
                    hold: Hold::NotKnown,
                    chain,
                })
            }
        ),
        (lock.clone(), small(), small(), small()).prop_map(
            |(lock, class, mirrored_class, identity_hash)| Event::LockDescription(
                LockDescription {
                    lock: LockId(lock),
                    class: ClassId(class),
                    mirrored_class: ClassId(mirrored_class),
                    identity_hash,
                    monitor_address: 0,
                }
            )
        ),
        (lock.clone(), sequence.clone()).prop_map(|(lock, sequence)| Event::LockRetired(
            LockRetired {
                lock: LockId(lock),
                sequence
            }
        )),
        (lock, sequence).prop_map(|(lock, sequence)| Event::LostNumbers(LostNumbers {
            lock: LockId(lock),
            first: sequence,
            count: 1
        })),
        number().prop_map(|events| Event::LostEvents(LostEvents { events })),
        (number(), small(), small(), number(), number()).prop_map(
            |(time_ns, owner, chain, since_ns, interval_ns)| Event::OwnerSample(OwnerSample {
                time_ns,
                owner: ThreadId(owner),
                chain: ChainId(chain),
                since_ns,
                interval_ns,
            })
        ),
        (small(), small(), small()).prop_map(|(class, identity_hash, chain)| {
            Event::LockSite(LockSite {
                class: ClassId(class),
                identity_hash,
                chain: ChainId(chain),
            })
        }),
        (number(), small()).prop_map(|(forward_ref, chain)| Event::ForwardResolved(
            ForwardResolved {
                forward_ref: ForwardRef(forward_ref),
                chain: ChainId(chain)
            }
        )),
        (small(), vec(small(), 0..3), any::<bool>()).prop_map(|(chain, methods, truncated)| {
            let frames = methods.into_iter().map(|method| Frame {
                method: MethodId(method),
                bci: -1,
                line: i32::MIN,
            });
            Event::Chain(ChainDescription {
                chain: ChainId(chain),
                frames: frames.collect(),
                truncated,
            })
        }),
        (small(), small()).prop_map(|(method, class)| Event::Method(MethodDescription {
            method: MethodId(method),
            class: ClassId(class),
            name: "",
            signature: "\n"
        })),
        (number(), number()).prop_map(|(time_ns, java_id)| Event::ThreadStart(ThreadStart {
            time_ns,
            java_id: JavaThreadId(java_id),
            name: "T",
            stack: StackRange::default(),
        })),
        number().prop_map(|java_id| Event::ThreadRename(ThreadRename {
            java_id: JavaThreadId(java_id),
            name: "\u{1b}[31m"
        })),
    ]
}

/// The content of a segment: events, or any bytes.
fn segment() -> impl Strategy<Value = Vec<u8>> {
    let events = vec(event(), 0..40).prop_map(|events| {
        let mut bytes = vec![0; 1 << 16];
        let mut encoder = SegmentEncoder::new();
        for event in &events {
            encoder.encode(&mut bytes, event).expect("all fit");
        }
        bytes.truncate(encoder.len());
        bytes
    });
    prop_oneof![4 => events, 1 => vec(any::<u8>(), 0..100)]
}

fn file(segments: &[(u32, u64, Vec<u8>)], end_ns: u64) -> NamedTempFile {
    let (compressed, start_unix_ns, pid, jvm) = (false, u64::MAX, u32::MAX, String::new());
    let header = FileHeader {
        compressed,
        start_unix_ns,
        pid,
        jvm,
        ..FileHeader::default()
    };
    let mut writer = ChunkWriter::new(compressed);
    for (thread, buffer_index, events) in segments {
        writer
            .push_segment(ThreadId(*thread), *buffer_index, events, true)
            .expect("all fit");
    }
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(&header.encode()).expect("it fits");
    file.write_all(writer.events()).expect("it fits");
    file.write_all(writer.end(end_ns, u64::MAX))
        .expect("it fits");
    file
}

proptest! {
    #[test]
    fn analysis_ends_and_its_sums_agree(
        segments in vec((small(), number(), segment()), 0..6),
        end_ns in number(),
        max_pending_events in 0..30usize,
    ) {
        let file = file(&segments, end_ns);
        let trace = TraceFile::open(file.path()).expect("a trace");
        let mut analysis = Analysis::new(Limits { max_pending_events });
        let mut aggregation = Aggregation::new(Aspect::ALL);
        let mut waits = 0;
        let mut on_wait = |wait: &_, entities: &_| {
            aggregation.add(wait, entities);
            waits += 1;
        };
        let summary = trace
            .analyze(&mut analysis, &mut on_wait, |_| ControlFlow::Continue(()))
            .expect("readable");
        prop_assert!(!summary.is_complete());
        prop_assert_eq!(summary.counters.value(Counter::UnbalancedWaits), 0);
        prop_assert_eq!(aggregation.totals().all.waits, waits);
        let rows = aggregation.rows(RowLimits::default(), analysis.entities());
        let sum_ns =
            rows.rows.iter().map(|row| row.sums.duration_ns).fold(0, u64::saturating_add);
        prop_assert_eq!(sum_ns, aggregation.totals().all.duration_ns);
    }
}
