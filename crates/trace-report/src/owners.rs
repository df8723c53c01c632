//! Activity of the owners of locks while others waited for them, for people and for machines.

use std::fmt::Write;

use serde::Serialize;
use trace_analysis::{OwnerTimes, TraceSummary};
use trace_format::{Capabilities, Counter};

use crate::facts;
use crate::human::{self, plural};

/// Activity of owners in the waits for locks of a report.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct OwnersRecord {
    /// Waiting time for locks. The sum of the owners' activities and of the time in which no owner
    /// existed or is known: running, blocked, waiting, parked, reaching a safepoint and at one,
    /// free, unknown and frozen.
    blocked_ns: u64,
    /// No event shows another activity of the owners: the next five add up to it. The first three
    /// are lower bounds.
    running_ns: u64,
    on_processor_ns: u64,
    run_delay_ns: u64,
    off_processor_ns: u64,
    /// One of these, but too short to distinguish.
    not_told_apart_ns: u64,
    not_sampled_ns: u64,
    blocked_by_lock_ns: u64,
    waiting_ns: u64,
    parked_for_time_ns: u64,
    reaching_safepoint_ns: u64,
    at_safepoint_ns: u64,
    free_ns: u64,
    unknown_ns: u64,
    /// The process did not run.
    frozen_ns: u64,
    /// Upper bound of the run delay, without the time that was not sampled.
    most_run_delay_ns: u64,
    /// The parts of all that which the tracer's own hooks took in owners, and in the threads that
    /// waited: estimates, and their standard errors.
    hooks_of_owners_ns: u64,
    hooks_of_owners_error_ns: u64,
    hooks_of_waiting_ns: u64,
    hooks_of_waiting_error_ns: u64,
    /// Hooks of all threads that are left out of these: they took long enough that they were
    /// probably interrupted.
    interrupted_hooks: u64,
    /// The traces have safepoints, and times of threads.
    safepoints_told: bool,
    run_delay_told: bool,
    /// Owners that were due to be sampled and were not, for want of time.
    samples_skipped: u64,
    /// The part of all processors' time that the hypervisor gave to others.
    #[serde(skip_serializing_if = "Option::is_none")]
    steal_share: Option<f64>,
}

impl OwnersRecord {
    /// Returns the activity in some traces; `None` if the analysis was not asked for it.
    pub(crate) fn new(summaries: &[TraceSummary]) -> Option<Self> {
        summaries.first()?;
        let mut times = OwnerTimes::default();
        let (mut skipped, mut interrupted) = (0_u64, 0_u64);
        for summary in summaries {
            times.merge(summary.owner_times.as_ref()?);
            skipped = skipped.saturating_add(value(summary, Counter::ThreadTimesSkipped));
            interrupted = interrupted.saturating_add(value(summary, Counter::InterruptedHooks));
        }
        let has = |capability| {
            let mut headers = summaries.iter().map(|summary| summary.file.header());
            headers.all(|header| header.capabilities.contains(capability))
        };
        Some(Self {
            blocked_ns: times.all_ns(),
            running_ns: times.running_ns(),
            on_processor_ns: times.processor_ns,
            run_delay_ns: times.run_delay_ns,
            off_processor_ns: times.off_processor_ns,
            not_told_apart_ns: times.not_told_ns,
            not_sampled_ns: times.not_sampled_ns,
            blocked_by_lock_ns: times.blocked_ns,
            waiting_ns: times.waiting_ns,
            parked_for_time_ns: times.asleep_ns,
            reaching_safepoint_ns: times.reaching_safepoint_ns,
            at_safepoint_ns: times.safepoint_ns,
            free_ns: times.free_ns,
            unknown_ns: times.unknown_ns,
            frozen_ns: times.frozen_ns,
            most_run_delay_ns: times.most_run_delay_ns,
            hooks_of_owners_ns: times.hooks_of_owners.estimate_ns,
            hooks_of_owners_error_ns: times.hooks_of_owners.standard_error_ns(),
            hooks_of_waiting_ns: times.hooks_of_waiting.estimate_ns,
            hooks_of_waiting_error_ns: times.hooks_of_waiting.standard_error_ns(),
            interrupted_hooks: interrupted,
            safepoints_told: has(Capabilities::SAFEPOINTS),
            run_delay_told: has(Capabilities::THREAD_TIMES),
            samples_skipped: skipped,
            steal_share: steal_share(summaries),
        })
    }

