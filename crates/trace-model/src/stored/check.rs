//! Checks a stored model: every reference is valid, and no sum overflows.

use trace_analysis::histogram::bucket;
use trace_analysis::{Mechanism, WaitKind};

use super::format::{BadStoredModel, StoredLabel, StoredModel};
use crate::dimension::LabelIndex;
use crate::folded::{FoldedTable, FoldedWaits};
use crate::limits::Limits;
use crate::model::Trace;
use crate::store::WaitRow;
use crate::tables::OwnerIndex;
use crate::time_axis::MAX_NS;

/// Fails with the name of what is wrong unless `is_so`.
fn ensure(is_so: bool, what: &'static str) -> Result<(), BadStoredModel> {
    if is_so {
        Ok(())
    } else {
        Err(BadStoredModel(what))
    }
}

impl StoredModel {
    pub(super) fn check(&self, limits: &Limits) -> Result<(), BadStoredModel> {
        ensure(self.are_traces(), "traces")?;
        ensure(self.are_labels(), "names")?;
        ensure(self.are_tables(), "waiters")?;
        ensure(self.are_waits(limits), "waits")?;
        let folded = &self.folded;
        ensure(folded.has_buckets(), "times")?;
        ensure(
            self.is_table(&folded.whole) && self.is_table(&folded.by_time),
            "sums",
        )
    }

    fn are_traces(&self) -> bool {
        let mut traces = self.traces.iter();
        let fits = traces.all(|trace| trace.offset_ns <= MAX_NS && trace.duration_ns <= MAX_NS);
        fits && self.traces.len() <= usize::from(u16::MAX)
    }

    /// Returns where the time axis ends, in nanoseconds: everything lies before.
    fn end_ns(&self) -> u64 {
        self.traces.iter().map(Trace::end_ns).max().unwrap_or(0)
    }

    fn has_trace(&self, position: u16) -> bool {
        usize::from(position) < self.traces.len()
    }

    /// Returns whether the first label is the folded one, and each trace has one at most.
    fn are_labels(&self) -> bool {
        let Some((&StoredLabel::Folded, rest)) = self.labels.split_first() else {
            return false;
        };
        let mut known = vec![false; self.traces.len()];
        let mut named = 0;
        for &label in rest {
            match label {
                StoredLabel::Folded => return false,
                StoredLabel::Named => named += 1,
                StoredLabel::Trace(position) => match known.get_mut(usize::from(position)) {
                    Some(known) if !*known => *known = true,
                    _ => return false,
                },
            }
        }
        named == self.names.labels.len() && self.names.fit()
    }

    fn has_label(&self, label: LabelIndex) -> bool {
        (label.0 as usize) < self.labels.len()
    }

    fn are_tables(&self) -> bool {
        let waiters = self.waiters.iter().all(|waiter| {
            usize::from(waiter.mechanism) < Mechanism::ALL.len()
                && usize::from(waiter.kind) < WaitKind::ALL.len()
                && self.has_trace(waiter.trace)
                && waiter.labels.iter().all(|&label| self.has_label(label))
        });
        let mut owners = self.owners.iter().flatten();
        waiters && owners.all(|&label| self.has_label(label))
    }

    fn has_owner(&self, owner: OwnerIndex) -> bool {
        (owner.0 as usize) < self.owners.len()
    }

    fn are_waits(&self, limits: &Limits) -> bool {
        let end_ns = self.end_ns();
        let parts = self.parts.as_ref().map_or(0, Vec::len);
        self.waits.len() <= limits.waits
            && self.shares.len() <= limits.shares
            && parts <= limits.parts
            && (self.parts.is_none() || self.folded.is_empty())
            && self.waits.iter().all(|wait| self.is_wait(wait, end_ns))
    }

    fn is_wait(&self, wait: &WaitRow, end_ns: u64) -> bool {
        let Some(shares) = range(&self.shares, wait.first_share, wait.share_count) else {
            return false;
        };
        let shares_fit = add_up(
            shares.iter().map(|share| share.duration_ns),
            wait.duration_ns,
        ) && shares.iter().all(|share| self.has_owner(share.owner));
        let parts_fit = match &self.parts {
            None => true,
            Some(parts) => range(parts, wait.first_part, wait.part_count).is_some_and(|parts| {
                add_up(parts.iter().map(|part| part.duration_ns), wait.duration_ns)
                    && parts.iter().all(|part| part.share < wait.share_count)
            }),
        };
        let lies_on_axis = wait.start_ns <= end_ns && wait.duration_ns <= end_ns - wait.start_ns;
        lies_on_axis
            && wait.id <= MAX_NS
            && wait.safepoint_ns <= wait.duration_ns
            && (wait.waiter.0 as usize) < self.waiters.len()
            && shares_fit
            && parts_fit
    }

    fn is_table(&self, table: &FoldedTable) -> bool {
        let end_ns = self.end_ns();
        let fits = table.rows().all(|(waiter, time, waits)| {
            (waiter.0 as usize) < self.waiters.len()
                && self.folded.begins_by(time, end_ns)
                && self.are_folded(waits)
        });
        fits && add_up(table.rows().map(|(_, _, waits)| waits.waits), MAX_NS)
    }

    fn are_folded(&self, waits: &FoldedWaits) -> bool {
        let histogram = &waits.histogram;
        let shares = &waits.shares;
        waits.waits > 0
            && histogram.is_sorted_by(|one, next| one.0 < next.0)
            && histogram.iter().all(|&(at, _)| at <= bucket(MAX_NS))
            && add_up(histogram.iter().map(|&(_, count)| count), waits.waits)
            && shares.is_sorted_by(|one, next| one.owner < next.owner)
            && shares.iter().all(|share| self.has_owner(share.owner))
            && add_up(shares.iter().map(|share| share.waits), MAX_NS)
            && add_up(
                shares.iter().map(|share| share.duration_ns),
                waits.duration_ns,
            )
    }
}

/// Returns `count` elements from `first` on, if there are that many.
fn range<T>(all: &[T], first: u32, count: u32) -> Option<&[T]> {
    let first = first as usize;
    all.get(first..first.checked_add(count as usize)?)
}

/// Returns whether the numbers add up to at most `most`.
fn add_up(mut numbers: impl Iterator<Item = u64>, most: u64) -> bool {
    let sum = numbers.try_fold(0, u64::checked_add);
    sum.is_some_and(|sum| sum <= most)
}
