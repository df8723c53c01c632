//! Holds that nobody may have noticed: a trace records only the holds that others waited for.
//!
//! Once threads no longer queue up for one lock, they may meet at the next one. So it is assumed that
//! each thread that was seen with a lock also had it each time it went on by itself: once, and as early
//! as others let it. In the trace these holds do not overlap with others of the lock, so nobody
//! waited for them.
//!
//! They are as long as the holds whose begin and end are known. Where the waits saw only the ends
//! of holds, they are as long as the trace allows, from when the thread was last seen with
//! another lock.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::entity::ThreadIndex;
use crate::what_if::known_thread::Mark;
use crate::what_if::program::Programs;

/// The most locks of which holds are assumed: those that threads waited for longest.
const MAX_LOCKS: usize = 16;

/// A time in which a thread went on by itself or slept, and held no lock that is known.
#[derive(Clone, Copy, Debug)]
struct Gap {
    thread: ThreadIndex,
    start_ns: u64,
    end_ns: u64,
}

/// Adds them; returns how many. `is_affected` says whether the change of a lock affects code that
/// nobody knows.
pub(super) fn assume_holds(
    programs: &mut Programs,
    is_left_out: impl Fn(usize) -> bool,
    is_affected: impl Fn(usize) -> bool,
) -> u64 {
    let mut gaps = gaps(programs);
    let mut locks: Vec<usize> = (0..programs.locks.len())
        .filter(|&it| !is_left_out(it))
        .collect();
    locks.sort_by_key(|&it| Reverse(programs.locks[it].waited_ns));
    locks.truncate(MAX_LOCKS);
    let mut assumed = BTreeMap::<ThreadIndex, Vec<_>>::new();
    for lock in locks {
        let hold_ns = match programs.locks[lock].has_timed_holds {
            true => programs.locks[lock].hold_ns,
            false => longest_ns(programs, lock),
        };
        if hold_ns == 0 {
            continue;
        }
        let users = users(programs, lock);
        let mut holds = programs.holds[lock].iter().peekable();
        let mut free_ns = 0;
        for gap in gaps.iter_mut().filter(|gap| users.contains(&gap.thread)) {
            let mut start_ns = gap.start_ns.max(free_ns);
            // Past what is held already.
            while let Some(hold) =
                holds.next_if(|hold| hold.start_ns < start_ns.saturating_add(hold_ns))
            {
                start_ns = start_ns.max(hold.end_ns);
            }
            let end_ns = start_ns.saturating_add(hold_ns);
            free_ns = start_ns;
            if end_ns > gap.end_ns {
                continue;
            }
            let of_thread = assumed.entry(gap.thread).or_default();
            of_thread.push((start_ns, end_ns, lock));
            (gap.start_ns, free_ns) = (end_ns, end_ns);
        }
    }
    for (thread, holds) in &assumed {
        if let Some(known) = programs.threads.get_mut(thread) {
            known.add_assumed(holds, &is_affected);
        }
    }
    assumed.values().map(|holds| holds.len() as u64).sum()
}

/// How long a lock may have been held of which nobody saw when a hold began: as long as the longest
/// part that was seen, or as half of the holds may have been.
fn longest_ns(programs: &Programs, lock: usize) -> u64 {
    let holds = programs.holds[lock].iter();
    let seen_ns = holds.map(|hold| hold.end_ns - hold.start_ns).max();
    let mut allowed_ns = Vec::new();
    for known in programs.threads.values() {
        let (mut last_ns, mut since_ns) = (None, None);
        for (_, end_ns, mark) in known.timeline() {
            match mark {
                Mark::Take(taken, _) if taken == lock => since_ns = last_ns,
                Mark::Release(released) if released == lock => {
                    allowed_ns.extend(since_ns.take().map(|since_ns| end_ns - since_ns));
                }
                mark if is_asleep(mark) => continue,
                _ => {}
            }
            last_ns = Some(end_ns);
        }
    }
    allowed_ns.sort_unstable();
    let median_ns = allowed_ns.get(allowed_ns.len() / 2).copied();
    median_ns.max(seen_ns).unwrap_or(0)
}

/// Those of all threads, by begin.
fn gaps(programs: &Programs) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for (&thread, known) in &programs.threads {
        let (mut held, mut since_ns) = (0_u64, None);
        let timeline = known.timeline().into_iter();
        for (start_ns, end_ns, mark) in timeline.filter(|(.., mark)| !is_asleep(*mark)) {
            if let (0, Some(since_ns)) = (held, since_ns)
                && since_ns < start_ns
            {
                gaps.push(Gap {
                    thread,
                    start_ns: since_ns,
                    end_ns: start_ns,
                });
            }
            match mark {
                Mark::Take(..) | Mark::Wait(_) => held += 1,
                Mark::Release(_) => held = held.saturating_sub(1),
                Mark::Pause { .. } | Mark::GiveUp(_) => {}
            }
            since_ns = Some(end_ns);
        }
    }
    gaps.sort_by_key(|gap| (gap.start_ns, gap.end_ns));
    gaps
}

fn is_asleep(mark: Mark) -> bool {
    matches!(mark, Mark::Pause { is_asleep: true })
}

/// The threads that were seen with a lock.
fn users(programs: &Programs, lock: usize) -> BTreeSet<ThreadIndex> {
    let of = |mark: Mark| match mark {
        Mark::Release(of) | Mark::Take(of, _) | Mark::GiveUp(of) => of == lock,
        Mark::Wait(acquisition) => acquisition.lock == lock,
        Mark::Pause { .. } => false,
    };
    let threads = programs.threads.iter().filter(|(_, known)| {
        known.marks.iter().any(|&(_, mark)| of(mark))
            || known.blocks.iter().any(|&(.., mark)| of(mark))
    });
    threads.map(|(&thread, _)| thread).collect()
}
