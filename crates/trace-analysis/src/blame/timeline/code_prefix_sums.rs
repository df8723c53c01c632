//! Prefix sums over the intervals in which a lock was held by one code, or free: the sum over any
//! range is a difference.

use crate::blame::timeline::coverage::Since;
use crate::blame::timeline::marks::{self, Marks};
use crate::blame::timeline::splitter::Shares;
use crate::collections::galloping::count_from_back;
use crate::model::detail::Detail;
use crate::model::packed_owner::PackedOwner;

/// Prefix sums over intervals, for owners distinguished by their code only. Most locks are released
/// by the same code for a long time, so most waits need no more than two differences, however many
/// intervals they cover.
#[derive(Debug)]
pub(crate) struct CodePrefixSums {
    /// One mark per interval.
    pub(super) marks: Marks<Mark>,
    now: Mark,
}

/// The sums at the end of an interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// The greatest end so far.
    pub(crate) until_ns: u64,
    /// Total time so far in which the lock was free.
    free_ns: u64,
    /// Number of parts so far, and of those in which the lock was free.
    parts: u32,
    free_parts: u32,
    /// Number of code changes before; equal numbers mean the same code.
    stretch: u32,
    /// The last part goes on if the next one has the same owner.
    pub(crate) goes_on: bool,
    /// The owner of the last interval that is not empty.
    pub(crate) last: PackedOwner,
    /// The last owner while the lock was not free.
    owner: PackedOwner,
}

impl marks::Mark for Mark {
    #[inline]
    fn end(&self) -> Since {
        Since {
            time_ns: self.until_ns,
            goes_on: self.goes_on,
        }
    }
}

impl CodePrefixSums {
    /// Creates sums for the intervals from `start` on.
    pub(crate) fn new(start: u64) -> Self {
        Self {
            marks: Marks::new(start),
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

    /// Adds the next interval. A gap counts as a change of code, and so does a time out of order.
    #[inline]
    pub(crate) fn push(&mut self, until_ns: u64, owner: PackedOwner, goes_on: bool, is_gap: bool) {
        // Works on a copy: a value written in pieces is slow to read as a whole right after.
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
                let is_same = Detail::CODE.key(owner) == Detail::CODE.key(now.owner);
                now.stretch = now.stretch.wrapping_add(u32::from(!is_same));
                now.owner = owner;
            }
            now.last = owner;
            (now.until_ns, now.goes_on) = (until_ns, goes_on);
        }
        self.now = now;
        self.marks.push(now);
    }

    /// Returns the position of the last interval that ends at that time at the latest, or of an
    /// earlier one.
    #[inline]
    pub(crate) fn last_until(&self, time_ns: u64) -> Option<u64> {
        let count = count_from_back(self.marks.all(), |mark| mark.until_ns <= time_ns);
        Some(self.marks.start() + count.checked_sub(1)? as u64)
    }

    /// Returns whether one code held the lock in all intervals after `start` up to `end`.
    #[inline]
    pub(crate) fn is_one(&self, start: u64, end: u64) -> bool {
        self.marks.at(start).stretch == self.marks.at(end).stretch
    }

    /// Adds the sums of those intervals, which must be [of one code](Self::is_one).
    #[inline]
    pub(crate) fn add(&self, start: u64, end: u64, shares: &mut Shares<'_>) {
        let (before, until) = (self.marks.at(start), self.marks.at(end));
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
