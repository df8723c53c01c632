//! What a remedy was to bring, and what it brought.

use serde::Deserialize;

use super::Pair;

/// A pair, the prediction from a trace of its program, and the times of both.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The pair.
    pub pair: &'static Pair,
    /// What its remedy was to bring.
    pub predicted: Predicted,
    /// What it brought.
    pub measured: Measured,
}

impl Outcome {
    /// The measured speed-up lies within the predicted bounds.
    pub fn is_inside(&self) -> bool {
        let bounds = self.predicted.bounds();
        bounds.is_some_and(|it| (it.least..=it.most).contains(&self.measured.speedup()))
    }
}

/// What `locktrace what-if --format json` says of the speed-up: how many times as fast the threads are with
/// the same work.
#[derive(Clone, Debug, Deserialize)]
pub struct Predicted {
    speedup: Option<f64>,
    speedup_least: Option<f64>,
    speedup_most: Option<f64>,
    /// Why there is no prediction.
    pub unreliable: Option<String>,
}

/// A prediction.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The estimate.
    pub estimate: f64,
    /// The least that is possible.
    pub least: f64,
    /// The most that is possible.
    pub most: f64,
}

impl Predicted {
    /// The prediction, unless it is not reliable.
    pub fn bounds(&self) -> Option<Bounds> {
        if self.unreliable.is_some() {
            return None;
        }
        Some(Bounds {
            estimate: self.speedup?,
            least: self.speedup_least?,
            most: self.speedup_most?,
        })
    }
}

impl Bounds {
    /// Half of the distance between the least and the most, as a part of the estimate.
    pub fn half_width(&self) -> f64 {
        (self.most - self.least) / 2.0 / self.estimate
    }
}

/// How long a program took without tracing, as it is and with its remedy: in seconds, a run of each in turns.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// As it is.
    pub before_s: Vec<f64>,
    /// With its remedy.
    pub after_s: Vec<f64>,
}

impl Measured {
    /// The quotient of the medians.
    pub fn speedup(&self) -> f64 {
        median(&self.before_s) / median(&self.after_s)
    }

    /// The least and the most quotient of two runs in a row.
    pub fn speedup_range(&self) -> (f64, f64) {
        let pairs = self.before_s.iter().zip(&self.after_s);
        let quotients = pairs.map(|(before, after)| before / after);
        quotients.fold((f64::INFINITY, 0.0), |(least, most), it| {
            (least.min(it), most.max(it))
        })
    }
}

/// Returns the value in the middle, or between both if there are two of them; of none, it is not a number.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(upper), Some(lower)) = (
        sorted.get(sorted.len() / 2),
        sorted.get(sorted.len().saturating_sub(1) / 2),
    ) else {
        return f64::NAN;
    };
    f64::midpoint(*lower, *upper)
}
