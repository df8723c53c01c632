//! What owners did while others waited for their locks, in all.

use crate::blame::activity::overhead::HookTime;
use crate::blame::activity::run_delays::Division;
use crate::model::wait::OwnerActivity;

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
    /// The process did not run.
    pub frozen_ns: u64,
    /// Of all this, what the tracer's own hooks took in owners while others waited for them.
    pub hooks_of_owners: HookTime,
    /// Of all this, what they took in the threads that waited.
    pub hooks_of_waiting: HookTime,
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
            self.frozen_ns,
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
        let add = |sum: &mut u64, ns: u64| self::add(sum, ns, 1);
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
        add(&mut self.frozen_ns, other.frozen_ns);
        self.hooks_of_owners.merge(&other.hooks_of_owners);
        self.hooks_of_waiting.merge(&other.hooks_of_waiting);
    }

    /// Where the time is added up in which owners did that. Of one that ran, nothing else is known; else
    /// its time [divides](Self::add_running).
    pub(super) fn counted(&mut self, activity: OwnerActivity) -> &mut u64 {
        match activity {
            OwnerActivity::Running => &mut self.not_sampled_ns,
            OwnerActivity::Blocked => &mut self.blocked_ns,
            OwnerActivity::Waiting => &mut self.waiting_ns,
            OwnerActivity::Asleep => &mut self.asleep_ns,
            OwnerActivity::ReachingSafepoint => &mut self.reaching_safepoint_ns,
            OwnerActivity::AtSafepoint => &mut self.safepoint_ns,
        }
    }

    /// Adds the time of an owner that did nothing that events tell of, once for each wait.
    pub(super) fn add_running(&mut self, division: &Division, waits: u64) {
        add(&mut self.processor_ns, division.processor_ns, waits);
        add(&mut self.run_delay_ns, division.run_delay_ns, waits);
        add(&mut self.off_processor_ns, division.asleep_ns, waits);
        add(&mut self.not_told_ns, division.not_told_ns, waits);
        add(&mut self.not_sampled_ns, division.not_known_ns, waits);
        add(
            &mut self.most_run_delay_ns,
            division.most_run_delay_ns,
            waits,
        );
    }
}

/// Adds a time, once for each of the waits.
pub(super) fn add(sum: &mut u64, ns: u64, waits: u64) {
    *sum = sum.saturating_add(ns.saturating_mul(waits));
}
