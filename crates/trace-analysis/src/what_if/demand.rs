//! Whether threads need a processor for what they do by themselves, or wait for something that is not in the trace.
//!
//! Who computes takes longer while more threads work than there are processors; who sleeps, or waits for a disk or for
//! another service, does not. So works of one kind are compared with how many threads worked meanwhile.

use crate::collections::hash::SeededMap;
use crate::what_if::program::{Slice, Step};

/// Shorter works say more of what the scheduler does.
const MIN_WORK_NS: u64 = 20_000;

/// The fewest works of one kind that are compared.
const MIN_OF_KIND: f64 = 4.0;

/// How many standard errors the share is away from one half, at least.
const STANDARD_ERRORS: f64 = 3.0;

/// What comes before some work and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Limit {
    Begins,
    Pauses,
    Acquires(usize),
    Releases(usize),
}

impl Limit {
    fn of(step: Option<&Step>) -> Self {
        match step {
            Some(Step::Acquire(acquisition)) => Self::Acquires(acquisition.lock),
            Some(Step::Release(lock)) => Self::Releases(*lock),
            Some(Step::Pause(_) | Step::GiveUp(..)) => Self::Pauses,
            Some(Step::Work { .. }) | None => Self::Begins,
        }
    }
}

/// How long works took, and how many times as long they would have taken as on a processor of their own.
#[derive(Clone, Debug, Default)]
struct Works(Vec<(f64, f64)>);

impl Works {
    /// Both in proportion to their means, and less one.
    fn relative(&self) -> impl Iterator<Item = (f64, f64)> {
        let count = self.0.len() as f64;
        let sums = self
            .0
            .iter()
            .fold((0.0, 0.0), |sums, it| (sums.0 + it.0, sums.1 + it.1));
        let means = (sums.0 / count, sums.1 / count);
        self.0
            .iter()
            .map(move |it| (it.0 / means.0 - 1.0, it.1 / means.1 - 1.0))
    }
}

/// Whether it is certain that most of what threads do by themselves takes as long with however many threads that work:
/// it needs no processor.
pub(super) fn needs_no_processor(slices: &[Slice]) -> bool {
    let mut kinds = SeededMap::<(Limit, Limit), Works>::default();
    for program in slices.iter().flatten() {
        let steps = &program.steps;
        for (at, step) in steps.iter().enumerate() {
            if let Step::Work { wall_ns, cpu_ns } = *step
                && wall_ns >= MIN_WORK_NS
            {
                let before = at.checked_sub(1).and_then(|before| steps.get(before));
                let kind = (Limit::of(before), Limit::of(steps.get(at + 1)));
                let slower = wall_ns as f64 / cpu_ns.max(1) as f64;
                kinds
                    .entry(kind)
                    .or_default()
                    .0
                    .push((wall_ns as f64, slower));
            }
        }
    }
    kinds.retain(|_, works| works.0.len() as f64 >= MIN_OF_KIND);
    // The slope is 1 if works take longer in proportion, and 0 if they do not.
    let (mut xx, mut xy, mut count) = (0.0, 0.0, 0.0);
    for (took, slower) in kinds.values().flat_map(Works::relative) {
        xx += slower * slower;
        xy += slower * took;
        count += 1.0;
    }
    if xx <= 0.0 {
        return false;
    }
    let slope = xy / xx;
    let off = kinds.values().flat_map(Works::relative);
    let squares: f64 = off
        .map(|(took, slower)| (took - slope * slower).powi(2))
        .sum();
    let free = f64::max(count - kinds.len() as f64 - 1.0, 1.0);
    let error = (squares / free / xx).sqrt();
    slope + STANDARD_ERRORS * error < 0.5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::what_if::program::Program;

    /// A thread that works as often as there are loads, so many times as long as it takes alone, by each.
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
