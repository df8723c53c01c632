//! The order in which JVMs run.

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
}
