//! Defects of a trace, in words.

use std::io;

use trace_analysis::{Counter, Severity, TraceSummary};
use trace_format::EndReason;

use crate::human::{count, plural};

/// Returns a line for each defect of a trace; none if it is complete.
pub fn lines(summary: &TraceSummary) -> Vec<String> {
    let mut lines = unread(summary);
    lines.extend(losses(summary));
    lines
}

/// Returns a line for each part that could not be read.
fn unread(summary: &TraceSummary) -> Vec<String> {
    let damage = &summary.damage;
    let mut lines = Vec::new();
    if let Some(reason) = damage.ended_early {
        lines.push(early_end(reason));
    } else if !damage.end_seen {
        let why = if damage.recovered_buffers > 0 {
            let buffers = plural(damage.recovered_buffers, "buffer");
            format!("the JVM was killed; it left {buffers} behind, which are taken into account")
        } else {
            "the JVM was killed, is still running, or the file was cut off".to_owned()
        };
        lines.push(format!("the end is missing: {why}"));
    }
    if damage.chunks_missing > 0 {
        lines.push(format!("chunks missing: {}", count(damage.chunks_missing)));
    }
    let mut listed_bytes = 0;
    for skipped in &damage.skipped {
        let bytes = skipped.range.end - skipped.range.start;
        listed_bytes += bytes;
        let (start, bytes) = (count(skipped.range.start), plural(bytes, "byte"));
        lines.push(format!(
            "skipped {bytes} at offset {start}: {}",
            skipped.reason
        ));
    }
    if damage.skipped_bytes > listed_bytes {
        let bytes = plural(damage.skipped_bytes - listed_bytes, "more byte");
        lines.push(format!("skipped {bytes}"));
    }
    let malformed_segments = summary.counters.value(Counter::MalformedSegments);
    if malformed_segments > 0 {
        let meaning = Counter::MalformedSegments.meaning();
        lines.push(format!("{meaning}: {}", count(malformed_segments)));
    }
    lines
}

/// Returns a line for each loss of a trace, although all of it could be read.
fn losses(summary: &TraceSummary) -> Vec<String> {
    let mut losses = Vec::new();
    let lost = summary.lost_events();
    if lost > 0 {
        losses.push(format!("events dropped by the tracer: {}", count(lost)));
    }
    for (counter, value) in summary.counters.iter() {
        let told_otherwise = matches!(
            counter,
            Counter::LostNumbers | Counter::GapsSkipped | Counter::MalformedSegments
        );
        if value > 0 && counter.severity() != Severity::Normal && !told_otherwise {
            losses.push(format!("{}: {}", counter.meaning(), count(value)));
        }
    }
    losses
}

/// Returns the reason why a trace ends before the JVM did, in words.
fn early_end(reason: EndReason) -> String {
    let why = match reason {
        EndReason::Copied => {
            return "this is a copy of the beginning, made while tracing went on".to_owned();
        }
        EndReason::WriteError { error } => {
            let text = io::Error::from_raw_os_error(error.cast_signed()).to_string();
            let words = text.split_once(" (os error").map(|(words, _)| words);
            format!("the trace could not be written: {}", words.unwrap_or(&text))
        }
        EndReason::MemoryShort => "memory was short".to_owned(),
        EndReason::Orderly | EndReason::Other { .. } => "for another reason".to_owned(),
    };
    format!("tracing ended before the JVM did: {why}")
}
