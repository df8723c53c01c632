//! How far off a replay may be: by its own error, which shows without the change, and by chance.

use crate::what_if::busy::{Busy, PARTS};
use crate::what_if::prediction::{Assumptions, Replay};
use crate::what_if::program::Slice;
use crate::what_if::replay::Replayed;

/// Standard errors on each side of a replay: chance exceeds them once in twenty times.
pub(super) const STANDARD_ERRORS: f64 = 2.0;

/// How much a factor differs at least if it is measured: each of the two runs that it compares takes as long as others of
/// the same program give or take 5 %.
const BETWEEN_RUNS: f64 = 0.05 * std::f64::consts::SQRT_2;

/// A replay counts if without the change threads wait as long as in the trace, give or take this share and
/// chance; or if what is missing is this share of the time in which they are busy.
const WAITING_TOLERANCE: f64 = 0.25;
const SMALL_SHARE: f64 = 0.03;

/// And if they are busy as long, give or take this share.
const DURATION_TOLERANCE: f64 = 0.125;

/// And if at most this share of the waits is in a cycle of threads that wait for each other: in truth none is.
const MOST_IN_CYCLES: f64 = 0.02;

/// The same share of the time that they are busy, if threads get monitors in the less likely order.
const ORDER_TOLERANCE: f64 = 0.05;

/// What the trace says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Truth {
    pub(super) busy: Busy,
    pub(super) waited_ns: u64,
    /// The standard error of the waiting, as a share of it.
    pub(super) waiting_error: f64,
    /// How far off factors may be since the trace shows only a part of who had locks in other locks, or read
    /// together with others, as a share of them.
    pub(super) unseen_order: f64,
}

/// How long threads are busy in the trace.
pub(super) fn busy_in_trace(slices: &[Slice]) -> Busy {
    let mut busy = Busy::default();
    for program in slices.iter().flatten() {
        busy.add(program.weight(), program.busy_ns(), program.waited_ns);
    }
    busy
}

fn share(part: f64, all: f64) -> f64 {
    if all > 0.0 { part / all } else { 0.0 }
}

impl Truth {
    /// Compares a replay with the change to one of the trace as it is. Where a change only lets threads go on
    /// earlier, none is done later: replays in which it is for want of luck (Graham's anomalies) are left out.
    pub(super) fn compare(
        &self,
        assumptions: Assumptions,
        lets_go_on_earlier: bool,
        unchanged: &Replayed,
        changed: &Replayed,
    ) -> Replay {
        let (unchanged_ns, changed_ns) = (unchanged.total_ns(), changed.total_ns());
        let changed_error = waiting_error(changed.slices.iter().map(|it| it.waits.as_slice()));
        let (of_unchanged, of_changed) = (unchanged.parts(), changed.parts());
        let (before, after) = (Busy::sum(&of_unchanged), Busy::sum(&of_changed));
        let least = if lets_go_on_earlier { 1.0 } else { 0.0 };
        let speedup = factor(before.all_ns, after.all_ns).max(least);
        let from_truth = factor(self.busy.all_ns, after.all_ns).max(least);
        let by_chance = STANDARD_ERRORS * self.error_of_factor(&of_unchanged, &of_changed);
        let by_chance = by_chance.hypot(BETWEEN_RUNS).hypot(self.unseen_order);
        let unchanged_duration = match self.busy.all_ns > 0.0 {
            true => before.all_ns / self.busy.all_ns,
            false => 1.0,
        };
        Replay {
            assumptions,
            unchanged_ns,
            changed_ns,
            range_ns: self.range_ns(unchanged_ns, changed_ns, changed_error),
            unchanged_duration,
            speedup,
            speedup_range: (
                speedup.min(from_truth) / (1.0 + by_chance),
                speedup.max(from_truth) * (1.0 + by_chance),
            ),
            is_reliable: self.has_waiting(unchanged_ns)
                && has_duration(unchanged_duration)
                && !has_cycles(unchanged),
            forced: changed.forced,
        }
    }

    /// How long threads wait according to a replay. Of the trace as it is, it may have found too much or too
    /// little: then it does so of the changed one at most in the same proportion. And another run would
    /// not be the same.
    fn range_ns(&self, unchanged_ns: u64, changed_ns: u64, changed_error: f64) -> (u64, u64) {
        let found_ns = changed_ns as f64;
        let corrected_ns = self.in_proportion(unchanged_ns, changed_ns);
        let by_chance = STANDARD_ERRORS * self.waiting_error.hypot(changed_error);
        let least_ns = found_ns.min(corrected_ns) * (1.0 - by_chance).max(0.0);
        let most_ns = found_ns.max(corrected_ns) * (1.0 + by_chance);
        (least_ns as u64, most_ns as u64)
    }

    /// What a replay finds, in proportion to what it should have found without a change.
    pub(super) fn in_proportion(&self, unchanged_ns: u64, changed_ns: u64) -> f64 {
        match unchanged_ns {
            0 => changed_ns as f64,
            unchanged_ns => changed_ns as f64 * (self.waited_ns as f64 / unchanged_ns as f64),
        }
    }

    /// The standard error of the factor, as a share of it: judging by how it differs between the parts of the
    /// time, or between slices of it.
    fn error_of_factor(&self, unchanged: &[Busy], changed: &[Busy]) -> f64 {
        let count = unchanged.len().max(changed.len());
        let (before, after) = (Busy::sum(unchanged).all_ns, Busy::sum(changed).all_ns);
        let factor = share(before, after);
        let part = |parts: &[Busy], at: usize| parts.get(at).map_or(0.0, |part| part.all_ns);
        let off = |at| part(unchanged, at) - factor * part(changed, at);
        let squares: f64 = (0..count).map(|at| f64::powi(off(at), 2)).sum();
        let count = f64::max(count as f64, 2.0);
        share((squares * count / (count - 1.0)).sqrt(), before)
    }

