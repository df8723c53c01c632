//! Divides a wait interval by interval: the fastest way for a short wait, and the only one that
//! gives the parts themselves.

use crate::blame::timeline::interval::{Interval, View};
use crate::blame::timeline::owner_timeline::Timeline;
use crate::blame::timeline::splitter::{Cutter, Part, Parts, Shares};
use crate::model::packed_owner::PackedOwner;

impl<I: Interval> Timeline<I> {
    /// Adds up the rest of a wait from a position on.
    pub(super) fn share_from(
        &self,
        position: u64,
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        cutter: Cutter,
        shares: &mut Shares<'_>,
    ) {
        if shares.spans.is_some() || !self.lost(wait.start).is_empty() {
            return self.split_from(position, wait, cutter, shares);
        }
        let mut sum = RunningSum::new(cutter);
        for (first, intervals) in self.seen_from(position) {
            sum.add_each(first, intervals, &wait.owner_of, shares);
        }
        sum.finish(wait.rest, shares);
    }

    /// Divides a wait into its parts, at each boundary.
    pub(super) fn split(
        &self,
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        parts: &mut impl Parts,
    ) {
        let cutter = Cutter::new(wait.start.time_ns, wait.end_ns);
        self.split_from(wait.start.position, wait, cutter, parts);
    }

    /// Divides the rest of a wait from a position on.
    pub(super) fn split_from(
        &self,
        position: u64,
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        mut cutter: Cutter,
        parts: &mut impl Parts,
    ) {
        let lost = self.lost(wait.start);
        for (first, intervals) in self.seen_from(position) {
            cutter = match lost.is_empty() {
                true => split_each(cutter, first, intervals, &wait.owner_of, parts),
                false => {
                    let owner_of = |position, interval: &I| wait.owner(&lost, position, interval);
                    split_each(cutter, first, intervals, &owner_of, parts)
                }
            };
        }
        cutter.finish(wait.rest, parts);
    }
}

/// Divides the rest of a wait at the ends of these intervals, the first of which is at `position`.
/// Returns the remaining rest.
#[inline]
fn split_each<I: Interval>(
    mut cutter: Cutter,
    first: u64,
    intervals: &[I],
    owner_of: &impl Fn(u64, &I) -> PackedOwner,
    parts: &mut impl Parts,
) -> Cutter {
    for (position, interval) in (first..).zip(intervals) {
        if cutter.is_done() {
            break;
        }
        let owner = || owner_of(position, interval);
        cutter.cut(interval.end_ns(), owner, interval.goes_on(), parts);
    }
    cutter
}

/// A wait being divided for its sums only: consecutive parts of the same owner are added up first.
struct RunningSum {
    cutter: Cutter,
    /// The owner of the last part, and its time not added yet.
    owner: PackedOwner,
    part: Part,
}

impl RunningSum {
    fn new(cutter: Cutter) -> Self {
        Self {
            cutter,
            owner: cutter.last.unwrap_or(PackedOwner::NONE),
            part: Part::default(),
        }
    }

    /// Does the same as [`split_each`].
    #[inline(always)]
    fn add_each<I: Interval>(
        &mut self,
        first: u64,
        intervals: &[I],
        owner_of: &impl Fn(u64, &I) -> PackedOwner,
        shares: &mut Shares<'_>,
    ) {
        let Cutter {
            mut at_ns,
            end_ns,
            mut goes_on,
            ..
        } = self.cutter;
        let (mut owner, mut part) = (self.owner, self.part);
        for (position, interval) in (first..).zip(intervals) {
            if at_ns >= end_ns {
                break;
            }
            let until_ns = interval.end_ns().min(end_ns);
            if until_ns <= at_ns {
                goes_on &= interval.goes_on();
                continue;
            }
            let next = owner_of(position, interval);
            if next != owner {
                shares.add_part(owner, part);
                (owner, part, goes_on) = (next, Part::default(), false);
            }
            part.duration_ns += until_ns - at_ns;
            part.contentions += u64::from(!goes_on);
            goes_on = interval.goes_on();
            at_ns = until_ns;
        }
        (self.owner, self.part) = (owner, part);
        (self.cutter.at_ns, self.cutter.goes_on) = (at_ns, goes_on);
    }

    /// Ends the wait with `owner` since the last boundary.
    fn finish(self, owner: PackedOwner, shares: &mut Shares<'_>) {
        shares.add_part(self.owner, self.part);
        let is_first = self.owner == PackedOwner::NONE;
        if !self.cutter.is_done() || is_first {
            let duration_ns = self.cutter.end_ns.saturating_sub(self.cutter.at_ns);
            shares.add_parts(owner, duration_ns, 1);
        }
    }
}
