//! Variation of a rate by chance: a block bootstrap over runs and slices of time.
//!
//! Each slice depends on those before it. So blocks of consecutive slices are drawn, not single
//! ones (circular block bootstrap: Politis and Romano, 1992). Where a side has several runs, these
//! are drawn first, so that the differences between runs count as well. That gives each side a
//! standard error. From few blocks or runs it is uncertain, for which Student's distribution
//! compensates, with the degrees of freedom of Welch's test.

use fastrand::Rng;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The number of times that runs and slices are drawn.
const SAMPLES: usize = 2_000;
/// The least number of slices from which the variation of a side is estimated.
const MIN_SLICES: usize = 16;
/// Any: equal traces give equal results.
const SEED: u64 = 0x6c6f_636b;
/// The probability that an interval contains the difference.
pub const CONFIDENCE: f64 = 0.95;

/// A numerator and a denominator in each slice of a side, one run after the other.
#[derive(Clone, Debug)]
pub(crate) struct Ratio<'a> {
    pub(crate) numerators: Vec<f64>,
    pub(crate) denominators: &'a [f64],
}

impl Ratio<'_> {
    /// Returns the ratio over all slices; 0 without any work.
    pub(crate) fn value(&self) -> f64 {
        let denominator: f64 = self.denominators.iter().sum();
        if denominator > 0.0 {
            self.numerators.iter().sum::<f64>() / denominator
        } else {
            0.0
        }
    }
}

/// The number of times that each slice of a side was drawn, in each sample.
#[derive(Debug)]
pub(crate) struct Resampling {
    /// By sample and slice.
    weights: Vec<u16>,
    slices: usize,
    /// The number of runs, or of blocks of the only run, that vary freely.
    degrees: f64,
}

/// The certainty of a rate.
#[derive(Clone, Copy, Debug)]
struct Spread {
    /// The square of the standard error.
    variance: f64,
    degrees: f64,
}

impl Resampling {
    /// Draws from runs with `slices_of_runs` slices. `None` if they are too few.
    pub(crate) fn new(slices_of_runs: &[usize], side: u64) -> Option<Self> {
        let slices: usize = slices_of_runs.iter().sum();
        if slices < MIN_SLICES {
            return None;
        }
        let mut firsts = Vec::with_capacity(slices_of_runs.len());
        let mut first = 0;
        for &count in slices_of_runs {
            firsts.push(first);
            first += count;
        }
        let mut random = Rng::with_seed(SEED + side);
        let mut weights = vec![0; SAMPLES * slices];
        for sample in weights.chunks_exact_mut(slices) {
            for _ in slices_of_runs {
                let run = random.usize(..slices_of_runs.len());
                let of_run = &mut sample[firsts[run]..][..slices_of_runs[run]];
                draw_blocks(of_run, &mut random);
            }
        }
        let units = match slices_of_runs {
            &[only] => only as f64 / block_len(only) as f64,
            runs => runs.len() as f64,
        };
        Some(Self {
            weights,
            slices,
            degrees: units - 1.0,
        })
    }

    /// Returns the variation of the ratio; `None` if most samples have no work.
    fn spread(&self, ratio: &Ratio<'_>) -> Option<Spread> {
        let values: Vec<f64> = self
            .weights
            .chunks_exact(self.slices)
            .filter_map(|weights| {
                let (mut numerator, mut denominator) = (0.0, 0.0);
                for (at, &weight) in weights.iter().enumerate() {
                    numerator += f64::from(weight) * ratio.numerators[at];
                    denominator += f64::from(weight) * ratio.denominators[at];
                }
                (denominator > 0.0).then(|| numerator / denominator)
            })
            .collect();
        if values.len() < SAMPLES / 2 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares = values.iter().map(|value| (value - mean).powi(2));
        // When drawing from a few, the mean of each draw is drawn from these few, too.
        let correction = (self.degrees + 1.0) / self.degrees;
        Some(Spread {
            variance: correction * squares.sum::<f64>() / values.len() as f64,
            degrees: self.degrees,
        })
    }
}

/// Returns the length of a block of slices of a run with `slices`.
fn block_len(slices: usize) -> usize {
    (slices as f64).cbrt().round().max(1.0) as usize
}

