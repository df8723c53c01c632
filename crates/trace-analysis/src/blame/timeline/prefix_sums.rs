//! Prefix sums of the time for which each owner held a lock: its time in any range of intervals is
//! a difference.

use std::collections::VecDeque;

use crate::blame::timeline::coverage::Since;
use crate::blame::timeline::marks::{self, Marks};
use crate::blame::timeline::splitter::{Cutter, Part, Shares};
use crate::collections::galloping::{count_from_back, count_from_front};
use crate::collections::hash::SeededMap;
use crate::collections::shrink::shrink_queue;
use crate::model::detail::Detail;
use crate::model::entity::ThreadIndex;
use crate::model::packed_owner::PackedOwner;

/// Sums over the intervals of a timeline, as seen by a thread that waits all the time.
///
/// An interval costs the same however many threads wait, and a wait costs the same however many
/// intervals an owner had in it.
#[derive(Debug)]
pub(crate) struct PrefixSums {
    detail: Detail,
    /// One mark per interval.
    pub(super) marks: Marks<Mark>,
    owners: Owners,
    /// The positions of each thread's own intervals that are not empty, if wanted.
    positions: SeededMap<ThreadIndex, VecDeque<u64>>,
    has_positions: bool,
    /// Number of threads with positions at which those without current ones are forgotten.
    max_positions: usize,
    /// Cuts a wait that sees all intervals.
    cutter: Cutter,
}

/// The state at the end of an interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// When the interval ended, or an earlier one if that ended later.
    pub(crate) until_ns: u64,
    /// Number of parts so far if all intervals had one owner.
    pub(crate) runs: u64,
    /// Position of the last interval that is not empty.
    pub(crate) last: u64,
    /// The last part goes on if the next one has the same owner.
    pub(crate) goes_on: bool,
}

/// The total of an owner up to an interval.
#[derive(Clone, Copy, Debug)]
struct Sum {
    position: u64,
    duration_ns: u64,
    contentions: u64,
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

impl PrefixSums {
    /// Creates sums for the intervals from `start` on; with `has_positions`, those of each thread
    /// can be [found](Self::next_own).
    pub(crate) fn new(detail: Detail, start: u64, has_positions: bool) -> Self {
        Self {
            detail,
            marks: Marks::new(start),
            owners: Owners::default(),
            positions: SeededMap::default(),
            has_positions,
            max_positions: 0,
            cutter: Cutter::new(0, u64::MAX),
        }
    }

    /// Adds the next interval.
    pub(crate) fn push(&mut self, until_ns: u64, owner: PackedOwner, goes_on: bool) {
        let position = self.marks.end();
        let mut last = self.marks.all().back().copied().unwrap_or(Mark {
            until_ns: self.marks.before_ns(position),
            runs: 0,
            last: position,
            goes_on: false,
        });
        let begins_run = !self.cutter.goes_on;
        let mut part = Part::default();
        let duration_ns = self.cutter.cut(until_ns, || owner, goes_on, &mut part);
        if duration_ns > 0 {
            last.last = position;
            last.runs += u64::from(begins_run);
            let key = self.detail.key(owner);
            self.owners.add(key, owner, position, part);
            self.owners.forget_of_latest(self.marks.start());
            if let Some(thread) = owner.thread()
                && self.has_positions
            {
                self.add_position(thread, position);
            }
        }
        last.until_ns = self.cutter.at_ns;
        last.goes_on = self.cutter.goes_on;
        self.marks.push(last);
    }

    fn add_position(&mut self, thread: ThreadIndex, position: u64) {
        const FEW: usize = 64;
        let start = self.marks.start();
        if self.positions.len() > self.max_positions.max(FEW) {
            self.positions
                .retain(|_, of_thread| of_thread.back() >= Some(&start));
            self.max_positions = self.positions.len() * 2;
        }
        let of_thread = self.positions.entry(thread).or_default();
        while of_thread.front().is_some_and(|&first| first < start) {
            of_thread.pop_front();
        }
        of_thread.push_back(position);
    }

    /// Forgets the intervals before `position`, which is at most the end.
    pub(crate) fn forget_before(&mut self, position: u64) {
        self.marks.forget_before(position);
        self.owners.forget_before(self.marks.start());
    }

    /// Returns the number of runs in the intervals before `position`.
    pub(crate) fn runs_before(&self, position: u64) -> u64 {
        self.marks.before(position).map_or(0, |mark| mark.runs)
    }

    /// Returns the position of the first interval that ends after `time_ns`, from `position` on,
    /// which must be in the sums.
    pub(crate) fn first_beyond(&self, position: u64, time_ns: u64) -> u64 {
        if self.marks.at(position).until_ns > time_ns {
            return position;
        }
        let known = (position - self.marks.start()) as usize + 1;
        let is_before = |mark: &Mark| mark.until_ns <= time_ns;
        let count = count_from_front(self.marks.all(), known, is_before);
        self.marks.start() + count as u64
    }

    /// Returns the position of the first interval that ends at `time_ns` or later.
    pub(crate) fn first_reaching(&self, time_ns: u64) -> u64 {
        if self.cutter.at_ns < time_ns {
            return self.marks.end();
        }
        let count = count_from_back(self.marks.all(), |mark| mark.until_ns < time_ns);
        self.marks.start() + count as u64
    }

    /// Returns the position of the thread's first own interval from `position` on.
    pub(crate) fn next_own(&self, thread: ThreadIndex, position: u64) -> Option<u64> {
        let own = self.positions.get(&thread)?;
        let passed = own.partition_point(|&own| own < position);
        own.get(passed).copied()
    }

