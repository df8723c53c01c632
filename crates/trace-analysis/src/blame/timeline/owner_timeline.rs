//! Who held a lock, as long as some thread waits that has seen it.

use std::collections::VecDeque;
use std::ops::Range;

use crate::blame::timeline::code_prefix_sums::CodePrefixSums;
use crate::blame::timeline::hold_range::{SharedHold, Told};
use crate::blame::timeline::hold_spans::HoldSpans;
use crate::blame::timeline::prefix_sums::PrefixSums;
use crate::blame::timeline::splitter::{Cutter, Part, Parts, Segments, Shares, add_contentions};
use crate::collections::shrink::shrink_queue;
use crate::model::entity::ThreadIndex;
use crate::model::packed_owner::PackedOwner;
use crate::model::wait::{Detail, UnknownOwner, Wait};

/// Time between two boundaries of a lock, events that tell about its owner. It
/// begins where the interval before it ends; the first has no start.
pub(crate) trait Interval {
    /// A thread does not wait for itself: its own intervals count as others'.
    const HAS_OWN: bool;

    /// Nanoseconds since the trace's start.
    fn end_ns(&self) -> u64;

    /// Events are missing here, and it is not known whose.
    fn is_gap(&self) -> bool;

    /// Who had the lock, from the view of threads that waited before and want this access.
    fn owner(&self, access: Access) -> PackedOwner;

    /// The interval ends because something was seen, not because the lock was
    /// released: the same owner goes on.
    fn goes_on(&self) -> bool {
        false
    }

    /// The owner did not wait itself meanwhile; else that is not known.
    fn is_direct(&self) -> bool {
        false
    }

    /// What stands for several intervals that nobody remembers, the last of which
    /// ended at `end_ns`. It may have been a gap.
    fn collapsed(end_ns: u64) -> Self;
}

/// What a thread that waits for a lock wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// To have it alone.
    Exclusive,
    /// To share it with others that do.
    Shared,
}

/// The intervals that the threads waiting for one lock share.
///
/// One list for all, because *n* waiting threads see the same owners: an exit
/// costs the same however many threads wait.
#[derive(Debug)]
pub(crate) struct Timeline<I> {
    /// Position of the first interval kept, counted since the lock's beginning.
    start: u64,
    intervals: VecDeque<I>,
    /// Events lost so far by nobody knows whom.
    numbers_lost: u64,
    /// Position of the last interval within which a wait may have begun that seems to have
    /// begun before them.
    last_doubt: u64,
    /// Positions of the intervals that are gaps.
    gaps: VecDeque<u64>,
    /// Acquisitions by threads that did not wait.
    barging: VecDeque<Barging>,
    /// Sums over the intervals, by [`Access`]: made when a long wait needs them.
    prefix_sums: [Option<Box<PrefixSums>>; 2],
    /// The same where owners are told apart by their code.
    code_prefix_sums: Option<Box<CodePrefixSums>>,
    /// The histories of holds that waits are told of by the sums: those of each [`Access`], and those
    /// by code.
    told: [Option<Told>; 3],
    /// What waits have in common of intervals that have changed since.
    left: HoldSpans,
    /// The greatest end of the last interval, of the last two, and so on, when the trace is
    /// over.
    latest_ns: Vec<u64>,
}

/// Acquisitions of the lock by a thread that did not wait.
#[derive(Clone, Copy, Debug)]
struct Barging {
    /// Of the interval that they belong to.
    position: u64,
    /// Since when the lock was held, as if they were one.
    acquired_ns: u64,
    /// The latest such time so far.
    until_ns: u64,
    /// How many there were before.
    before: u64,
    /// How many they are.
    holds: u64,
}

/// A wait to be divided.
pub(crate) struct View<F> {
    pub(crate) start: Start,
    pub(crate) end_ns: u64,
    pub(crate) access: Access,
    /// A thread whose own intervals are other than [`Interval::owner`] says, if they
    /// [can be](Interval::HAS_OWN).
    pub(crate) own: Option<ThreadIndex>,
    /// Who is to blame in the interval at a position: as [`Interval::owner`] says, but in the
    /// first one, and in those of `own`.
    pub(crate) owner_of: F,
    /// Who is to blame after the last boundary.
    pub(crate) rest: PackedOwner,
    /// No owner waited itself while the wait lasted; else that is not known.
    pub(crate) is_direct: bool,
}

/// Where a wait begins in a timeline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) time_ns: u64,
    /// Of the interval in which the wait begins.
    pub(crate) position: u64,
    /// [`Timeline::numbers_lost`] before the wait.
    numbers_lost: u64,
}

/// More intervals are kept only in part: a thread may starve, or its entered
/// event be lost, and memory must stay bounded.
const MAX_INTERVALS: usize = 1 << 18;

/// Shorter waits, in intervals, are divided without sums.
const LONG: u64 = 32;
/// The same where it is asked for what owners did, which costs more for each part than sums.
const LONG_WITH_SPANS: u64 = 4;
/// The same where root owners are looked for: to share holds with nobody takes longer than to
/// have a few contentions.
const LONG_WITH_SEGMENTS: u64 = 8;

/// What those want whose waits are added up by [`CodePrefixSums`]: all, where threads have no intervals of
/// their own.
const BY_CODE: Access = Access::Exclusive;
/// Which of [`Timeline::told`] is that of the prefix sums by code.
const STRETCHES_TOLD: usize = 2;

/// Fewer intervals take less time to be cut than to be added up.
const FEW: u64 = 2;

