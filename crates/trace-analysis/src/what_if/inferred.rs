//! Holds that nobody noticed, but that follow from how long threads take.
//!
//! A trace records only the holds that others waited for. Where a thread takes a lock in some place of its work, it
//! takes longer there by the time for which it holds the lock: so a thread that takes as long where nobody noticed
//! the lock has had it as well. A place is what the thread did before with locks and what it does next, and which
//! lock it holds meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use crate::collections::hash::SeededMap;
use crate::model::entity::ChainIndex;
use crate::what_if::assumed::free_from;
use crate::what_if::hold::Hold;
use crate::what_if::hold_code::{HoldCodeIndex, HoldCodes};
use crate::what_if::known_lock::Sharing;
use crate::what_if::known_thread::{Acquisition, Mark, Taken, Timeline};
use crate::what_if::program::Programs;

/// How often a lock was noticed in a place, at least; and half as often not.
const MIN_NOTICED: f64 = 8.0;

/// How many standard errors there are, at least, between what threads take and what they would take without the lock.
const STANDARD_ERRORS: f64 = 3.0;

/// And how much of a hold that is, at least.
const MIN_OF_HOLD: f64 = 0.3;

/// What a thread did, or does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Action {
    Acquires(usize),
    Releases(usize),
    Waits,
}

impl Action {
    fn of(mark: Mark) -> Self {
        match mark {
            Mark::Release(lock) => Self::Releases(lock),
            Mark::Take(taken) => Self::Acquires(taken.lock),
            Mark::Wait(acquisition) => Self::Acquires(acquisition.lock),
            Mark::GiveUp(_) | Mark::Pause(_) => Self::Waits,
        }
    }
}

/// Where in its work a thread is: the lock that it holds and where it releases that, what it did last, and what it does
/// next.
type Place = (Option<(usize, Option<ChainIndex>)>, Action, Action);

/// A time in which a thread did nothing but perhaps hold the lock in question.
#[derive(Clone, Copy, Debug)]
struct Interval {
    thread: usize,
    start_ns: u64,
    end_ns: u64,
    place: Place,
    /// How long it held the lock and waited for it, what it did before, and the code.
    noticed: Option<Noticed>,
}

#[derive(Clone, Copy, Debug)]
struct Noticed {
    held_ns: u64,
    waited_ns: u64,
    before_ns: u64,
    code: HoldCodeIndex,
}

impl Interval {
    /// How long it took, but for waiting.
    fn own_ns(&self) -> f64 {
        let waited_ns = self.noticed.map_or(0, |it| it.waited_ns);
        (self.end_ns - self.start_ns).saturating_sub(waited_ns) as f64
    }
}

/// What all intervals in one place have in common.
#[derive(Clone, Copy, Debug, Default)]
struct Usual {
    with: Sum,
    without: Sum,
    held_ns: f64,
    before_ns: f64,
    code: Option<HoldCodeIndex>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    fn mean(&self) -> f64 {
        self.sum / self.count.max(1.0)
    }

    /// The square of the standard error of the mean.
    fn variance_of_mean(&self) -> f64 {
        let variance = self.squares / self.count.max(1.0) - self.mean() * self.mean();
        variance.max(0.0) / self.count.max(1.0)
    }
}

/// How a thread holds a lock where nobody noticed.
#[derive(Clone, Copy, Debug)]
struct UnnoticedHold {
    /// Which share of its time, and which share of the rest is before.
    held_share: f64,
    before_share: f64,
    code: HoldCodeIndex,
}

impl Usual {
    fn add(&mut self, interval: &Interval) {
        match interval.noticed {
            Some(noticed) => {
                // What it did besides holding the lock.
                self.with.add(interval.own_ns() - noticed.held_ns as f64);
                self.held_ns += noticed.held_ns as f64;
                self.before_ns += noticed.before_ns as f64;
                self.code = Some(noticed.code);
            }
            None => self.without.add(interval.own_ns()),
        }
    }

    /// `None` if threads take no longer than without the lock, or nobody can say.
    fn unnoticed(&self) -> Option<UnnoticedHold> {
        let held_ns = self.held_ns / self.with.count.max(1.0);
        let longer_ns = self.without.mean() - self.with.mean();
        let error_ns = (self.with.variance_of_mean() + self.without.variance_of_mean()).sqrt();
        let is_known = self.with.count >= MIN_NOTICED
            && self.without.count >= MIN_NOTICED / 2.0
            && longer_ns >= STANDARD_ERRORS * error_ns
            && longer_ns >= MIN_OF_HOLD * held_ns;
        let code = self.code.filter(|_| is_known)?;
        Some(UnnoticedHold {
            held_share: longer_ns.min(held_ns) / self.without.mean(),
            before_share: (self.before_ns / self.with.sum.max(1.0)).clamp(0.0, 1.0),
            code,
        })
    }
}

impl Programs {
    /// Adds the holds that nobody noticed, but that threads must have had. Returns how many.
    pub(super) fn infer_holds(&mut self) -> u64 {
        // Of others nobody knows how long holds are.
        let locks = self.most_waited(|lock| {
            !lock.initializes && lock.has_timed_holds && lock.sharing == Sharing::Exclusive
        });
        locks.into_iter().map(|it| self.infer_holds_of(it)).sum()
    }

