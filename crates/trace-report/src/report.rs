//! What there is to show.

use trace_analysis::{
    Aspect, Counter, Entities, RowLimits, Rows, Totals, TraceSummary, WaitKind, WaitTally,
};

use crate::kinds::Kinds;
use crate::owners::OwnersRecord;
use crate::sums::ReportSums;

/// Which rows a form of reports shows if nobody says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// What a person reads: the ten most important rows beside each other.
    ForPeople,
    /// Everything.
    Whole,
}

impl Form {
    /// The rows to show: at most `top` beside each other (0 for all), with at least
    /// `min_percent` of the time.
    pub fn limits(self, top: Option<usize>, min_percent: Option<f64>) -> RowLimits {
        const ROWS: usize = 10;
        self.limits_of(ROWS, top, min_percent)
    }

    /// The same of what nobody asked for.
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
    /// What the user asked for.
    pub(crate) main: Part,
    /// Conditional waiting, if the user did not say what to show, and threads waited
    /// longer for that than for locks: then it hides the bottleneck to leave it out.
    pub(crate) conditional: Option<Part>,
    /// What owners did, if that was asked for.
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
    /// What they consist of.
    pub rows: Rows,
}

impl<'a> Report<'a> {
    /// A report of `sums` by `aspects`, with rows within `limits`, and of what nobody asked for
    /// within `limits_beside`.
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
        let conditional = sums.conditional.as_ref().map(|conditional| Part {
            kinds: Kinds::only(WaitKind::Conditional),
            totals: conditional.aggregation.totals(),
            rows: conditional.aggregation.rows(limits_beside, entities),
        });
        Self {
            summaries,
            aspects,
            waits,
            conditional: conditional
                .filter(|part| part.totals.all.duration_ns > main.totals.all.duration_ns),
            main,
            owners: OwnersRecord::new(summaries),
            entities,
        }
    }

    /// The aspects by which waits are told apart, outermost first.
    pub fn aspects(&self) -> &'a [Aspect] {
        self.aspects
    }

    /// What was asked for.
    pub fn main(&self) -> &Part {
        &self.main
    }

    /// What rows refer to.
    pub fn entities(&self) -> &'a Entities {
        self.entities
    }

    /// Leaves out what is below the first two aspects, and below the first all but the most
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

    /// How often threads acquired a lock without waiting while others waited for it.
    pub(crate) fn barging_holds(&self) -> u64 {
        let summaries = self.summaries.iter();
        summaries
            .map(|summary| summary.counters.value(Counter::BargingHolds))
            .fold(0, u64::saturating_add)
    }

    /// Durations of all traces together, of which a part may be considered, in nanoseconds.
    pub(crate) fn duration_ns(&self) -> u64 {
        self.summaries
            .iter()
            .map(|summary| summary.range.duration_ns(summary.duration_ns))
            .fold(0, u64::saturating_add)
    }
}
