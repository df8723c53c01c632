//! The tracer's own time in threads, estimated from the sampled parts of hooks.

use std::cell::Cell;

use crate::blame::facts::latest::{Fact, LatestFacts, OfThread};
use crate::model::entity::ThreadIndex;
use crate::order::system_fact::HookPart;

/// The time that the tracer's hooks took, estimated: only some hooks, chosen at random, are in the
/// trace, and each stands for several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookTime {
    /// The estimate, in nanoseconds.
    pub estimate_ns: u64,
    /// Square of the standard error, in square nanoseconds.
    variance_ns2: u128,
}

impl HookTime {
    /// Returns the standard error of the estimate, in nanoseconds. With many hooks, the true time
    /// is within two standard errors in 95% of cases.
    pub fn standard_error_ns(&self) -> u64 {
        u64::try_from(self.variance_ns2.isqrt()).unwrap_or(u64::MAX)
    }

    /// Adds the time of other hooks.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.estimate_ns = self.estimate_ns.saturating_add(other.estimate_ns);
        self.variance_ns2 = self.variance_ns2.saturating_add(other.variance_ns2);
    }

    /// Adds a hook of this duration, sampled as one of `weight`.
    fn add(&mut self, ns: u64, weight: u64) {
        let weight = weight.max(1);
        // Each hook is sampled independently with the probability 1 / weight.
        let times = u128::from(weight) * u128::from(weight - 1);
        let square_ns2 = u128::from(ns).saturating_mul(ns.into());
        self.merge(&Self {
            estimate_ns: ns.saturating_mul(weight),
            variance_ns2: square_ns2.saturating_mul(times),
        });
    }
}

/// The latest hook parts of all threads, and how much of them counts.
#[derive(Debug)]
pub(crate) struct HookParts {
    last: LatestFacts<Counted>,
    /// Time of the parts already forgotten.
    forgotten: HookTimes,
}

/// The hook parts of one thread.
pub(crate) struct HooksOf<'h>(&'h OfThread<Counted>);

/// The time that hooks took in spans of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HookTimes {
    /// While they owned locks that others waited for, once per wait.
    pub(crate) of_owners: HookTime,
    /// While they waited themselves.
    pub(crate) of_waiting: HookTime,
}

/// A part of a hook, and how much of it counts. Several waits may overlap it, but it was sampled
/// once for all of them.
#[derive(Debug)]
struct Counted {
    part: HookPart,
    of_owners_ns: Cell<u64>,
    of_waiting_ns: Cell<u64>,
}

impl Fact for Counted {
    fn thread(&self) -> ThreadIndex {
        self.part.thread
    }

    fn time_ns(&self) -> u64 {
        self.part.end_ns
    }
}

impl HookTimes {
    fn add(&mut self, counted: &Counted) {
        let weight = counted.part.weight;
        self.of_owners.add(counted.of_owners_ns.get(), weight);
        self.of_waiting.add(counted.of_waiting_ns.get(), weight);
    }
}

impl HookParts {
    /// Keeps at most `max` hook parts.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            last: LatestFacts::new(max),
            forgotten: HookTimes::default(),
        }
    }

    /// Adds a hook part.
    pub(crate) fn add(&mut self, part: HookPart) {
        let forgotten = self.last.add(Counted {
            part,
            of_owners_ns: Cell::new(0),
            of_waiting_ns: Cell::new(0),
        });
        if let Some(counted) = forgotten {
            self.forgotten.add(&counted);
        }
    }

    /// Returns the hook parts of a thread, if there are any.
    pub(crate) fn of(&self, thread: ThreadIndex) -> Option<HooksOf<'_>> {
        self.last.of(thread).map(HooksOf)
    }

    /// Returns the time of all hook parts.
    pub(crate) fn finish(self) -> HookTimes {
        let mut sums = self.forgotten;
        for counted in self.last.into_facts() {
            sums.add(&counted);
        }
        sums
    }
}

