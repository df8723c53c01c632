//! What the tracer cost the traced program, by its own account.

use serde::Serialize;
use trace_analysis::TraceSummary;
use trace_format::{Counter, Hook};

use crate::text::human::share;

/// The call chains that hooks recorded.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct ChainCost {
    pub(crate) recorded: u64,
    /// The set of call chains knew them.
    pub(crate) found: u64,
    /// They got an identifier.
    pub(crate) new: u64,
    /// Forgotten because their code is gone.
    pub(crate) purged: u64,
    /// Physical frames that stack walks visited.
    pub(crate) frames_visited: u64,
    /// Physical frames that a return barrier made it unnecessary to visit.
    pub(crate) frames_saved: u64,
}

/// The runs of the hooks of one kind.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct HookCost {
    /// `interrupted` for those of any kind in which the thread was descheduled
    /// or had much to describe.
    pub(crate) hook: &'static str,
    pub(crate) hooks: u64,
    /// Cycles of the time stamp counter.
    pub(crate) cycles: u64,
    /// The same as time, summed over all threads.
    pub(crate) duration_ns: u64,
}

impl ChainCost {
    /// `None` if the tracer did not count it, or nothing.
    pub(crate) fn of(summary: &TraceSummary) -> Option<Self> {
        let recorded = value(summary, Counter::ChainsRecorded);
        (recorded > 0).then(|| Self {
            recorded,
            found: value(summary, Counter::ChainsFound),
            new: value(summary, Counter::Chains),
            purged: value(summary, Counter::ChainsPurged),
            frames_visited: value(summary, Counter::FramesVisited),
            frames_saved: value(summary, Counter::FramesSaved),
        })
    }

    pub(crate) fn frames(&self) -> u64 {
        self.frames_visited.saturating_add(self.frames_saved)
    }
}

impl HookCost {
    /// Those that were not interrupted, by kind; kinds that never ran are left
    /// out.
    pub(crate) fn by_hook(summary: &TraceSummary) -> Vec<Self> {
        let by_hook = Hook::ALL.map(|hook| {
            let (hooks, cycles) = hook.counters();
            Self::of(summary, hook.name(), hooks, cycles)
        });
        by_hook.into_iter().filter(|cost| cost.hooks > 0).collect()
    }

    /// Those that were interrupted.
    pub(crate) fn interrupted(summary: &TraceSummary) -> Self {
        let (hooks, cycles) = (Counter::InterruptedHooks, Counter::InterruptedCycles);
        Self::of(summary, "interrupted", hooks, cycles)
    }

    fn of(summary: &TraceSummary, hook: &'static str, hooks: Counter, cycles: Counter) -> Self {
        let cycles = value(summary, cycles);
        let elapsed = share(cycles, value(summary, Counter::ElapsedCycles));
        Self {
            hook,
            hooks: value(summary, hooks),
            cycles,
            duration_ns: (elapsed * summary.duration_ns as f64).round() as u64,
        }
    }

    /// The sum of `costs`.
    pub(crate) fn sum(hook: &'static str, costs: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> u64| costs.iter().map(of).fold(0, u64::saturating_add);
        Self {
            hook,
            hooks: sum(|cost| cost.hooks),
            cycles: sum(|cost| cost.cycles),
            duration_ns: sum(|cost| cost.duration_ns),
        }
    }

    pub(crate) fn cycles_per_hook(&self) -> u64 {
        share(self.cycles, self.hooks).round() as u64
    }
}

/// [`ChainCost`] or [`HookCost`] tells what `counter` counts.
pub(crate) fn is_listed(counter: Counter) -> bool {
    matches!(
        counter,
        Counter::Chains
            | Counter::ChainsRecorded
            | Counter::ChainsFound
            | Counter::ChainsPurged
            | Counter::FramesVisited
            | Counter::FramesSaved
            | Counter::ElapsedCycles
            | Counter::InterruptedHooks
            | Counter::InterruptedCycles
    ) || Hook::ALL.into_iter().any(|hook| {
        let (hooks, cycles) = hook.counters();
        counter == hooks || counter == cycles
    })
}

/// What the tracer counted; 0 if it did not.
fn value(summary: &TraceSummary, wanted: Counter) -> u64 {
    summary.tracer_value(wanted).unwrap_or(0)
}
