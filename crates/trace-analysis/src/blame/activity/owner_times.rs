//! Total activity of lock owners while others waited for them.

use crate::blame::activity::overhead::HookTime;
use crate::blame::activity::run_delays::Division;
use crate::model::wait::OwnerActivity;

/// The activity of lock owners, summed over the waits for their locks, in nanoseconds. The parts
/// add up to the duration of those waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnerTimes {
    /// On a processor, at least. This field and the next four divide the time for which no other
    /// activity of the owner is known.
    pub processor_ns: u64,
    /// Waiting for a processor, ready to run, at least.
    pub run_delay_ns: u64,
    /// Neither, at least: the owner was blocked in the system, as for input and output, or in
    /// `Thread.sleep` or `Object.wait`.
    pub off_processor_ns: u64,
    /// One of these three: too short to distinguish them with the samples taken.
    pub not_told_ns: u64,
    /// One of these three: no sample was taken.
    pub not_sampled_ns: u64,
    /// Upper bound of the run delay, without the time not sampled.
    pub most_run_delay_ns: u64,
    /// Blocked by another lock.
    pub blocked_ns: u64,
    /// Waiting for another thread to do something, or for work.
    pub waiting_ns: u64,
    /// Parked until a timeout.
    pub asleep_ns: u64,
    /// The JVM was about to stop all threads for a safepoint.
    pub reaching_safepoint_ns: u64,
    /// All threads were stopped at a safepoint.
    pub safepoint_ns: u64,
    /// Nobody owned the lock.
    pub free_ns: u64,
    /// The owner of the lock or its activity is not known.
    pub unknown_ns: u64,
    /// The process did not run.
    pub frozen_ns: u64,
    /// Time that the tracer's hooks took in owners while others waited for them; included above.
    pub hooks_of_owners: HookTime,
    /// Time that the tracer's hooks took in the waiting threads; included above.
    pub hooks_of_waiting: HookTime,
}

impl OwnerTimes {
    /// Returns the sum of all parts.
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

    /// Returns the time in which no event shows another activity of the owners.
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

    /// Adds the sums of other waits.
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

    /// Returns the sum for an activity. For an owner that ran, nothing else is known; otherwise its
    /// time is [divided](Self::add_running).
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

    /// Adds time in which no event shows another activity of an owner, once per wait.
    pub(super) fn add_running(&mut self, division: &Division, waits: u64) {
        add(&mut self.processor_ns, division.processor_ns, waits);
        add(&mut self.run_delay_ns, division.run_delay_ns, waits);
        add(&mut self.off_processor_ns, division.asleep_ns, waits);
        add(&mut self.not_told_ns, division.ambiguous_ns, waits);
        add(&mut self.not_sampled_ns, division.not_known_ns, waits);
        add(
            &mut self.most_run_delay_ns,
            division.most_run_delay_ns,
            waits,
        );
    }
}

/// Adds a duration, once per wait.
pub(super) fn add(sum: &mut u64, ns: u64, waits: u64) {
    *sum = sum.saturating_add(ns.saturating_mul(waits));
}