    /// Adds the time of each owner from `start` to before `end`.
    pub(crate) fn add(&self, start: u64, end: u64, shares: &mut Shares<'_>) {
        self.owners.add_since(start, end, shares);
    }
}

/// The sums of all owners, and the order in which they last had the lock.
#[derive(Debug)]
struct Owners {
    places: SeededMap<u64, usize>,
    accounts: Vec<Account>,
    free: Vec<usize>,
    latest: usize,
    oldest: usize,
}

#[derive(Debug)]
struct Account {
    key: u64,
    /// One of the owners with the key.
    owner: PackedOwner,
    /// Ordered by position; includes the last one before those that count.
    sums: VecDeque<Sum>,
    /// The account whose owner had the lock next after this one's last hold; [`NOBODY`] if this is
    /// the latest.
    later: usize,
    /// The account whose owner had the lock before.
    earlier: usize,
}

const NOBODY: usize = usize::MAX;

impl Default for Owners {
    fn default() -> Self {
        Self {
            places: SeededMap::default(),
            accounts: Vec::new(),
            free: Vec::new(),
            latest: NOBODY,
            oldest: NOBODY,
        }
    }
}

impl Account {
    fn last_position(&self) -> u64 {
        self.sums.back().map_or(0, |sum| sum.position)
    }

    /// Returns the total before `position`.
    fn before(&self, position: u64) -> Part {
        let last = match self.sums.back() {
            Some(last) if last.position < position => Some(last),
            _ => {
                let count = count_from_front(&self.sums, 0, |sum| sum.position < position);
                count.checked_sub(1).and_then(|last| self.sums.get(last))
            }
        };
        last.map_or(Part::default(), |sum| Part {
            duration_ns: sum.duration_ns,
            contentions: sum.contentions,
        })
    }
}

impl Owners {
    fn add(&mut self, key: u64, owner: PackedOwner, position: u64, part: Part) {
        let place = self.recent(key);
        let place = place.unwrap_or_else(|| self.find(key, owner));
        self.make_latest(place);
        let sums = &mut self.accounts[place].sums;
        let last = sums.back().copied().unwrap_or(Sum {
            position,
            duration_ns: 0,
            contentions: 0,
        });
        sums.push_back(Sum {
            position,
            duration_ns: last.duration_ns.saturating_add(part.duration_ns),
            contentions: last.contentions + part.contentions,
        });
    }

    /// Returns the account for a key, if it is one of the latest two: often the lock is free
    /// between two owners.
    fn recent(&self, key: u64) -> Option<usize> {
        let latest = self.accounts.get(self.latest)?;
        if latest.key == key {
            return Some(self.latest);
        }
        let earlier = self.accounts.get(latest.earlier)?;
        (earlier.key == key).then_some(latest.earlier)
    }

    fn find(&mut self, key: u64, owner: PackedOwner) -> usize {
        if let Some(&place) = self.places.get(&key) {
            return place;
        }
        let account = Account {
            key,
            owner,
            sums: VecDeque::new(),
            later: NOBODY,
            earlier: NOBODY,
        };
        let place = match self.free.pop() {
            Some(place) => {
                self.accounts[place] = account;
                place
            }
            None => {
                self.accounts.push(account);
                self.accounts.len() - 1
            }
        };
        self.places.insert(key, place);
        place
    }

    fn make_latest(&mut self, place: usize) {
        if place == self.latest {
            return;
        }
        self.unlink(place);
        self.accounts[place].earlier = self.latest;
        match self.accounts.get_mut(self.latest) {
            Some(latest) => latest.later = place,
            None => self.oldest = place,
        }
        self.latest = place;
    }

    /// Removes an account that is not the latest from the order, if it is there.
    fn unlink(&mut self, place: usize) {
        let Account { later, earlier, .. } = self.accounts[place];
        if let Some(later) = self.accounts.get_mut(later) {
            later.earlier = earlier;
        }
        if let Some(earlier) = self.accounts.get_mut(earlier) {
            earlier.later = later;
        }
        if place == self.oldest {
            self.oldest = later;
        }
        let account = &mut self.accounts[place];
        (account.later, account.earlier) = (NOBODY, NOBODY);
    }

    /// Forgets sums of the latest account that are not needed from `start` on.
    #[inline]
    fn forget_of_latest(&mut self, start: u64) {
        if let Some(latest) = self.accounts.get_mut(self.latest) {
            while latest.sums.get(1).is_some_and(|sum| sum.position < start) {
                latest.sums.pop_front();
            }
            shrink_queue(&mut latest.sums);
        }
    }

    /// Forgets the accounts whose owners last had the lock before `start`.
    fn forget_before(&mut self, start: u64) {
        while let Some(oldest) = self.accounts.get(self.oldest)
            && oldest.last_position() < start
            && self.oldest != self.latest
        {
            let (place, key) = (self.oldest, oldest.key);
            self.unlink(place);
            self.places.remove(&key);
            self.accounts[place].sums = VecDeque::new();
            self.free.push(place);
        }
    }

    fn add_since(&self, start: u64, end: u64, shares: &mut Shares<'_>) {
        let mut next = self.latest;
        while let Some(account) = self.accounts.get(next)
            && account.last_position() >= start
        {
            let (before, until) = (account.before(start), account.before(end));
            let contentions = until.contentions - before.contentions;
            let duration_ns = until.duration_ns - before.duration_ns;
            if duration_ns > 0 {
                shares.add_parts(account.owner, duration_ns, contentions);
            }
            next = account.earlier;
        }
    }
}
