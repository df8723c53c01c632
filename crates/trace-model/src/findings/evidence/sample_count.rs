//! How much samples of owners say.

use std::hash::Hash;

use crate::hash::SeededMap;

/// The most threads of which it is known what they met.
const MAX_THREADS: usize = 512;

/// The samples of owners that threads met while they waited. Several threads wait at once, and all meet the same sample:
/// what one thread met is counted.
#[derive(Clone, Debug)]
pub(crate) struct SampleCount<T> {
    of_threads: SeededMap<T, Weights>,
}

/// Samples stand for times of different length, which are their weights.
#[derive(Clone, Copy, Debug, Default)]
struct Weights {
    sum: f64,
    sum_of_squares: f64,
}

impl<T> Default for SampleCount<T> {
    fn default() -> Self {
        Self {
            of_threads: SeededMap::default(),
        }
    }
}

impl<T: Copy + Eq + Hash> SampleCount<T> {
    /// Adds a sample that stands for a time of a thread's wait, in nanoseconds.
    pub(super) fn add(&mut self, waiter: T, duration_ns: u64) {
        let weight = duration_ns as f64;
        self.add_weights(
            waiter,
            Weights {
                sum: weight,
                sum_of_squares: weight * weight,
            },
        );
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (&waiter, &weights) in &other.of_threads {
            self.add_weights(waiter, weights);
        }
    }

    fn add_weights(&mut self, waiter: T, weights: Weights) {
        if self.of_threads.len() < MAX_THREADS || self.of_threads.contains_key(&waiter) {
            let of_thread = self.of_threads.entry(waiter).or_default();
            of_thread.sum += weights.sum;
            of_thread.sum_of_squares += weights.sum_of_squares;
        }
    }

    /// Returns the number of samples of equal weight that would say as much, at least (Kish's effective sample size).
    pub(crate) fn effective(&self) -> u64 {
        let of_threads = self.of_threads.values();
        let effective = of_threads.map(|it| it.sum * it.sum / it.sum_of_squares.max(1.0));
        effective.fold(0.0, f64::max) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_threads_met_at_once_counts_once() {
        let mut count = SampleCount::default();
        for thread in 0..4 {
            (0..5).for_each(|_| count.add(thread, 1_000_000));
        }
        assert_eq!(count.effective(), 5);
        let mut other = SampleCount::default();
        other.add(3, 1_000_000);
        count.merge(&other);
        assert_eq!(count.effective(), 6);
    }

    #[test]
    fn one_that_stands_for_most_of_the_time_is_hardly_more_than_one() {
        let mut count = SampleCount::default();
        (0..9).for_each(|_| count.add(1, 1_000_000));
        count.add(1, 91_000_000);
        assert_eq!(count.effective(), 1);
    }
}
