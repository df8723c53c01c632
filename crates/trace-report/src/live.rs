//! Reports of a trace that is analyzed while it is recorded, within limited memory.

use trace_analysis::{
    Aggregation, Detail, Entities, TimeRange, TraceSummary, Wait, WaitKind, WaitSink, WaitTally,
};

use crate::kinds::Kinds;
use crate::question::{Format, Question};
use crate::recent::RecentWaits;
use crate::report::{Form, Report};
use crate::style;
use crate::sums::ReportSums;

/// Sums over all waits by the [default](crate::DEFAULT_BY) aspects, and the last waits one by one,
/// for other questions.
#[derive(Debug)]
pub struct LiveSums {
    all: ReportSums,
    recent: RecentWaits,
}

impl LiveSums {
    /// The detail that an analysis has to find.
    pub const DETAIL: Detail = Detail::OWNERS;

    /// Creates sums that take at most `bytes` of memory.
    pub fn within(bytes: usize) -> Self {
        // Conditional waiting has sums of its own.
        let sums_bytes = bytes / 4;
        let kinds = Kinds::only(WaitKind::Contention);
        let by = Question::default().aspects();
        let aggregation = Aggregation::new(by).within(sums_bytes);
        Self {
            all: ReportSums::new(kinds, aggregation).with_conditional(),
            recent: RecentWaits::within(bytes - 2 * sums_bytes),
        }
    }

    /// Answers a question about the trace that `summary` describes. Where the question is not about
    /// all waits, the answer covers the last ones, as far back as they are kept, and says so.
    pub fn answer(
        &self,
        question: &Question,
        summary: TraceSummary,
        entities: &Entities,
    ) -> String {
        let aspects = question.aspects();
        let mut summaries = [summary];
        let found;
        let sums = if question.is_about_all() {
            &self.all
        } else {
            found = self.of_recent(question, &mut summaries[0], entities);
            &found
        };
        let form = match question.format {
            Format::Text => Form::ForPeople,
            Format::Json => Form::Whole,
        };
        let limits = form.limits(question.top, None);
        let limits_beside = form.limits_beside(question.top, None);
        let report = Report::new(sums, &aspects, limits, limits_beside, &summaries, entities);
        match question.format {
            Format::Text => style::plain(&report.text(None, false)),
            Format::Json => {
                let mut json = Vec::new();
                // Writing to memory does not fail, and JSON is text.
                let _ = report.write_json(&mut json);
                String::from_utf8(json).unwrap_or_default()
            }
        }
    }

    /// Returns the most important parts of the report, in at most `lines` lines: deadlocks, sums,
    /// and the locks that threads were blocked on longest, each with the owner most to blame.
    pub fn first_lines(&self, lines: usize, summary: TraceSummary, entities: &Entities) -> String {
        const LOCKS: usize = 3;
        const LEFT_OUT: [&str; 5] = ["Trace ", "JVM ", "Groups ", "Free ", "Safepoints "];
        let aspects = Question::default().aspects();
        let limits = Form::ForPeople.limits(Some(LOCKS), None);
        let summaries = [summary];
        let report = Report::new(&self.all, &aspects, limits, limits, &summaries, entities);
        let text = style::plain(&report.with_first_owners().text(None, false));
        let is_wanted =
            |line: &&str| !line.is_empty() && !LEFT_OUT.iter().any(|name| line.starts_with(name));
        let mut first: Vec<_> = text.lines().filter(is_wanted).take(lines).collect();
        first.push("");
        first.join("\n")
    }

    /// Returns sums over the selected of the last waits.
    fn of_recent(
        &self,
        question: &Question,
        summary: &mut TraceSummary,
        entities: &Entities,
    ) -> ReportSums {
        let forgotten_ns = self.recent.forgotten_until_ns().unwrap_or(0);
        let from = question.from;
        let from_ns = from.map_or(0, |from| from.at_ns(summary.duration_ns));
        let from_ns = from_ns.max(forgotten_ns);
        let kinds = question.kinds.clone();
        let shows_more = kinds.is_none() && question.format == Format::Text;
        let kinds = kinds.unwrap_or(Kinds::only(WaitKind::Contention));
        let mut sums = ReportSums::new(kinds, Aggregation::new(question.aspects()));
        if shows_more {
            sums = sums.with_conditional();
        }
        let mut waits = WaitTally::default();
        let mut sink = |wait: &Wait, entities: &Entities| {
            waits.add(wait);
            sums.wait(wait, entities);
        };
        self.recent.pass_to(&mut sink, from_ns, entities);
        summary.waits = waits;
        summary.range = TimeRange {
            from_ns,
            ..TimeRange::default()
        };
        sums
    }
}

impl WaitSink for LiveSums {
    fn wait(&mut self, wait: &Wait, entities: &Entities) {
        self.all.wait(wait, entities);
        self.recent.wait(wait, entities);
    }
}
