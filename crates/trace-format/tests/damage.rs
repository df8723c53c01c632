//! A damaged trace never makes the reader panic, hang or take much memory, and its intact parts are
//! still read.

mod support;

use std::io::{self, Read};

use proptest::prelude::*;
use support::{events, segment};
use trace_format::chunk::{self, ChunkHeader, ChunkKind, HEADER_LEN};
use trace_format::{
    Capabilities, Chunk, ChunkWriter, Counter, Damage, EndReason, Event, FileHeader, Freeze,
    HeaderError, HookPart, JavaThreadId, LockId, LostNumbers, Malformed, ParkBegin, ParkEnd,
    SegmentDecoder, SkipReason, SystemRecord, ThreadId, ThreadRename, ThreadTimes, TraceReader,
    Unpark, varint,
};

/// Number of events chunks in [`trace`].
const CHUNKS: u64 = 5;

fn header(compressed: bool) -> Vec<u8> {
    FileHeader {
        compressed,
        start_unix_ns: 7,
        pid: 42,
        jvm: "1.8.0_504".to_owned(),
        ..FileHeader::default()
    }
    .encode()
}

/// Returns a whole trace: chunk number i holds one segment of thread i.
fn trace(compressed: bool) -> Vec<u8> {
    let mut file = header(compressed);
    let mut writer = ChunkWriter::new(compressed);
    for number in 0..CHUNKS {
        let thread = ThreadId(number as u32);
        // Every other chunk has metadata.
        let events: Vec<_> = (0..40)
            .map(|sequence| match number % 2 {
                0 => Event::LostNumbers(LostNumbers {
                    lock: LockId(number),
                    first: sequence,
                    count: 1,
                }),
                _ => Event::ThreadRename(ThreadRename {
                    java_id: JavaThreadId(number),
                    name: "worker",
                }),
            })
            .collect();
        let contains_metadata = events.iter().any(Event::is_metadata);
        writer
            .push_segment(thread, number, &segment(&events), contains_metadata)
            .unwrap();
        file.extend(writer.events());
    }
    file.extend(writer.counters([(Counter::Events, 40 * CHUNKS)]));
    file.extend(writer.end(1_000_000, CHUNKS + 1));
    file
}

/// Reads everything that can be read: the threads seen, the number of events, and the damage.
/// `None` if the header cannot be read.
fn read(file: &[u8]) -> Option<(Vec<ThreadId>, usize, Damage)> {
    let mut reader = TraceReader::new(file).ok()?;
    let mut threads = Vec::new();
    let mut events = 0;
    while let Some(chunk) = reader.next_chunk().expect("memory does not fail") {
        match chunk {
            Chunk::Events(chunk) => {
                for segment in chunk.segments().flatten() {
                    threads.push(segment.thread);
                    events += segment.events().flatten().count();
                }
            }
            Chunk::Counters(counters) => assert!(counters.count() < file.len()),
            Chunk::System(records) => assert!(records.count() < file.len()),
            Chunk::End { .. } => {}
        }
    }
    let damage = reader.damage();
    assert!(
        damage
            .skipped
            .iter()
            .all(|skipped| skipped.range.end <= file.len() as u64)
    );
    assert!(damage.skipped_bytes <= file.len() as u64);
    Some((threads, events, damage.clone()))
}

#[test]
fn a_whole_trace_has_no_damage() {
    for compressed in [false, true] {
        let (threads, events, damage) = read(&trace(compressed)).unwrap();
        assert_eq!(threads, [0, 1, 2, 3, 4].map(ThreadId));
        assert_eq!(events, 200);
        assert!(damage.is_none(), "{damage:?}");
        assert_eq!(damage.chunks_read, CHUNKS + 2);
    }
}

/// The chunks before the cut are read, and nothing else is missing.
#[test]
fn every_truncation_loses_only_the_torn_chunk() {
    for compressed in [false, true] {
        let whole = trace(compressed);
        let header_len = header(compressed).len();
        let mut whole_chunks = 0;
        for len in 0..whole.len() {
            let Some((threads, _, damage)) = read(&whole[..len]) else {
                assert!(len < header_len);
                continue;
            };
            let expected: Vec<_> = (0..threads.len() as u32).map(ThreadId).collect();
            assert_eq!(threads, expected);
            assert!(damage.chunks_read >= whole_chunks, "at {len}");
            whole_chunks = damage.chunks_read;
            assert!(!damage.end_seen && !damage.is_none());
            let torn = damage
                .skipped
                .iter()
                .all(|skip| skip.reason == SkipReason::TornOff);
            assert!(torn && damage.skipped.len() <= 1, "at {len}: {damage:?}");
        }
        assert_eq!(whole_chunks, CHUNKS + 1);
    }
}

