//! What owners did while others waited for their locks, added up.

use std::collections::VecDeque;

use crate::contention::{Mechanism, Owner, OwnerActivity, RootEnd, Wait, WaitKind};
use crate::entity::ThreadIndex;
use crate::run_delays::{Division, RunDelays};

/// What the owners of locks did meanwhile, added up over the waits for locks, in nanoseconds. All
/// of it adds up to what those waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnerTimes {
    /// On a processor, at least. This and the next four are what owners did that nothing else is
    /// known of.
    pub processor_ns: u64,
    /// Waiting for a processor, ready to run, at least.
    pub run_delay_ns: u64,
    /// Neither, at least: the owner slept in the system, as for input and output, or in
    /// `Thread.sleep` or `Object.wait`.
    pub off_processor_ns: u64,
    /// One of these three: too short for the times at which the system was asked.
    pub not_told_ns: u64,
    /// One of these three: the system was not asked.
    pub not_sampled_ns: u64,
    /// What the run delay was at most, without what was not sampled.
    pub most_run_delay_ns: u64,
    /// Blocked by another lock.
    pub blocked_ns: u64,
    /// Waiting for another thread to do something, or for work.
    pub waiting_ns: u64,
    /// Parked for some time to pass.
    pub asleep_ns: u64,
    /// The JVM was about to stop all threads for a safepoint.
    pub reaching_safepoint_ns: u64,
    /// All threads were stopped at a safepoint.
    pub safepoint_ns: u64,
    /// Nobody owned the lock.
    pub free_ns: u64,
    /// The events do not tell who owned the lock, or what the owner did.
    pub unknown_ns: u64,
}

impl OwnerTimes {
    /// The sum of all parts.
    pub fn all_ns(&self) -> u64 {
        let parts = [
            self.running_ns(),
            self.blocked_ns,
            self.waiting_ns,
            self.asleep_ns,
            self.reaching_safepoint_ns,
            self.safepoint_ns,
            self.free_ns,
            self.unknown_ns,
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// The owners did nothing that the events tell of.
    pub fn running_ns(&self) -> u64 {
        let parts = [
            self.processor_ns,
            self.run_delay_ns,
            self.off_processor_ns,
            self.not_told_ns,
            self.not_sampled_ns,
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// Adds what others did.
    pub fn merge(&mut self, other: &Self) {
        let add = |sum: &mut u64, ns: u64| *sum = sum.saturating_add(ns);
        add(&mut self.processor_ns, other.processor_ns);
        add(&mut self.run_delay_ns, other.run_delay_ns);
        add(&mut self.off_processor_ns, other.off_processor_ns);
        add(&mut self.not_told_ns, other.not_told_ns);
        add(&mut self.not_sampled_ns, other.not_sampled_ns);
        add(&mut self.most_run_delay_ns, other.most_run_delay_ns);
        add(&mut self.blocked_ns, other.blocked_ns);
        add(&mut self.waiting_ns, other.waiting_ns);
        add(&mut self.asleep_ns, other.asleep_ns);
        add(&mut self.reaching_safepoint_ns, other.reaching_safepoint_ns);
        add(&mut self.safepoint_ns, other.safepoint_ns);
        add(&mut self.free_ns, other.free_ns);
        add(&mut self.unknown_ns, other.unknown_ns);
    }

    fn add_running(&mut self, division: &Division) {
        self.merge(&Self {
            processor_ns: division.processor_ns,
            run_delay_ns: division.run_delay_ns,
            off_processor_ns: division.asleep_ns,
            not_told_ns: division.not_told_ns,
            not_sampled_ns: division.not_known_ns,
            most_run_delay_ns: division.most_run_delay_ns,
            ..Self::default()
        });
    }
}

/// How many holds threads waited through, by mechanism: each pair of a wait and a hold counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HoldsWaitedThrough(pub [u64; Mechanism::ALL.len()]);

impl HoldsWaitedThrough {
    /// Those of locks of this mechanism.
    pub fn of(&self, mechanism: Mechanism) -> u64 {
        self.0[mechanism as usize]
    }

    /// Adds those of a wait.
    pub(crate) fn add(&mut self, wait: &Wait) {
        if wait.kind != WaitKind::Contention {
            return;
        }
        let owners = wait.blame.iter();
        let owned = owners.filter(|blame| blame.owner.thread().is_some());
        let holds = owned.map(|blame| blame.contentions).sum::<u64>();
        let sum = &mut self.0[wait.mechanism as usize];
        *sum = sum.saturating_add(holds);
    }

    /// Adds those of other waits.
    pub fn merge(&mut self, other: &Self) {
        for (sum, holds) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(holds);
        }
    }
}

/// The time of an owner that did nothing that the events tell of.
#[derive(Clone, Copy, Debug)]
struct Running {
    thread: ThreadIndex,
    start_ns: u64,
    end_ns: u64,
}

/// Adds up what owners did. What the system said of them may come a while later.
#[derive(Debug)]
pub(crate) struct OwnerTimesSum {
    sum: OwnerTimes,
    waiting: VecDeque<Running>,
    delays: RunDelays,
}

/// So many times of owners wait for what the system says about them.
const MAX_WAITING: usize = 1 << 16;

impl OwnerTimesSum {
    /// With so much of what the system says.
    pub(crate) fn new(delays: RunDelays) -> Self {
        Self {
            sum: OwnerTimes::default(),
            waiting: VecDeque::new(),
            delays,
        }
    }

    pub(crate) fn delays(&mut self) -> &mut RunDelays {
        &mut self.delays
    }

    /// Adds a wait whose parts are split by root owners.
    pub(crate) fn add(&mut self, wait: &Wait) {
        if wait.kind != WaitKind::Contention {
            return;
        }
        for part in &wait.roots {
            let sum = match part.owner_activity() {
                Some(OwnerActivity::Running) => {
                    if let Some((thread, _)) = part.owner.thread() {
                        self.waiting.push_back(Running {
                            thread,
                            start_ns: part.start_ns,
                            end_ns: part.start_ns + part.duration_ns,
                        });
                    }
                    continue;
                }
                Some(OwnerActivity::Blocked) => &mut self.sum.blocked_ns,
                Some(OwnerActivity::Waiting) => &mut self.sum.waiting_ns,
                Some(OwnerActivity::Asleep) => &mut self.sum.asleep_ns,
                Some(OwnerActivity::ReachingSafepoint) => &mut self.sum.reaching_safepoint_ns,
                Some(OwnerActivity::AtSafepoint) => &mut self.sum.safepoint_ns,
                None if part.root.end == RootEnd::Owner(Owner::Free) => &mut self.sum.free_ns,
                None => &mut self.sum.unknown_ns,
            };
            *sum = sum.saturating_add(part.duration_ns);
        }
        while self.waiting.len() > MAX_WAITING
            && let Some(running) = self.waiting.pop_front()
        {
            self.sum.add_running(&divide(&self.delays, running));
        }
    }

    /// The sums so far.
    pub(crate) fn so_far(&self) -> OwnerTimes {
        let mut sum = self.sum;
        for &running in &self.waiting {
            sum.add_running(&divide(&self.delays, running));
        }
        sum
    }
}

fn divide(delays: &RunDelays, running: Running) -> Division {
    delays.divide(running.thread, running.start_ns, running.end_ns)
}