/// Draws as many slices of a run as it has, in blocks.
fn draw_blocks(weights: &mut [u16], random: &mut Rng) {
    let count = weights.len();
    let block = block_len(count);
    let mut missing = count;
    while missing > 0 {
        let start = random.usize(..count);
        for offset in 0..block.min(missing) {
            weights[(start + offset) % count] += 1;
        }
        missing -= block.min(missing);
    }
}

/// The verdict about a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// More blocked time than before, beyond chance.
    More,
    /// Less.
    Less,
    /// The runs themselves vary by as much.
    Unclear,
    /// The runs are too short to estimate their variation.
    TooShort,
}

impl Verdict {
    /// Returns the name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Less => "less",
            Self::Unclear => "unclear",
            Self::TooShort => "too-short",
        }
    }
}

/// The change of a rate.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// The difference, in nanoseconds of blocked time per second or unit of work.
    pub rate_ns: f64,
    /// The same as a share of the earlier rate; `None` if that was 0.
    pub share: Option<f64>,
    /// The interval in which the difference lies with a probability of 95 percent, as far as the
    /// runs show their variation; `None` if they are too short for that.
    pub interval_ns: Option<[f64; 2]>,
    /// The verdict. Of several rows, one of twenty lies outside its interval by chance: a change is
    /// reported only where, with that probability, not one of all rows of the comparison would be
    /// reported by chance.
    pub verdict: Verdict,
}

/// Draws for both sides of a comparison.
#[derive(Debug)]
pub(crate) struct Sides {
    pub(crate) before: Option<Resampling>,
    pub(crate) after: Option<Resampling>,
}

impl Sides {
    /// Returns the change of a rate, where `rates` of them are compared.
    pub(crate) fn change(&self, before: &Ratio<'_>, after: &Ratio<'_>, rates: usize) -> Change {
        let (was_ns, is_ns) = (before.value(), after.value());
        let mut change = Change {
            rate_ns: is_ns - was_ns,
            share: (was_ns > 0.0).then(|| (is_ns - was_ns) / was_ns),
            interval_ns: None,
            verdict: Verdict::TooShort,
        };
        let spread = |side: &Option<Resampling>, ratio| side.as_ref()?.spread(ratio);
        let (Some(of_before), Some(of_after)) =
            (spread(&self.before, before), spread(&self.after, after))
        else {
            return change;
        };
        let error = StandardError::of_difference(of_before, of_after);
        let within_ns = error.times(1.0 - CONFIDENCE);
        change.interval_ns = Some([change.rate_ns - within_ns, change.rate_ns + within_ns]);
        let beyond_chance_ns = error.times((1.0 - CONFIDENCE) / rates.max(1) as f64);
        change.verdict = if change.rate_ns > beyond_chance_ns {
            Verdict::More
        } else if change.rate_ns < -beyond_chance_ns {
            Verdict::Less
        } else {
            Verdict::Unclear
        };
        change
    }
}

/// The variation of a difference (Welch, 1947).
#[derive(Clone, Copy, Debug)]
struct StandardError {
    error: f64,
    degrees: f64,
}

impl StandardError {
    fn of_difference(before: Spread, after: Spread) -> Self {
        let variance = before.variance + after.variance;
        let share = |side: Spread| side.variance.powi(2) / side.degrees;
        let shares = share(before) + share(after);
        Self {
            error: variance.sqrt(),
            degrees: if shares > 0.0 {
                variance.powi(2) / shares
            } else {
                f64::INFINITY
            },
        }
    }

