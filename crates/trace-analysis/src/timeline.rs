//! Who held a lock, as long as some thread waits that has seen it.

use std::collections::VecDeque;

use crate::contention::{Owner, UnknownOwner};

/// Time between two boundaries (exits, entered events, gaps) of a lock. It
/// begins where the interval before it ends; its first is without a begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    /// Nanoseconds since the trace's start.
    pub(crate) end_ns: u64,
    /// The owner, from the view of threads that began to wait within the
    /// interval.
    pub(crate) owner: Owner,
    /// The owner, from the view of threads that waited before: the interval's
    /// events may tell who held the lock at its end, but not since when.
    pub(crate) owner_for_earlier: Owner,
    /// Events are missing here, and it is not known whose.
    pub(crate) is_gap: bool,
}

impl Interval {
    pub(crate) fn new(end_ns: u64, owner: Owner) -> Self {
        Self {
            end_ns,
            owner,
            owner_for_earlier: owner,
            is_gap: false,
        }
    }
}

/// An interval from the view of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) position: u64,
    pub(crate) end_ns: u64,
    pub(crate) owner: Owner,
    pub(crate) is_gap: bool,
}

/// The intervals that the threads waiting for one lock share.
///
/// One list for all, because *n* waiting threads see the same owners: an exit
/// costs the same however many threads wait.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    /// Position of the first interval kept, counted since the lock's beginning.
    start: u64,
    intervals: VecDeque<Interval>,
}

/// More intervals are kept only in part: a thread may starve, or its entered
/// event be lost, and memory must stay bounded.
const MAX_INTERVALS: usize = 1 << 18;

/// Capacity that a lock keeps while no thread waits for it.
const SMALL: usize = 64;

impl Timeline {
    /// Position of the interval that will be pushed next.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.intervals.len() as u64
    }

    /// Appends an interval. Returns how many of the oldest lost their owner to
    /// keep within the bound.
    pub(crate) fn push(&mut self, interval: Interval) -> u64 {
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
        let end_ns = self
            .intervals
            .drain(..half)
            .map(|interval| interval.end_ns)
            .max();
        let owner = Owner::Unknown(UnknownOwner::Collapsed);
        self.intervals.push_front(Interval {
            // It may have been one.
            is_gap: true,
            ..Interval::new(end_ns.unwrap_or(0), owner)
        });
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

    /// The intervals from `position` on, with the owners that a thread sees
    /// that began to wait in the interval at `position`.
    pub(crate) fn seen_from(&self, position: u64) -> impl Iterator<Item = Seen> {
        let skip = position.saturating_sub(self.start) as usize;
        let positions = self.start + skip as u64..;
        positions
            .zip(self.intervals.range(skip.min(self.intervals.len())..))
            .map(move |(at, interval)| {
                let within = at == position;
                Seen {
                    position: at,
                    end_ns: interval.end_ns,
                    owner: if within {
                        interval.owner
                    } else {
                        interval.owner_for_earlier
                    },
                    is_gap: interval.is_gap,
                }
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOST: Owner = Owner::Unknown(UnknownOwner::Lost);
    const HAND_OFF: Owner = Owner::Unknown(UnknownOwner::HandOff);
    const COLLAPSED: Owner = Owner::Unknown(UnknownOwner::Collapsed);

    fn owners(timeline: &Timeline, position: u64) -> Vec<(u64, Owner)> {
        let seen = timeline.seen_from(position);
        seen.map(|interval| (interval.end_ns, interval.owner))
            .collect()
    }

    #[test]
    fn threads_see_an_interval_from_within_or_from_before() {
        let mut timeline = Timeline::default();
        timeline.push(Interval::new(10, HAND_OFF));
        let position = timeline.end();
        let interval = Interval {
            owner_for_earlier: LOST,
            ..Interval::new(20, HAND_OFF)
        };
        timeline.push(interval);
        assert_eq!(owners(&timeline, position), [(20, HAND_OFF)]);
        assert_eq!(owners(&timeline, 0), [(10, HAND_OFF), (20, LOST)]);

        timeline.forget_before(position);
        assert_eq!(owners(&timeline, position), [(20, HAND_OFF)]);
        assert_eq!(timeline.end(), 2);
    }

    #[test]
    fn older_half_collapses_when_there_are_too_many() {
        let mut timeline = Timeline::default();
        let mut collapsed = 0;
        for end_ns in 0..=MAX_INTERVALS as u64 {
            collapsed += timeline.push(Interval::new(end_ns, HAND_OFF));
        }
        let half = MAX_INTERVALS as u64 / 2;
        assert_eq!(collapsed, half);
        assert_eq!(timeline.end(), MAX_INTERVALS as u64 + 1);
        for position in [0, 7, half - 1] {
            let seen = owners(&timeline, position);
            assert_eq!(seen[..2], [(half - 1, COLLAPSED), (half, HAND_OFF)]);
        }
        assert_eq!(owners(&timeline, half)[0], (half, HAND_OFF));
    }
}