    /// Whether threads wait nearly as long as in the trace.
    fn has_waiting(&self, unchanged_ns: u64) -> bool {
        let off_ns = unchanged_ns.abs_diff(self.waited_ns) as f64;
        let tolerance = WAITING_TOLERANCE + STANDARD_ERRORS * self.waiting_error;
        let relative_off = share(off_ns, (unchanged_ns.max(self.waited_ns)) as f64);
        let of_busy = share(off_ns, self.waited_ns as f64) * self.busy.waiting_share();
        relative_off <= tolerance.min(0.5) || of_busy <= SMALL_SHARE
    }
}

/// Whether threads often wait for each other in a cycle, as they did not in the trace.
fn has_cycles(unchanged: &Replayed) -> bool {
    let waits: usize = unchanged.slices.iter().map(|it| it.waits.len()).sum();
    unchanged.forced as f64 > MOST_IN_CYCLES * waits as f64
}

/// Whether threads are busy nearly as long as in the trace.
pub(super) fn has_duration(times_as_long: f64) -> bool {
    (times_as_long - 1.0).abs() <= DURATION_TOLERANCE
}

/// Whether the order in which threads get monitors fits.
pub(super) fn is_exact(times_as_long: f64) -> bool {
    (times_as_long - 1.0).abs() <= ORDER_TOLERANCE
}

/// How many times as fast. Who has nothing to do before and after is as fast as before.
fn factor(before_ns: f64, after_ns: f64) -> f64 {
    before_ns.max(1.0) / after_ns.max(1.0)
}

/// The standard error of the sum of waits, of which the begin and the duration are given, by slice, in
/// proportion to the sum: judging by how the slices vary, or the parts of the time if there is but one.
pub(super) fn waiting_error<'w>(slices: impl ExactSizeIterator<Item = &'w [(u64, u64)]>) -> f64 {
    let count = slices.len();
    let mut sums = Vec::with_capacity(count.max(PARTS));
    for waits in slices {
        match count {
            1 => sums.extend(parts(waits)),
            _ => sums.push(
                waits
                    .iter()
                    .map(|&(_, duration_ns)| duration_ns as f64)
                    .sum(),
            ),
        }
    }
    let (count, sum) = (sums.len() as f64, sums.iter().sum::<f64>());
    if sum == 0.0 {
        return 0.0;
    }
    let squares: f64 = sums.iter().map(|ns| (ns - sum / count).powi(2)).sum();
    (squares / (count - 1.0) * count).sqrt() / sum
}

/// How long the waits were that began in each part of the time.
fn parts(waits: &[(u64, u64)]) -> [f64; PARTS] {
    let mut parts = [0.0; PARTS];
    let starts = || waits.iter().map(|&(start_ns, _)| start_ns);
    let (Some(from_ns), Some(until_ns)) = (starts().min(), starts().max()) else {
        return parts;
    };
    for &(start_ns, duration_ns) in waits {
        let share = (start_ns - from_ns) as f64 / (until_ns - from_ns + 1) as f64;
        parts[(share * PARTS as f64) as usize] += duration_ns as f64;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::what_if::replay::ReplayedSlice;

    /// A replay in which threads wait this long of a time of 100.
    fn replayed(waiting_ns: u64, all_ns: f64) -> Replayed {
        let busy = Busy {
            all_ns,
            waiting_ns: waiting_ns as f64,
        };
        Replayed {
            waiting_ns: vec![waiting_ns],
            slices: vec![ReplayedSlice {
                parts: vec![busy],
                waits: vec![(0, waiting_ns)],
            }],
            forced: 0,
            had_choice: false,
            most_working: 1,
        }
    }

    /// Threads are busy for 1,000 ns, of which they wait for 400.
    const TRUTH: Truth = Truth {
        busy: Busy {
            all_ns: 1_000.0,
            waiting_ns: 400.0,
        },
        waited_ns: 400,
        waiting_error: 0.0,
        unseen_order: 0.0,
    };

    #[test]
    fn a_replay_that_misses_the_trace_does_not_count() {
        for (waiting_ns, all_ns, is_reliable) in [
            (400, 1_000.0, true),
            (320, 920.0, true),
            (290, 950.0, false),
            (540, 1_000.0, false),
            (400, 1_130.0, false),
        ] {
            let unchanged = replayed(waiting_ns, all_ns);
            let changed = replayed(waiting_ns / 2, all_ns - 100.0);
            let replay = TRUTH.compare(Assumptions::default(), true, &unchanged, &changed);
            assert_eq!(replay.is_reliable, is_reliable, "{replay:?}");
            assert!(replay.speedup_range.0 <= replay.speedup);
            assert!(replay.speedup_range.1 >= replay.speedup);
        }
    }

    #[test]
    fn a_replay_in_which_threads_wait_in_cycles_does_not_count() {
        let compare = |unchanged: &Replayed| {
            TRUTH.compare(
                Assumptions::default(),
                true,
                unchanged,
                &replayed(400, 1_000.0),
            )
        };
        let mut unchanged = replayed(400, 1_000.0);
        assert!(compare(&unchanged).is_reliable);
        unchanged.forced = 1;
        assert!(!compare(&unchanged).is_reliable);
    }
}
