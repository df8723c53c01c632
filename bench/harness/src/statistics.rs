//! Medians, means, and how far they can be trusted.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// The middle of a sample, and between which values its middle half lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Quartiles {
    pub(crate) first: f64,
    pub(crate) median: f64,
    pub(crate) third: f64,
}

impl Quartiles {
    /// `None` of no values.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        (!sorted.is_empty()).then(|| Self {
            first: quantile(&sorted, 0.25),
            median: quantile(&sorted, 0.5),
            third: quantile(&sorted, 0.75),
        })
    }

    /// Distance of the quartiles, as a part of the median.
    pub(crate) fn spread(&self) -> f64 {
        (self.third - self.first) / self.median
    }
}

/// The value below which a part of the sorted values lies, interpolated between
/// neighbours (type 7 of Hyndman and Fan, as R and NumPy do by default).
pub(crate) fn quantile(sorted: &[f64], part: f64) -> f64 {
    let position = part * (sorted.len() - 1) as f64;
    let (below, above) = (position.floor() as usize, position.ceil() as usize);
    let weight = position - position.floor();
    sorted[below] * (1.0 - weight) + sorted[above] * weight
}

/// `None` of no values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    Quartiles::of(values).map(|quartiles| quartiles.median)
}

/// `None` of no values.
pub(crate) fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logarithms: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (logarithms / values.len() as f64).exp())
}

/// An estimate, and the interval in which the true value lies with a confidence of
/// 95 percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The values of the iterations in one round, of two configurations.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pair {
    /// Not empty.
    pub(crate) values: Vec<f64>,
    /// Not empty.
    pub(crate) baseline: Vec<f64>,
}

/// The geometric mean over workloads and rounds of the ratio of medians.
///
/// The interval is a bootstrap of percentiles: workloads are drawn with replacement, for each of them rounds, and in
/// each round the iterations of both sides. The draws are the same in each run. `None` of no pairs.
pub(crate) fn paired_ratio(workloads: &[Vec<Pair>]) -> Option<Estimate> {
    const DRAWS: usize = 2_000;

    let ratio = |values: Vec<f64>, baseline: Vec<f64>| Some(median(values)? / median(baseline)?);
    let as_measured = |pair: &Pair| ratio(pair.values.clone(), pair.baseline.clone());
    let mean = |rounds: Vec<f64>| geometric_mean(&rounds);
    let value = workloads
        .iter()
        .filter_map(|pairs| mean(pairs.iter().filter_map(as_measured).collect()))
        .collect();
    let value = mean(value)?;

    Some(bootstrap(DRAWS, value, |random| {
        let mut of_workloads = Vec::new();
        for pairs in draw(workloads, random) {
            let mut of_rounds = Vec::new();
            for pair in draw(pairs, random) {
                let values = draw(&pair.values, random).into_iter().copied();
                let values = values.collect();
                let baseline = draw(&pair.baseline, random).into_iter().copied();
                of_rounds.extend(ratio(values, baseline.collect()));
            }
            of_workloads.extend(mean(of_rounds));
        }
        mean(of_workloads)
    }))
}

/// The ratios of the iterations of one workload, by round.
pub(crate) type RatiosByRound = Vec<Vec<f64>>;

/// The geometric mean over workloads of the median over their iterations.
///
/// The interval is a bootstrap of percentiles: workloads are drawn with
/// replacement, and for each of them rounds are drawn with replacement; the
/// iterations of a round stay together, as they share a JVM. The draws are the
/// same in each run. `None` of no workloads.
pub(crate) fn mean_ratio(workloads: &[RatiosByRound]) -> Option<Estimate> {
    const DRAWS: usize = 10_000;

    let median_of = |rounds: &[&Vec<f64>]| median(rounds.iter().copied().flatten().copied());
    let medians: Option<Vec<f64>> = workloads
        .iter()
        .map(|rounds| median_of(&rounds.iter().collect::<Vec<_>>()))
        .collect();
    let value = geometric_mean(&medians?)?;

    Some(bootstrap(DRAWS, value, |random| {
        let drawn = draw(workloads, random).into_iter();
        let medians: Option<Vec<f64>> = drawn
            .map(|rounds| median_of(&draw(rounds, random)))
            .collect();
        geometric_mean(&medians?)
    }))
}