    fn infer_holds_of(&mut self, lock: usize) -> u64 {
        let mut intervals = Vec::new();
        let users: BTreeSet<usize> = self.holds[lock].iter().map(|hold| hold.thread).collect();
        for thread in users {
            let timeline = self.threads[thread].timeline();
            add_intervals(thread, &timeline, lock, &self.codes, &mut intervals);
        }
        let mut usual = SeededMap::<Place, Usual>::default();
        for interval in &intervals {
            usual.entry(interval.place).or_default().add(interval);
        }
        let unnoticed: SeededMap<Place, UnnoticedHold> = usual
            .iter()
            .filter_map(|(place, usual)| Some((*place, usual.unnoticed()?)))
            .collect();
        if unnoticed.is_empty() {
            return 0;
        }
        let holds = &mut self.holds[lock];
        let mut taken: BTreeMap<u64, u64> = holds
            .iter()
            .map(|hold| (hold.start_ns, hold.end_ns))
            .collect();
        let mut assumed = vec![Vec::new(); self.threads.len()];
        intervals.sort_by_key(|it| (it.start_ns, it.thread));
        for interval in intervals.iter().filter(|it| it.noticed.is_none()) {
            let Some(found) = unnoticed.get(&interval.place) else {
                continue;
            };
            let all_ns = interval.own_ns();
            let held_ns = (all_ns * found.held_share) as u64;
            if held_ns == 0 {
                continue;
            }
            let before_ns = (all_ns - held_ns as f64) * found.before_share;
            let wanted_ns = interval.start_ns + before_ns as u64;
            // Where others had it, it came earlier or later.
            let free = |from_ns| free_from(&taken, from_ns, held_ns, interval.end_ns);
            let Some(start_ns) = free(wanted_ns).or_else(|| free(interval.start_ns)) else {
                continue;
            };
            let end_ns = start_ns + held_ns;
            taken.insert(start_ns, end_ns);
            let of_thread: &mut Vec<_> = &mut assumed[interval.thread];
            of_thread.push((
                start_ns,
                end_ns,
                Taken {
                    lock,
                    code: found.code,
                    is_shared: false,
                    is_private: false,
                },
            ));
            holds.push(Hold {
                thread: interval.thread,
                lock,
                start_ns,
                end_ns,
                code: found.code,
                is_shared: false,
                follows_wait: false,
            });
        }
        holds.sort_unstable_by_key(|hold| (hold.start_ns, hold.end_ns));
        let assumed_of = self.threads.iter_mut().zip(&assumed);
        for (known, assumed) in assumed_of.filter(|(_, assumed)| !assumed.is_empty()) {
            known.add_assumed(assumed);
        }
        assumed.iter().map(|holds| holds.len() as u64).sum()
    }
}

/// The intervals of a thread that has the lock at times.
fn add_intervals(
    thread: usize,
    timeline: &Timeline,
    lock: usize,
    codes: &HoldCodes,
    intervals: &mut Vec<Interval>,
) {
    let first = intervals.len();
    let mut held: Vec<(usize, Option<ChainIndex>)> = Vec::new();
    let mut last: Option<(u64, Action)> = None;
    let (mut noticed, mut since_ns) = (None, None);
    let mut uses = false;
    for &(start_ns, end_ns, mark) in timeline.iter().filter(|it| !it.2.is_sleep()) {
        let of_lock = match mark {
            Mark::Take(taken) if taken.lock == lock => Some((taken.code, 0)),
            Mark::Wait(wait) if wait.lock == lock => Some((wait.code, end_ns - start_ns)),
            _ => None,
        };
        if let Some((code, waited_ns)) = of_lock {
            let from_ns = last.map_or(start_ns, |(from_ns, _)| from_ns);
            let noticed = noticed.get_or_insert(Noticed {
                held_ns: 0,
                waited_ns: 0,
                before_ns: start_ns - from_ns,
                code,
            });
            noticed.waited_ns += waited_ns;
            since_ns = Some(end_ns);
            uses = true;
            continue;
        }
        if let Mark::Release(released) = mark
            && released == lock
        {
            match (&mut noticed, since_ns.take()) {
                (Some(noticed), Some(since_ns)) => noticed.held_ns += start_ns - since_ns,
                // It did other things within: what is left of the hold is no interval.
                _ => last = None,
            }
            continue;
        }
        let action = Action::of(mark);
        let noticed = noticed.take();
        // What is done within the lock is another place.
        let is_within = since_ns.is_some();
        if let (Some((from_ns, before)), false) = (last, is_within)
            && from_ns < start_ns
        {
            intervals.push(Interval {
                thread,
                start_ns: from_ns,
                end_ns: start_ns,
                place: (held.last().copied(), before, action),
                noticed,
            });
        }
        match mark {
            Mark::Take(Taken { lock, code, .. }) | Mark::Wait(Acquisition { lock, code, .. }) => {
                held.push((lock, codes.get(code).released_in));
            }
            Mark::Release(released) => {
                if let Some(at) = held.iter().rposition(|&(it, _)| it == released) {
                    held.remove(at);
                }
            }
            Mark::GiveUp(_) | Mark::Pause(_) => {}
        }
        last = Some((end_ns, action));
    }
    if !uses {
        intervals.truncate(first);
    }
}