/// A wrong byte costs the chunk that it is in, or the header.
#[test]
fn every_wrong_byte_costs_one_chunk() {
    for compressed in [false, true] {
        let whole = trace(compressed);
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x40;
            let Some((threads, _, damage)) = read(&damaged) else {
                assert!(at < header(compressed).len());
                continue;
            };
            assert!(threads.len() as u64 >= CHUNKS - 1, "at {at}: {damage:?}");
            assert_eq!(damage.chunks_read, CHUNKS + 1, "at {at}: {damage:?}");
            assert!(!damage.is_none());
            let covered = damage
                .skipped
                .iter()
                .any(|skip| skip.range.contains(&(at as u64)));
            assert!(covered, "at {at}: {damage:?}");
        }
    }
}

#[test]
fn missing_chunks_are_counted() {
    let mut file = header(false);
    let mut writer = ChunkWriter::new(false);
    file.extend(writer.end(1, 3));
    let (_, _, damage) = read(&file).unwrap();
    assert!(damage.end_seen);
    assert_eq!(damage.chunks_missing, 3);
    assert!(!damage.is_none());
}

#[test]
fn the_reason_of_an_early_end_is_read() {
    let reasons = [
        EndReason::WriteError { error: 28 },
        EndReason::MemoryShort,
        EndReason::Copied,
        EndReason::Other { number: 1 << 40 },
    ];
    for reason in reasons {
        let mut file = header(false);
        let mut writer = ChunkWriter::new(true);
        file.extend(writer.early_end(1, 0, reason));
        let (_, _, damage) = read(&file).unwrap();
        assert_eq!((damage.end_seen, damage.ended_early), (false, Some(reason)));
        assert!(!damage.is_none());
    }
    // As it was before reasons existed.
    let mut writer = ChunkWriter::new(false);
    assert_eq!(
        writer.early_end(1, 0, EndReason::Orderly).to_vec(),
        ChunkWriter::new(false).end(1, 0)
    );
}

#[test]
fn only_metadata_passes_over_the_other_chunks() {
    let whole = trace(true);
    let mut reader = TraceReader::new(whole.as_slice()).unwrap().only_metadata();
    let mut threads = Vec::new();
    while let Some(chunk) = reader.next_chunk().unwrap() {
        if let Chunk::Events(chunk) = chunk {
            threads.extend(chunk.segments().map(|segment| segment.unwrap().thread));
        }
    }
    assert_eq!(threads, [1, 3].map(ThreadId));
    assert!(reader.damage().is_none());
}

#[test]
fn foreign_files_are_named() {
    let error = |file: &[u8]| match TraceReader::new(file) {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    };
    insta::assert_snapshot!(error(b"#!/bin/sh\necho"), @r###"not a lock contention trace: expected it to begin with "\x89LCT\r\n\x1a\n", found "#!/bin/s""###);
    insta::assert_snapshot!(error(b""), @r###"not a lock contention trace: expected it to begin with "\x89LCT\r\n\x1a\n", found """###);
    insta::assert_snapshot!(error(&header(false)[..5]), @"the trace ends inside its header: expected 26 bytes, found 5");
    insta::assert_snapshot!(error(&header(false)[..30]), @"the trace ends inside its header: expected 39 bytes, found 30");
    let mut newer = header(false);
    newer[8] = 9;
    insta::assert_snapshot!(error(&newer), @"trace format version 9 is not supported, expected 1 to 7");
    let mut wrong = header(false);
    wrong[15] = 9;
    insta::assert_snapshot!(error(&wrong), @"the trace's header is damaged: expected checksum 3dd4ca9e, found b564f63a");
}

#[test]
fn a_failing_source_is_an_error() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("gone"))
        }
    }
    assert!(matches!(TraceReader::new(Failing), Err(HeaderError::Io(_))));
    let file = header(false);
    let mut reader = TraceReader::new(file.as_slice().chain(Failing)).unwrap();
    assert!(reader.next_chunk().is_err());
}

