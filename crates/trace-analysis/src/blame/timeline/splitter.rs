//! Splits a wait into parts.

use crate::blame::timeline::hold_spans::HoldSpans;
use crate::collections::hash::SeededMap;
use crate::model::detail::{BlameBy, Detail};
use crate::model::packed_owner::PackedOwner;
use crate::model::time_range::TimeRange;
use crate::model::wait::{Blame, Contention, Owner, Wait};

/// A receiver of the parts of a wait, in order.
pub(crate) trait Parts {
    /// Adds a part; `goes_on` if it only extends the last one.
    fn add(&mut self, start_ns: u64, duration_ns: u64, owner: PackedOwner, goes_on: bool);
}

/// One part, or the sum of several.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part {
    pub(crate) duration_ns: u64,
    pub(crate) contentions: u64,
}

impl Parts for Part {
    fn add(&mut self, _start_ns: u64, duration_ns: u64, _owner: PackedOwner, goes_on: bool) {
        self.duration_ns = duration_ns;
        self.contentions = u64::from(!goes_on);
    }
}

/// Keeps each part separately.
impl Parts for Vec<Contention> {
    #[inline]
    fn add(&mut self, start_ns: u64, duration_ns: u64, owner: PackedOwner, goes_on: bool) {
        if goes_on && let Some(last) = self.last_mut() {
            last.duration_ns += duration_ns;
        } else {
            self.push(Contention {
                start_ns,
                duration_ns,
                owner: owner.get(),
            });
        }
    }
}

/// The sums of the parts of each owner.
pub(crate) struct Shares<'a> {
    /// The bits of a [`PackedOwner::key`] that distinguish owners.
    owner_mask: u64,
    shares: &'a mut Vec<Blame>,
    /// The keys of the first shares.
    first: [u64; FEW],
    /// The places of the other shares, by key.
    places: Option<SeededMap<u64, usize>>,
    /// Receives each part separately.
    pub(crate) spans: Option<&'a mut HoldSpans>,
}

/// Number of shares up to which a linear search is faster than a lookup.
const FEW: usize = 12;

impl<'a> Shares<'a> {
    /// Begins with no shares in `shares`. The parts go to `spans`, too.
    pub(crate) fn new(
        detail: Detail,
        shares: &'a mut Vec<Blame>,
        spans: Option<&'a mut HoldSpans>,
    ) -> Self {
        shares.clear();
        Self {
            owner_mask: detail.owner_mask(),
            shares,
            first: [0; FEW],
            places: None,
            spans,
        }
    }

    /// Adds the sum of several parts of one owner, if there are any.
    #[inline]
    pub(crate) fn add_part(&mut self, owner: PackedOwner, part: Part) {
        if part.contentions > 0 || part.duration_ns > 0 {
            self.add_parts(owner, part.duration_ns, part.contentions);
        }
    }

    /// Adds several parts of one owner.
    #[inline]
    pub(crate) fn add_parts(&mut self, owner: PackedOwner, duration_ns: u64, contentions: u64) {
        let key = owner.key(self.owner_mask);
        let known = self.first.iter().zip(self.shares.iter_mut());
        for (&first, share) in known {
            if first == key {
                share.duration_ns += duration_ns;
                share.contentions += contentions;
                return;
            }
        }
        let share = self.other(key, owner);
        share.duration_ns += duration_ns;
        share.contentions += contentions;
    }

    /// Returns a share that is not among the first, or a new one.
    #[inline(never)]
    fn other(&mut self, key: u64, owner: PackedOwner) -> &mut Blame {
        let next = self.shares.len();
        let place = match self.first.get_mut(next) {
            Some(first) => {
                *first = key;
                next
            }
            None => {
                let places = self.places.get_or_insert_default();
                *places.entry(key).or_insert(next)
            }
        };
        if place == next {
            self.shares.push(Blame {
                owner: owner.get(),
                duration_ns: 0,
                contentions: 0,
            });
        }
        &mut self.shares[place]
    }
}

