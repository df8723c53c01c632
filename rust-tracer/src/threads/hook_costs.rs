//! The cost of one thread's hooks: how many call chains they recorded and
//! how many cycles they took.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use trace_format::{Counter, Hook};

/// Hooks that take more cycles than this are counted apart: the thread was
/// descheduled meanwhile, or it met much that it had to describe.
pub(crate) const INTERRUPTED_CYCLES: u64 = 100_000;

/// A number that one thread counts up and any other may read.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    /// Only in the thread that counts.
    pub(crate) fn add(&self, number: u64) {
        // No read-modify-write, for nobody else writes. Relaxed: nobody
        // concludes from a count that other memory has changed.
        self.0
            .store(self.0.load(Relaxed).wrapping_add(number), Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Hooks and the cycles that they took.
#[derive(Debug, Default)]
pub(crate) struct HookCost {
    pub(crate) hooks: Count,
    pub(crate) cycles: Count,
}

impl HookCost {
    fn add_all(&self, other: &Self) {
        self.hooks.add(other.hooks.get());
        self.cycles.add(other.cycles.get());
    }
}

/// One thread's counts of its hooks.
#[derive(Debug, Default)]
pub(crate) struct HookCosts {
    pub(crate) chains_recorded: Count,
    /// Those that the set of chains knew.
    pub(crate) chains_found: Count,
    pub(crate) frames_visited: Count,
    /// Frames that a return barrier showed to be unchanged.
    pub(crate) frames_saved: Count,
    by_kind: [HookCost; Hook::ALL.len()],
    /// Hooks of any kind that took very long.
    pub(crate) interrupted: HookCost,
}

impl HookCosts {
    /// Returns the sums of several threads.
    pub(crate) fn sum<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let sum = Self::default();
        for costs in all {
            sum.chains_recorded.add(costs.chains_recorded.get());
            sum.chains_found.add(costs.chains_found.get());
            sum.frames_visited.add(costs.frames_visited.get());
            sum.frames_saved.add(costs.frames_saved.get());
            for kind in Hook::ALL {
                sum.of_kind(kind).add_all(costs.of_kind(kind));
            }
            sum.interrupted.add_all(&costs.interrupted);
        }
        sum
    }

    /// As the trace has them.
    pub(crate) fn counters(&self) -> impl Iterator<Item = (Counter, u64)> {
        let chains = [
            (Counter::ChainsRecorded, self.chains_recorded.get()),
            (Counter::ChainsFound, self.chains_found.get()),
            (Counter::FramesVisited, self.frames_visited.get()),
            (Counter::FramesSaved, self.frames_saved.get()),
            (Counter::InterruptedHooks, self.interrupted.hooks.get()),
            (Counter::InterruptedCycles, self.interrupted.cycles.get()),
        ];
        let kinds = Hook::ALL.into_iter().flat_map(|kind| {
            let (hooks, cycles) = kind.counters();
            let cost = self.of_kind(kind);
            [(hooks, cost.hooks.get()), (cycles, cost.cycles.get())]
        });
        chains.into_iter().chain(kinds)
    }

    /// Counts a recorded chain of `len` frames, of which `saved` were not
    /// visited.
    pub(crate) fn add_chain(&self, found: bool, len: usize, saved: usize) {
        self.chains_recorded.add(1);
        self.chains_found.add(found.into());
        self.frames_saved.add(saved as u64);
        self.frames_visited.add(len.saturating_sub(saved) as u64);
    }

    /// Counts a hook whose cycles were not counted.
    pub(crate) fn add_hook(&self, kind: Hook) {
        self.of_kind(kind).hooks.add(1);
    }

    /// Counts a hook that took `cycles`. In cycles it stands for as many hooks as
    /// `weight`.
    pub(crate) fn add_measured_hook(&self, kind: Hook, cycles: u64, weight: u32) {
        let (cost, hooks) = if cycles > INTERRUPTED_CYCLES {
            (&self.interrupted, weight.into())
        } else {
            (self.of_kind(kind), 1)
        };
        cost.hooks.add(hooks);
        cost.cycles.add(cycles.saturating_mul(weight.into()));
    }

    pub(crate) fn of_kind(&self, kind: Hook) -> &HookCost {
        // Never out of bounds: there is one for each kind.
        self.by_kind.get(kind as usize).unwrap_or(&self.interrupted)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_counted_by_kind() {
        let costs = HookCosts::default();
        for (kind, cycles) in Hook::ALL.into_iter().zip(1..) {
            costs.add_measured_hook(kind, cycles, 1);
            costs.add_hook(kind);
            costs.add_measured_hook(kind, 10 * cycles, 2);
        }
        for (kind, cycles) in Hook::ALL.into_iter().zip(1..) {
            let cost = costs.of_kind(kind);
            assert_eq!((cost.hooks.get(), cost.cycles.get()), (3, 21 * cycles));
        }
        assert_eq!(costs.interrupted.hooks.get(), 0);
    }

    #[test]
    fn costs_of_all_threads_are_told() {
        let threads = [HookCosts::default(), HookCosts::default()];
        for (costs, cycles) in threads.iter().zip([100, 200_000]) {
            costs.add_chain(false, 4, 0);
            costs.add_chain(true, 5, 3);
            costs.add_measured_hook(Hook::Exit, 50, 1);
            costs.add_measured_hook(Hook::ParkEnd, cycles, 1);
        }
        let counters: Vec<_> = HookCosts::sum(threads.iter())
            .counters()
            .filter(|&(_, value)| value != 0)
            .collect();
        let expected = [
            (Counter::ChainsRecorded, 4),
            (Counter::ChainsFound, 2),
            (Counter::FramesVisited, 12),
            (Counter::FramesSaved, 6),
            (Counter::InterruptedHooks, 1),
            (Counter::InterruptedCycles, 200_000),
            (Counter::ExitHooks, 2),
            (Counter::ExitCycles, 100),
            (Counter::ParkEndHooks, 1),
            (Counter::ParkEndCycles, 100),
        ];
        assert_eq!(counters, expected);
    }

    #[test]
    fn long_hooks_are_counted_apart() {
        let costs = HookCosts::default();
        costs.add_measured_hook(Hook::Enter, 200_000, 3);
        costs.add_measured_hook(Hook::Enter, 0, 3);
        let interrupted = &costs.interrupted;
        assert_eq!(
            (interrupted.hooks.get(), interrupted.cycles.get()),
            (3, 600_000)
        );
        let enter = costs.of_kind(Hook::Enter);
        assert_eq!((enter.hooks.get(), enter.cycles.get()), (1, 0));
    }
}
