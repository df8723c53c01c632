//! Divides a wait during which the lock was held by one code, or free, by two differences.
//!
//! [`CodePrefixSums`] has a mark for each settled interval: the total time so far in which the lock
//! was free, and the number of code changes. Between two marks with the same number of changes
//! there is one code, to which all time belongs in which the lock was not free. A mark is released
//! with its interval, when no waiting thread has seen it.

use crate::blame::timeline::code_prefix_sums::CodePrefixSums;
use crate::blame::timeline::interval::{Interval, View};
use crate::blame::timeline::owner_timeline::{BY_CODE, FEW_BY_CODE, Timeline};
use crate::blame::timeline::splitter::{Cutter, Parts, Shares};
use crate::model::packed_owner::PackedOwner;

impl<I: Interval> Timeline<I> {
    /// Adds up a wait during which the lock was held by one code, or free, except perhaps at its
    /// begin and end. Returns `false`, and adds nothing, if there was other code.
    pub(super) fn blame_one(
        &mut self,
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        settled: u64,
        shares: &mut Shares<'_>,
    ) -> bool {
        let end = settled.min(self.end());
        let first = wait.start.position.max(self.start);
        if end.saturating_sub(first) < FEW_BY_CODE || self.may_be_two_waits(wait.start) {
            return false;
        }
        let mut code_prefix_sums = self.take_code_prefix_sums(end);
        let is_one = self.add_by_code((first, end), wait, &mut code_prefix_sums, shares);
        self.code_prefix_sums = Some(code_prefix_sums);
        is_one
    }

    /// Does the same by the prefix sums, for the intervals from `first` to before `end`.
    #[inline]
    fn add_by_code(
        &mut self,
        (mut first, end): (u64, u64),
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        code_prefix_sums: &mut CodePrefixSums,
        shares: &mut Shares<'_>,
    ) -> bool {
        let (start_ns, end_ns) = (wait.start.time_ns, wait.end_ns);
        // The first part may have another owner.
        while self.at(first).end_ns() <= start_ns {
            first += 1;
            if first == end {
                return false;
            }
        }
        let interval = self.at(first);
        let (first_ns, owner) = (interval.end_ns(), (wait.owner_of)(first, interval));
        let goes_on = interval.goes_on();
        let is_in_step = first_ns == code_prefix_sums.marks.at(first).until_ns
            && first_ns > code_prefix_sums.marks.before_ns(first)
            && (owner == interval.owner(BY_CODE) || !goes_on);
        let last = code_prefix_sums.last_until(end_ns);
        let Some(last) = last.filter(|&last| is_in_step && last > first) else {
            return false;
        };
        if !code_prefix_sums.is_one(first, last) {
            return false;
        }
        shares.add(start_ns, first_ns - start_ns, owner, false);
        code_prefix_sums.add(first, last, shares);
        let mark = *code_prefix_sums.marks.at(last);
        if shares.spans.is_some() {
            code_prefix_sums.marks.cover(first + 1, last + 1);
        }
        let mut cutter = Cutter::new(mark.until_ns, end_ns);
        cutter.goes_on = mark.goes_on;
        cutter.last = Some(mark.last);
        if last + 1 == self.end() {
            cutter.finish(wait.rest, shares);
        } else {
            self.split_from(last + 1, wait, cutter, shares);
        }
        true
    }

    /// Adds all intervals before `end` to the prefix sums, and returns them.
    #[inline]
    fn take_code_prefix_sums(&mut self, end: u64) -> Box<CodePrefixSums> {
        let start = self.start;
        let code_prefix_sums = self.code_prefix_sums.take();
        let mut code_prefix_sums =
            code_prefix_sums.unwrap_or_else(|| Box::new(CodePrefixSums::new(start)));
        for position in code_prefix_sums.marks.end()..end {
            let interval = &self.intervals[(position - start) as usize];
            let owner = interval.owner(BY_CODE);
            let (end_ns, goes_on) = (interval.end_ns(), interval.goes_on());
            code_prefix_sums.push(end_ns, owner, goes_on, interval.is_gap());
        }
        code_prefix_sums
    }
}
