//! When the tracer itself ran in threads, of the parts of hooks that the trace tells of.

use crate::entity::ThreadIndex;
use crate::last_facts::{Fact, LastFacts};
use crate::system_fact::HookPart;

/// What the tracer's hooks took of some time: an estimate, since one hook in many is in a trace, chosen
/// by chance, and stands for as many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookTime {
    /// The most likely time, in nanoseconds.
    pub estimate_ns: u64,
    /// Square of the standard error.
    variance_ns2: u128,
}

impl HookTime {
    /// Standard error of the estimate, in nanoseconds: the time is within two of them in nineteen cases
    /// of twenty, if it is of many hooks.
    pub fn standard_error_ns(&self) -> u64 {
        u64::try_from(self.variance_ns2.isqrt()).unwrap_or(u64::MAX)
    }

    /// Adds another time, of other hooks.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.estimate_ns = self.estimate_ns.saturating_add(other.estimate_ns);
        self.variance_ns2 = self.variance_ns2.saturating_add(other.variance_ns2);
    }

    /// Adds a hook that took so long, and was chosen among as many as `weight`.
    fn add(&mut self, ns: u64, weight: u64) {
        let weight = weight.max(1);
        // Each hook is chosen with the probability 1 / weight, whatever others are.
        let times = u128::from(weight) * u128::from(weight - 1);
        let square_ns2 = u128::from(ns).saturating_mul(ns.into());
        self.merge(&Self {
            estimate_ns: ns.saturating_mul(weight),
            variance_ns2: square_ns2.saturating_mul(times),
        });
    }
}

/// The last parts of hooks of all threads.
#[derive(Debug)]
pub(crate) struct HookParts(LastFacts<HookPart>);

impl Fact for HookPart {
    fn thread(&self) -> ThreadIndex {
        self.thread
    }

    fn time_ns(&self) -> u64 {
        self.end_ns
    }
}

impl HookParts {
    /// Keeps so many.
    pub(crate) fn new(max: usize) -> Self {
        Self(LastFacts::new(max))
    }

    /// Adds one.
    pub(crate) fn add(&mut self, part: HookPart) {
        self.0.add(part);
    }

    /// What hooks took of a thread's time from begin to end, so many times.
    pub(crate) fn in_time(
        &self,
        thread: ThreadIndex,
        (start_ns, end_ns): (u64, u64),
        times: u64,
    ) -> HookTime {
        let mut sum = HookTime::default();
        // One after the other: where the next one begins behind the end, all do.
        for part in self.0.from(thread, start_ns.saturating_add(1)) {
            let begin_ns = part.end_ns.saturating_sub(part.duration_ns);
            if begin_ns >= end_ns {
                break;
            }
            let inside_ns = part.end_ns.min(end_ns) - begin_ns.max(start_ns);
            sum.add(inside_ns.saturating_mul(times), part.weight);
        }
        sum
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

    fn estimate_ns(parts: &HookParts, start_ns: u64, end_ns: u64) -> u64 {
        parts.in_time(THREAD, (start_ns, end_ns), 1).estimate_ns
    }

    #[test]
    fn hooks_count_as_far_as_they_are_inside() {
        let mut parts = HookParts::new(10);
        for (thread, end_ns) in [(THREAD, 200), (THREAD, 100), (ThreadIndex(2), 150)] {
            parts.add(part(thread, end_ns, 10));
        }
        assert_eq!(estimate_ns(&parts, 0, 300), 80);
        assert_eq!(estimate_ns(&parts, 95, 195), 4 * (5 + 5));
        assert_eq!(estimate_ns(&parts, 92, 98), 4 * 6);
        assert_eq!(estimate_ns(&parts, 100, 190), 0);
        assert_eq!(parts.in_time(THREAD, (0, 100), 3).estimate_ns, 120);
    }

    /// The mean of what is found, and how it varies, over all choices of hooks by chance.
    #[test]
    fn the_standard_error_is_that_of_the_choice() {
        let durations_ns = [10_u64, 20, 30, 40, 50];
        let (mut mean, mut variance, mut told) = (0.0, 0.0, 0.0);
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
            told += probability * found.variance_ns2 as f64;
        }
        assert!((mean - all as f64).abs() < 1e-6, "{mean}");
        assert!((variance - told).abs() < 1e-6, "{variance} {told}");
    }
}
