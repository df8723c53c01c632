//! Holds that nobody may have noticed: a trace records only the holds that others waited for.
//!
//! Once threads no longer queue up for one lock, they may meet at the next one; and what is done while a lock
//! is held matters also where nobody waits. How many such holds there are follows from how often threads that
//! come to the lock have to wait: the more often it is held, the more often they do. That is what is expected
//! if they come at any time. At most, each thread that was seen with a lock also had it each time it went
//! on by itself: once, and as early as others let it. In the trace these holds do not overlap with others of
//! the lock, so nobody waited for them.
//!
//! They are as long as the holds whose begin and end are known, of the same thread unless each gap has one. Where the
//! waits saw only the ends of holds, they are as long as the trace allows, from when the thread was last seen with another
//! lock.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::what_if::hold::Hold;
use crate::what_if::hold_code::{HoldCode, HoldCodeIndex};
use crate::what_if::known_lock::Sharing;
use crate::what_if::known_thread::{Known, Mark, Taken, Timeline};
use crate::what_if::prediction::UnseenHolds;
use crate::what_if::program::Programs;
use crate::what_if::replay::mixed;

/// How many times as many as expected there may be where nobody else wants the lock: threads do not come at any
/// time, but queue up behind each other, and then keep their distance.
const MORE_THAN_EXPECTED: f64 = 5.0;

/// Most holds were noticed if there are as many of them as this share of the times in which threads go on by themselves.
const MOST: f64 = 0.5;

/// From as many noticed holds on it is known how often they are noticed.
const MANY_NOTICED: usize = 32;

/// A time in which this many holds would be noticed on the average is hardly ever without any.
const RARELY: u64 = 8;

/// The most holds that are assumed for each step of a thread that is known.
const MAX_PER_STEP: usize = 4;

/// A time in which a thread went on by itself or slept, and held no lock that is known.
#[derive(Clone, Copy, Debug)]
struct Gap {
    start_ns: u64,
    end_ns: u64,
}

/// Those of each thread, by begin.
type Gaps = Vec<Vec<Gap>>;

/// What is known of one lock.
struct OfLock<'p> {
    number: usize,
    /// How long holds are, of threads that write and of those that only read.
    hold_ns: u64,
    shared_hold_ns: u64,
    /// The same of each thread that writes.
    holds_ns: Vec<u64>,
    /// By begin.
    holds: &'p [Hold],
    /// From when until when threads come to it: some locks are only used at the start.
    in_use: Range<u64>,
    /// Nobody wants it meanwhile.
    is_private: bool,
    /// By thread.
    users: Vec<Option<Use>>,
    /// The code of a thread that is known, by thread.
    codes: Vec<HoldCodeIndex>,
}

impl OfLock<'_> {
    /// The threads that are seen with the lock.
    fn users(&self) -> impl Iterator<Item = usize> {
        (0..self.users.len()).filter(|&thread| self.hold_ns(thread) > 0)
    }

    /// The gaps of these threads that lie within a time, by begin: the thread, and the number among those of the thread.
    fn gaps_within(&self, time_ns: &Range<u64>, gaps: &Gaps) -> Vec<(usize, usize)> {
        let of_thread = |thread: usize| {
            let numbers = numbers_within(time_ns, &gaps[thread]);
            numbers.map(move |number| (thread, number))
        };
        let mut places: Vec<_> = self.users().flat_map(of_thread).collect();
        // Stable, so that it merges the sequences of the threads.
        places.sort_by_key(|&(thread, number)| {
            let gap = gaps[thread][number];
            (gap.start_ns, gap.end_ns)
        });
        places
    }

    /// How long a hold of a thread is; 0 if it is not seen with the lock.
    fn hold_ns(&self, thread: usize) -> u64 {
        match self.users[thread] {
            None => 0,
            Some(Use::Reads) => self.shared_hold_ns,
            Some(Use::Writes) => self.holds_ns[thread],
        }
    }

    fn taken(&self, thread: usize) -> Taken {
        Taken {
            lock: self.number,
            code: self.codes[thread],
            is_shared: self.users[thread] == Some(Use::Reads),
            is_private: self.is_private,
        }
    }
}

/// Assumed holds, by the number of the thread.
type Assumed = Vec<Vec<(u64, u64, Taken)>>;

