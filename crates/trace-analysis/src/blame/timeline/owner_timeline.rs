//! The owners of a lock over time, as far back as a waiting thread has seen them.

use std::collections::VecDeque;
use std::ops::Range;

use crate::blame::timeline::barging::Barging;
use crate::blame::timeline::code_prefix_sums::CodePrefixSums;
use crate::blame::timeline::hold_chunks::HoldChunks;
use crate::blame::timeline::hold_spans::HoldSpans;
use crate::blame::timeline::interval::{Access, Interval, Start, View};
use crate::blame::timeline::prefix_sums::PrefixSums;
use crate::blame::timeline::splitter::{Cutter, Shares, add_contentions};
use crate::collections::shrink::shrink_queue;
use crate::model::detail::{BlameBy, Detail};
use crate::model::packed_owner::PackedOwner;
use crate::model::wait::Wait;

/// The intervals shared by the threads that wait for one lock.
///
/// One list for all, because *n* waiting threads see the same owners: an exit costs the same
/// however many threads wait.
#[derive(Debug)]
pub(crate) struct Timeline<I> {
    /// Position of the first interval kept, counted since the lock's beginning.
    pub(super) start: u64,
    pub(super) intervals: VecDeque<I>,
    /// Number of events lost so far by unknown threads.
    numbers_lost: u64,
    /// Position of the last interval in which a wait may have begun that seems to have begun before
    /// the losses.
    last_doubt: u64,
    /// Positions of the intervals that are gaps.
    gaps: VecDeque<u64>,
    /// Acquisitions by threads that did not wait.
    barging: Barging,
    /// Sums over the intervals, by [`Access`]; created when a long wait needs them.
    pub(super) prefix_sums: [Option<Box<PrefixSums>>; 2],
    /// The same where owners are distinguished by their code.
    pub(super) code_prefix_sums: Option<Box<CodePrefixSums>>,
    /// The intervals shared by waits whose root owners are wanted.
    pub(super) hold_chunks: HoldChunks,
    /// Spans that waits have in common of intervals that have changed since.
    left: HoldSpans,
    /// The greatest end of the last interval, of the last two, and so on, when the trace is
    /// over.
    latest_ns: Vec<u64>,
}

/// Maximum number of intervals kept individually: a thread may starve, or its entered event may be
/// lost, and memory must stay bounded.
pub(super) const MAX_INTERVALS: usize = 1 << 18;

/// Number of intervals below which dividing at each is faster than by sums of owners.
const FEW_BY_OWNER: u64 = 32;
/// The same where the activity of owners is wanted, which makes each separate part more expensive.
const FEW_WITH_SPANS: u64 = 4;
/// The same for sums of one code, which take two differences.
pub(super) const FEW_BY_CODE: u64 = 2;
/// Number of intervals below which a wait shares none with others.
pub(super) const FEW_SHARED: u64 = 32;

/// The access used for [`CodePrefixSums`]: it makes no difference where threads have no intervals
/// of their own.
pub(super) const BY_CODE: Access = Access::Exclusive;

/// Maximum number of consecutive boundaries that may seem to precede an earlier one because of
/// clock skew; beyond that, the order of events counts.
pub(super) const MAX_DISORDER: u32 = 1 << 10;

impl<I> Default for Timeline<I> {
    fn default() -> Self {
        Self {
            start: 0,
            intervals: VecDeque::new(),
            numbers_lost: 0,
            last_doubt: 0,
            gaps: VecDeque::new(),
            barging: Barging::default(),
            prefix_sums: [None, None],
            code_prefix_sums: None,
            hold_chunks: HoldChunks::default(),
            left: HoldSpans::default(),
            latest_ns: Vec::new(),
        }
    }
}

