//! What is missing from a trace, in words.

use std::path::Path;

use trace_analysis::{Counter, Severity, TraceSummary};
use trace_format::Damage;

use crate::Outcome;
use crate::human::{count, plural};
use crate::output;

/// What could not be read of a trace.
pub(crate) struct UnreadParts<'a> {
    pub(crate) damage: &'a Damage,
    pub(crate) malformed_segments: u64,
}

impl<'a> UnreadParts<'a> {
    pub(crate) fn of(summary: &'a TraceSummary) -> Self {
        let malformed_segments = summary.counters.value(Counter::MalformedSegments);
        Self {
            damage: &summary.damage,
            malformed_segments,
        }
    }

    /// Everything could be read.
    pub(crate) fn is_empty(&self) -> bool {
        self.damage.is_none() && self.malformed_segments == 0
    }

    /// One line for each reason.
    pub(crate) fn lines(&self) -> Vec<String> {
        let damage = self.damage;
        let mut lines = Vec::new();
        if !damage.end_seen {
            let why = "the JVM was killed, is still running, or the file was cut off";
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
        if self.malformed_segments > 0 {
            let meaning = Counter::MalformedSegments.meaning();
            lines.push(format!("{meaning}: {}", count(self.malformed_segments)));
        }
        lines
    }

    /// Says so on standard error.
    pub(crate) fn complain(&self, path: &Path) {
        for line in self.lines() {
            output::complain(&format_args!("{}: {line}", path.display()));
        }
    }
}

/// Says on standard error what could not be read of each trace.
pub(crate) fn complain(summaries: &[TraceSummary]) -> Outcome {
    let mut outcome = Outcome::Complete;
    for summary in summaries {
        let unread = UnreadParts::of(summary);
        if !unread.is_empty() {
            unread.complain(summary.file.path());
            outcome = Outcome::Partial;
        }
    }
    outcome
}

/// What a trace lacks although all of it could be read, one line for each
/// reason.
pub(crate) fn losses(summary: &TraceSummary) -> Vec<String> {
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
