//! Prefix sums over the intervals in which one code held a lock, or nobody: any range of them is a
//! difference of two sums.

use std::collections::VecDeque;

use crate::blame::timeline::coverage::{Coverage, Since};
use crate::blame::timeline::splitter::Shares;
use crate::collections::galloping::count_from_back;
use crate::collections::shrink::shrink_queue;
use crate::model::packed_owner::PackedOwner;
use crate::model::wait::Detail;

/// Prefix sums over intervals, for owners that are told apart by their code only. Most locks are
/// released by the same code for a long time, so most waits need no more than two differences,
/// however many intervals they cover.
#[derive(Debug)]
pub(crate) struct CodePrefixSums {
    /// Position of the first mark.
    start: u64,
    /// For each interval.
    marks: VecDeque<Mark>,
    /// The greatest end of what is before the first mark.
    start_ns: u64,
    now: Mark,
    coverage: Coverage,
}

/// The sums at the end of an interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// The greatest end so far.
    pub(crate) until_ns: u64,
    /// For how long the lock was free so far.
    free_ns: u64,
    /// How many parts there were so far, and those of them in which the lock was free.
    parts: u32,
    free_parts: u32,
    /// How often the code has changed before; equal numbers mean the same code.
    stretch: u32,
    /// The last part goes on if the next one has the same owner.
    pub(crate) goes_on: bool,
    /// The owner of the last interval that has a duration.
    pub(crate) last: PackedOwner,
    /// Who had the lock last, when it was not free.
    owner: PackedOwner,
}

impl CodePrefixSums {
    /// Of the intervals from `start` on.
    pub(crate) fn new(start: u64) -> Self {
        Self {
            start,
            marks: VecDeque::new(),
            start_ns: 0,
            coverage: Coverage::default(),
            now: Mark {
                until_ns: 0,
                free_ns: 0,
                parts: 0,
                free_parts: 0,
                stretch: 0,
                goes_on: false,
                last: PackedOwner::NONE,
                owner: PackedOwner::NONE,
            },
        }
    }

    /// Position behind the last interval.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.start + self.marks.len() as u64
    }

    /// Adds the next interval. A gap counts as a change of code, and so do times out of order.
    #[inline]
    pub(crate) fn push(&mut self, until_ns: u64, owner: PackedOwner, goes_on: bool, is_gap: bool) {
        // Not where it stands: what is written in pieces cannot be read as a whole just after.
        let mut now = self.now;
        if until_ns < now.until_ns || is_gap {
            now.stretch = now.stretch.wrapping_add(1);
        }
        if until_ns <= now.until_ns {
            now.goes_on &= goes_on;
        } else {
            let part = u32::from(!(now.goes_on && owner == now.last));
            now.parts = now.parts.wrapping_add(part);
            if owner == PackedOwner::NOBODY {
                now.free_ns = now.free_ns.wrapping_add(until_ns - now.until_ns);
                now.free_parts = now.free_parts.wrapping_add(part);
            } else {
                let is_same = Detail::OwnerCode.key(owner) == Detail::OwnerCode.key(now.owner);
                now.stretch = now.stretch.wrapping_add(u32::from(!is_same));
                now.owner = owner;
            }
            now.last = owner;
            (now.until_ns, now.goes_on) = (until_ns, goes_on);
        }
        self.now = now;
        self.marks.push_back(now);
    }

    /// One more wait goes through the intervals from `start` to before `end`.
    pub(crate) fn cover(&mut self, start: u64, end: u64) {
        let [start, end] = [start, end].map(|position| (position - self.start) as usize);
        self.coverage.add(start, end);
    }

    /// As [`PrefixSums::pass_before`](crate::blame::timeline::prefix_sums::PrefixSums::pass_before).
    pub(crate) fn pass_before(
        &mut self,
        position: u64,
        on_passed: impl FnMut(u64, (u64, u64), u64, bool),
    ) {
        let count = position.saturating_sub(self.start) as usize;
        let marks = self.marks.iter().take(count).map(|mark| Since {
            time_ns: mark.until_ns,
            goes_on: mark.goes_on,
        });
        self.coverage
            .pass((self.start, self.start_ns), marks, on_passed);
    }

    /// Forgets the intervals before `position`, and begins there if there are none from there on.
    pub(crate) fn forget_before(&mut self, position: u64) {
        let count = position.saturating_sub(self.start) as usize;
        let count = count.min(self.marks.len());
        if let Some(last) = count.checked_sub(1).and_then(|last| self.marks.get(last)) {
            self.start_ns = last.until_ns;
        }
        self.marks.drain(..count);
        shrink_queue(&mut self.marks);
        self.start = position.max(self.start);
    }

    /// The interval's mark; it must be one of those.
    #[inline]
    pub(crate) fn mark(&self, position: u64) -> &Mark {
        &self.marks[(position - self.start) as usize]
    }

    /// The greatest end of the intervals before `position`.
    #[inline]
    pub(crate) fn before_ns(&self, position: u64) -> u64 {
        let index = position.checked_sub(self.start + 1);
        index.map_or(self.start_ns, |index| self.marks[index as usize].until_ns)
    }

    /// Position of the last interval that ends then at the latest, or an earlier one.
    #[inline]
    pub(crate) fn last_until(&self, time_ns: u64) -> Option<u64> {
        let count = count_from_back(&self.marks, |mark| mark.until_ns <= time_ns);
        Some(self.start + count.checked_sub(1)? as u64)
    }

    /// Whether one code held the lock in all intervals after the one at `start`, up to the one at `end`.
    #[inline]
    pub(crate) fn is_one(&self, start: u64, end: u64) -> bool {
        self.mark(start).stretch == self.mark(end).stretch
    }

    /// Adds the sums of those intervals, which must be [of one code](Self::is_one).
    #[inline]
    pub(crate) fn add(&self, start: u64, end: u64, shares: &mut Shares<'_>) {
        let (before, until) = (self.mark(start), self.mark(end));
        let duration_ns = until.until_ns - before.until_ns;
        let free_ns = until.free_ns.wrapping_sub(before.free_ns);
        let free_parts = until.free_parts.wrapping_sub(before.free_parts);
        let parts = until.parts.wrapping_sub(before.parts);
        if free_ns > 0 {
            shares.add_parts(PackedOwner::NOBODY, free_ns, free_parts.into());
        }
        if duration_ns > free_ns {
            let (rest_ns, rest_parts) = (duration_ns - free_ns, parts - free_parts);
            shares.add_parts(until.owner, rest_ns, rest_parts.into());
        }
    }
}
