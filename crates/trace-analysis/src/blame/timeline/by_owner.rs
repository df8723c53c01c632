//! Divides a long wait by differences of prefix sums, one per owner.
//!
//! [`PrefixSums`] holds, for each owner, the total time it held the lock up to each of its
//! intervals, and a list of the owners, the most recent first. The time of an owner in a wait is a
//! difference of two sums, and the owners in the wait come first in the list. Sums are released
//! with their intervals, when no waiting thread has seen these, or as soon as an interval is
//! corrected.

use std::ops::Range;

use crate::blame::timeline::interval::{Access, Interval, LOST, View};
use crate::blame::timeline::owner_timeline::{MAX_DISORDER, Timeline};
use crate::blame::timeline::prefix_sums::PrefixSums;
use crate::blame::timeline::splitter::{Cutter, Shares};
use crate::model::detail::Detail;
use crate::model::packed_owner::PackedOwner;

impl<I: Interval> Timeline<I> {
    /// Adds up a wait of any length.
    pub(super) fn blame_by_sums(
        &mut self,
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        settled: u64,
        detail: Detail,
        shares: &mut Shares<'_>,
    ) {
        let mut prefix_sums = self.take_prefix_sums(wait.access, settled, detail);
        let (position, cutter) = self.add_up(&mut prefix_sums, wait, shares);
        self.share_from(position, wait, cutter, shares);
        // Dividing a wait changes no prefix sum.
        prefix_sums.forget_before(self.start);
        self.prefix_sums[wait.access as usize] = Some(prefix_sums);
    }

    /// Adds all settled intervals to the prefix sums, and returns them.
    fn take_prefix_sums(
        &mut self,
        access: Access,
        settled: u64,
        detail: Detail,
    ) -> Box<PrefixSums> {
        let known = self.prefix_sums[access as usize].take();
        let mut prefix_sums =
            known.unwrap_or_else(|| Box::new(PrefixSums::new(detail, self.start, I::HAS_OWN)));
        let missing = prefix_sums.marks.end()..settled.min(self.end());
        for position in missing {
            let interval = &self.intervals[(position - self.start) as usize];
            prefix_sums.push(
                interval.end_ns(),
                interval.owner(access),
                interval.goes_on(),
            );
        }
        prefix_sums
    }

    /// Divides a wait as far as the prefix sums reach: by differences, wherever the wait is cut at
    /// the same places as the sums. Returns the position after that, and the rest of the wait.
    ///
    /// The ends of summed intervals are in order, and so are those of a wait, once one of them is
    /// later than all before it.
    fn add_up(
        &self,
        prefix_sums: &mut PrefixSums,
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        shares: &mut Shares<'_>,
    ) -> (u64, Cutter) {
        let lost = self.lost(wait.start);
        let mut cutter = Cutter::new(wait.start.time_ns, wait.end_ns);
        let mut position = wait.start.position.max(self.start);
        // The parts end where the summed intervals do, and have the same owner.
        let (mut in_time, mut in_step) = (false, false);
        let mut disorder = 0;
        while position < prefix_sums.marks.end() && !cutter.is_done() {
            if !in_time && disorder == MAX_DISORDER {
                cutter.goes_on = false;
            }
            if in_time || prefix_sums.marks.before_ns(position) <= cutter.at_ns && !cutter.goes_on {
                let next = prefix_sums
                    .first_beyond(position, cutter.at_ns)
                    .max(position);
                if in_time && next > position {
                    cutter.goes_on = prefix_sums.marks.at(next - 1).goes_on;
                }
                position = next;
            }
            let until = prefix_sums
                .first_reaching(cutter.end_ns)
                .min(prefix_sums.marks.end());
            if in_time && position < until {
                let end =
                    self.same_until(position, until, prefix_sums, wait, &lost, in_step, &cutter);
                if end > position {
                    let mark = *prefix_sums.marks.at(end - 1);
                    if lost.contains(&position) {
                        let duration_ns = mark.until_ns - cutter.at_ns;
                        let runs = mark.runs - prefix_sums.runs_before(position);
                        shares.add_parts(LOST, duration_ns, runs);
                        if let Some(spans) = &mut shares.spans {
                            spans.add_part(LOST.get(), (cutter.at_ns, mark.until_ns), false);
                        }
                        in_step = false;
                    } else {
                        prefix_sums.add(position, end, shares);
                        if shares.spans.is_some() {
                            prefix_sums.marks.cover(position, end);
                        }
                        if mark.last >= position {
                            cutter.last = Some(self.at(mark.last).owner(wait.access));
                        }
                    }
                    cutter.at_ns = mark.until_ns;
                    cutter.goes_on = mark.goes_on;
                    position = end;
                    continue;
                }
            }
            if position >= prefix_sums.marks.end() {
                break;
            }
            let interval = self.at(position);
            let mark = prefix_sums.marks.at(position);
            let until_ns = if in_time || disorder == MAX_DISORDER {
                mark.until_ns
            } else {
                disorder += 1;
                interval.end_ns()
            };
            let owner = wait.owner(&lost, position, interval);
            let duration_ns = cutter.cut(until_ns, || owner, interval.goes_on(), shares);
            if duration_ns > 0 {
                let is_latest = mark.until_ns > prefix_sums.marks.before_ns(position);
                in_time |= is_latest && cutter.at_ns == mark.until_ns;
                in_step = in_time && owner == interval.owner(wait.access);
            }
            position += 1;
        }
        (position, cutter)
    }

    /// Returns the position up to which the prefix sums match the parts of the wait, from
    /// `position` on and not beyond `until`.
    #[expect(clippy::too_many_arguments, reason = "the state of one loop")]
    fn same_until(
        &self,
        position: u64,
        until: u64,
        prefix_sums: &PrefixSums,
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        lost: &Range<u64>,
        in_step: bool,
        cutter: &Cutter,
    ) -> u64 {
        if lost.contains(&position) {
            return if cutter.last == Some(LOST) {
                until.min(lost.end)
            } else {
                position
            };
        }
        if !in_step {
            return position;
        }
        let before_lost = if position < lost.start && !lost.is_empty() {
            lost.start
        } else {
            u64::MAX
        };
        let own = wait.own.and_then(|own| prefix_sums.next_own(own, position));
        until.min(before_lost).min(own.unwrap_or(u64::MAX))
    }
}