/// So many boundaries may seem to be before the one that came before them, because the
/// clocks of processors disagree; then the order of events counts.
const MAX_DISORDER: u32 = 1 << 10;

const LOST: PackedOwner = PackedOwner::unknown(UnknownOwner::Lost);

impl Start {
    /// The same wait, considered from then on.
    pub(crate) fn at(self, time_ns: u64) -> Self {
        Self { time_ns, ..self }
    }
}

impl<I> Default for Timeline<I> {
    fn default() -> Self {
        Self {
            start: 0,
            intervals: VecDeque::new(),
            numbers_lost: 0,
            last_doubt: 0,
            gaps: VecDeque::new(),
            barging: VecDeque::new(),
            prefix_sums: [None, None],
            code_prefix_sums: None,
            told: [None; 3],
            left: HoldSpans::default(),
            latest_ns: Vec::new(),
        }
    }
}

impl<I: Interval> Timeline<I> {
    /// Position of the interval that will be pushed next.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.intervals.len() as u64
    }

    /// How many intervals are kept.
    pub(crate) fn len(&self) -> usize {
        self.intervals.len()
    }

    /// When the last interval ended.
    pub(crate) fn last_end_ns(&self) -> Option<u64> {
        self.intervals.back().map(Interval::end_ns)
    }

    /// What a wait that begins now has to remember.
    pub(crate) fn start_wait(&self, time_ns: u64) -> Start {
        Start {
            time_ns,
            position: self.end(),
            numbers_lost: self.numbers_lost,
        }
    }

    /// Notes that this many events are lost, it is not known whose, within the
    /// interval that will be pushed next.
    pub(crate) fn lose(&mut self, numbers: u64) {
        self.numbers_lost = self.numbers_lost.saturating_add(numbers);
        self.doubt_next();
    }

    /// Notes that a wait whose begin is lost may also have begun within the interval that will
    /// be pushed next.
    pub(crate) fn doubt_next(&mut self) {
        self.last_doubt = self.end();
    }

    /// Enough events were lost since for it to have ended and another one to have begun.
    pub(crate) fn may_be_two_waits(&self, wait: Start) -> bool {
        self.numbers_lost.saturating_sub(wait.numbers_lost) >= 2
    }

    /// Events are lost since, it is not known whose: the wait may have ended.
    pub(crate) fn loses_since(&self, wait: Start) -> bool {
        self.numbers_lost > wait.numbers_lost
    }

    /// The last boundary of a wait that has not ended; 0 if there is none.
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

    /// Notes that a thread that did not wait acquired the lock then, so often, within the
    /// interval that will be pushed next.
    pub(crate) fn note_barging(&mut self, time_ns: u64, holds: u64) {
        if holds == 0 {
            return;
        }
        let last = self.barging.back();
        self.barging.push_back(Barging {
            position: self.end(),
            acquired_ns: time_ns,
            until_ns: last.map_or(time_ns, |last| last.until_ns.max(time_ns)),
            before: last.map_or(0, |last| last.before + last.holds),
            holds,
        });
    }

    /// How often a thread that did not wait acquired the lock since a wait began, where each
    /// acquisition but the first one came after a boundary that the wait has seen: clocks that
    /// disagree make no difference to those.
    pub(crate) fn barging_holds(&self, wait: Start) -> u64 {
        let mut first = self.first_barging(wait);
        if let Some(barging) = self.barging.get(first)
            && barging.position == wait.position
            && barging.acquired_ns < wait.time_ns
        {
            first += 1;
        }
        self.sum_of_barging(first, self.barging.len())
    }

    /// The same of a wait that ended before `end_ns`, where boundaries do not tell which
    /// acquisitions came after its begin.
    pub(crate) fn barging_holds_until(&self, wait: Start, end_ns: u64) -> u64 {
        let before = |time_ns| move |barging: &Barging| barging.until_ns < time_ns;
        let began = self.barging.partition_point(before(wait.time_ns));
        let ended = self.barging.partition_point(before(end_ns));
        self.sum_of_barging(self.first_barging(wait).max(began), ended)
    }

    /// The first acquisition that was noted after a wait began.
    fn first_barging(&self, wait: Start) -> usize {
        self.barging
            .partition_point(|barging| barging.position < wait.position)
    }

    fn sum_of_barging(&self, first: usize, end: usize) -> u64 {
        match (self.barging.get(first), end.checked_sub(1)) {
            (Some(first_one), Some(last)) if last >= first => {
                let last = self.barging[last];
                last.before + last.holds - first_one.before
            }
            _ => 0,
        }
    }

    /// Appends an interval. Returns how many of the oldest lost their owner to
    /// keep within the bound.
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

    /// Makes one interval of the older half.
    fn collapse(&mut self) -> u64 {
        let half = self.intervals.len() / 2;
        self.forget_prefix_sums(self.start);
        let ends = self.intervals.drain(..half);
        let end_ns = ends.map(|interval| interval.end_ns()).max();
        self.intervals.push_front(I::collapsed(end_ns.unwrap_or(0)));
        self.start += half as u64 - 1;
        self.forget_positions();
        self.gaps.push_front(self.start);
        half as u64
    }

    /// Forgets the sums that reach beyond `position`, but not what waits have in common.
    fn forget_prefix_sums(&mut self, position: u64) {
        let ends = self.prefix_sums.iter().flatten().map(|known| known.end());
        let code_sums_end = self.code_prefix_sums.iter().map(|known| known.end());
        if ends.chain(code_sums_end).all(|end| end <= position) {
            return;
        }
        let mut left = std::mem::take(&mut self.left);
        if let Some(mut code_prefix_sums) = self
            .code_prefix_sums
            .take_if(|known| known.end() > position)
        {
            self.pass_code_prefix_sums(code_prefix_sums.end(), &mut code_prefix_sums, &mut left);
            left.end_history(&mut self.told[STRETCHES_TOLD]);
        }
        for access in [Access::Exclusive, Access::Shared] {
            let prefix_sums = &mut self.prefix_sums[access as usize];
            if let Some(mut prefix_sums) = prefix_sums.take_if(|known| known.end() > position) {
                self.pass_before(prefix_sums.end(), access, &mut prefix_sums, &mut left);
                left.end_history(&mut self.told[access as usize]);
            }
        }
        self.left = left;
    }

    /// Passes on which owners waits have in common by the prefix sums of code, up to a position.
    fn pass_code_prefix_sums(
        &self,
        position: u64,
        code_prefix_sums: &mut CodePrefixSums,
        spans: &mut HoldSpans,
    ) {
        code_prefix_sums.pass_before(position, |position, time, waits, goes_on| {
            let interval = self.at(position);
            let owner = interval.owner(BY_CODE).get();
            spans.add(owner, time, waits, (goes_on, interval.is_direct()));
        });
    }

    /// Passes on which owners waits have in common, up to a position.
    fn pass_before(
        &self,
        position: u64,
        access: Access,
        prefix_sums: &mut PrefixSums,
        spans: &mut HoldSpans,
    ) {
        prefix_sums.pass_before(position, |position, time, waits, goes_on| {
            let interval = self.at(position);
            let owner = interval.owner(access).get();
            spans.add(owner, time, waits, (goes_on, interval.is_direct()));
        });
    }

    /// Forgets the intervals before `position`. What waits have in common of them goes to `spans`.
    pub(crate) fn forget_before(&mut self, position: u64, spans: &mut HoldSpans) {
        let count = position
            .saturating_sub(self.start)
            .min(self.intervals.len() as u64);
        if count == 0 {
            return;
        }
        spans.append(&mut self.left);
        if spans.are_wanted {
            if let Some(mut code_prefix_sums) = self.code_prefix_sums.take() {
                let until = (self.start + count).min(code_prefix_sums.end());
                self.pass_code_prefix_sums(until, &mut code_prefix_sums, spans);
                self.code_prefix_sums = Some(code_prefix_sums);
            }
            for access in [Access::Exclusive, Access::Shared] {
                if let Some(mut prefix_sums) = self.prefix_sums[access as usize].take() {
                    let until = (self.start + count).min(prefix_sums.end());
                    self.pass_before(until, access, &mut prefix_sums, spans);
                    self.prefix_sums[access as usize] = Some(prefix_sums);
                }
            }
        }
        self.intervals.drain(..count as usize);
        self.start += count;
        if let Some(code_prefix_sums) = &mut self.code_prefix_sums {
            code_prefix_sums.forget_before(self.start);
        }
        for prefix_sums in &mut self.prefix_sums {
            match prefix_sums {
                Some(known) if known.end() > self.start => known.forget_before(self.start),
                _ => *prefix_sums = None,
            }
        }
        for told in &mut self.told {
            if told.is_some_and(|told| told.end <= self.start) {
                spans.end_history(told);
            }
        }
        shrink_queue(&mut self.intervals);
        self.forget_positions();
        shrink_queue(&mut self.gaps);
        shrink_queue(&mut self.barging);
    }

    /// Forgets what is known of positions before the first interval.
    fn forget_positions(&mut self) {
        let start = self.start;
        while self.gaps.front().is_some_and(|&gap| gap < start) {
            self.gaps.pop_front();
        }
        while let Some(first) = self.barging.front()
            && first.position < start
        {
            self.barging.pop_front();
        }
    }

    /// The intervals from `position` on, in two pieces, with the position of the first of each.
    fn seen_from(&self, position: u64) -> [(u64, &[I]); 2] {
        let passed = position.saturating_sub(self.start) as usize;
        let (front, back) = self.intervals.as_slices();
        let front = &front[passed.min(front.len())..];
        let back_passed = passed.saturating_sub(self.intervals.len() - back.len());
        let back = &back[back_passed.min(back.len())..];
        let position = position.max(self.start);
        [(position, front), (position + front.len() as u64, back)]
    }

    /// The intervals before `position`, the last one first.
    pub(crate) fn seen_before(&self, position: u64) -> impl Iterator<Item = &I> {
        let count = position.saturating_sub(self.start) as usize;
        self.intervals
            .range(..count.min(self.intervals.len()))
            .rev()
    }

    /// The intervals from `position` on, to correct them.
    pub(crate) fn seen_from_mut(&mut self, position: u64) -> impl Iterator<Item = &mut I> {
        self.forget_prefix_sums(position);
        let skip = position.saturating_sub(self.start) as usize;
        self.intervals.range_mut(skip.min(self.intervals.len())..)
    }

    /// Adds up what is left of a wait from a position on.
    fn share_from(
        &self,
        position: u64,
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        cutter: Cutter,
        shares: &mut Shares<'_>,
    ) {
        if !shares.are_all() || !self.lost(wait.start).is_empty() {
            return self.split_from(position, wait, cutter, shares);
        }
        let mut sum = RunningSum::new(cutter);
        for (first, intervals) in self.seen_from(position) {
            sum.add_each(first, intervals, &wait.owner_of, shares);
        }
        sum.finish(wait.rest, shares);
    }

    /// Divides a wait into its parts, at each boundary.
    fn split(&self, wait: &View<impl Fn(u64, &I) -> PackedOwner>, parts: &mut impl Parts) {
        let cutter = Cutter::new(wait.start.time_ns, wait.end_ns);
        self.split_from(wait.start.position, wait, cutter, parts);
    }

    /// Divides what is left of a wait from a position on.
    fn split_from(
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

    /// The positions for which nobody may be blamed, if the wait may be two: from the first
    /// of the gaps, where one may have ended, to where the other one has begun.
    fn lost(&self, wait: Start) -> Range<u64> {
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

    /// Fills in who made the thread of `wait` wait. The intervals before `settled` will not
    /// be corrected any more. When owners had the lock goes to `spans`, unless each part is asked
    /// for: perhaps not before the intervals are [forgotten](Self::forget_before).
    pub(crate) fn describe(
        &mut self,
        view: &View<impl Fn(u64, &I) -> PackedOwner>,
        settled: u64,
        detail: Detail,
        spans: &mut HoldSpans,
        wait: &mut Wait,
    ) {
        wait.contentions.clear();
        if detail >= Detail::Contentions {
            self.split(view, &mut wait.contentions);
            spans.freezes.cut(&mut wait.contentions);
            wait.add_up_contentions();
            return;
        }
        spans.is_direct = view.is_direct;
        spans.shared.clear();
        spans.shared.is_direct = view.is_direct;
        if spans.freezes.has_any((view.start.time_ns, view.end_ns)) {
            return self.describe_frozen(view, detail, spans, wait);
        }
        let has_spans = spans.are_wanted;
        // What was behind the owners is not looked for in a wait without any: it stays as it is.
        let may_share = spans.may_share || view.is_direct;
        // Spans are to be few, also of waits that share nothing.
        if !detail.adds_up_roots() || has_spans && !may_share {
            let mut shares = Shares::new(detail, &mut wait.blame).with_spans(spans.wanted());
            self.blame(view, settled, detail, &mut shares);
            if detail.adds_up_roots() {
                self.split(view, &mut wait.contentions);
            }
            return;
        }
        let mut shared = std::mem::take(&mut spans.shared);
        let fewest = match (may_share, has_spans) {
            (true, true) => LONG_WITH_SPANS,
            (true, false) => LONG_WITH_SEGMENTS,
            (false, _) => u64::MAX,
        };
        let shares = Shares::new(detail, &mut wait.blame).with_spans(spans.wanted());
        let mut shares = shares.with_segments(Segments {
            id: wait.id,
            fewest,
            contentions: &mut wait.contentions,
            shared: &mut shared,
        });
        self.blame(view, settled, detail, &mut shares);
        spans.shared = shared;
    }

    /// The same of a wait in part of which the process did not run: each part by itself, since sums do
    /// not know when they were.
    fn describe_frozen(
        &self,
        view: &View<impl Fn(u64, &I) -> PackedOwner>,
        detail: Detail,
        spans: &mut HoldSpans,
        wait: &mut Wait,
    ) {
        self.split(view, &mut wait.contentions);
        spans.freezes.cut(&mut wait.contentions);
        let mut shares = Shares::new(detail, &mut wait.blame).with_spans(spans.wanted());
        add_contentions(&wait.contentions, &mut shares);
        if !detail.adds_up_roots() {
            wait.contentions.clear();
        }
    }

    /// Adds up what each owner had of a wait. The intervals before `settled` will not be
    /// corrected any more.
    fn blame(
        &mut self,
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        settled: u64,
        detail: Detail,
        shares: &mut Shares<'_>,
    ) {
        let position = wait.start.position.max(self.start);
        let is_by_code = matches!(detail, Detail::OwnerCode | Detail::RootsOfCode);
        let has_code_sums = is_by_code && wait.access == BY_CODE && wait.own.is_none();
        if has_code_sums && self.blame_one(wait, settled, shares) {
            return;
        }
        let long = match (&shares.segments, &shares.spans) {
            (Some(segments), _) => segments.fewest,
            (None, Some(_)) => LONG_WITH_SPANS,
            (None, None) => LONG,
        };
        let is_short = settled.min(self.end()).saturating_sub(position) < long;
        // Where events are lost, each part is told of by itself.
        let is_doubtful = shares.segments.is_some() && self.may_be_two_waits(wait.start);
        if is_short || is_doubtful {
            let cutter = Cutter::new(wait.start.time_ns, wait.end_ns);
            return self.share_from(wait.start.position, wait, cutter, shares);
        }
        self.blame_by_sums(wait, settled, detail, shares);
    }

    /// The same of a wait during which one code had the lock, or nobody, but perhaps for its begin and
    /// for its end. `false`, and nothing is added, if there were others.
    fn blame_one(
        &mut self,
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        settled: u64,
        shares: &mut Shares<'_>,
    ) -> bool {
        let end = settled.min(self.end());
        let first = wait.start.position.max(self.start);
        let few = match &shares.segments {
            Some(segments) => segments.fewest,
            None => FEW,
        };
        if end.saturating_sub(first) < few || self.may_be_two_waits(wait.start) {
            return false;
        }
        let mut code_prefix_sums = self.take_code_prefix_sums(end);
        let is_one = self.add_by_code((first, end), wait, &mut code_prefix_sums, shares);
        self.code_prefix_sums = Some(code_prefix_sums);
        is_one
    }

    /// Does so by the prefix sums of code, from the intervals from `first` to before `end` on.
    #[inline]
    fn add_by_code(
        &mut self,
        (mut first, end): (u64, u64),
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        code_prefix_sums: &mut CodePrefixSums,
        shares: &mut Shares<'_>,
    ) -> bool {
        let (start_ns, end_ns) = (wait.start.time_ns, wait.end_ns);
        // The first part, whose owner may be another one.
        while self.at(first).end_ns() <= start_ns {
            first += 1;
            if first == end {
                return false;
            }
        }
        let interval = self.at(first);
        let (first_ns, owner) = (interval.end_ns(), (wait.owner_of)(first, interval));
        let goes_on = interval.goes_on();
        let is_in_step = first_ns == code_prefix_sums.mark(first).until_ns
            && first_ns > code_prefix_sums.before_ns(first)
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
        let mark = *code_prefix_sums.mark(last);
        if shares.spans.is_some() {
            code_prefix_sums.cover(first + 1, last + 1);
        }
        if let Some(segments) = &mut shares.segments {
            segments.add_run((first + 1, last + 1), mark.until_ns, goes_on);
            let since_ns = code_prefix_sums.before_ns(self.start);
            let holds = |position| code_prefix_sums.mark(position).until_ns;
            self.tell(STRETCHES_TOLD, last + 1, since_ns, holds, segments);
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

    /// Tells of the holds before `end` that no wait has told of: when each ended as the sums have
    /// it, and that the first of all began at `since_ns`.
    fn tell(
        &mut self,
        sums: usize,
        end: u64,
        since_ns: u64,
        end_ns: impl Fn(u64) -> u64,
        segments: &mut Segments<'_>,
    ) {
        let told = self.told[sums].get_or_insert(Told {
            history: segments.id,
            end: self.start,
        });
        let missing = told.end..end.max(told.end);
        let shared = &mut *segments.shared;
        shared.history = told.history;
        shared.told_from = missing.start;
        shared.told_since_ns = since_ns;
        shared.needed_from = self.start;
        told.end = missing.end;
        let access = match sums {
            STRETCHES_TOLD => BY_CODE,
            shared if shared == Access::Shared as usize => Access::Shared,
            _ => Access::Exclusive,
        };
        let [from, until] = [missing.start, missing.end].map(|end| (end - self.start) as usize);
        let intervals = missing.zip(self.intervals.range(from..until));
        shared
            .told
            .extend(intervals.map(|(position, interval)| SharedHold {
                end_ns: end_ns(position),
                owner: interval.owner(access),
                goes_on: interval.goes_on(),
            }));
    }

    /// Takes the prefix sums of code, with all intervals before `end`.
    #[inline]
    fn take_code_prefix_sums(&mut self, end: u64) -> Box<CodePrefixSums> {
        let start = self.start;
        let code_prefix_sums = self.code_prefix_sums.take();
        let mut code_prefix_sums =
            code_prefix_sums.unwrap_or_else(|| Box::new(CodePrefixSums::new(start)));
        for position in code_prefix_sums.end()..end {
            let interval = &self.intervals[(position - start) as usize];
            let owner = interval.owner(BY_CODE);
            let (end_ns, goes_on) = (interval.end_ns(), interval.goes_on());
            code_prefix_sums.push(end_ns, owner, goes_on, interval.is_gap());
        }
        code_prefix_sums
    }

    /// The same, however short the wait.
    fn blame_by_sums(
        &mut self,
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        settled: u64,
        detail: Detail,
        shares: &mut Shares<'_>,
    ) {
        let mut prefix_sums = self.take_prefix_sums(wait.access, settled, detail);
        let (position, cutter) = self.add_up(&mut prefix_sums, wait, shares);
        if let Some(segments) = &mut shares.segments
            && let Some(last) = segments.shared.runs.last()
        {
            let (end, since_ns) = (last.end, prefix_sums.before_ns(self.start));
            let holds = |position| prefix_sums.mark(position).until_ns;
            self.tell(wait.access as usize, end, since_ns, holds, segments);
        }
        self.share_from(position, wait, cutter, shares);
        // To divide a wait changes no prefix sum.
        prefix_sums.forget_before(self.start);
        self.prefix_sums[wait.access as usize] = Some(prefix_sums);
    }

    /// Takes the prefix sums, with all that is settled.
    fn take_prefix_sums(
        &mut self,
        access: Access,
        settled: u64,
        detail: Detail,
    ) -> Box<PrefixSums> {
        let known = self.prefix_sums[access as usize].take();
        let mut prefix_sums =
            known.unwrap_or_else(|| Box::new(PrefixSums::new(detail, self.start, I::HAS_OWN)));
        let missing = prefix_sums.end()..settled.min(self.end());
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

    /// Divides a wait as far as the prefix sums reach: by differences, wherever the wait is cut as
    /// the sums are. Returns the position behind, and what is left of the wait.
    ///
    /// The intervals that are summed up end in order: those of a wait do so, too, once one of them has
    /// ended later than all before it.
    fn add_up(
        &self,
        prefix_sums: &mut PrefixSums,
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        shares: &mut Shares<'_>,
    ) -> (u64, Cutter) {
        let lost = self.lost(wait.start);
        let mut cutter = Cutter::new(wait.start.time_ns, wait.end_ns);
        let mut position = wait.start.position.max(self.start);
        // The parts end where the intervals that are summed up do, and belong to the same owner.
        let (mut in_time, mut in_step) = (false, false);
        let mut disorder = 0;
        while position < prefix_sums.end() && !cutter.is_done() {
            if !in_time && disorder == MAX_DISORDER {
                cutter.goes_on = false;
            }
            if in_time || prefix_sums.before_ns(position) <= cutter.at_ns && !cutter.goes_on {
                let next = prefix_sums
                    .first_beyond(position, cutter.at_ns)
                    .max(position);
                if in_time && next > position {
                    cutter.goes_on = prefix_sums.mark(next - 1).goes_on;
                }
                position = next;
            }
            let until = prefix_sums
                .first_reaching(cutter.end_ns)
                .min(prefix_sums.end());
            if in_time && position < until {
                let end =
                    self.same_until(position, until, prefix_sums, wait, &lost, in_step, &cutter);
                if end > position {
                    let mark = prefix_sums.mark(end - 1);
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
                            prefix_sums.cover(position, end);
                        }
                        if let Some(segments) = &mut shares.segments {
                            segments.add_run((position, end), mark.until_ns, cutter.goes_on);
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
            if position >= prefix_sums.end() {
                break;
            }
            let interval = self.at(position);
            let mark = prefix_sums.mark(position);
            let until_ns = if in_time || disorder == MAX_DISORDER {
                mark.until_ns
            } else {
                disorder += 1;
                interval.end_ns()
            };
            let owner = wait.owner(&lost, position, interval);
            let duration_ns = cutter.cut(until_ns, || owner, interval.goes_on(), shares);
            if duration_ns > 0 {
                let is_latest = mark.until_ns > prefix_sums.before_ns(position);
                in_time |= is_latest && cutter.at_ns == mark.until_ns;
                in_step = in_time && owner == interval.owner(wait.access);
            }
            position += 1;
        }
        (position, cutter)
    }

    /// Up to where the prefix sums are those of the wait's parts, from `position` on
    /// and not beyond `until`.
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

    /// The interval at a position.
    fn at(&self, position: u64) -> &I {
        &self.intervals[(position - self.start) as usize]
    }
}

/// Divides what is left of a wait at the ends of these intervals, the first of which has this
/// position. Returns what is left then.
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

/// A wait that is divided, of which only the sums are wanted: those of parts of the same owner one
/// after the other are added up first.
struct RunningSum {
    cutter: Cutter,
    /// What the owner of the last part had, as far as it is not added yet.
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

    /// As [`split_each`].
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

    /// `owner` had the lock from the last boundary on.
    fn finish(self, owner: PackedOwner, shares: &mut Shares<'_>) {
        shares.add_part(self.owner, self.part);
        let is_first = self.owner == PackedOwner::NONE;
        if !self.cutter.is_done() || is_first {
            let duration_ns = self.cutter.end_ns.saturating_sub(self.cutter.at_ns);
            shares.add_parts(owner, duration_ns, 1);
        }
    }
}

impl<F> View<F> {
    #[inline]
    fn owner<I>(&self, lost: &Range<u64>, position: u64, interval: &I) -> PackedOwner
    where
        F: Fn(u64, &I) -> PackedOwner,
    {
        if lost.contains(&position) {
            LOST
        } else {
            (self.owner_of)(position, interval)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::blame::root_owner::hold_history::HoldHistory;
    use crate::blame::timeline::hold_range::HoldRanges;
    use crate::model::entity::ChainIndex;
    use crate::model::wait::Owner;
    use crate::model::wait::WaitId;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Test {
        Until(u64),
        Collapsed(u64),
    }

    impl Interval for Test {
        const HAS_OWN: bool = false;

        fn end_ns(&self) -> u64 {
            match *self {
                Self::Until(end_ns) | Self::Collapsed(end_ns) => end_ns,
            }
        }

        fn is_gap(&self) -> bool {
            false
        }

        fn owner(&self, _access: Access) -> PackedOwner {
            Owner::Free.into()
        }

        fn collapsed(end_ns: u64) -> Self {
            Self::Collapsed(end_ns)
        }
    }

    fn seen(timeline: &Timeline<Test>, position: u64) -> Vec<(u64, Test)> {
        let pieces = timeline.seen_from(position).into_iter();
        let seen = pieces.flat_map(|(first, intervals)| (first..).zip(intervals.iter().copied()));
        seen.collect()
    }

    #[test]
    fn positions_stay_when_intervals_are_forgotten() {
        let mut timeline = Timeline::default();
        timeline.push(Test::Until(10));
        timeline.push(Test::Until(20));
        assert_eq!(
            seen(&timeline, 0),
            [(0, Test::Until(10)), (1, Test::Until(20))]
        );
        timeline.forget_before(1, &mut HoldSpans::default());
        assert_eq!(seen(&timeline, 1), [(1, Test::Until(20))]);
        assert_eq!(timeline.end(), 2);
    }

    #[test]
    fn older_half_collapses_when_there_are_too_many() {
        let mut timeline = Timeline::default();
        let mut collapsed = 0;
        for end_ns in 0..=MAX_INTERVALS as u64 {
            collapsed += timeline.push(Test::Until(end_ns));
        }
        let half = MAX_INTERVALS as u64 / 2;
        assert_eq!(collapsed, half);
        assert_eq!(timeline.end(), MAX_INTERVALS as u64 + 1);
        for position in [0, 7, half - 1] {
            let seen = seen(&timeline, position);
            let expected = [
                (half - 1, Test::Collapsed(half - 1)),
                (half, Test::Until(half)),
            ];
            assert_eq!(seen[..2], expected);
        }
        assert_eq!(seen(&timeline, half)[0], (half, Test::Until(half)));
    }

    /// An interval with any owners.
    #[derive(Clone, Copy, Debug)]
    struct Any {
        end_ns: u64,
        first: PackedOwner,
        earlier: PackedOwner,
        shared: PackedOwner,
        gap: u64,
        goes_on: bool,
    }

    impl Interval for Any {
        const HAS_OWN: bool = true;

        fn end_ns(&self) -> u64 {
            self.end_ns
        }

        fn is_gap(&self) -> bool {
            self.gap > 0
        }

        fn owner(&self, access: Access) -> PackedOwner {
            match access {
                Access::Exclusive => self.earlier,
                Access::Shared => self.shared,
            }
        }

        fn goes_on(&self) -> bool {
            self.goes_on
        }

        fn collapsed(_end_ns: u64) -> Self {
            unreachable!("there are few")
        }
    }

    fn owner() -> impl Strategy<Value = PackedOwner> {
        let owner = prop_oneof![
            6 => (0..3_u32, 0..3_u32).prop_map(|(thread, chain)| Owner::Thread {
                thread: ThreadIndex(thread),
                chain: ChainIndex(chain),
            }),
            2 => Just(Owner::Free),
            1 => Just(Owner::Unknown(UnknownOwner::HandOff)),
            1 => Just(LOST.get()),
        ];
        owner.prop_map(PackedOwner::from)
    }

    /// What happens to a lock: times go on, by and large.
    #[derive(Clone, Debug)]
    enum Happens {
        Boundary(Any, i64),
        /// A thread begins to wait.
        Enter(i64),
        /// That one of those who wait goes on, who is one of the owners.
        Leave {
            waiter: usize,
            time_ns: i64,
            thread: u32,
            shared: bool,
            unsettled: u64,
        },
    }

    fn happens() -> impl Strategy<Value = Happens> {
        let step =
            || prop_oneof![2 => Just(0_i64), 12 => 1..20_i64, 1 => -60..0_i64, 1 => 60..200_i64];
        let gap = prop_oneof![30 => Just(0_u64), 1 => 1..3_u64];
        let interval = (owner(), owner(), owner(), gap, any::<bool>()).prop_map(
            |(first, earlier, shared, gap, goes_on)| Any {
                end_ns: 0,
                first,
                earlier,
                shared,
                gap,
                goes_on,
            },
        );
        let leave = (0..20_usize, step(), 0..4_u32, any::<bool>(), 0..4_u64);
        let leave = leave.prop_map(
            |(waiter, time_ns, thread, shared, unsettled)| Happens::Leave {
                waiter,
                time_ns,
                thread,
                shared,
                unsettled,
            },
        );
        prop_oneof![
            6 => (interval, step()).prop_map(|(interval, step)| Happens::Boundary(interval, step)),
            2 => step().prop_map(Happens::Enter),
            1 => leave,
        ]
    }

    fn sorted(
        mut shares: Vec<crate::model::wait::Blame>,
        detail: Detail,
    ) -> Vec<(String, u64, u64)> {
        shares.sort_by_key(|share| format!("{:?}", detail.key(share.owner.into())));
        let shares = shares.iter();
        let shares = shares.map(|share| {
            let key = format!("{:?}", detail.key(share.owner.into()));
            (key, share.duration_ns, share.contentions)
        });
        shares.collect()
    }

    fn wanted() -> HoldSpans {
        HoldSpans {
            are_wanted: true,
            ..HoldSpans::default()
        }
    }

    impl Any {
        /// The same where all code but one is told to be nobody.
        fn of_one_code(self) -> Self {
            let one = |owner: PackedOwner| match owner.get() {
                Owner::Thread { thread, .. } => PackedOwner::from(Owner::Thread {
                    thread,
                    chain: ChainIndex(0),
                }),
                _ => PackedOwner::NOBODY,
            };
            Self {
                first: one(self.first),
                earlier: one(self.earlier),
                gap: 0,
                ..self
            }
        }
    }

    #[test]
    fn a_wait_through_one_code_is_a_difference() {
        const INTERVALS: u64 = 100;
        let mut timeline: Timeline<Any> = Timeline::default();
        for number in 0..INTERVALS {
            let owner = match number % 2 {
                0 => Owner::Free,
                _ => Owner::Thread {
                    thread: ThreadIndex(number as u32 % 5),
                    chain: ChainIndex(7),
                },
            };
            timeline.push(Any {
                end_ns: 10 * (number + 1),
                first: owner.into(),
                earlier: owner.into(),
                shared: PackedOwner::NOBODY,
                gap: 0,
                goes_on: false,
            });
        }
        let start = Start {
            time_ns: 35,
            position: 3,
            numbers_lost: 0,
        };
        let view = |end_ns| View {
            start,
            end_ns,
            access: Access::Exclusive,
            own: None,
            owner_of: |_, interval: &Any| interval.earlier,
            rest: PackedOwner::NOBODY,
            is_direct: false,
        };
        for end_ns in [35, 41, 50, 444, 10 * INTERVALS, 10 * INTERVALS + 5] {
            let view = view(end_ns);
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            timeline.split(&view, &mut Shares::new(Detail::OwnerCode, &mut expected));
            let mut shares = Shares::new(Detail::OwnerCode, &mut found);
            let is_one = timeline.blame_one(&view, u64::MAX, &mut shares);
            assert_eq!(is_one, end_ns >= 50, "{end_ns}");
            if is_one {
                let both = [found, expected].map(|shares| sorted(shares, Detail::OwnerCode));
                assert_eq!(both[0], both[1]);
            }
        }
    }

    type Change = (ThreadIndex, u64);

    /// By how much more waits go through a thread's time from then on, and what nobody had.
    fn waits_at(spans: &HoldSpans) -> (BTreeMap<Change, i64>, u64, u64) {
        let mut changes: BTreeMap<Change, i64> = BTreeMap::new();
        for span in &spans.spans {
            let waits = span.waits as i64;
            let time = span.time;
            *changes.entry((time.thread, time.start_ns)).or_default() += waits;
            *changes.entry((time.thread, time.end_ns)).or_default() -= waits;
        }
        changes.retain(|_, waits| *waits != 0);
        (changes, spans.free_ns, spans.unknown_ns)
    }

    proptest! {
        /// What is added up by differences is what is added up part by part, and waits go through
        /// the same time of owners.
        #[test]
        fn sums_are_those_of_the_parts(
            history in vec(happens(), 1..200),
            code in any::<bool>(),
            one_code in any::<bool>(),
        ) {
            let detail = if code { Detail::OwnerCode } else { Detail::Owners };
            let mut timeline: Timeline<Any> = Timeline::default();
            let mut waiting: VecDeque<Start> = VecDeque::new();
            let (mut spans, mut expected_spans) = (wanted(), wanted());
            let mut now_ns = 1000_i64;
            let mut holds = HoldHistory::new(1 << 10);
            let (mut number, mut waits_told) = (0_u64, Vec::new());
            for next in history {
                match next {
                    Happens::Boundary(interval, step) => {
                        let interval = if one_code { interval.of_one_code() } else { interval };
                        now_ns = (now_ns + step).max(0);
                        if interval.gap > 0 {
                            timeline.lose(interval.gap);
                        }
                        timeline.push(Any { end_ns: now_ns as u64, ..interval });
                    }
                    Happens::Enter(step) => {
                        waiting.push_back(timeline.start_wait((now_ns + step).max(0) as u64));
                    }
                    Happens::Leave { waiter, time_ns, thread, shared, unsettled } => {
                        if waiting.is_empty() {
                            continue;
                        }
                        let start = waiting.remove(waiter % waiting.len()).expect("in range");
                        let end_ns = ((now_ns + time_ns).max(0) as u64).max(start.time_ns);
                        let access = if shared { Access::Shared } else { Access::Exclusive };
                        let own = Some(ThreadIndex(thread)).filter(|_| thread < 3);
                        let view = View {
                            start,
                            end_ns,
                            access,
                            own,
                            owner_of: |position, interval: &Any| match interval.owner(access) {
                                owner if own.is_some() && owner.thread() == own => Owner::Free.into(),
                                _ if position == start.position => interval.first,
                                owner => owner,
                            },
                            rest: PackedOwner::unknown(UnknownOwner::TraceEnded),
                            is_direct: false,
                        };
                        let mut parts: Vec<crate::model::wait::Contention> = Vec::new();
                        timeline.split(&view, &mut parts);
                        let mut expected = Vec::new();
                        let mut shares = Shares::new(detail, &mut expected);
                        for part in &parts {
                            shares.add_parts(part.owner.into(), part.duration_ns, 1);
                            let time = (part.start_ns, part.start_ns + part.duration_ns);
                            expected_spans.add_part(part.owner, time, false);
                        }
                        let mut found = Vec::new();
                        let settled = timeline.end().saturating_sub(unsettled);
                        let shares = Shares::new(detail, &mut found);
                        let mut shares = shares.with_spans(spans.wanted());
                        timeline.blame_by_sums(&view, settled, detail, &mut shares);
                        prop_assert_eq!(sorted(found, detail), sorted(expected.clone(), detail));
                        let mut found = Vec::new();
                        let mut shares = Shares::new(detail, &mut found);
                        timeline.blame(&view, settled, detail, &mut shares);
                        prop_assert_eq!(sorted(found, detail), sorted(expected, detail));
                        let mut found = Vec::new();
                        let (mut others, mut shared) = (Vec::new(), HoldRanges::default());
                        number += 1;
                        let segments = Segments {
                            id: WaitId { number, ..WaitId::default() },
                            fewest: LONG_WITH_SPANS,
                            contentions: &mut others,
                            shared: &mut shared,
                        };
                        let mut shares = Shares::new(detail, &mut found).with_segments(segments);
                        timeline.blame(&view, settled, detail, &mut shares);
                        shared.place = holds.add(&shared);
                        let time = (start.time_ns, end_ns);
                        waits_told.push((shared, time, others, parts));
                        if number % 3 == 0 {
                            // Some go, in any order.
                            let (gone, ..) = waits_told.swap_remove(waiter % waits_told.len());
                            if let Some(first) = gone.runs.first() {
                                holds.let_go(gone.place, first);
                            }
                        }
                        let oldest = waiting.iter().map(|start| start.position).min();
                        timeline.forget_before(oldest.unwrap_or(timeline.end()), &mut spans);
                        for ended in spans.ended_histories.drain(..) {
                            holds.end(ended);
                        }
                        for (shared, time, others, parts) in &waits_told {
                            let mut all = others.clone();
                            if !shared.runs.is_empty() {
                                all.clear();
                                holds.take_apart(shared, *time, others, &mut all);
                            }
                            prop_assert_eq!(&all, parts);
                        }
                    }
                }
            }
            for (shared, ..) in &waits_told {
                if let Some(first) = shared.runs.first() {
                    holds.let_go(shared.place, first);
                }
            }
            timeline.forget_before(timeline.end(), &mut spans);
            for ended in spans.ended_histories.drain(..) {
                holds.end(ended);
            }
            prop_assert_eq!(holds.len(), 0);
            prop_assert_eq!(waits_at(&spans), waits_at(&expected_spans));
        }
    }
}
