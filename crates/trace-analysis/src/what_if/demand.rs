//! Whether threads need a processor for what they do by themselves, or wait for something that is not in the trace.
//!
//! Who computes takes longer while more threads work than there are processors; who sleeps, or waits for a disk or for
//! another service, does not. So works of one kind are compared with how many threads worked meanwhile.

use std::collections::BTreeMap;

use crate::what_if::hold_code::HoldCodeIndex;
use crate::what_if::program::{Slice, Step};

/// Shorter works say more of what the scheduler does.
const MIN_WORK_NS: u64 = 20_000;

/// The fewest works of one kind that are compared.
const MIN_OF_KIND: usize = 8;

/// How many standard errors the slope is away from one half, at least.
const STANDARD_ERRORS: f64 = 3.0;

/// No error is smaller, as a share: what works of one kind have in common is not all that matters.
const LEAST_ERROR: f64 = 0.02;

/// The largest error of works of one kind, as a share: where they differ more, they are of several kinds, some of which
/// meet more threads than others.
const MOST_ERROR: f64 = 0.3;

/// Which share of the time has to be known to need no processor, and which may be known to need one.
const ENOUGH: f64 = 0.25;
const HARDLY_ANY: f64 = 0.1;

/// What comes before some work and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Limit {
    Edge,
    Pauses,
    Acquires(HoldCodeIndex),
    Releases(usize),
}

impl Limit {
    fn of(step: Option<&Step>) -> Self {
        match step {
            Some(Step::Acquire(acquisition)) => Self::Acquires(acquisition.code),
            Some(Step::Release(lock)) => Self::Releases(*lock),
            Some(Step::Pause(_) | Step::GiveUp(..)) => Self::Pauses,
            Some(Step::Work { .. }) | None => Self::Edge,
        }
    }
}

/// How long works of one kind took, and how many times as long as on a processor of their own if they need one.
#[derive(Clone, Debug, Default)]
struct Works(Vec<(f64, f64)>);

impl Works {
    fn sums(&self) -> (f64, f64) {
        let sum = |sums: (f64, f64), it: &(f64, f64)| (sums.0 + it.0, sums.1 + it.1);
        self.0.iter().fold((0.0, 0.0), sum)
    }

    /// How much longer they take while more threads work, and the standard error of that: 1 if in proportion to the
    /// number of threads for each processor, 0 if no longer. `None` if there is nothing to compare.
    fn slope(&self) -> Option<(f64, f64)> {
        let count = self.0.len() as f64;
        let (took, slower) = self.sums();
        let relative = || {
            let works = self.0.iter();
            works.map(move |it| (it.0 * count / took - 1.0, it.1 * count / slower - 1.0))
        };
        let xx: f64 = relative().map(|(_, x)| x * x).sum();
        if self.0.len() < MIN_OF_KIND || xx <= 0.0 {
            return None;
        }
        let slope = relative().map(|(y, x)| x * y).sum::<f64>() / xx;
        let squares: f64 = relative().map(|(y, x)| (y - slope * x).powi(2)).sum();
        let error = (squares / (count - 2.0)).sqrt().max(LEAST_ERROR);
        (error <= MOST_ERROR).then(|| (slope, error / xx.sqrt()))
    }
}

/// Whether it is certain of enough of what threads do by themselves that it takes as long with however many threads that
/// work, and so needs no processor, and of hardly anything that it does not.
pub(super) fn needs_no_processor(slices: &[Slice]) -> bool {
    let mut kinds = BTreeMap::<(Limit, Limit), Works>::new();
    for program in slices.iter().flatten() {
        let steps = &program.steps;
        for (at, step) in steps.iter().enumerate() {
            if let Step::Work { wall_ns, cpu_ns } = *step
                && wall_ns >= MIN_WORK_NS
            {
                let before = at.checked_sub(1).and_then(|before| steps.get(before));
                let kind = (Limit::of(before), Limit::of(steps.get(at + 1)));
                let slower = wall_ns as f64 / cpu_ns.max(1) as f64;
                let works = kinds.entry(kind).or_default();
                works.0.push((wall_ns as f64, slower));
            }
        }
    }
    let (mut all, mut needs_none, mut needs_one) = (0.0, 0.0, 0.0);
    for works in kinds.values() {
        let took = works.sums().0;
        all += took;
        match works.slope() {
            Some((slope, error)) if slope + STANDARD_ERRORS * error < 0.5 => needs_none += took,
            Some((slope, error)) if slope - STANDARD_ERRORS * error > 0.5 => needs_one += took,
            _ => {}
        }
    }
    needs_none > ENOUGH * all && needs_one <= HARDLY_ANY * all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::what_if::program::Program;

    /// A thread that works once for each load: how many threads work for each processor meanwhile.
    fn works(loads: &[u64], wall_ns: impl Fn(u64) -> u64) -> Vec<Slice> {
        let steps = loads.iter().enumerate().flat_map(|(turn, &load)| {
            let wall_ns = wall_ns(load) + turn as u64 % 3 * 1_000;
            let cpu_ns = wall_ns / load;
            [Step::Work { wall_ns, cpu_ns }, Step::Pause(1)]
        });
        vec![vec![Program {
            steps: steps.collect(),
            ..Program::default()
        }]]
    }

    #[test]
    fn who_computes_takes_longer_while_others_work() {
        let loads: Vec<u64> = (0..40).map(|turn| 1 + turn % 4).collect();
        assert!(needs_no_processor(&works(&loads, |_| 100_000)));
        assert!(!needs_no_processor(&works(&loads, |load| 100_000 * load)));
        // Nothing to compare.
        assert!(!needs_no_processor(&works(&loads[..3], |_| 100_000)));
        assert!(!needs_no_processor(&works(&[2; 40], |_| 100_000)));
    }
}
