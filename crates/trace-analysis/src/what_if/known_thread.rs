//! What is known of one thread: when it waited, and when it acquired and released locks.

use crate::model::wait::WaitKind;
use crate::what_if::hold::{Hold, Queue};
use crate::what_if::hold_code::HoldCodeIndex;

/// The acquisition of a lock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Acquisition {
    /// The number of the lock.
    pub(super) lock: usize,
    /// How long it takes until the thread runs, if it is woken to get the lock.
    pub(super) wake_ns: u64,
    /// The same if it has been woken before, but found the lock taken.
    pub(super) wake_again_ns: u64,
    /// How long it waits at first, for something that the trace does not record.
    pub(super) unexplained_ns: u64,
    pub(super) code: HoldCodeIndex,
    /// It only reads, as others may at the same time.
    pub(super) is_shared: bool,
    /// Nobody else wants the lock meanwhile.
    pub(super) is_private: bool,
}

/// The acquisition of a lock for which the thread did not wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Taken {
    /// The number of the lock.
    pub(super) lock: usize,
    pub(super) code: HoldCodeIndex,
    pub(super) is_shared: bool,
    /// Nobody else wants the lock meanwhile.
    pub(super) is_private: bool,
}

/// What happens at a time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    Release(usize),
    /// Acquires a lock without waiting.
    Take(Taken),
    /// Waits for something that is no lock.
    Pause(WaitKind),
    GiveUp(usize),
    /// Waits for a lock, and gets it.
    Wait(Acquisition),
}

impl Mark {
    pub(super) fn is_sleep(self) -> bool {
        matches!(self, Mark::Pause(WaitKind::Sleep))
    }

    /// The order in which things happen at one time.
    fn rank(self) -> u8 {
        match self {
            Mark::Release(_) => 0,
            Mark::Take(..) => 1,
            Mark::Pause(_) | Mark::GiveUp(_) | Mark::Wait(_) => 2,
        }
    }
}

/// All that happened to a thread, in order: when, until when if it takes time, and what.
pub(super) type Timeline = Vec<(u64, u64, Mark)>;

/// What is known of one thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// When it did nothing by itself, and why: from when until when, by begin, without overlaps.
    pub(super) blocks: Vec<(u64, u64, Mark)>,
    /// When it acquired and released locks: those that it waited for only the release.
    pub(super) marks: Vec<(u64, Mark)>,
}

impl Known {
    /// While a thread waits, it neither acquires nor releases anything else: it does so before or
    /// after, whichever is nearer. Where it did, times are estimates, or of clocks that differ.
    fn outside_of_blocks(&self, time_ns: u64) -> u64 {
        let blocks = &self.blocks;
        let at = blocks.partition_point(|&(_, end_ns, _)| end_ns <= time_ns);
        match blocks.get(at) {
            Some(&(start_ns, end_ns, _)) if start_ns < time_ns => {
                let is_nearer = time_ns - start_ns <= end_ns - time_ns;
                if is_nearer { start_ns } else { end_ns }
            }
            _ => time_ns,
        }
    }

    /// When a thread had acquired a lock that it was seen with then, until a time: before it began to wait
    /// for something else, if it did. The thread that saw it came later.
    pub(super) fn had_acquired_ns(&self, seen_ns: u64, until_ns: u64) -> u64 {
        let at = self
            .blocks
            .partition_point(|&(_, end_ns, _)| end_ns <= seen_ns);
        match self.blocks.get(at) {
            Some(&(start_ns, end_ns, _)) if end_ns < until_ns => start_ns.min(seen_ns),
            _ => seen_ns,
        }
    }

    pub(super) fn add_hold(&mut self, hold: Hold) {
        let start_ns = self.outside_of_blocks(hold.start_ns);
        let end_ns = self.outside_of_blocks(hold.end_ns);
        if hold.follows_wait {
            let end_ns = end_ns.max(hold.start_ns);
            self.set_code(hold);
            self.marks.push((end_ns, Mark::Release(hold.lock)));
        } else if start_ns < end_ns {
            let take = Mark::Take(Taken {
                lock: hold.lock,
                code: hold.code,
                is_shared: hold.is_shared,
                is_private: false,
            });
            self.marks
                .extend([(start_ns, take), (end_ns, Mark::Release(hold.lock))]);
        }
    }

    /// Now it is known where the thread released the lock for which it waited until the hold began.
    fn set_code(&mut self, hold: Hold) {
        let after = self
            .blocks
            .partition_point(|&(_, end_ns, _)| end_ns <= hold.start_ns);
        let wait = self.blocks[..after].last_mut();
        if let Some((.., Mark::Wait(acquisition))) = wait
            && acquisition.lock == hold.lock
        {
            acquisition.code = hold.code;
        }
    }