/// A later version may add kinds of chunks.
#[test]
fn chunks_of_unknown_kinds_are_passed_over() {
    let mut writer = ChunkWriter::new(false);
    let unknown = forged(ChunkKind::Unknown(9), false, 5, b"later");
    let compressed = forged(ChunkKind::Unknown(200), true, 5, b"in a later way");
    let file = [
        &header(false),
        unknown.as_slice(),
        &compressed,
        writer.end(1, 2),
    ]
    .concat();
    let (_, _, damage) = read(&file).unwrap();
    assert_eq!((damage.chunks_read, damage.chunks_unknown), (1, 2));
    assert!(damage.is_none(), "{damage:?}");

    let mut wrong = unknown;
    wrong[HEADER_LEN] ^= 1;
    let file = [header(false), wrong].concat();
    let (_, _, damage) = read(&file).unwrap();
    assert_eq!(damage.chunks_unknown, 0);
    assert_eq!(damage.skipped[0].reason, SkipReason::Checksum);
}

/// Guarantees of a later version mean nothing, but are kept.
#[test]
fn unknown_capabilities_are_kept() {
    let mut bytes = header(true);
    bytes[10..12].copy_from_slice(&[0b1000_0011, 0b0000_0010]);
    let content_len = bytes.len() - 4;
    let checksum = crc32c::crc32c(&bytes[..content_len]);
    bytes[content_len..].copy_from_slice(&checksum.to_le_bytes());
    let reader = TraceReader::new(bytes.as_slice()).unwrap();
    let capabilities = reader.header().capabilities;
    assert!(reader.header().compressed);
    assert!(capabilities.contains(Capabilities::HOLDS));
    assert!(!capabilities.contains(Capabilities::HOLDS.union(Capabilities::PERMITS)));
    assert_eq!(capabilities.names().collect::<Vec<_>>(), ["holds"]);
    assert_eq!(reader.header().encode(), bytes);
}

/// Returns a chunk with any payload and valid checksums, as a hostile writer makes it.
fn forged(kind: ChunkKind, compressed: bool, raw_len: u32, payload: &[u8]) -> Vec<u8> {
    let header = ChunkHeader {
        kind,
        compressed,
        contains_metadata: false,
        stored_len: payload.len() as u32,
        raw_len,
        payload_checksum: crc32c::crc32c(payload),
    };
    [header.encode().as_slice(), payload].concat()
}

#[test]
fn lengths_beyond_the_limits_are_not_believed() {
    for (stored_len, raw_len) in [
        (
            chunk::MAX_STORED_LEN as u32 + 1,
            chunk::MAX_STORED_LEN as u32 + 1,
        ),
        (10, chunk::MAX_RAW_LEN as u32 + 1),
        (u32::MAX, u32::MAX),
    ] {
        let header = ChunkHeader {
            kind: ChunkKind::Events,
            compressed: true,
            contains_metadata: false,
            stored_len,
            raw_len,
            payload_checksum: 0,
        };
        assert_eq!(ChunkHeader::decode(&header.encode()), None);
    }
}

/// A call chain that claims more frames than its bytes can hold.
#[test]
fn frames_that_cannot_be_there_take_no_memory() {
    for count in [2 << 32, u64::MAX] {
        let mut bytes = vec![0x8f, 1];
        varint::push(&mut bytes, count);
        bytes.extend([1; 30]);
        let error = SegmentDecoder::new(&bytes).next().unwrap().unwrap_err();
        assert_eq!(error.cause, Malformed::Truncated, "{count} frames");
    }
}

/// Waits in `Object.wait` exist since version 7: before, their flags are damage.
#[test]
fn waits_of_older_versions_are_malformed() {
    let begin = Event::ParkBegin(ParkBegin {
        domain: LockId(1),
        monitor: true,
        ..ParkBegin::default()
    });
    let end = Event::ParkEnd(ParkEnd {
        domain: LockId(1),
        monitor: true,
        ..ParkEnd::default()
    });
    let notification = Event::Unpark(Unpark {
        domain: LockId(1),
        waiters: 2,
        ..Unpark::default()
    });
    for event in [begin, end, notification] {
        let bytes = segment(std::slice::from_ref(&event));
        let of_version = |version| SegmentDecoder::of_version(version, &bytes).next().unwrap();
        assert_eq!(of_version(7).unwrap(), event);
        let error = of_version(6).unwrap_err();
        assert!(matches!(error.cause, Malformed::Flags(_)), "{error}");
    }
}

