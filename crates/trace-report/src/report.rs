//! The contents of a report.

use trace_analysis::{
    Aspect, Counter, Entities, RowLimits, Rows, Totals, TraceSummary, WaitKind, WaitTally,
};

use crate::kinds::Kinds;
use crate::owners::OwnersRecord;
use crate::sums::ReportSums;

/// The default rows of a form of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For people: the ten most important rows of each level.
    ForPeople,
    /// Everything.
    Whole,
}

impl Form {
    /// Returns the rows to show: at most `top` of each level (0 for all), with at least
    /// `min_percent` of the time.
    pub fn limits(self, top: Option<usize>, min_percent: Option<f64>) -> RowLimits {
        const ROWS: usize = 10;
        self.limits_of(ROWS, top, min_percent)
    }

    /// Returns the same for the part that nobody asked for.
    pub fn limits_beside(self, top: Option<usize>, min_percent: Option<f64>) -> RowLimits {
        const ROWS: usize = 3;
        self.limits_of(ROWS, top, min_percent)
    }

    fn limits_of(self, rows: usize, top: Option<usize>, min_percent: Option<f64>) -> RowLimits {
        const MIN_PERCENT: f64 = 0.1;
        let (rows, percent) = match self {
            Form::ForPeople => (rows, MIN_PERCENT),
            Form::Whole => (0, 0.0),
        };
        RowLimits {
            top: Some(top.unwrap_or(rows)).filter(|&top| top > 0),
            min_share: min_percent.unwrap_or(percent) / 100.0,
            unless_all_are_small: min_percent.is_none(),
        }
    }
}

/// A report about one or more traces.
#[derive(Debug)]
pub struct Report<'a> {
    pub(crate) summaries: &'a [TraceSummary],
    pub(crate) aspects: &'a [Aspect],
    /// The waits of all kinds.
    pub(crate) waits: WaitTally,
    /// The part that the user asked for.
    pub(crate) main: Part,
    /// Conditional waiting, if the user did not say what to show, and threads waited longer for it
    /// than for locks: leaving it out would hide the bottleneck.
    pub(crate) conditional: Option<Part>,
    /// Activity of owners, if asked for.
    pub(crate) owners: Option<OwnersRecord>,
    pub(crate) entities: &'a Entities,
}

/// The waits of some kinds.
#[derive(Debug)]
pub struct Part {
    /// The kinds.
    pub kinds: Kinds,
    /// The sums over all of them.
    pub totals: Totals,
    /// The rows.
    pub rows: Rows,
}

impl<'a> Report<'a> {
    /// Creates a report of `sums` by `aspects`, with rows within `limits`, and of the part that
    /// nobody asked for within `limits_beside`.
    pub fn new(
        sums: &ReportSums,
        aspects: &'a [Aspect],
        limits: RowLimits,
        limits_beside: RowLimits,
        summaries: &'a [TraceSummary],
        entities: &'a Entities,
    ) -> Self {
        let mut waits = WaitTally::default();
        for summary in summaries {
            waits.merge(&summary.waits);
        }
        let main = Part {
            kinds: sums.kinds.clone(),
            totals: sums.aggregation.totals(),
            rows: sums.aggregation.rows(limits, entities),
        };
        let contention_ns = main.totals.all.duration_ns;
        let conditional = sums.conditional.as_ref();
        let conditional = conditional.filter(|conditional| conditional.ended_ns > contention_ns);
        let conditional = conditional.map(|conditional| Part {
            kinds: Kinds::only(WaitKind::Conditional),
            totals: conditional.aggregation.totals(),
            rows: conditional.aggregation.rows(limits_beside, entities),
        });
        Self {
            summaries,
            aspects,
            waits,
            conditional,
            main,
            owners: OwnersRecord::new(summaries),
            entities,
        }
    }

    /// Returns the aspects of the rows, outermost first.
    pub fn aspects(&self) -> &'a [Aspect] {
        self.aspects
    }

    /// Returns the part that was asked for.
    pub fn main(&self) -> &Part {
        &self.main
    }

    /// Returns the entities that rows refer to.
    pub fn entities(&self) -> &'a Entities {
        self.entities
    }

    /// Leaves out the rows below the first two aspects, and below the first aspect all but the most
    /// important row.
    pub(crate) fn with_first_owners(mut self) -> Self {
        let below = self.aspects.len().min(2);
        self.aspects = &self.aspects[..below];
        for row in &mut self.main.rows.rows {
            row.children.rows.truncate(1);
            row.children.omitted = 0;
            for owner in &mut row.children.rows {
                owner.children = Rows::default();
            }
        }
        self.conditional = None;
        self
    }

    /// Returns how often threads acquired a lock without waiting while others waited for it.
    pub(crate) fn barging_holds(&self) -> u64 {
        let summaries = self.summaries.iter();
        summaries
            .map(|summary| summary.counters.value(Counter::BargingHolds))
            .fold(0, u64::saturating_add)
    }

    /// Returns the duration of all traces together, of which a part may be considered, in
    /// nanoseconds.
    pub(crate) fn duration_ns(&self) -> u64 {
        self.summaries
            .iter()
            .map(|summary| summary.range.duration_ns(summary.duration_ns))
            .fold(0, u64::saturating_add)
    }
}
