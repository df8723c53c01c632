//! Any segments of any threads in chunks, as a trace: the analysis ends, its sums agree, and time
//! and memory are in proportion to the trace, also if all of it comes many times over.

#![no_main]

mod cost;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use arbitrary::Arbitrary;
use cost::Budget;
use libfuzzer_sys::fuzz_target;
use trace_analysis::{
    Aggregation, Analysis, Aspect, Counter, Detail, Limits, RowLimits, TraceInput,
};
use trace_format::{ChunkWriter, FileHeader, ThreadId};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    max_pending_events: u8,
    lists_contentions: bool,
    chunks: Vec<Vec<Segment<'a>>>,
}

#[derive(Arbitrary, Debug)]
struct Segment<'a> {
    thread: u8,
    events: &'a [u8],
}

/// For each byte of the trace.
const BUDGET: Budget = Budget {
    bytes: 2 << 20,
    bytes_of_each: 2 << 10,
    time_of_each: Duration::from_micros(20),
};

/// The number of times that the same chunks are repeated, written by other threads.
const REPETITIONS: u32 = 64;

fuzz_target!(|input: Input| {
    let mut repetitions = vec![1];
    // Not always: it takes as long as many other inputs.
    if input.max_pending_events.is_multiple_of(16) {
        repetitions.push(REPETITIONS);
    }
    for repetitions in repetitions {
        let trace = trace(&input.chunks, repetitions);
        BUDGET.check(trace.len(), || analyze(&trace, &input));
    }
});

fn trace(chunks: &[Vec<Segment>], repetitions: u32) -> Vec<u8> {
    let mut trace = FileHeader::default().encode();
    let mut writer = ChunkWriter::new(false);
    for repetition in 0..repetitions {
        for chunk in chunks {
            for segment in chunk {
                let thread = ThreadId(u32::from(segment.thread) + 256 * repetition);
                let pushed = writer.push_segment(thread, 1, segment.events, true);
                pushed.expect("inputs are short");
            }
            trace.extend_from_slice(writer.events());
        }
    }
    let chunks = chunks.len() as u64 * u64::from(repetitions);
    trace.extend_from_slice(writer.end(0, chunks));
    trace
}

fn analyze(trace: &[u8], input: &Input) {
    let detail = if input.lists_contentions {
        Detail::CONTENTIONS
    } else {
        Detail::CODE
    };
    let max_pending_events = input.max_pending_events.into();
    let mut analysis = Analysis::new(Limits { max_pending_events }).with_detail(detail);
    let mut sums = Aggregation::new(Aspect::ALL);
    let trace = TraceInput::of_source(Path::new("trace"), std::io::Cursor::new(trace.to_vec()));
    let summary =
        trace
            .expect("a header")
            .analyze_with(NonZeroUsize::MIN, &mut analysis, &mut sums, |_| {
                ControlFlow::Continue(())
            });
    let counters = summary.expect("memory does not fail").counters;
    assert_eq!(counters.value(Counter::UnbalancedWaits), 0);
    let rows = sums.rows(RowLimits::default(), analysis.entities()).rows;
    let sum_ns = rows.iter().map(|row| row.sums.duration_ns);
    let sum_ns = sum_ns.fold(0, u64::saturating_add);
    assert_eq!(sum_ns, sums.totals().all.duration_ns);
}