/// The same threads with holds that nobody noticed, and how many these are.
pub(super) fn with_unseen_holds(programs: &mut Programs, which: UnseenHolds) -> (Vec<Known>, u64) {
    let timelines: Vec<_> = programs.threads.iter().map(Known::timeline).collect();
    let mut gaps = gaps(&timelines);
    // A class is loaded and initialized once. How many permits are left is not known.
    let mut locks =
        programs.most_waited(|lock| !lock.initializes && lock.sharing != Sharing::Permits);
    if which == UnseenHolds::EachTime {
        // Those first of which least was noticed.
        locks.sort_by_key(|&it| programs.holds[it].len());
    }
    let mut assumed = vec![Vec::new(); timelines.len()];
    let steps: usize = timelines.iter().map(Vec::len).sum();
    for number in locks {
        let known = &programs.locks[number];
        let code = programs.codes.add(HoldCode {
            lock: known.index,
            acquired_in: None,
            released_in: None,
        });
        let known = &programs.locks[number];
        let mut codes = vec![code; timelines.len()];
        for hold in &programs.holds[number] {
            codes[hold.thread] = hold.code;
        }
        let hold_ns = match known.has_timed_holds {
            true => known.hold_ns,
            // At least what was seen of holds, which may all have followed waits.
            false => longest_ns(&timelines, number).max(known.hold_ns),
        };
        // Where each gap gets a hold, that is what all threads do, not what one was seen to do.
        let holds_ns = match known.has_timed_holds && which != UnseenHolds::EachTime {
            true => usual_ns(&programs.holds[number], timelines.len(), hold_ns),
            false => vec![hold_ns; timelines.len()],
        };
        let lock = OfLock {
            number,
            hold_ns,
            holds_ns,
            shared_hold_ns: known.shared_hold_ns,
            holds: &programs.holds[number],
            in_use: in_use(&programs.holds[number]),
            is_private: which == UnseenHolds::Private,
            users: users(&timelines, number),
            codes,
        };
        let expected = expected(&lock, &timelines);
        let limit = (steps * MAX_PER_STEP) as f64;
        let user_gaps: usize = lock.users().map(|thread| gaps[thread].len()).sum();
        let is_noticed = lock.holds.len() as f64 > MOST * user_gaps as f64;
        match which {
            UnseenHolds::None
            | UnseenHolds::Inferred
            | UnseenHolds::ShortReads
            | UnseenHolds::LongReads => {}
            UnseenHolds::Expected => assume(&lock, expected.min(limit), &mut gaps, &mut assumed),
            UnseenHolds::Private => {
                // Where nearly all were noticed, there cannot be many more.
                let more = expected * MORE_THAN_EXPECTED;
                let more = if is_noticed {
                    more
                } else {
                    more.max(user_gaps as f64)
                };
                assume(&lock, more.min(limit), &mut gaps, &mut assumed);
            }
            UnseenHolds::EachTime if is_noticed => {
                assume(&lock, expected.min(limit), &mut gaps, &mut assumed);
            }
            UnseenHolds::EachTime => assume_each_time(&lock, &mut gaps, &mut assumed),
        }
    }
    let mut threads = programs.threads.clone();
    for (known, holds) in threads.iter_mut().zip(&mut assumed) {
        // Stable, so that it merges the sequences of the locks.
        holds.sort_by_key(|&(start_ns, end_ns, _)| (start_ns, end_ns));
        known.add_assumed(holds);
    }
    let count = assumed.iter().map(|holds| holds.len() as u64).sum();
    (threads, count)
}

/// Each thread that was seen with a lock has it each time it goes on by itself.
fn assume_each_time(lock: &OfLock<'_>, gaps: &mut Gaps, assumed: &mut Assumed) {
    let mut holds = lock.holds.iter().peekable();
    let mut free_ns = 0;
    for (thread, number) in lock.gaps_within(&(0..u64::MAX), gaps) {
        let hold_ns = lock.hold_ns(thread);
        let gap = &mut gaps[thread][number];
        let mut start_ns = gap.start_ns.max(free_ns);
        // Past what is held already.
        while let Some(hold) =
            holds.next_if(|hold| hold.start_ns < start_ns.saturating_add(hold_ns))
        {
            start_ns = start_ns.max(hold.end_ns);
        }
        free_ns = start_ns;
        // Not all are equally long.
        let end_ns = start_ns.saturating_add(hold_ns).min(gap.end_ns);
        if end_ns < start_ns.saturating_add(hold_ns / 2) {
            continue;
        }
        assumed[thread].push((start_ns, end_ns, lock.taken(thread)));
        (gap.start_ns, free_ns) = (end_ns, end_ns);
    }
}