/// A notification takes somebody.
#[test]
fn notifications_without_waiters_are_malformed() {
    // Kind 12, new domain 1, number 1, time 1, flags 1, 2 and 64, target 0, no waiters.
    let bytes = [0xfc, 1, 1, 1, 0x43, 0, 0];
    let error = SegmentDecoder::new(&bytes).next().unwrap().unwrap_err();
    assert_eq!(error.cause, Malformed::Flags(0x43));
}

fn any_record() -> impl Strategy<Value = SystemRecord> {
    let numbers = any::<(u32, [u64; 4])>();
    let times = numbers.prop_map(
        |(thread, [time_ns, processor_ns, run_delay_ns, timeslices])| {
            SystemRecord::ThreadTimes(ThreadTimes {
                thread: ThreadId(thread),
                time_ns,
                processor_ns,
                run_delay_ns,
                timeslices,
            })
        },
    );
    let numbers = any::<(u32, [u64; 3])>();
    let part = numbers.prop_map(|(thread, [end_ns, duration_ns, weight])| {
        SystemRecord::HookPart(HookPart {
            thread: ThreadId(thread),
            end_ns,
            duration_ns,
            weight,
        })
    });
    let freeze = any::<(u64, u32)>().prop_map(|(begin_ns, duration_ns)| {
        SystemRecord::Freeze(Freeze {
            begin_ns,
            end_ns: begin_ns.saturating_add(duration_ns.into()),
        })
    });
    prop_oneof![times, part, freeze]
}

proptest! {
    /// Records that are whole are read until one is not.
    #[test]
    fn what_the_system_did_is_read_as_far_as_it_is_whole(
        records in prop::collection::vec(any_record(), 0..20),
        tail in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut writer = ChunkWriter::new(false);
        let mut payload = writer.system(records.iter().copied())[HEADER_LEN..].to_vec();
        payload.extend(tail);
        let mut file = header(false);
        file.extend(forged(ChunkKind::System, false, payload.len() as u32, &payload));
        let mut reader = TraceReader::new(file.as_slice()).unwrap();
        let Some(Chunk::System(found)) = reader.next_chunk().unwrap() else {
            panic!("what the system did");
        };
        let found: Vec<_> = found.take(payload.len() + 1).collect();
        prop_assert!(found.len() <= payload.len());
        for (found, record) in found.iter().zip(&records) {
            prop_assert_eq!(found.as_ref().ok(), Some(record));
        }
        prop_assert!(found.len() >= records.len());
    }

    #[test]
    fn any_bytes_can_be_decoded(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        // Each event takes a byte at least, and an error is the last item.
        let results: Vec<_> = SegmentDecoder::new(&bytes).collect();
        prop_assert!(results.len() <= bytes.len());
        let errors = results.iter().filter(|result| result.is_err()).count();
        prop_assert!(errors == 0 || (errors == 1 && results.last().unwrap().is_err()));
    }

    #[test]
    fn any_change_to_a_segment_can_be_decoded(
        events in events(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = segment(&events);
        for (index, byte) in changes {
            if !bytes.is_empty() {
                let index = index.index(bytes.len());
                bytes[index] = byte;
            }
        }
        prop_assert!(SegmentDecoder::new(&bytes).count() <= bytes.len());
    }

    #[test]
    fn forged_chunks_can_be_read(
        payload in prop::collection::vec(any::<u8>(), 0..200),
        kind in prop::sample::select(vec![
            ChunkKind::Events, ChunkKind::Counters, ChunkKind::End, ChunkKind::Unknown(0)
        ]),
        compressed: bool,
        claimed_len in prop_oneof![0..200u32, any::<u32>()],
    ) {
        let raw_len = if compressed { claimed_len } else { payload.len() as u32 };
        let file = [header(false), forged(kind, compressed, raw_len, &payload)].concat();
        prop_assert!(read(&file).is_some());
    }

    #[test]
    fn mixed_up_chunks_can_be_read(
        pieces in prop::collection::vec((any::<prop::sample::Index>(), 1..200usize), 0..12),
    ) {
        let whole = trace(true);
        let mut file = header(true);
        for (start, len) in pieces {
            let start = start.index(whole.len());
            file.extend(whole[start..].iter().take(len));
        }
        let (_, _, damage) = read(&file).unwrap();
        prop_assert!(damage.chunks_read as usize * HEADER_LEN <= file.len());
    }
}
