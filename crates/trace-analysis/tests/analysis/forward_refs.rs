//! Forward references that are resolved soon, late, or never.

use std::io::Write;

use tempfile::NamedTempFile;
use trace_analysis::{Counter, Limits};
use trace_format::{
    ChainRef, ChunkWriter, ClassId, ContendedEnter, ContendedEntered, ContendedExit, Event,
    FileHeader, ForwardRef, ForwardResolved, Hold, LockDescription, LockId, LockOwner,
    PARK_DOMAINS, SegmentEncoder, ThreadId,
};

use crate::found;
use crate::script::{chain_id, metadata_events};

const LOCK: LockId = LockId(PARK_DOMAINS + 1);
/// Chunks of events; in each, a thread waits once for an owner that releases the lock
/// in `Object.wait`.
const CHUNKS: u64 = 1_000;
/// How many chunks later the owner's method is known, and which it is. The reader that
/// is ahead of the analysis is less far ahead than the last.
const DELAYS: [(u64, &str); 4] = [(0, "a"), (1, "c"), (200, "d"), (600, "e")];

fn delay(wait: u64) -> (u64, &'static str) {
    DELAYS[wait as usize % DELAYS.len()]
}

/// The events of the chunk in which the wait of this number is.
fn chunk(wait: u64) -> Vec<(ThreadId, Event<'static>)> {
    let (owner, waiter) = (ThreadId(1), ThreadId(2));
    let (sequence, time_ns) = (wait * 3 + 1, wait * 100);
    let mut events = vec![
        (
            waiter,
            Event::ContendedEnter(ContendedEnter {
                lock: LOCK,
                sequence,
                time_ns,
                chain: chain_id("b"),
                after_wait: false,
                owner: LockOwner::NotKnown,
            }),
        ),
        (
            owner,
            Event::ContendedExit(ContendedExit {
                lock: LOCK,
                sequence: sequence + 1,
                time_ns: time_ns + 50,
                hold: Hold::NotKnown,
                chain: ChainRef::Forward(ForwardRef(wait)),
            }),
        ),
        (
            waiter,
            Event::ContendedEntered(ContendedEntered {
                lock: LOCK,
                sequence: sequence + 2,
                time_ns: time_ns + 60,
                safepoint_ns: 0,
            }),
        ),
    ];
    for forward_ref in 0..=wait {
        let (delay, method) = delay(forward_ref);
        if forward_ref + delay == wait {
            let chain = chain_id(method);
            events.push((
                owner,
                Event::ForwardResolved(ForwardResolved {
                    forward_ref: ForwardRef(forward_ref),
                    chain,
                }),
            ));
        }
    }
    events
}

fn push(writer: &mut ChunkWriter, events: &[(ThreadId, Event<'static>)]) {
    for (thread, event) in events {
        let mut bytes = [0; 256];
        let mut encoder = SegmentEncoder::new();
        encoder.encode(&mut bytes, event).expect("it fits");
        let metadata = encoder.contains_metadata();
        let pushed = writer.push_segment(*thread, 0, &bytes[..encoder.len()], metadata);
        pushed.expect("it fits");
    }
}

#[test]
fn owners_are_known_however_late_their_methods_come() {
    let mut file = NamedTempFile::new().expect("a temporary file");
    let header = FileHeader {
        compressed: true,
        start_unix_ns: 0,
        pid: 1,
        jvm: String::new(),
        ..FileHeader::default()
    };
    file.write_all(&header.encode()).expect("it fits");
    let mut writer = ChunkWriter::new(true);
    let description = Event::LockDescription(LockDescription {
        lock: LOCK,
        class: ClassId(1),
        mirrored_class: ClassId::NONE,
        identity_hash: 1,
        monitor_address: 0,
    });
    push(&mut writer, &metadata_events());
    push(&mut writer, &[(ThreadId(1), description)]);
    for wait in 0..CHUNKS {
        push(&mut writer, &chunk(wait));
        file.write_all(writer.events()).expect("it fits");
    }

    let (mut found, _) = found::analyze_file(file.path(), Limits::default());
    // Each comes when its owner's method is known.
    found.waits.sort_by_key(|wait| wait.start_ns);
    assert_eq!(found.waits.len() as u64, CHUNKS);
    let mut unresolved = 0;
    for (number, wait) in (0..).zip(&found.waits) {
        let (delay, method) = delay(number);
        let is_resolved = number + delay < CHUNKS;
        unresolved += u64::from(!is_resolved);
        let method = if is_resolved { method } else { "?" };
        let owner = Ok(("T1".to_owned(), method.to_owned()));
        assert_eq!(wait.parts[0].owner, owner, "wait {number}: {wait}");
    }
    assert!(unresolved > 0);
    let counted = found.counters.value(Counter::ForwardRefsUnresolved);
    assert_eq!(counted, unresolved);
}