/// How many holds of a lock nobody noticed, if threads come to it at any time, independent of each other:
/// then of all that come as many have to wait as is the share of the time in which another thread has the
/// lock, of the time in which the thread itself neither has it nor waits for it.
fn expected(lock: &OfLock<'_>, timelines: &[Timeline]) -> f64 {
    let hold_ns = lock.hold_ns as f64;
    let (mut there_ns, mut waited_ns, mut waits) = (0.0, 0.0, 0.0);
    let (mut first_ns, mut last_ns) = (u64::MAX, 0);
    let users = timelines.iter().zip(&lock.users);
    for (timeline, _) in users.filter(|(_, used)| **used == Some(Use::Writes)) {
        let (Some(first), Some(last)) = (timeline.first(), timeline.last()) else {
            continue;
        };
        let from_ns = first.0.max(lock.in_use.start);
        let until_ns = last.1.min(lock.in_use.end);
        if from_ns >= until_ns {
            continue;
        }
        there_ns += (until_ns - from_ns) as f64;
        (first_ns, last_ns) = (first_ns.min(from_ns), last_ns.max(until_ns));
        for &(start_ns, end_ns, mark) in timeline {
            if matches!(mark, Mark::Wait(acquisition) if acquisition.lock == lock.number) {
                waited_ns += (end_ns - start_ns) as f64;
                waits += 1.0;
            }
        }
    }
    let all_ns = last_ns.saturating_sub(first_ns) as f64;
    if waits == 0.0 || hold_ns == 0.0 || there_ns <= all_ns {
        return 0.0;
    }
    let threads = there_ns / all_ns;
    // Of n holds, waits / n of those that came had to wait: n h (k − 1) / k / (T − (w + n h) / k).
    let a = hold_ns * (threads - 1.0) / threads;
    let b = waits * hold_ns / threads;
    let c = waits * (all_ns - waited_ns / threads).max(0.0);
    let all = (-b + (b * b + 4.0 * a * c).sqrt()) / (2.0 * a);
    let noticed = lock.holds.len() as f64;
    (all - noticed).max(0.0)
}

/// Threads have a lock so often where nobody noticed, evenly spread over the time in which they go on by
/// themselves.
fn assume(lock: &OfLock<'_>, count: f64, gaps: &mut Gaps, assumed: &mut Assumed) {
    let places = lock.gaps_within(&lock.in_use, gaps);
    let of_users = places.iter().map(|&(thread, number)| gaps[thread][number]);
    let free_ns: u64 = of_users.map(|gap| gap.end_ns - gap.start_ns).sum();
    if count < 1.0 || free_ns == 0 {
        return;
    }
    let every_ns = (free_ns as f64 / count).max(lock.hold_ns as f64) as u64;
    let mut taken: BTreeMap<u64, u64> = BTreeMap::new();
    if !lock.is_private {
        taken.extend(lock.holds.iter().map(|hold| (hold.start_ns, hold.end_ns)));
    }
    // When each thread has it next, by how long it has gone on by itself.
    let threads = assumed.len() as u64;
    let first = (0..threads).map(|thread| mixed(1, thread, lock.number as u64) % every_ns.max(1));
    let mut next_ns: Vec<u64> = first.collect();
    let mut left: Gaps = vec![Vec::new(); gaps.len()];
    for (thread, number) in places {
        let (gap, left) = (gaps[thread][number], &mut left[thread]);
        let hold_ns = lock.hold_ns(thread);
        let next_ns = &mut next_ns[thread];
        let mut from_ns = gap.start_ns;
        while from_ns.saturating_add(*next_ns) < gap.end_ns {
            let wanted_ns = from_ns + *next_ns;
            let Some(start_ns) = free_from(&taken, wanted_ns, hold_ns, gap.end_ns) else {
                break;
            };
            let end_ns = start_ns + hold_ns;
            if !lock.is_private {
                taken.insert(start_ns, end_ns);
            }
            assumed[thread].push((start_ns, end_ns, lock.taken(thread)));
            left.push(Gap {
                start_ns: from_ns,
                end_ns: start_ns,
            });
            from_ns = end_ns;
            *next_ns = every_ns.saturating_sub(hold_ns);
        }
        *next_ns = next_ns.saturating_sub(gap.end_ns - from_ns);
        left.push(Gap {
            start_ns: from_ns,
            ..gap
        });
    }
    for (of_thread, left) in gaps.iter_mut().zip(left) {
        if !left.is_empty() {
            of_thread.splice(numbers_within(&lock.in_use, of_thread), left);
        }
    }
}

/// The numbers of the gaps of a thread that lie within a time: they do not overlap.
fn numbers_within(time_ns: &Range<u64>, of_thread: &[Gap]) -> Range<usize> {
    let first = of_thread.partition_point(|gap| gap.start_ns < time_ns.start);
    let end = of_thread.partition_point(|gap| gap.end_ns < time_ns.end);
    first..end.max(first)
}

