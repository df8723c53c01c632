//! Where the stages of the analysis of parked threads pass waits on to.

use crate::blame::timeline::hold_range::HoldRanges;
use crate::blame::timeline::hold_spans::HoldSpans;
use crate::model::counter::Counters;
use crate::model::entity::Entities;
use crate::model::time_range::TimeRange;
use crate::model::wait::{Detail, Wait};

/// Where waits that have ended go, and what all stages need.
pub(crate) struct Sink<'a> {
    pub(crate) entities: &'a Entities,
    /// What is asked for about owners.
    pub(crate) detail: Detail,
    /// The time considered.
    pub(crate) range: TimeRange,
    pub(crate) counters: &'a mut Counters,
    /// Gets when owners had locks that threads waited for.
    pub(crate) spans: &'a mut HoldSpans,
    /// To describe a wait in; kept to reuse its memory.
    pub(crate) wait: &'a mut Wait,
    /// Takes a wait that has ended.
    pub(crate) on_wait: &'a mut dyn FnMut(&mut Wait, &mut HoldRanges, &mut Counters),
}

impl Sink<'_> {
    /// Passes on the wait described.
    pub(crate) fn pass_on(&mut self) {
        (self.on_wait)(self.wait, &mut self.spans.shared, self.counters);
    }
}