    /// Returns the deviation that is exceeded, up or down, with this probability only.
    fn times(self, probability: f64) -> f64 {
        // Beyond these degrees it is the normal distribution.
        let degrees = self.degrees.clamp(1.0, 1e6);
        let student = StudentsT::new(0.0, 1.0, degrees).expect("degrees are positive");
        student.inverse_cdf(1.0 - probability / 2.0) * self.error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICES: usize = 96;

    /// Returns slices of a program whose load goes up and down: each depends on the one before by
    /// `memory`. Most have little, some have a lot.
    fn run(level: f64, memory: f64, random: &mut Rng) -> Vec<f64> {
        let mut load = 0.0;
        let slice = |_| {
            let news = -(1.0 - random.f64()).ln() - 1.0;
            load = memory * load + (1.0 - memory * memory).sqrt() * news;
            level * (1.0 + 0.5 * load).max(0.0)
        };
        (0..SLICES).map(slice).collect()
    }

    /// Returns the change between two runs.
    fn change(before: Vec<f64>, after: Vec<f64>, rates: usize) -> Change {
        let work = vec![1.0; SLICES];
        let ratio = |numerators| Ratio {
            numerators,
            denominators: &work,
        };
        let sides = Sides {
            before: Resampling::new(&[SLICES], 0),
            after: Resampling::new(&[SLICES], 1),
        };
        sides.change(&ratio(before), &ratio(after), rates)
    }

    fn share_of(count: usize, is_so: impl FnMut(usize) -> bool) -> f64 {
        (0..count).map(is_so).filter(|&is_so| is_so).count() as f64 / count as f64
    }

    #[test]
    fn chance_is_seldom_called_a_change() {
        for memory in [0.0, 0.3, 0.6] {
            let mut random = Rng::with_seed(7);
            let alarms = share_of(200, |_| {
                let (before, after) =
                    (run(1e6, memory, &mut random), run(1e6, memory, &mut random));
                change(before, after, 1).verdict != Verdict::Unclear
            });
            // 5 percent if slices did not depend on each other; blocks make up for most of it.
            assert!(alarms <= 0.12, "{alarms} with a memory of {memory}");
        }
    }

    #[test]
    fn of_many_rows_seldom_one_is_called_a_change() {
        let mut random = Rng::with_seed(8);
        let alarms = share_of(40, |_| {
            (0..21).any(|_| {
                let (before, after) = (run(1e6, 0.3, &mut random), run(1e6, 0.3, &mut random));
                change(before, after, 21).verdict != Verdict::Unclear
            })
        });
        assert!(alarms <= 0.2, "{alarms}");
    }

    #[test]
    fn a_change_is_found_and_lies_in_its_interval() {
        let mut random = Rng::with_seed(9);
        let (mut found, mut inside) = (0, 0);
        const RUNS: usize = 100;
        for _ in 0..RUNS {
            let change = change(run(1e6, 0.3, &mut random), run(1.6e6, 0.3, &mut random), 21);
            // Both lose the same share below zero.
            let truth = 0.6 * mean_level(&mut Rng::with_seed(10)) * 1e6;
            let [low_ns, high_ns] = change.interval_ns.expect("enough slices");
            inside += usize::from((low_ns..=high_ns).contains(&truth));
            found += usize::from(change.verdict == Verdict::More);
        }
        assert!(found >= RUNS * 9 / 10, "{found}");
        assert!(inside >= RUNS * 88 / 100, "{inside}");
    }

    /// Returns the average level of [`run`].
    fn mean_level(random: &mut Rng) -> f64 {
        let all: Vec<f64> = (0..2_000).flat_map(|_| run(1.0, 0.3, random)).collect();
        all.iter().sum::<f64>() / all.len() as f64
    }

    #[test]
    fn what_runs_differ_by_counts() {
        // Within a run nothing varies at all, but from run to run everything does.
        let work = vec![1.0; 3 * SLICES];
        let runs = |levels: [f64; 3]| Ratio {
            numerators: levels
                .iter()
                .flat_map(|&level| vec![level; SLICES])
                .collect(),
            denominators: &work,
        };
        let sides = Sides {
            before: Resampling::new(&[SLICES; 3], 0),
            after: Resampling::new(&[SLICES; 3], 1),
        };
        let same = sides.change(&runs([1.0, 2.0, 3.0]), &runs([1.5, 2.5, 3.2]), 1);
        assert_eq!(same.verdict, Verdict::Unclear);
        let other = sides.change(&runs([1.0, 1.1, 0.9]), &runs([2.0, 2.2, 2.1]), 1);
        assert_eq!(other.verdict, Verdict::More);
    }

    #[test]
    fn short_runs_tell_nothing_of_chance() {
        let work = vec![1.0; 3];
        let ratio = Ratio {
            numerators: vec![1.0, 2.0, 3.0],
            denominators: &work,
        };
        let sides = Sides {
            before: Resampling::new(&[3], 0),
            after: Resampling::new(&[3], 1),
        };
        let change = sides.change(&ratio, &ratio, 1);
        assert_eq!(change.verdict, Verdict::TooShort);
        assert!(change.interval_ns.is_none());
    }
}