/// From when on a lock is free for long enough.
pub(super) fn free_from(
    taken: &BTreeMap<u64, u64>,
    from_ns: u64,
    hold_ns: u64,
    until_ns: u64,
) -> Option<u64> {
    let before = taken.range(..=from_ns).next_back();
    let mut start_ns = before.map_or(from_ns, |(_, &end_ns)| end_ns.max(from_ns));
    for (&next_ns, &end_ns) in taken.range(from_ns..) {
        if start_ns.saturating_add(hold_ns) <= next_ns {
            break;
        }
        start_ns = start_ns.max(end_ns);
        if start_ns >= until_ns {
            break;
        }
    }
    (start_ns.saturating_add(hold_ns) <= until_ns).then_some(start_ns)
}

/// From when until when threads come to a lock: where many of its holds were noticed, not long before the first one and
/// not long after the last.
fn in_use(holds: &[Hold]) -> Range<u64> {
    match holds {
        [first, .., last] if holds.len() >= MANY_NOTICED => {
            let noticed_ns = last.start_ns - first.start_ns;
            let margin_ns = noticed_ns / (holds.len() as u64) * RARELY;
            first.start_ns.saturating_sub(margin_ns)..last.start_ns.saturating_add(margin_ns)
        }
        _ => 0..u64::MAX,
    }
}

/// How long each thread usually has a lock, which may differ by what they do with it; `otherwise_ns` if it was not seen
/// with it.
fn usual_ns(holds: &[Hold], threads: usize, otherwise_ns: u64) -> Vec<u64> {
    let mut sums = vec![(0, 0); threads];
    for hold in holds {
        let (sum_ns, count) = &mut sums[hold.thread];
        *sum_ns += hold.end_ns - hold.start_ns;
        *count += 1;
    }
    let of_threads = sums.into_iter();
    let usual_ns = of_threads.map(|(sum_ns, count): (u64, u64)| sum_ns.checked_div(count));
    usual_ns.map(|it| it.unwrap_or(otherwise_ns)).collect()
}

/// How long a lock may have been held of which nobody saw when a hold began: as long as half of the holds may have
/// been, from when the thread did something else with locks.
fn longest_ns(timelines: &[Timeline], lock: usize) -> u64 {
    let mut allowed_ns = Vec::new();
    for timeline in timelines {
        let (mut last_ns, mut since_ns) = (None, None);
        for &(_, end_ns, mark) in timeline {
            match mark {
                Mark::Take(taken) if taken.lock == lock => since_ns = last_ns,
                Mark::Release(released) if released == lock => {
                    allowed_ns.extend(since_ns.take().map(|since_ns| end_ns - since_ns));
                }
                mark if mark.is_sleep() => continue,
                _ => {}
            }
            last_ns = Some(end_ns);
        }
    }
    allowed_ns.sort_unstable();
    let median_ns = allowed_ns.get(allowed_ns.len() / 2);
    median_ns.copied().unwrap_or(0)
}

/// Those of all threads.
fn gaps(timelines: &[Timeline]) -> Gaps {
    timelines.iter().map(gaps_of_thread).collect()
}

fn gaps_of_thread(timeline: &Timeline) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let (mut held, mut since_ns) = (0_u64, None);
    let awake = timeline.iter().filter(|(.., mark)| !mark.is_sleep());
    for &(start_ns, end_ns, mark) in awake {
        if let (0, Some(since_ns)) = (held, since_ns)
            && since_ns < start_ns
        {
            gaps.push(Gap {
                start_ns: since_ns,
                end_ns: start_ns,
            });
        }
        match mark {
            Mark::Take(_) | Mark::Wait(_) => held += 1,
            Mark::Release(_) => held = held.saturating_sub(1),
            Mark::Pause(_) | Mark::GiveUp(_) => {}
        }
        since_ns = Some(end_ns);
    }
    gaps
}

/// What a thread was seen with a lock for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Reads,
    Writes,
}

/// What each thread was seen with a lock for; a thread that reads and writes writes.
fn users(timelines: &[Timeline], lock: usize) -> Vec<Option<Use>> {
    let used = |is_shared| if is_shared { Use::Reads } else { Use::Writes };
    let use_of = |mark: Mark| match mark {
        Mark::Take(taken) if taken.lock == lock => Some(used(taken.is_shared)),
        Mark::Wait(acquisition) if acquisition.lock == lock => Some(used(acquisition.is_shared)),
        Mark::GiveUp(of) if of == lock => Some(Use::Writes),
        _ => None,
    };
    let users = timelines.iter().map(|timeline| {
        let mut uses = timeline.iter().filter_map(|&(.., mark)| use_of(mark));
        let first = uses.next()?;
        let is_reader = first == Use::Reads && uses.all(|it| it == Use::Reads);
        Some(used(is_reader))
    });
    users.collect()
}
