//! Barging: acquisitions by threads that did not wait while others did.

use std::collections::VecDeque;

use crate::blame::timeline::interval::Start;
use crate::collections::shrink::shrink_queue;

/// A queue of prefix sums over the acquisitions, in order: the number in any range is a difference.
/// Positions and `until_ns` only grow. An entry is released when no waiting thread has seen its
/// interval.
#[derive(Debug, Default)]
pub(super) struct Barging(VecDeque<Acquisitions>);

/// Acquisitions of the lock by threads that did not wait.
#[derive(Clone, Copy, Debug)]
struct Acquisitions {
    /// Position of the interval that they belong to.
    position: u64,
    /// Begin of the hold, as if they were one.
    acquired_ns: u64,
    /// The latest such time so far.
    until_ns: u64,
    /// Number of acquisitions before.
    before: u64,
    /// Number of acquisitions.
    holds: u64,
}

impl Barging {
    /// Adds acquisitions at `time_ns`, within the interval at `position`.
    pub(super) fn add(&mut self, position: u64, time_ns: u64, holds: u64) {
        if holds == 0 {
            return;
        }
        let last = self.0.back();
        self.0.push_back(Acquisitions {
            position,
            acquired_ns: time_ns,
            until_ns: last.map_or(time_ns, |last| last.until_ns.max(time_ns)),
            before: last.map_or(0, |last| last.before + last.holds),
            holds,
        });
    }

    /// Returns the number of acquisitions since a wait began, where each but the first came after a
    /// boundary that the wait has seen: for those, clock skew makes no difference.
    pub(super) fn since(&self, wait: Start) -> u64 {
        let mut first = self.first(wait);
        if let Some(barging) = self.0.get(first)
            && barging.position == wait.position
            && barging.acquired_ns < wait.time_ns
        {
            first += 1;
        }
        self.sum(first, self.0.len())
    }

    /// Returns the same for a wait that ended before `end_ns`, where boundaries do not show which
    /// acquisitions came after its begin.
    pub(super) fn until(&self, wait: Start, end_ns: u64) -> u64 {
        let before = |time_ns| move |barging: &Acquisitions| barging.until_ns < time_ns;
        let began = self.0.partition_point(before(wait.time_ns));
        let ended = self.0.partition_point(before(end_ns));
        self.sum(self.first(wait).max(began), ended)
    }

    /// Returns the index of the first entry added after a wait began.
    fn first(&self, wait: Start) -> usize {
        self.0
            .partition_point(|barging| barging.position < wait.position)
    }

    fn sum(&self, first: usize, end: usize) -> u64 {
        match (self.0.get(first), end.checked_sub(1)) {
            (Some(first_one), Some(last)) if last >= first => {
                let last = self.0[last];
                last.before + last.holds - first_one.before
            }
            _ => 0,
        }
    }

    /// Forgets the entries of intervals before `position`.
    pub(super) fn forget_before(&mut self, position: u64) {
        while (self.0.front()).is_some_and(|first| first.position < position) {
            self.0.pop_front();
        }
        shrink_queue(&mut self.0);
    }
}