    /// Adds the lines for people.
    pub(crate) fn write(&self, text: &mut String) {
        if self.blocked_ns == 0 {
            return;
        }
        facts::add(text, "Activity", &self.activity());
        if self.running_ns > 0 {
            facts::add(text, "Processor", &self.processor());
        }
        if self.hooks_of_owners_ns > 0 || self.hooks_of_waiting_ns > 0 {
            facts::add(text, "Tracer", &self.tracer());
        }
    }

    fn percent(&self, ns: u64) -> String {
        human::percent(human::share(ns, self.blocked_ns))
    }

    fn activity(&self) -> String {
        let mut text = format!(
            "of {} that threads waited for locks, owners ran {}",
            human::duration(self.blocked_ns),
            self.percent(self.running_ns)
        );
        for (name, ns) in [
            ("were blocked by another lock", self.blocked_by_lock_ns),
            ("waited for another thread", self.waiting_ns),
            ("were parked for some time", self.parked_for_time_ns),
            ("ran to a safepoint", self.reaching_safepoint_ns),
            ("were stopped at safepoints", self.at_safepoint_ns),
            ("nobody owned the lock", self.free_ns),
            ("owner or activity not known", self.unknown_ns),
            ("the process did not run", self.frozen_ns),
        ] {
            if ns > 0 {
                let _ = write!(text, "; {name} {}", self.percent(ns));
            }
        }
        if !self.safepoints_told {
            text.push_str("; the trace has no safepoints");
        }
        text
    }

    fn processor(&self) -> String {
        if !self.run_delay_told {
            return "the trace does not tell whether owners that ran were on a processor"
                .to_owned();
        }
        let mut text = format!(
            "while owners ran, they were on one for at least {} of the blocked time, waited for one for {} (at \
             most {}), and were off it for {}",
            self.percent(self.on_processor_ns),
            self.percent(self.run_delay_ns),
            self.percent(self.most_run_delay_ns),
            self.percent(self.off_processor_ns),
        );
        for (name, ns) in [
            ("too short to tell", self.not_told_apart_ns),
            ("not sampled", self.not_sampled_ns),
        ] {
            if ns > 0 {
                let _ = write!(text, "; {name} {}", self.percent(ns));
            }
        }
        if self.samples_skipped > 0 {
            let samples = plural(self.samples_skipped, "sample");
            let _ = write!(text, "; {samples} skipped");
        }
        if let Some(share) = self.steal_share.filter(|&share| share > 0.0) {
            let share = human::percent(share);
            let _ = write!(
                text,
                "; the hypervisor gave {share} of the processors to others"
            );
        }
        text
    }

    /// Returns each estimate with twice its standard error.
    fn tracer(&self) -> String {
        let mut text = format!(
            "its own hooks took {} ± {} of the blocked time in owners, and {} ± {} in threads that waited",
            self.percent(self.hooks_of_owners_ns),
            self.percent(self.hooks_of_owners_error_ns.saturating_mul(2)),
            self.percent(self.hooks_of_waiting_ns),
            self.percent(self.hooks_of_waiting_error_ns.saturating_mul(2)),
        );
        if self.interrupted_hooks > 0 {
            let hooks = plural(self.interrupted_hooks, "interrupted hook");
            let _ = write!(text, "; without {hooks}");
        }
        text
    }
}

fn steal_share(summaries: &[TraceSummary]) -> Option<f64> {
    let (mut steal_ns, mut all_ns) = (0_u64, 0_u64);
    for summary in summaries {
        let processors = summary.tracer_value(Counter::Processors)?;
        let of_processors_ns = processors.saturating_mul(summary.duration_ns);
        all_ns = all_ns.saturating_add(of_processors_ns);
        steal_ns = steal_ns.saturating_add(value(summary, Counter::StealNs));
    }
    Some(human::share(steal_ns, all_ns))
}

fn value(summary: &TraceSummary, counter: Counter) -> u64 {
    summary.tracer_value(counter).unwrap_or(0)
}
