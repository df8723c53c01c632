//! What each thread did, as a list of steps: its own work, in its own order, and the locks that it
//! acquired, as far as a trace shows.

use std::collections::BTreeMap;

use crate::model::entity::{ChainIndex, LockIndex, ThreadIndex};
use crate::model::wait::WaitKind;
use crate::what_if::clock::Clock;
use crate::what_if::hold::{Hold, Queue};
use crate::what_if::holds::holds_of;
use crate::what_if::known_lock::{KnownLock, known_locks};
use crate::what_if::known_thread::{Acquisition, Known, Mark};
use crate::what_if::observed::Observed;

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

/// The steps of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) start_ns: u64,
    pub(super) steps: Vec<Step>,
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
    /// What was observed, whose spans are merged. `is_affected` says whether the change affects
    /// the code of a call chain.
    pub(super) fn new(
        observed: &Observed,
        processors: Option<u64>,
        is_affected: impl Fn(ChainIndex, LockIndex) -> bool,
    ) -> Self {
        let (locks, numbers) = known_locks(observed);
        let mut threads = blocks(observed, &numbers, &is_affected);
        let mut holds = vec![Vec::new(); locks.len()];
        for (thread, hold) in holds_of(observed, &threads, &locks, &numbers, is_affected) {
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
            .map(|known| program(known, &self.locks, &self.clock))
            .collect()
    }
}

/// When threads waited, for locks and for other things.
fn blocks(
    observed: &Observed,
    numbers: &BTreeMap<LockIndex, usize>,
    is_affected: &impl Fn(ChainIndex, LockIndex) -> bool,
) -> BTreeMap<ThreadIndex, Known> {
    let waits = observed.waits.iter().map(|wait| {
        let lock = numbers[&wait.lock];
        let mark = match wait.has_ended {
            true => Mark::Wait(Acquisition {
                lock,
                wake_ns: wait.free_ns,
                wake_again_ns: wait.free_ns,
                unexplained_ns: wait.unexplained_ns,
                is_affected: is_affected(wait.chain, wait.lock),
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

/// The steps of one thread.
fn program(known: &Known, locks: &[KnownLock], clock: &Clock) -> Program {
    let mut steps = Vec::new();
    let start_ns = known.range().map_or(0, |(start_ns, _)| start_ns);
    let mut at_ns = start_ns;
    for (start_ns, end_ns, mark) in known.timeline() {
        if start_ns > at_ns {
            steps.push(Step::Work {
                wall_ns: start_ns - at_ns,
                cpu_ns: clock.work_ns(at_ns, start_ns),
            });
        }
        let duration_ns = end_ns - start_ns;
        steps.push(match mark {
            Mark::Release(lock) => Step::Release(lock),
            Mark::Take(lock, is_affected) => Step::Acquire(Acquisition {
                lock,
                wake_ns: locks[lock].wake_ns,
                wake_again_ns: locks[lock].wake_ns,
                unexplained_ns: 0,
                is_affected,
            }),
            Mark::Pause { .. } => Step::Pause(duration_ns),
            Mark::GiveUp(lock) => Step::GiveUp(duration_ns, lock),
            Mark::Wait(acquisition) => Step::Acquire(acquisition),
        });
        at_ns = at_ns.max(end_ns);
    }
    Program { start_ns, steps }
}
