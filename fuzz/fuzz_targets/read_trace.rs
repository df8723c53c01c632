//! Any bytes and any chunks, with honest checksums as a hostile writer makes
//! them, as a trace file: the reader ends, and accounts for every byte. Time and memory are in
//! proportion to the file.

#![no_main]

mod cost;

use std::time::Duration;

use arbitrary::Arbitrary;
use cost::Budget;
use libfuzzer_sys::fuzz_target;
use trace_format::chunk::{ChunkHeader, ChunkKind, HEADER_LEN, MAX_RAW_LEN};
use trace_format::{Chunk, FileHeader, TraceReader};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    header: Option<&'a [u8]>,
    pieces: Vec<Piece<'a>>,
}

#[derive(Arbitrary, Debug)]
enum Piece<'a> {
    Bytes(&'a [u8]),
    Chunk {
        kind: Kind,
        contains_metadata: bool,
        compressed: bool,
        raw_len: u32,
        payload: &'a [u8],
    },
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Kind {
    Events,
    Counters,
    End,
    Unknown(u8),
}

/// One chunk is in memory at a time, compressed and not.
const BUDGET: Budget = Budget {
    bytes: 4 * MAX_RAW_LEN,
    bytes_of_each: 64,
    // Compressed, 20 bytes and more can be one.
    time_of_each: Duration::from_micros(20),
};

fuzz_target!(|input: Input| {
    let file = file(&input);
    for only_metadata in [false, true] {
        BUDGET.check(file.len(), || read(&file, only_metadata));
    }
});

fn file(input: &Input) -> Vec<u8> {
    let honest = FileHeader {
        start_unix_ns: 1,
        pid: 1,
        ..FileHeader::default()
    };
    let mut file = input.header.map_or_else(|| honest.encode(), <[u8]>::to_vec);
    for piece in &input.pieces {
        match *piece {
            Piece::Bytes(bytes) => file.extend_from_slice(bytes),
            Piece::Chunk {
                kind,
                contains_metadata,
                compressed,
                raw_len,
                payload,
            } => {
                let header = ChunkHeader {
                    kind: match kind {
                        Kind::Events => ChunkKind::Events,
                        Kind::Counters => ChunkKind::Counters,
                        Kind::End => ChunkKind::End,
                        Kind::Unknown(id) => ChunkKind::Unknown(id),
                    },
                    compressed,
                    contains_metadata,
                    stored_len: payload.len() as u32,
                    raw_len: if compressed {
                        raw_len
                    } else {
                        payload.len() as u32
                    },
                    payload_checksum: crc32c::crc32c(payload),
                };
                file.extend_from_slice(&header.encode());
                file.extend_from_slice(payload);
            }
        }
    }
    file
}

fn read(file: &[u8], only_metadata: bool) {
    let Ok(mut reader) = TraceReader::new(file) else {
        return;
    };
    let start = reader.offset();
    if only_metadata {
        reader = reader.only_metadata();
    }
    while let Some(chunk) = reader.next_chunk().expect("memory does not fail") {
        match chunk {
            Chunk::Events(chunk) => {
                assert!(chunk.raw_len() <= MAX_RAW_LEN);
                for segment in chunk.segments().flatten() {
                    segment.events().for_each(drop);
                }
            }
            Chunk::Counters(counters) => counters.for_each(drop),
            Chunk::System(records) => records.for_each(drop),
            Chunk::End { .. } => {}
        }
    }
    assert_eq!(reader.offset(), file.len() as u64);
    let damage = reader.damage();
    let chunks = damage.chunks_read + damage.chunks_unknown;
    assert!(damage.skipped_bytes + chunks * HEADER_LEN as u64 <= file.len() as u64 - start);
    let mut end = start;
    for skipped in &damage.skipped {
        assert!(skipped.range.start >= end && skipped.range.end > skipped.range.start);
        end = skipped.range.end;
    }
    assert!(end <= file.len() as u64);
}