impl HooksOf<'_> {
    /// Counts the span in which the thread owned a lock that `waits` threads waited for.
    pub(crate) fn owned(&self, time: (u64, u64), waits: u64) {
        self.count(time, waits, |counted| &counted.of_owners_ns);
    }

    /// Counts a span in which the thread waited.
    pub(crate) fn waited(&self, time: (u64, u64)) {
        self.count(time, 1, |counted| &counted.of_waiting_ns);
    }

    fn count(
        &self,
        (start_ns, end_ns): (u64, u64),
        times: u64,
        sum_of: impl Fn(&Counted) -> &Cell<u64>,
    ) {
        // Parts do not overlap: once one begins after the end, all later ones do.
        for counted in self.0.from(start_ns.saturating_add(1)) {
            let HookPart {
                end_ns: until_ns,
                duration_ns,
                ..
            } = counted.part;
            let begin_ns = until_ns.saturating_sub(duration_ns);
            if begin_ns >= end_ns {
                break;
            }
            let inside_ns = until_ns.min(end_ns) - begin_ns.max(start_ns);
            let sum_ns = sum_of(counted);
            sum_ns.set((sum_ns.get()).saturating_add(inside_ns.saturating_mul(times)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: ThreadIndex = ThreadIndex(1);

    fn part(thread: ThreadIndex, end_ns: u64, duration_ns: u64) -> HookPart {
        HookPart {
            thread,
            end_ns,
            duration_ns,
            weight: 4,
        }
    }

    #[test]
    fn hooks_count_as_far_as_they_are_inside() {
        let estimate_ns = |start_ns, end_ns, waits| {
            let mut parts = HookParts::new(10);
            for (thread, end_ns) in [(THREAD, 200), (THREAD, 100), (ThreadIndex(2), 150)] {
                parts.add(part(thread, end_ns, 10));
            }
            let of_thread = parts.of(THREAD).expect("some");
            of_thread.owned((start_ns, end_ns), waits);
            let sums = parts.finish();
            assert_eq!(sums.of_waiting, HookTime::default());
            sums.of_owners.estimate_ns
        };
        assert_eq!(estimate_ns(0, 300, 1), 80);
        assert_eq!(estimate_ns(95, 195, 1), 4 * (5 + 5));
        assert_eq!(estimate_ns(92, 98, 1), 4 * 6);
        assert_eq!(estimate_ns(100, 190, 1), 0);
        assert_eq!(estimate_ns(0, 100, 3), 120);
    }

    /// Counting a hook wait by wait gives the same uncertainty as counting it once for all of them,
    /// because it was sampled once. A forgotten hook still counts.
    #[test]
    fn waits_that_go_through_one_hook_do_not_make_it_more_certain() {
        let sums = |max, counts: &[(u64, u64)]| {
            let mut parts = HookParts::new(max);
            parts.add(part(THREAD, 100, 10));
            let of_thread = parts.of(THREAD).expect("some");
            for &(start_ns, waits) in counts {
                of_thread.owned((start_ns, 200), waits);
            }
            of_thread.waited((0, 96));
            parts.add(part(THREAD, 300, 10));
            parts.finish()
        };
        let once = sums(10, &[(0, 3)]);
        assert_eq!(once.of_owners.variance_ns2, 30 * 30 * 4 * 3);
        assert_eq!(once.of_waiting.variance_ns2, 6 * 6 * 4 * 3);
        assert_eq!(sums(10, &[(0, 1), (0, 1), (0, 1)]), once);
        assert_eq!(sums(1, &[(0, 2), (0, 1)]), once);
        assert_eq!(
            sums(10, &[(0, 1), (95, 2)]).of_owners.variance_ns2,
            20 * 20 * 4 * 3
        );
    }

    /// Compares mean and variance of the estimate over all possible samples with the truth.
    #[test]
    fn the_standard_error_matches_all_samples() {
        let durations_ns = [10_u64, 20, 30, 40, 50];
        let (mut mean, mut variance, mut estimated) = (0.0, 0.0, 0.0);
        let all: u64 = durations_ns.iter().sum();
        for choice in 0..1_u32 << durations_ns.len() {
            let mut probability = 1.0;
            let mut found = HookTime::default();
            for (bit, &ns) in durations_ns.iter().enumerate() {
                let is_chosen = choice >> bit & 1 == 1;
                probability *= if is_chosen { 0.25 } else { 0.75 };
                if is_chosen {
                    found.add(ns, 4);
                }
            }
            mean += probability * found.estimate_ns as f64;
            variance += probability * (found.estimate_ns as f64 - all as f64).powi(2);
            estimated += probability * found.variance_ns2 as f64;
        }
        assert!((mean - all as f64).abs() < 1e-6, "{mean}");
        assert!(
            (variance - estimated).abs() < 1e-6,
            "{variance} {estimated}"
        );
    }
}
