//! The history of holds that waits share, for the waits whose root owners are searched for.

use std::collections::VecDeque;

use crate::blame::timeline::hold_range::{HoldRanges, NO_PLACE, Place, Run, SharedHold};
use crate::blame::timeline::splitter::Parts;
use crate::collections::galloping::count_between;
use crate::collections::hash::SeededMap;
use crate::collections::shrink::shrink_queue;
use crate::model::entity::ThreadIndex;
use crate::model::packed_owner::PackedOwner;
use crate::model::wait::{Contention, UnknownOwner, WaitId};

/// The holds that waits refer to, as long as one of these waits is known.
#[derive(Debug)]
pub(crate) struct HoldHistory {
    places: SeededMap<WaitId, Place>,
    histories: Vec<History>,
    free: Vec<Place>,
    /// How many holds there are.
    len: usize,
    max: usize,
}

/// Of so many positions together it is known whether they are needed.
const CHUNK: u64 = 64;

/// The room of so many histories that are gone is kept for others, if it is for no more than so many
/// holds.
const FEW: usize = 64;
const SMALL: usize = 1 << 12;

/// Holds of a lock, by their positions.
#[derive(Debug, Default)]
struct History {
    id: WaitId,
    /// Position of the first one, and when it began.
    start: u64,
    start_ns: u64,
    holds: VecDeque<SharedHold>,
    /// Of so [many](CHUNK) positions each, how many waits there are whose first hold is there, and the
    /// number of the first ones.
    waits: VecDeque<u32>,
    first_chunk: u64,
    waits_of_all: usize,
    /// No wait will tell of holds before that position any more.
    needed_from: u64,
    is_over: bool,
    /// There was no room for all of it.
    is_forgotten: bool,
    /// Position of the first hold of which it is not known whether its owner waited.
    unseen: u64,
    /// Positions of those before whose owners did.
    indirect: VecDeque<u64>,
}