    /// A thread that was woken may find the lock taken by others, who came meanwhile. It was woken
    /// when the last thread released the lock that had waited for it, or that had it before: how
    /// long the lock was free from then on is what waking took.
    pub(super) fn find_wake_ups(&mut self, queues: &[Queue<'_>]) {
        for (start_ns, end_ns, mark) in &mut self.blocks {
            if let Mark::Wait(acquisition) = mark
                && acquisition.unexplained_ns == 0
                && let Some(free_ns) = queues[acquisition.lock].free_ns(*start_ns, *end_ns)
            {
                acquisition.wake_ns = acquisition.wake_ns.max(free_ns);
            }
        }
    }

    /// The part of a time for which others saw the thread with a lock in which it did not wait for that
    /// lock itself: a writer that waits keeps readers out as if it had the lock.
    pub(super) fn had_lock(&self, lock: usize, start_ns: u64, end_ns: u64) -> Option<(u64, u64)> {
        let (mut start_ns, mut end_ns) = (start_ns, end_ns);
        let begun = self
            .blocks
            .partition_point(|&(from_ns, ..)| from_ns < end_ns);
        for &(from_ns, until_ns, mark) in self.blocks[..begun].iter().rev() {
            if until_ns <= start_ns {
                break;
            }
            let is_for_it = match mark {
                Mark::Wait(acquisition) => acquisition.lock == lock,
                Mark::GiveUp(of) => of == lock,
                _ => false,
            };
            match is_for_it {
                true if until_ns < end_ns => {
                    start_ns = until_ns;
                    break;
                }
                true => end_ns = from_ns,
                false => {}
            }
        }
        (start_ns < end_ns).then_some((start_ns, end_ns))
    }

    /// When it went on after a wait that was no sleep.
    pub(super) fn ends_of_waits(&self) -> Vec<u64> {
        let waits = self.blocks.iter();
        let waits = waits.filter(|(.., mark)| !mark.is_sleep());
        waits.map(|&(_, end_ns, _)| end_ns).collect()
    }

    /// When it waits next for something that is no sleep.
    pub(super) fn next_wait_ns(&self, from_ns: u64) -> u64 {
        let next = self
            .blocks
            .partition_point(|&(start_ns, ..)| start_ns < from_ns);
        let mut waits = self.blocks[next..].iter();
        let wait = waits.find(|(.., mark)| !mark.is_sleep());
        wait.map_or(u64::MAX, |&(start_ns, ..)| start_ns)
    }

    /// When it waits next for this lock.
    pub(super) fn next_wait_for_ns(&self, lock: usize, from_ns: u64) -> u64 {
        let next = self
            .blocks
            .partition_point(|&(start_ns, ..)| start_ns < from_ns);
        let is_for_it = |mark| matches!(mark, Mark::Wait(wait) if wait.lock == lock);
        let mut waits = self.blocks[next..].iter();
        let wait = waits.find(|&&(.., mark)| is_for_it(mark));
        wait.map_or(u64::MAX, |&(start_ns, ..)| start_ns)
    }

    /// When it waits next for something, or sleeps.
    pub(super) fn next_block_ns(&self, from_ns: u64) -> u64 {
        let next = self
            .blocks
            .partition_point(|&(start_ns, ..)| start_ns < from_ns);
        self.blocks
            .get(next)
            .map_or(u64::MAX, |&(start_ns, ..)| start_ns)
    }

    /// Adds holds in which it may also sleep, in order: from when until when, and of which lock.
    pub(super) fn add_assumed(&mut self, holds: &[(u64, u64, Taken)]) {
        let mut cuts: Vec<u64> = holds
            .iter()
            .flat_map(|&(start, end, _)| [start, end])
            .collect();
        cuts.sort_unstable();
        let mut cuts = cuts.into_iter().peekable();
        let mut blocks = Vec::with_capacity(self.blocks.len());
        for &(mut start_ns, end_ns, mark) in &self.blocks {
            while let Some(cut_ns) = cuts.next_if(|&cut_ns| cut_ns < end_ns) {
                if start_ns < cut_ns {
                    blocks.push((start_ns, cut_ns, mark));
                    start_ns = cut_ns;
                }
            }
            blocks.push((start_ns, end_ns, mark));
        }
        self.blocks = blocks;
        for &(start_ns, end_ns, taken) in holds {
            let release = Mark::Release(taken.lock);
            self.marks
                .extend([(start_ns, Mark::Take(taken)), (end_ns, release)]);
        }
    }

    pub(super) fn timeline(&self) -> Timeline {
        let marks = self.marks.iter().map(|&(at_ns, mark)| (at_ns, at_ns, mark));
        let mut timeline: Vec<_> = self.blocks.iter().copied().chain(marks).collect();
        timeline.sort_by_key(|&(start_ns, _, mark)| (start_ns, mark.rank()));
        timeline
    }

    /// When it began and when it ended, as far as it is known.
    pub(super) fn range(&self) -> Option<(u64, u64)> {
        let blocks = self
            .blocks
            .iter()
            .map(|&(start_ns, end_ns, _)| (start_ns, end_ns));
        let marks = self.marks.iter().map(|&(at_ns, _)| (at_ns, at_ns));
        blocks
            .chain(marks)
            .reduce(|range, next| (range.0.min(next.0), range.1.max(next.1)))
    }
}
