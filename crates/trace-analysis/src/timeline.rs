//! Who held a lock, as long as some thread waits that has seen it.

use std::collections::VecDeque;

use crate::contention::{Contention, Owner, UnknownOwner};

/// Time between two boundaries of a lock, events that tell about its owner. It
/// begins where the interval before it ends; the first has no start.
pub(crate) trait Interval {
    /// Nanoseconds since the trace's start.
    fn end_ns(&self) -> u64;

    /// Events are missing here, and it is not known whose.
    fn is_gap(&self) -> bool;

    /// The interval ends because something was seen, not because the lock was
    /// released: the same owner goes on.
    fn goes_on(&self) -> bool {
        false
    }

    /// What stands for several intervals that nobody remembers, the last of which
    /// ended at `end_ns`. It may have been a gap.
    fn collapsed(end_ns: u64) -> Self;
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
    /// Position of the last of them.
    last_gap: u64,
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

/// Capacity that a lock keeps while no thread waits for it.
const SMALL: usize = 64;

impl<I> Default for Timeline<I> {
    fn default() -> Self {
        Self {
            start: 0,
            intervals: VecDeque::new(),
            numbers_lost: 0,
            last_gap: 0,
        }
    }
}

impl<I: Interval> Timeline<I> {
    /// Position of the interval that will be pushed next.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.intervals.len() as u64
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
        self.last_gap = self.end();
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
    pub(crate) fn known_until_ns(&self, wait: Start) -> u64 {
        let seen = self.seen_from(wait.position);
        let last_ns = seen.map(|(_, interval)| interval.end_ns()).max();
        last_ns.unwrap_or(0)
    }

    /// Appends an interval. Returns how many of the oldest lost their owner to
    /// keep within the bound.
    pub(crate) fn push(&mut self, interval: I) -> u64 {
        let collapsed = if self.intervals.len() == MAX_INTERVALS {
            self.collapse()
        } else {
            0
        };
        self.intervals.push_back(interval);
        collapsed
    }

    /// Makes one interval of the older half.
    fn collapse(&mut self) -> u64 {
        let half = self.intervals.len() / 2;
        let ends = self.intervals.drain(..half);
        let end_ns = ends.map(|interval| interval.end_ns()).max();
        self.intervals.push_front(I::collapsed(end_ns.unwrap_or(0)));
        self.start += half as u64 - 1;
        half as u64
    }

    /// Forgets the intervals before `position`.
    pub(crate) fn forget_before(&mut self, position: u64) {
        let count = position
            .saturating_sub(self.start)
            .min(self.intervals.len() as u64);
        self.intervals.drain(..count as usize);
        self.start += count;
        if self.intervals.is_empty() {
            self.intervals.shrink_to(SMALL);
        }
    }

    /// The intervals from `position` on, and their positions.
    pub(crate) fn seen_from(&self, position: u64) -> impl Iterator<Item = (u64, &I)> {
        let skip = position.saturating_sub(self.start) as usize;
        let positions = self.start + skip as u64..;
        positions.zip(self.intervals.range(skip.min(self.intervals.len())..))
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
        let skip = position.saturating_sub(self.start) as usize;
        self.intervals.range_mut(skip.min(self.intervals.len())..)
    }

    /// Splits the wait from `wait` to `end_ns` at the boundaries: `owner_of` says
    /// who is to blame in the interval at a position, and `rest` is to blame after
    /// the last boundary. The parts are clamped to the wait, so that they add up.
    pub(crate) fn split(
        &self,
        wait: Start,
        end_ns: u64,
        owner_of: impl Fn(u64, &I) -> Owner,
        rest: Owner,
        contentions: &mut Vec<Contention>,
    ) {
        // Nobody may be blamed for what lies between the gaps.
        let may_be_two_waits = self.may_be_two_waits(wait);
        let mut between_gaps = false;

        contentions.clear();
        let mut start_ns = wait.time_ns;
        let mut goes_on = false;
        for (position, interval) in self.seen_from(wait.position) {
            if start_ns >= end_ns {
                break;
            }
            if may_be_two_waits {
                between_gaps |= interval.is_gap();
                between_gaps &= position <= self.last_gap;
            }
            let owner = if between_gaps {
                Owner::Unknown(UnknownOwner::Lost)
            } else {
                owner_of(position, interval)
            };
            let until_ns = interval.end_ns().min(end_ns).max(start_ns);
            append(contentions, start_ns, until_ns, owner, goes_on);
            // Nothing goes on from an interval without a duration.
            goes_on = interval.goes_on() && (goes_on || until_ns > start_ns);
            start_ns = until_ns;
        }
        append(contentions, start_ns, end_ns, rest, false);
        if contentions.is_empty() {
            contentions.push(Contention {
                start_ns,
                duration_ns: 0,
                owner: rest,
            });
        }
    }
}

/// Appends a part, or makes the last one longer if its owner `goes_on`.
#[inline]
fn append(
    contentions: &mut Vec<Contention>,
    start_ns: u64,
    until_ns: u64,
    owner: Owner,
    goes_on: bool,
) {
    let duration_ns = until_ns - start_ns;
    if duration_ns == 0 {
        return;
    }
    if goes_on
        && let Some(last) = contentions.last_mut()
        && last.owner == owner
    {
        last.duration_ns += duration_ns;
        return;
    }
    contentions.push(Contention {
        start_ns,
        duration_ns,
        owner,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Test {
        Until(u64),
        Collapsed(u64),
    }

    impl Interval for Test {
        fn end_ns(&self) -> u64 {
            match *self {
                Self::Until(end_ns) | Self::Collapsed(end_ns) => end_ns,
            }
        }

        fn is_gap(&self) -> bool {
            false
        }

        fn collapsed(end_ns: u64) -> Self {
            Self::Collapsed(end_ns)
        }
    }

    fn seen(timeline: &Timeline<Test>, position: u64) -> Vec<(u64, Test)> {
        let seen = timeline.seen_from(position);
        seen.map(|(at, &interval)| (at, interval)).collect()
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
        timeline.forget_before(1);
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
}