/// A value with percentiles of what is drawn this often. The draws are the same in each run.
fn bootstrap(
    draws: usize,
    value: f64,
    mut drawn: impl FnMut(&mut SmallRng) -> Option<f64>,
) -> Estimate {
    const SEED: u64 = 1;

    let mut random = SmallRng::seed_from_u64(SEED);
    let mut means: Vec<f64> = (0..draws).filter_map(|_| drawn(&mut random)).collect();
    means.sort_by(f64::total_cmp);
    Estimate {
        value,
        low: quantile(&means, 0.025),
        high: quantile(&means, 0.975),
    }
}

/// As many of the values as there are, each drawn from all.
fn draw<'a, T>(values: &'a [T], random: &mut SmallRng) -> Vec<&'a T> {
    let one = |_| &values[random.random_range(0..values.len())];
    (0..values.len()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_close(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-9
    }

    #[test]
    fn quartiles_of_known_samples() {
        for (values, first, median, third) in [
            (vec![7.0], 7.0, 7.0, 7.0),
            (vec![2.0, 1.0], 1.25, 1.5, 1.75),
            (vec![5.0, 1.0, 3.0, 2.0, 4.0], 2.0, 3.0, 4.0),
            (vec![1.0, 2.0, 3.0, 4.0], 1.75, 2.5, 3.25),
        ] {
            let expected = Quartiles {
                first,
                median,
                third,
            };
            assert_eq!(Quartiles::of(values.clone()), Some(expected), "{values:?}");
        }
        assert_eq!(Quartiles::of([]), None);
    }

    #[test]
    fn spread_is_relative() {
        let quartiles = Quartiles::of([90.0, 100.0, 110.0]).expect("not empty");
        assert!(is_close(quartiles.spread(), 0.1));
    }

    #[test]
    fn geometric_mean_of_known_values() {
        let mean = geometric_mean(&[1.0, 4.0, 16.0]).expect("not empty");
        assert!(is_close(mean, 4.0));
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn mean_without_variation_has_no_width() {
        let workloads = vec![vec![vec![1.1, 1.1], vec![1.1]]; 3];
        let estimate = mean_ratio(&workloads).expect("not empty");
        for value in [estimate.value, estimate.low, estimate.high] {
            assert!(is_close(value, 1.1), "{estimate:?}");
        }
    }

    #[test]
    fn pairs_without_variation_have_a_ratio_without_width() {
        let pair = |times: f64| Pair {
            values: vec![3.0 * times; 4],
            baseline: vec![2.0 * times; 3],
        };
        // The machine is slower in the second round.
        let estimate = paired_ratio(&[vec![pair(1.0), pair(10.0)]]).expect("not empty");
        for value in [estimate.value, estimate.low, estimate.high] {
            assert!(is_close(value, 1.5), "{estimate:?}");
        }
        assert_eq!(paired_ratio(&[]), None);
        assert_eq!(paired_ratio(&[vec![]]), None);
    }

    #[test]
    fn a_single_round_has_the_interval_of_its_iterations() {
        let pair = Pair {
            values: vec![9.0, 10.0, 11.0],
            baseline: vec![10.0],
        };
        let estimate = paired_ratio(&[vec![pair]]).expect("not empty");
        assert!(is_close(estimate.value, 1.0), "{estimate:?}");
        assert!(is_close(estimate.low, 0.9), "{estimate:?}");
        assert!(is_close(estimate.high, 1.1), "{estimate:?}");
    }

    #[test]
    fn mean_of_nothing_is_not_known() {
        assert_eq!(mean_ratio(&[]), None);
        assert_eq!(mean_ratio(&[vec![]]), None);
    }

    /// About 95 percent of the intervals from samples of a known distribution contain the true
    /// value. A bootstrap of few values is somewhat too narrow, so the test demands 85 percent, and
    /// that not all do.
    #[test]
    fn interval_covers_the_true_mean() {
        const SAMPLES: usize = 100;
        let mut random = SmallRng::seed_from_u64(7);
        let mut covered = 0;
        for _ in 0..SAMPLES {
            // Logarithms are uniform around 0, so the true mean is 1.
            let mut round = || vec![random.random_range(-0.1..0.1_f64).exp()];
            let workloads: Vec<RatiosByRound> = (0..12).map(|_| vec![round()]).collect();
            let estimate = mean_ratio(&workloads).expect("not empty");
            assert!(estimate.low <= estimate.value && estimate.value <= estimate.high);
            covered += usize::from(estimate.low <= 1.0 && 1.0 <= estimate.high);
        }
        assert!((85..SAMPLES).contains(&covered), "{covered} of {SAMPLES}");
    }
}