impl Parts for Shares<'_> {
    #[inline(always)]
    fn add(&mut self, start_ns: u64, duration_ns: u64, owner: PackedOwner, goes_on: bool) {
        self.add_parts(owner, duration_ns, u64::from(!goes_on));
        if let Some(spans) = &mut self.spans {
            spans.add_part(owner.get(), (start_ns, start_ns + duration_ns), goes_on);
        }
    }
}

/// Adds the contentions of a wait. A contention cut by a freeze counts once.
pub(crate) fn add_contentions(contentions: &[Contention], shares: &mut Shares<'_>) {
    for (at, part) in contentions.iter().enumerate() {
        let before = at
            .checked_sub(2)
            .and_then(|first| contentions.get(first..at));
        let goes_on = matches!(before, Some([first, freeze])
            if freeze.owner == Owner::Frozen && first.owner == part.owner);
        shares.add(part.start_ns, part.duration_ns, part.owner.into(), goes_on);
    }
}

impl Wait {
    /// Clips its contentions to `range`.
    pub(crate) fn clip_contentions(&mut self, range: TimeRange) {
        self.contentions.retain_mut(|part| {
            let inside = range.clip(part.start_ns, part.start_ns + part.duration_ns);
            if let Some((start_ns, end_ns)) = inside {
                (part.start_ns, part.duration_ns) = (start_ns, end_ns - start_ns);
            }
            inside.is_some()
        });
    }

    /// Fills in the time of each owner from the contentions.
    pub(crate) fn add_up_contentions(&mut self) {
        let mut shares = Shares::new(Detail::OWNERS, &mut self.blame, None);
        add_contentions(&self.contentions, &mut shares);
    }
}

impl Detail {
    /// Returns a key shared by all owners whose parts are added up.
    #[inline]
    pub(crate) fn key(self, owner: PackedOwner) -> u64 {
        owner.key(self.owner_mask())
    }

    /// Returns the bits of a [`PackedOwner::key`] that distinguish owners whose parts are not added
    /// up.
    fn owner_mask(self) -> u64 {
        match self.by {
            BlameBy::Code => u32::MAX.into(),
            BlameBy::Owner | BlameBy::Contention => u64::MAX,
        }
    }
}

/// Cuts a wait at boundaries. The parts are clamped to the wait, so that they add up to it despite
/// clock skew.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cutter {
    /// Begin of the next part.
    pub(crate) at_ns: u64,
    /// End of the wait.
    pub(crate) end_ns: u64,
    /// The last part's owner goes on if the next one has the same.
    pub(crate) goes_on: bool,
    /// The owner of the last part.
    pub(crate) last: Option<PackedOwner>,
}

impl Cutter {
    pub(crate) fn new(start_ns: u64, end_ns: u64) -> Self {
        Self {
            at_ns: start_ns,
            end_ns,
            goes_on: false,
            last: None,
        }
    }

    /// Returns whether the whole wait is cut.
    pub(crate) fn is_done(&self) -> bool {
        self.at_ns >= self.end_ns
    }

    /// Cuts a part that ends at a boundary; asks for `owner` only if the part is not empty. Returns
    /// the part's duration.
    #[inline(always)]
    pub(crate) fn cut(
        &mut self,
        until_ns: u64,
        owner: impl FnOnce() -> PackedOwner,
        goes_on: bool,
        parts: &mut impl Parts,
    ) -> u64 {
        let until_ns = until_ns.min(self.end_ns);
        if until_ns <= self.at_ns {
            // Nothing continues from an empty interval.
            self.goes_on &= goes_on;
            return 0;
        }
        let owner = owner();
        let duration_ns = until_ns - self.at_ns;
        let continues = self.goes_on && self.last == Some(owner);
        parts.add(self.at_ns, duration_ns, owner, continues);
        self.last = Some(owner);
        self.goes_on = goes_on;
        self.at_ns = until_ns;
        duration_ns
    }

    /// Ends the wait with `owner` since the last boundary.
    pub(crate) fn finish(mut self, owner: PackedOwner, parts: &mut impl Parts) {
        self.goes_on = false;
        self.cut(self.end_ns, || owner, false, parts);
        if self.last.is_none() {
            parts.add(self.at_ns, 0, owner, false);
        }
    }
}
