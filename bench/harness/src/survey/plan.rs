//! The time that each part of a survey gets.

use std::fmt;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;

/// A part of a survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// What tracing costs applications
    Overhead,
    /// Owners of locks, compared with the programs' own clocks
    Holds,
    /// Programs that are hard on return barriers, with each collector
    Stress,
    /// Cycles in the hooks
    Hooks,
    /// The speed of reports
    Analysis,
    /// The agent in a JDK without patches
    Agent,
}

impl Part {
    /// The name on the command line.
    fn name(self) -> &'static str {
        match self {
            Self::Overhead => "overhead",
            Self::Holds => "holds",
            Self::Stress => "stress",
            Self::Hooks => "hooks",
            Self::Analysis => "analysis",
            Self::Agent => "agent",
        }
    }

    /// Its share of the time, relative to those of the other parts.
    fn weight(self) -> u32 {
        match self {
            Self::Overhead => 50,
            Self::Holds => 16,
            Self::Stress => 8,
            Self::Hooks => 6,
            Self::Analysis => 6,
            Self::Agent => 14,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Returns the share of the first one of some parts in the time that is left for all of them.
pub(crate) fn share(left: Duration, parts: &[Part]) -> Duration {
    let Some(first) = parts.first() else {
        return Duration::ZERO;
    };
    let weights: u32 = parts.iter().map(|part| part.weight()).sum();
    left * first.weight() / weights
}

/// The time of a part, which does one step after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    end: Instant,
    all: Duration,
    longest_step: Duration,
}

impl Budget {
    /// From now on.
    pub(crate) fn of(all: Duration) -> Self {
        Self {
            end: Instant::now() + all,
            all,
            longest_step: Duration::ZERO,
        }
    }

    /// All of it.
    pub(crate) fn all(&self) -> Duration {
        self.all
    }

    /// The rest of it.
    pub(crate) fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Returns whether a step would end in time that takes as long as the longest one before.
    pub(crate) fn has_time(&self) -> bool {
        let left = self.left();
        !left.is_zero() && self.longest_step <= left
    }

    /// Does a step, and says how long it took.
    pub(crate) fn step<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = work();
        let took = begin.elapsed();
        self.longest_step = self.longest_step.max(took);
        eprintln!("{name}: {:.1} s", took.as_secs_f64());
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn the_parts_share_the_time_by_weight() {
        let mut parts = Part::value_variants();
        let mut left = 100 * MINUTE;
        let mut shares = Vec::new();
        while let [_, rest @ ..] = parts {
            let share = share(left, parts);
            shares.push(share.as_secs().div_ceil(60));
            left -= share;
            parts = rest;
        }
        assert_eq!(shares, [50, 16, 8, 6, 6, 14]);
        assert_eq!(left, Duration::ZERO);
    }

    #[test]
    fn time_that_a_part_leaves_goes_to_the_others() {
        let parts = [Part::Holds, Part::Stress];
        assert_eq!(share(30 * MINUTE, &parts), 20 * MINUTE);
        assert_eq!(share(20 * MINUTE, &parts[1..]), 20 * MINUTE);
        assert_eq!(share(MINUTE, &[]), Duration::ZERO);
    }

    #[test]
    fn there_is_time_for_steps_as_long_as_the_longest_before() {
        const STEP: Duration = Duration::from_millis(30);
        let mut budget = Budget::of(MINUTE);
        budget.step("a step", || std::thread::sleep(STEP));
        assert!(budget.has_time());
        let mut budget = Budget::of(STEP);
        assert!(budget.has_time());
        budget.step("a step that takes all of it", || std::thread::sleep(STEP));
        assert!(!budget.has_time());
        assert_eq!(budget.left(), Duration::ZERO);
    }
}