impl HoldHistory {
    /// Keeps so many holds.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            places: SeededMap::default(),
            histories: Vec::new(),
            free: Vec::new(),
            len: 0,
            max,
        }
    }

    /// Takes what a wait tells of, which is to be [let go](Self::let_go) some time.
    pub(crate) fn add(&mut self, wait: &HoldRanges) -> Place {
        let Some(first) = wait.runs.first() else {
            return NO_PLACE;
        };
        let place = self.place(wait);
        let history = &mut self.histories[place as usize];
        let is_full = self.len + wait.told.len() > self.max;
        if is_full || history.is_forgotten || wait.told_from != history.end() {
            self.len -= history.holds.len();
            history.forget();
        } else {
            self.len += wait.told.len();
            history.holds.extend(&wait.told);
            let chunks = history.end().div_ceil(CHUNK) - history.first_chunk;
            history.waits.resize(chunks as usize, 0);
            history.needed_from = history.needed_from.max(wait.needed_from);
        }
        history.waits_of_all += 1;
        if let Some(waits) = history.waits_from(first.first) {
            *waits += 1;
        }
        place
    }

    /// Where the history is that a wait tells of.
    fn place(&mut self, wait: &HoldRanges) -> Place {
        let (histories, free) = (&mut self.histories, &mut self.free);
        let place = self.places.entry(wait.history).or_insert_with(|| {
            let place = free.pop().unwrap_or_else(|| {
                histories.push(History::default());
                (histories.len() - 1) as Place
            });
            histories[place as usize].begin(wait);
            place
        });
        *place
    }

    /// No wait will tell of that history any more.
    pub(crate) fn end(&mut self, id: WaitId) {
        if let Some(&place) = self.places.get(&id) {
            let history = &mut self.histories[place as usize];
            (history.is_over, history.needed_from) = (true, u64::MAX);
            self.prune(place);
        }
    }

    /// How many holds there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The wait whose first run that is, is not known any more.
    pub(crate) fn let_go(&mut self, place: Place, first: &Run) {
        let history = &mut self.histories[place as usize];
        history.waits_of_all -= 1;
        if let Some(waits) = history.waits_from(first.first) {
            *waits -= 1;
        }
        self.prune(place);
    }

    /// Forgets the holds that nobody needs.
    fn prune(&mut self, place: Place) {
        let history = &mut self.histories[place as usize];
        self.len -= history.prune();
        if history.is_over && history.waits_of_all == 0 {
            self.len -= history.holds.len();
            self.places.remove(&history.id);
            history.end_all(self.free.len() < FEW);
            self.free.push(place);
        }
    }

    /// Whether nobody who had the lock in a run `waited` meanwhile, as is asked for each hold once;
    /// `None` if that is forgotten.
    pub(crate) fn is_direct(
        &mut self,
        (place, run): (Place, &Run),
        waited: impl FnMut(ThreadIndex, (u64, u64)) -> bool,
    ) -> Option<bool> {
        let history = &mut self.histories[place as usize];
        if history.is_forgotten {
            return None;
        }
        history.see_until(run.end, waited);
        let passed = history.indirect.partition_point(|&at| at < run.first);
        let next = history.indirect.get(passed);
        Some(next.is_none_or(|&next| next >= run.end))
    }

    /// Appends the contentions of a wait from begin to end, which has these beside its runs.
    pub(crate) fn take_apart(
        &self,
        shared: &HoldRanges,
        (start_ns, end_ns): (u64, u64),
        others: &[Contention],
        contentions: &mut Vec<Contention>,
    ) {
        let walk = Walk::of(start_ns, others, &shared.runs, shared.place);
        self.walk(&walk, (start_ns, end_ns), |part| {
            let goes_on = part.goes_on
                && (contentions.last()).is_some_and(|last| last.owner == part.owner.get());
            let duration_ns = part.end_ns - part.start_ns;
            contentions.add(part.start_ns, duration_ns, part.owner, goes_on);
        });
    }

    /// Calls `on_part` with the parts of a wait in the time from begin to end. Of holds that are
    /// forgotten, it is not known who the owners were.
    pub(crate) fn walk(
        &self,
        wait: &Walk<impl Fn(usize) -> (u64, PackedOwner), impl Fn(usize) -> Run>,
        (start_ns, end_ns): (u64, u64),
        mut on_part: impl FnMut(WalkedPart),
    ) {
        let mut part = count_while(wait.parts, |index| (wait.part)(index).0 <= start_ns);
        let mut run = count_while(wait.runs, |index| (wait.run)(index).end_ns <= start_ns);
        let before = [
            part.checked_sub(1).map(|last| (wait.part)(last).0),
            run.checked_sub(1).map(|last| (wait.run)(last).end_ns),
        ];
        let mut at_ns = before.into_iter().flatten().fold(wait.start_ns, u64::max);
        let mut goes_on = false;
        while at_ns < end_ns {
            let next = (run < wait.runs).then(|| (wait.run)(run));
            if let Some(next) = next.filter(|next| next.before as usize <= part) {
                let history = &self.histories[wait.place as usize];
                history.walk(&next, (at_ns, start_ns, end_ns), &mut on_part);
                (at_ns, goes_on) = (next.end_ns, next.goes_on_behind);
                run += 1;
            } else if part < wait.parts {
                let (until_ns, owner) = (wait.part)(part);
                on_part(WalkedPart {
                    start_ns: at_ns.max(start_ns),
                    end_ns: until_ns.min(end_ns),
                    owner,
                    goes_on,
                });
                (at_ns, goes_on) = (until_ns, false);
                part += 1;
            } else {
                break;
            }
        }
    }
}

/// A wait as its contentions and the runs among them, each by its number.
pub(crate) struct Walk<P, R> {
    pub(crate) start_ns: u64,
    /// How many contentions, and the end and the owner of each.
    pub(crate) parts: usize,
    pub(crate) part: P,
    /// How many runs, and each of them.
    pub(crate) runs: usize,
    pub(crate) run: R,
    pub(crate) place: Place,
}

impl Walk<(), ()> {
    /// Of a wait that begins then.
    pub(crate) fn of<'w>(
        start_ns: u64,
        others: &'w [Contention],
        runs: &'w [Run],
        place: Place,
    ) -> Walk<impl Fn(usize) -> (u64, PackedOwner) + 'w, impl Fn(usize) -> Run + 'w> {
        Walk {
            start_ns,
            parts: others.len(),
            part: |index: usize| {
                let part = &others[index];
                (part.start_ns + part.duration_ns, part.owner.into())
            },
            runs: runs.len(),
            run: |index: usize| runs[index],
            place,
        }
    }
}

/// A part of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WalkedPart {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) owner: PackedOwner,
    /// It belongs to the contention before if that has the same owner.
    pub(crate) goes_on: bool,
}

