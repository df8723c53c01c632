//! Any bytes as a segment: each event comes from bytes of its own, and what was
//! decoded can be encoded and decoded again. Time and memory are in proportion to them.

#![no_main]

mod cost;

use std::time::Duration;

use cost::Budget;
use libfuzzer_sys::fuzz_target;
use trace_format::{ChainDescription, Event, SegmentDecoder, SegmentEncoder};

/// A byte can be an event, which is larger in memory.
const BUDGET: Budget = Budget {
    bytes: 1 << 18,
    bytes_of_each: 512,
    time_of_each: Duration::from_micros(2),
};

fuzz_target!(|bytes: &[u8]| BUDGET.check(bytes.len(), || decode(bytes)));

fn decode(bytes: &[u8]) {
    let mut decoder = SegmentDecoder::new(bytes);
    let mut events = Vec::new();
    let mut offset = 0;
    while let Some(event) = decoder.next() {
        let Ok(event) = event else {
            assert!(decoder.next().is_none(), "an error is the last item");
            break;
        };
        assert!(decoder.offset() > offset && decoder.offset() <= bytes.len());
        if let Event::Chain(ChainDescription { frames, .. }) = &event {
            assert!(frames.len() <= decoder.offset() - offset);
        }
        offset = decoder.offset();
        events.push(event);
    }

    let encoded = encode(&events);
    let decoded: Result<Vec<_>, _> = SegmentDecoder::new(&encoded).collect();
    assert_eq!(decoded.as_ref(), Ok(&events));
}

fn encode(events: &[Event<'_>]) -> Vec<u8> {
    let mut bytes = vec![0; 1 << 16];
    let mut encoder = SegmentEncoder::new();
    for event in events {
        while encoder.encode(&mut bytes, event).is_err() {
            bytes.resize(bytes.len() * 2, 0);
        }
    }
    bytes.truncate(encoder.len());
    bytes
}
