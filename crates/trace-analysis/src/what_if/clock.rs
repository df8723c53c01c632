//! How long work would have taken if nobody had had to wait for a processor.

use crate::what_if::known_thread::Known;

/// The progress of work on a limited number of processors: if more threads work, all of them are
/// slower.
#[derive(Debug, Default)]
pub(super) struct Clock {
    processors: Option<u64>,
    /// Points in time, how much each thread could work until then, and how many work from then on.
    times: Vec<(u64, u64, u64)>,
}

impl Clock {
    pub(super) fn new<'k>(
        threads: impl Iterator<Item = &'k Known>,
        processors: Option<u64>,
    ) -> Self {
        let mut changes: Vec<(u64, i64)> = Vec::new();
        for known in threads {
            if let Some((start_ns, end_ns)) = known.range() {
                changes.extend([(start_ns, 1), (end_ns, -1)]);
            }
            for &(start_ns, end_ns, _) in &known.blocks {
                changes.extend([(start_ns, -1), (end_ns, 1)]);
            }
        }
        changes.sort_unstable();
        let mut clock = Self {
            processors,
            times: Vec::new(),
        };
        let mut working = 0_i64;
        for (at_ns, change) in changes {
            let work_ns = clock.until(at_ns);
            working += change;
            let working = u64::try_from(working).unwrap_or(0);
            match clock.times.last_mut() {
                Some(last) if last.0 == at_ns => last.2 = working,
                _ => clock.times.push((at_ns, work_ns, working)),
            }
        }
        clock
    }

    /// How long the work takes that a thread did between two points in time.
    pub(super) fn work_ns(&self, from_ns: u64, until_ns: u64) -> u64 {
        self.until(until_ns).saturating_sub(self.until(from_ns))
    }

    /// How much a thread could work until then that never waited for anything but processors.
    fn until(&self, time_ns: u64) -> u64 {
        let at = self.times.partition_point(|&(at_ns, ..)| at_ns <= time_ns);
        let Some(&(at_ns, work_ns, working)) = at.checked_sub(1).and_then(|at| self.times.get(at))
        else {
            return time_ns;
        };
        let passed_ns = time_ns - at_ns;
        work_ns
            + match self.processors {
                Some(processors) if working > processors => {
                    let product = u128::from(passed_ns) * u128::from(processors);
                    u64::try_from(product / u128::from(working)).unwrap_or(u64::MAX)
                }
                _ => passed_ns,
            }
    }
}