impl<I: Interval> Timeline<I> {
    /// Returns the position of the interval that will be pushed next.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.intervals.len() as u64
    }

    /// Returns how many intervals are kept.
    pub(crate) fn len(&self) -> usize {
        self.intervals.len()
    }

    /// Returns when the last interval ended.
    pub(crate) fn last_end_ns(&self) -> Option<u64> {
        self.intervals.back().map(Interval::end_ns)
    }

    /// Makes this the timeline of another lock: no thread waits any more.
    pub(crate) fn begin_anew(&mut self) {
        debug_assert!(
            self.intervals.is_empty(),
            "a thread that waits has seen them"
        );
        *self = Self {
            intervals: std::mem::take(&mut self.intervals),
            ..Self::default()
        };
    }

    /// Returns the start of a wait that begins now.
    pub(crate) fn start_wait(&self, time_ns: u64) -> Start {
        Start {
            time_ns,
            position: self.end(),
            numbers_lost: self.numbers_lost,
        }
    }

    /// Notes that this many events of unknown threads are lost, within the interval that will be
    /// pushed next.
    pub(crate) fn lose(&mut self, numbers: u64) {
        self.numbers_lost = self.numbers_lost.saturating_add(numbers);
        self.doubt_next();
    }

    /// Notes that a wait whose begin is lost may also have begun within the interval that will be
    /// pushed next.
    pub(crate) fn doubt_next(&mut self) {
        self.last_doubt = self.end();
    }

    /// Returns whether enough events were lost since for the wait to have ended and another to have
    /// begun.
    pub(crate) fn may_be_two_waits(&self, wait: Start) -> bool {
        self.numbers_lost.saturating_sub(wait.numbers_lost) >= 2
    }

    /// Returns whether events of unknown threads were lost since: the wait may have ended.
    pub(crate) fn loses_since(&self, wait: Start) -> bool {
        self.numbers_lost > wait.numbers_lost
    }

    /// Returns the last boundary of a wait that has not ended; 0 if it has seen no boundary.
    pub(crate) fn known_until_ns(&mut self, wait: Start) -> u64 {
        if self.latest_ns.len() != self.intervals.len() {
            let ends = self.intervals.iter().rev().map(Interval::end_ns);
            let latest = ends.scan(0, |latest, end_ns| {
                *latest = end_ns.max(*latest);
                Some(*latest)
            });
            self.latest_ns = latest.collect();
        }
        let seen = self.end().saturating_sub(wait.position.max(self.start));
        let index = seen.checked_sub(1).map(|last| last as usize);
        let latest = index.and_then(|index| self.latest_ns.get(index));
        latest.copied().unwrap_or(0)
    }

    /// Notes `holds` acquisitions by threads that did not wait, within the interval that will be
    /// pushed next.
    pub(crate) fn note_barging(&mut self, time_ns: u64, holds: u64) {
        self.barging.add(self.end(), time_ns, holds);
    }

    /// Returns how often a thread that did not wait acquired the lock since a wait began, as far as
    /// boundaries show.
    pub(crate) fn barging_holds(&self, wait: Start) -> u64 {
        self.barging.since(wait)
    }

    /// Returns the same for a wait that ended before `end_ns`, as far as clocks show.
    pub(crate) fn barging_holds_until(&self, wait: Start, end_ns: u64) -> u64 {
        self.barging.until(wait, end_ns)
    }

    /// Appends an interval. Returns how many of the oldest lost their owner to keep within the
    /// bound.
    pub(crate) fn push(&mut self, interval: I) -> u64 {
        let collapsed = if self.intervals.len() == MAX_INTERVALS {
            self.collapse()
        } else {
            0
        };
        if interval.is_gap() {
            self.gaps.push_back(self.end());
        }
        self.intervals.push_back(interval);
        collapsed
    }

    /// Merges the older half of the intervals into one.
    fn collapse(&mut self) -> u64 {
        let half = self.intervals.len() / 2;
        self.forget_sums(self.start);
        let ends = self.intervals.drain(..half);
        let end_ns = ends.map(|interval| interval.end_ns()).max();
        self.intervals.push_front(I::collapsed(end_ns.unwrap_or(0)));
        self.start += half as u64 - 1;
        self.forget_positions();
        self.gaps.push_front(self.start);
        half as u64
    }

    /// Forgets the sums over the intervals from `position` on, which are about to change. The spans
    /// that waits share are kept.
    fn forget_sums(&mut self, position: u64) {
        let ends = self
            .prefix_sums
            .iter()
            .flatten()
            .map(|sums| sums.marks.end());
        let code_sums_end = self.code_prefix_sums.iter().map(|sums| sums.marks.end());
        let chunks_end = self.hold_chunks.end();
        if ends
            .chain(code_sums_end)
            .chain([chunks_end])
            .all(|end| end <= position)
        {
            return;
        }
        self.hold_chunks = HoldChunks::default();
        let mut left = std::mem::take(&mut self.left);
        if let Some(mut sums) = self
            .code_prefix_sums
            .take_if(|sums| sums.marks.end() > position)
        {
            sums.marks
                .pass_before(sums.marks.end(), self.covered(BY_CODE, &mut left));
        }
        for access in [Access::Exclusive, Access::Shared] {
            let sums = &mut self.prefix_sums[access as usize];
            if let Some(mut sums) = sums.take_if(|sums| sums.marks.end() > position) {
                sums.marks
                    .pass_before(sums.marks.end(), self.covered(access, &mut left));
            }
        }
        self.left = left;
    }

    /// Returns a callback that passes on an interval covered by waits.
    fn covered<'a>(
        &'a self,
        access: Access,
        spans: &'a mut HoldSpans,
    ) -> impl FnMut(u64, (u64, u64), u64, bool) + 'a {
        move |position, time, waits, goes_on| {
            let interval = self.at(position);
            let owner = interval.owner(access).get();
            spans.add(owner, time, waits, (goes_on, interval.is_direct()));
        }
    }

    /// Forgets the intervals before `position`. The spans that waits share of them go to `spans`.
    pub(crate) fn forget_before(&mut self, position: u64, spans: &mut HoldSpans) {
        let count = position
            .saturating_sub(self.start)
            .min(self.intervals.len() as u64);
        if count == 0 {
            return;
        }
        let start = self.start + count;
        spans.append(&mut self.left);
        if spans.are_wanted {
            if let Some(mut sums) = self.code_prefix_sums.take() {
                sums.marks
                    .pass_before(start.min(sums.marks.end()), self.covered(BY_CODE, spans));
                self.code_prefix_sums = Some(sums);
            }
            for access in [Access::Exclusive, Access::Shared] {
                if let Some(mut sums) = self.prefix_sums[access as usize].take() {
                    sums.marks
                        .pass_before(start.min(sums.marks.end()), self.covered(access, spans));
                    self.prefix_sums[access as usize] = Some(sums);
                }
            }
        }
        self.intervals.drain(..count as usize);
        self.start = start;
        if let Some(sums) = &mut self.code_prefix_sums {
            sums.marks.forget_before(start);
        }
        for sums in &mut self.prefix_sums {
            match sums {
                Some(known) if known.marks.end() > start => known.forget_before(start),
                _ => *sums = None,
            }
        }
        self.hold_chunks.forget_before(start);
        shrink_queue(&mut self.intervals);
        self.forget_positions();
        shrink_queue(&mut self.gaps);
    }

    /// Forgets positions before the first interval.
    fn forget_positions(&mut self) {
        let start = self.start;
        while self.gaps.front().is_some_and(|&gap| gap < start) {
            self.gaps.pop_front();
        }
        self.barging.forget_before(start);
    }

    /// Returns the intervals from `position` on, in two slices, with the position of the first of
    /// each.
    pub(super) fn seen_from(&self, position: u64) -> [(u64, &[I]); 2] {
        let passed = position.saturating_sub(self.start) as usize;
        let (front, back) = self.intervals.as_slices();
        let front = &front[passed.min(front.len())..];
        let back_passed = passed.saturating_sub(self.intervals.len() - back.len());
        let back = &back[back_passed.min(back.len())..];
        let position = position.max(self.start);
        [(position, front), (position + front.len() as u64, back)]
    }

    /// Returns the intervals before `position`, the last one first.
    pub(crate) fn seen_before(&self, position: u64) -> impl Iterator<Item = &I> {
        let count = position.saturating_sub(self.start) as usize;
        self.intervals
            .range(..count.min(self.intervals.len()))
            .rev()
    }

    /// Returns the intervals from `position` on, to correct them.
    pub(crate) fn seen_from_mut(&mut self, position: u64) -> impl Iterator<Item = &mut I> {
        self.forget_sums(position);
        let skip = position.saturating_sub(self.start) as usize;
        self.intervals.range_mut(skip.min(self.intervals.len())..)
    }

    /// Returns the interval at a position.
    pub(super) fn at(&self, position: u64) -> &I {
        &self.intervals[(position - self.start) as usize]
    }

    /// Returns the positions for which nobody may be blamed, if the wait may be two: from the first
    /// gap, where one may have ended, to where the other has begun.
    pub(super) fn lost(&self, wait: Start) -> Range<u64> {
        if !self.may_be_two_waits(wait) {
            return Range {
                start: u64::MAX,
                end: 0,
            };
        }
        let passed = self.gaps.partition_point(|&gap| gap < wait.position);
        let first = self.gaps.get(passed).copied();
        first.unwrap_or(u64::MAX)..self.last_doubt + 1
    }

    /// Fills in the blame for a wait. The intervals before `settled` will not be corrected any
    /// more. The spans in which owners held the lock go to `spans`, unless each part is wanted:
    /// perhaps not before the intervals are [forgotten](Self::forget_before).
    pub(crate) fn describe(
        &mut self,
        view: &View<impl Fn(u64, &I) -> PackedOwner>,
        settled: u64,
        detail: Detail,
        spans: &mut HoldSpans,
        wait: &mut Wait,
    ) {
        spans.begin_wait(view.is_direct, (view.start.time_ns, view.end_ns));
        let is_direct = spans.trail.is_direct && detail.adds_up_roots();
        // Sums do not know about freezes.
        let is_frozen = spans.freezes.has_any((view.start.time_ns, view.end_ns));
        // Few spans are wanted, even for waits whose parts are needed.
        let adds_up = !detail.roots || is_direct || spans.are_wanted || spans.sampled.is_some();
        let start_ns = view.start.time_ns;
        let is_omitted = (spans.sampled.as_ref()).is_some_and(|sampled| !sampled.keeps(start_ns));
        if !is_omitted && detail.has_contentions() || is_frozen || !adds_up {
            self.describe_parts(view, detail, spans, wait);
            if let Some(sampled) = &mut spans.sampled {
                sampled.add(start_ns, wait.contentions.len());
            }
            return;
        }
        wait.contentions.clear();
        if is_omitted {
            // Those of each owner are as many as there are waiters.
            let mut shares = Shares::new(Detail::CODE, &mut wait.blame, None);
            return self.blame(view, settled, Detail::CODE, &mut shares);
        }
        let mut shares = Shares::new(detail, &mut wait.blame, spans.wanted());
        self.blame(view, settled, detail, &mut shares);
        if is_direct {
            spans.trail.run = self.split_shared(view, &mut wait.contentions);
        } else if detail.roots {
            self.split(view, &mut wait.contentions);
        }
    }

    /// Does the same part by part.
    fn describe_parts(
        &self,
        view: &View<impl Fn(u64, &I) -> PackedOwner>,
        detail: Detail,
        spans: &mut HoldSpans,
        wait: &mut Wait,
    ) {
        wait.contentions.clear();
        self.split(view, &mut wait.contentions);
        spans.freezes.cut(&mut wait.contentions);
        let mut shares = Shares::new(detail, &mut wait.blame, spans.wanted());
        add_contentions(&wait.contentions, &mut shares);
        if !detail.roots && !detail.has_contentions() {
            wait.contentions.clear();
        }
    }

    /// Adds up the time of each owner in a wait. The intervals before `settled` will not be
    /// corrected any more.
    pub(super) fn blame(
        &mut self,
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        settled: u64,
        detail: Detail,
        shares: &mut Shares<'_>,
    ) {
        let is_by_code = detail.by == BlameBy::Code && wait.access == BY_CODE && wait.own.is_none();
        if is_by_code && self.blame_one(wait, settled, shares) {
            return;
        }
        let few = match shares.spans {
            Some(_) => FEW_WITH_SPANS,
            None => FEW_BY_OWNER,
        };
        let position = wait.start.position.max(self.start);
        if settled.min(self.end()).saturating_sub(position) < few {
            let cutter = Cutter::new(wait.start.time_ns, wait.end_ns);
            return self.share_from(wait.start.position, wait, cutter, shares);
        }
        self.blame_by_sums(wait, settled, detail, shares);
    }
}