/// How many of so many there are in front that `is_before` finds, which are all those.
fn count_while(len: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low.midpoint(high);
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

impl History {
    /// Begins with the first hold that a wait tells of. Nothing is left of another one but its room.
    fn begin(&mut self, wait: &HoldRanges) {
        self.id = wait.history;
        (self.start, self.start_ns) = (wait.told_from, wait.told_since_ns);
        self.unseen = wait.told_from;
        self.first_chunk = wait.told_from / CHUNK;
    }

    /// Nobody needs it any more.
    fn end_all(&mut self, keeps_room: bool) {
        let mut rest = std::mem::take(self);
        if keeps_room && rest.holds.capacity() <= SMALL {
            rest.holds.clear();
            rest.waits.clear();
            rest.indirect.clear();
            (self.holds, self.waits) = (rest.holds, rest.waits);
            self.indirect = rest.indirect;
        }
    }

    /// Position behind the last hold.
    fn end(&self) -> u64 {
        self.start + self.holds.len() as u64
    }

    fn forget(&mut self) {
        *self = Self {
            id: self.id,
            waits_of_all: self.waits_of_all,
            is_over: self.is_over,
            is_forgotten: true,
            ..Self::default()
        };
    }

    /// How many waits there are whose first hold that is, if it is not forgotten.
    fn waits_from(&mut self, position: u64) -> Option<&mut u32> {
        let chunk = (position / CHUNK).checked_sub(self.first_chunk)?;
        let waits = self.waits.get_mut(chunk as usize);
        waits.filter(|_| !self.is_forgotten)
    }

    /// Forgets the first holds, if nobody needs them. Returns how many.
    fn prune(&mut self) -> usize {
        let most = (self.needed_from / CHUNK).saturating_sub(self.first_chunk);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let unneeded = self
            .waits
            .iter()
            .take(most)
            .take_while(|&&waits| waits == 0);
        let chunks = unneeded.count();
        if chunks == 0 {
            return 0;
        }
        self.waits.drain(..chunks);
        self.first_chunk += chunks as u64;
        let start = (self.first_chunk * CHUNK).clamp(self.start, self.end());
        let count = (start - self.start) as usize;
        if let Some(last) = count.checked_sub(1).and_then(|last| self.holds.get(last)) {
            self.start_ns = last.end_ns;
        }
        self.holds.drain(..count);
        self.start = start;
        self.unseen = self.unseen.max(self.start);
        if self.holds.capacity() > SMALL {
            shrink_queue(&mut self.holds);
        }
        shrink_queue(&mut self.waits);
        while self
            .indirect
            .front()
            .is_some_and(|&first| first < self.start)
        {
            self.indirect.pop_front();
        }
        shrink_queue(&mut self.indirect);
        count
    }

    /// Finds out of each hold before `end` whether its owner `waited`.
    fn see_until(&mut self, end: u64, mut waited: impl FnMut(ThreadIndex, (u64, u64)) -> bool) {
        let unseen = (self.unseen - self.start) as usize;
        let end = end.min(self.end());
        let mut at_ns = self.begin_ns(unseen);
        for position in self.unseen..end {
            let hold = self.holds[(position - self.start) as usize];
            if at_ns < hold.end_ns
                && let Some(thread) = hold.owner.thread()
                && waited(thread, (at_ns, hold.end_ns))
            {
                self.indirect.push_back(position);
            }
            at_ns = hold.end_ns;
        }
        self.unseen = self.unseen.max(end);
    }

    /// When the hold with that index began.
    fn begin_ns(&self, index: usize) -> u64 {
        let before = index
            .checked_sub(1)
            .and_then(|before| self.holds.get(before));
        before.map_or(self.start_ns, |before| before.end_ns)
    }

    /// As [`HoldHistory::walk`], of a run that begins at `at_ns`.
    fn walk(
        &self,
        run: &Run,
        (mut at_ns, start_ns, end_ns): (u64, u64, u64),
        on_part: &mut impl FnMut(WalkedPart),
    ) {
        if self.is_forgotten {
            return on_part(WalkedPart {
                start_ns: at_ns.max(start_ns),
                end_ns: run.end_ns.min(end_ns),
                owner: PackedOwner::unknown(UnknownOwner::Collapsed),
                goes_on: false,
            });
        }
        let [first, end] = [run.first, run.end].map(|position| (position - self.start) as usize);
        let is_before = |hold: &SharedHold| hold.end_ns <= start_ns;
        let passed = count_between(&self.holds, first, end, is_before);
        let mut goes_on = run.goes_on && passed == first;
        if passed > first {
            at_ns = self.begin_ns(passed);
        }
        for hold in self.holds.range(passed..end) {
            if at_ns >= end_ns {
                break;
            }
            if at_ns >= hold.end_ns {
                goes_on &= hold.goes_on;
                continue;
            }
            on_part(WalkedPart {
                start_ns: at_ns.max(start_ns),
                end_ns: hold.end_ns.min(end_ns),
                owner: hold.owner,
                goes_on,
            });
            (at_ns, goes_on) = (hold.end_ns, hold.goes_on);
        }
    }
}
