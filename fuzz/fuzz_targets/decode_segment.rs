//! Any bytes as a segment: each event comes from bytes of its own, and what was
//! decoded can be encoded and decoded again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_format::{ChainDescription, Event, SegmentDecoder, SegmentEncoder};

fuzz_target!(|bytes: &[u8]| {
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
});

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
