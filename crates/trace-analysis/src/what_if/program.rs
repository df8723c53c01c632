//! What each thread did, as a list of steps: its own work, in its own order, and the locks that it
//! acquired, as far as a trace tells.

use std::collections::BTreeMap;

use super::clock::Clock;
use super::holds::{Hold, Queue, holds_of};
use super::known_lock::{KnownLock, known_locks};
use super::observed::Observed;
use crate::contention::WaitKind;
use crate::entity::{ChainIndex, LockIndex, ThreadIndex};

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// It goes on by itself: how long that took, and how long it would if the thread never had to
    /// wait for a processor.
    Work { wall_ns: u64, cpu_ns: u64 },
    /// It waits for so long for something that is no lock.
    Pause(u64),
    /// It acquires a lock.
    Acquire(Acquisition),
    /// It waits for so long for a lock, and does not get it: the trace ended.
    GiveUp(u64, usize),
    /// It releases a lock.
    Release(usize),
}

/// The acquisition of a lock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Acquisition {
    /// The number of the lock.
    pub(super) lock: usize,
    /// How long it takes until the thread runs, if it is woken to get the lock.
    pub(super) wake_ns: u64,
    /// The same if it has been woken before, but found the lock taken.
    pub(super) wake_again_ns: u64,
    /// How long it waits at first, for what the trace does not tell.
    pub(super) unexplained_ns: u64,
    /// By code that only reads.
    pub(super) is_reader: bool,
}

/// The steps of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) start_ns: u64,
    pub(super) steps: Vec<Step>,
}

/// What happens at a time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    Release(usize),
    /// Acquires a lock without waiting.
    Take(usize, bool),
    /// Waits for something that is no lock; asleep, if only time has to pass.
    Pause {
        is_asleep: bool,
    },
    GiveUp(usize),
    /// Waits for a lock, and gets it.
    Wait(Acquisition),
}

impl Mark {
    /// The order in which things happen at one time.
    fn rank(self) -> u8 {
        match self {
            Mark::Release(_) => 0,
            Mark::Take(..) => 1,
            Mark::Pause { .. } | Mark::GiveUp(_) | Mark::Wait(_) => 2,
        }
    }
}

/// What is known of one thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// When it did nothing by itself, and why: from when until when, by begin, without overlaps.
    pub(super) blocks: Vec<(u64, u64, Mark)>,
    /// When it acquired and released locks: those that it waited for only the release.
    pub(super) marks: Vec<(u64, Mark)>,
}

/// All threads, and the locks that they waited for.
#[derive(Debug)]
pub(super) struct Programs {
    pub(super) locks: Vec<KnownLock>,
    pub(super) threads: BTreeMap<ThreadIndex, Known>,
    /// Of each lock, by begin.
    pub(super) holds: Vec<Vec<Hold>>,
    pub(super) clock: Clock,
}

impl Programs {
    /// What was observed, whose spans are merged. `is_reader` says whether a call chain only
    /// reads.
    pub(super) fn new(
        observed: &Observed,
        processors: Option<u64>,
        is_reader: impl Fn(ChainIndex) -> bool,
    ) -> Self {
        let (locks, numbers) = known_locks(observed);
        let mut threads = blocks(observed, &numbers, &is_reader);
        let mut holds = vec![Vec::new(); locks.len()];
        for (thread, hold) in holds_of(observed, &threads, &locks, &numbers, is_reader) {
            holds[hold.lock].push(hold);
            threads.entry(thread).or_default().add_hold(hold);
        }
        for holds in &mut holds {
            holds.sort_unstable_by_key(|hold| (hold.start_ns, hold.end_ns));
        }
        let queues: Vec<_> = holds.iter().map(|holds| Queue::new(holds)).collect();
        for known in threads.values_mut() {
            known.find_wake_ups(&queues);
        }
        let clock = Clock::new(threads.values(), processors);
        Self {
            locks,
            threads,
            holds,
            clock,
        }
    }

    /// The steps of all threads.
    pub(super) fn steps(&self) -> Vec<Program> {
        self.threads
            .values()
            .map(|known| known.program(&self.locks, &self.clock))
            .collect()
    }
}

