//! The order in which JVMs run.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::configuration::Configuration;

/// A JVM of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) round: u32,
    /// Position among the workloads.
    pub(crate) workload: usize,
    pub(crate) configuration: Configuration,
}

/// In each round each workload runs in all configurations, one after the other, so
/// that what changes slowly on a machine hits them all; each round begins with
/// another configuration. `repeats` is the number of times in a round.
pub(crate) fn turns(
    rounds: u32,
    workloads: usize,
    configurations: &[Configuration],
    repeats: u32,
) -> Vec<Turn> {
    let mut turns = Vec::new();
    for round in 0..rounds {
        let mut rotated = configurations.to_vec();
        rotated.rotate_left(round as usize % configurations.len().max(1));
        for workload in 0..workloads {
            for _ in 0..repeats {
                turns.extend(rotated.iter().map(|&configuration| Turn {
                    round,
                    workload,
                    configuration,
                }));
            }
        }
    }
    turns
}

/// Decides whether there is time for a workload in all configurations once more.
#[derive(Debug)]
pub(crate) struct Pace {
    until: Option<Instant>,
    /// The time that each workload took in its last round.
    took: BTreeMap<usize, Duration>,
}

impl Pace {
    /// Up to some time; `None` for as long as it takes.
    pub(crate) fn until(until: Option<Instant>) -> Self {
        Self {
            until,
            took: BTreeMap::new(),
        }
    }

    /// Notes the time that a workload took in a round.
    pub(crate) fn took(&mut self, workload: usize, duration: Duration) {
        self.took.insert(workload, duration);
    }

    /// Returns whether the workload will end in time if it takes as long as before, or the first time as long as the
    /// others on average.
    pub(crate) fn has_time_for(&self, workload: usize) -> bool {
        let Some(until) = self.until else {
            return true;
        };
        let average = || {
            let sum: Duration = self.took.values().sum();
            sum / self.took.len().max(1) as u32
        };
        let expected = self.took.get(&workload).copied().unwrap_or_else(average);
        Instant::now() + expected <= until
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Configuration::{Compressed, Off, Stock};

    #[test]
    fn configurations_alternate_and_rotate() {
        let turns = turns(2, 2, &[Stock, Off, Compressed], 1);
        let first = [Stock, Off, Compressed];
        let second = [Off, Compressed, Stock];
        let expected = [(0, 0, first), (0, 1, first), (1, 0, second), (1, 1, second)];
        let expected = expected.into_iter().flat_map(|(round, workload, order)| {
            order.map(|configuration| Turn {
                round,
                workload,
                configuration,
            })
        });
        assert_eq!(turns, expected.collect::<Vec<_>>());
    }

    #[test]
    fn repeats_alternate_too() {
        let turns = turns(1, 1, &[Stock, Off], 2);
        let order: Vec<_> = turns.iter().map(|turn| turn.configuration).collect();
        assert_eq!(order, [Stock, Off, Stock, Off]);
    }

    #[test]
    fn only_what_ends_in_time_begins() {
        const SECOND: Duration = Duration::from_secs(1);
        let mut pace = Pace::until(Some(Instant::now() + 60 * SECOND));
        assert!(pace.has_time_for(0));
        pace.took(0, 100 * SECOND);
        pace.took(1, 2 * SECOND);
        assert!(!pace.has_time_for(0));
        assert!(pace.has_time_for(1));
        assert!(pace.has_time_for(2), "51 seconds on average");
        pace.took(3, 200 * SECOND);
        assert!(!pace.has_time_for(2));
    }

    #[test]
    fn without_a_limit_everything_begins() {
        let mut pace = Pace::until(None);
        pace.took(0, Duration::from_secs(1_000_000));
        assert!(pace.has_time_for(0));
    }
}