/// When threads waited, for locks and for other things.
fn blocks(
    observed: &Observed,
    numbers: &BTreeMap<LockIndex, usize>,
    is_reader: &impl Fn(ChainIndex) -> bool,
) -> BTreeMap<ThreadIndex, Known> {
    let waits = observed.waits.iter().map(|wait| {
        let lock = numbers[&wait.lock];
        let mark = match wait.has_ended {
            true => Mark::Wait(Acquisition {
                lock,
                wake_ns: wait.free_ns,
                wake_again_ns: wait.free_ns,
                unexplained_ns: wait.unexplained_ns,
                is_reader: is_reader(wait.chain),
            }),
            false => Mark::GiveUp(lock),
        };
        (wait.thread, wait.start_ns, wait.end_ns, mark)
    });
    let pauses = observed.pauses.iter().map(|pause| {
        let is_asleep = pause.kind == WaitKind::Sleep;
        let mark = Mark::Pause { is_asleep };
        (pause.thread, pause.start_ns, pause.end_ns, mark)
    });
    let mut blocks: Vec<_> = waits.chain(pauses).collect();
    blocks.sort_by_key(|&(thread, start_ns, end_ns, _)| (thread, start_ns, end_ns));
    let mut threads = BTreeMap::<ThreadIndex, Known>::new();
    for (thread, start_ns, end_ns, mark) in blocks {
        let blocks = &mut threads.entry(thread).or_default().blocks;
        let before_ns = blocks.last().map_or(0, |&(_, end_ns, _)| end_ns);
        let start_ns = start_ns.max(before_ns);
        // What took no time changes nothing.
        if start_ns < end_ns {
            blocks.push((start_ns, end_ns, mark));
        }
    }
    threads
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

    fn add_hold(&mut self, hold: Hold) {
        let start_ns = self.outside_of_blocks(hold.start_ns);
        let end_ns = self.outside_of_blocks(hold.end_ns);
        if hold.follows_wait {
            let end_ns = end_ns.max(hold.start_ns);
            self.marks.push((end_ns, Mark::Release(hold.lock)));
        } else if start_ns < end_ns {
            let take = Mark::Take(hold.lock, hold.is_reader);
            self.marks
                .extend([(start_ns, take), (end_ns, Mark::Release(hold.lock))]);
        }
    }

    /// A thread that was woken may find the lock taken by others, who came meanwhile. It was woken
    /// when the last thread released the lock that had waited for it, or that had it before: how
    /// long the lock was free from then on is what waking took.
    fn find_wake_ups(&mut self, queues: &[Queue<'_>]) {
        for (start_ns, end_ns, mark) in &mut self.blocks {
            if let Mark::Wait(acquisition) = mark
                && acquisition.unexplained_ns == 0
                && let Some(free_ns) = queues[acquisition.lock].free_ns(*start_ns, *end_ns)
            {
                acquisition.wake_ns = acquisition.wake_ns.max(free_ns);
            }
        }
    }

    /// When it went on after a wait that was no sleep.
    pub(super) fn ends_of_waits(&self) -> Vec<u64> {
        let waits = self.blocks.iter();
        let waits = waits.filter(|(.., mark)| !matches!(mark, Mark::Pause { is_asleep: true }));
        waits.map(|&(_, end_ns, _)| end_ns).collect()
    }

    /// When it waits next for something that is no sleep.
    pub(super) fn next_wait_ns(&self, from_ns: u64) -> u64 {
        let next = self
            .blocks
            .partition_point(|&(start_ns, ..)| start_ns < from_ns);
        let mut waits = self.blocks[next..].iter();
        let wait = waits.find(|(.., mark)| !matches!(mark, Mark::Pause { is_asleep: true }));
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
    pub(super) fn add_assumed(&mut self, holds: &[(u64, u64, usize)]) {
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
        for &(start_ns, end_ns, lock) in holds {
            let take = Mark::Take(lock, false);
            self.marks
                .extend([(start_ns, take), (end_ns, Mark::Release(lock))]);
        }
    }

    /// All that happened, in order: when, until when if it takes time, and what.
    pub(super) fn timeline(&self) -> Vec<(u64, u64, Mark)> {
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

    fn program(&self, locks: &[KnownLock], clock: &Clock) -> Program {
        let mut steps = Vec::new();
        let start_ns = self.range().map_or(0, |(start_ns, _)| start_ns);
        let mut at_ns = start_ns;
        for (start_ns, end_ns, mark) in self.timeline() {
            if start_ns > at_ns {
                steps.push(Step::Work {
                    wall_ns: start_ns - at_ns,
                    cpu_ns: clock.work_ns(at_ns, start_ns),
                });
            }
            let duration_ns = end_ns - start_ns;
            steps.push(match mark {
                Mark::Release(lock) => Step::Release(lock),
                Mark::Take(lock, is_reader) => Step::Acquire(Acquisition {
                    lock,
                    wake_ns: locks[lock].wake_ns,
                    wake_again_ns: locks[lock].wake_ns,
                    unexplained_ns: 0,
                    is_reader,
                }),
                Mark::Pause { .. } => Step::Pause(duration_ns),
                Mark::GiveUp(lock) => Step::GiveUp(duration_ns, lock),
                Mark::Wait(acquisition) => Step::Acquire(acquisition),
            });
            at_ns = at_ns.max(end_ns);
        }
        Program { start_ns, steps }
    }
}
