//! The oracle of holds: who had a lock while others waited, compared with the programs' own clocks.

use std::collections::BTreeMap;
use std::time::Duration;

use jvm_tests::{CompileMode, HeldLock, HoldRun, Holds, ReturnBarriers};
use serde::Serialize;

use crate::survey::Setup;
use crate::survey::plan::Budget;
use crate::survey::section::Section;

/// A run's time before and after the program: the JVM's start, and the comparison.
const AROUND: Duration = Duration::from_millis(1_500);

/// Settings of each lock.
const SETTINGS: usize = 12;

/// A run compared with its program.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Compared {
    /// The range of holds.
    pub(crate) holds: &'static str,
    pub(crate) lock: &'static str,
    pub(crate) threads: usize,
    pub(crate) hogs: usize,
    pub(crate) duration_ms: u64,
    pub(crate) waits: usize,
    /// The part of the program's holds that the trace misses.
    pub(crate) missed: f64,
    /// The part of the trace's blame that is wrong.
    pub(crate) wrong: f64,
    /// Differences that are not tolerated.
    pub(crate) faults: Vec<String>,
}

/// Compares all ranges of holds, with N and 4N threads, without and with hogs; for monitors and `ReentrantLock`s
/// first.
pub(crate) fn run(setup: &Setup, mut budget: Budget) -> Section<Vec<Compared>> {
    let runs = runs(setup.threads() as usize);
    let duration_ms = duration_ms(budget.all(), 2 * SETTINGS);
    let mut section = Section::<Vec<Compared>>::new();
    let mut left_out = BTreeMap::<_, Vec<_>>::new();
    for run in runs {
        if !budget.has_time() {
            let setting = format!(
                "{}, {} threads, {} hogs",
                run.holds.name, run.threads, run.hogs
            );
            left_out.entry(run.lock).or_default().push(setting);
            continue;
        }
        let run = HoldRun { duration_ms, ..run };
        let (lock, holds) = (run.lock.name(), run.holds.name);
        let place = format!(
            "{lock}, {holds}, {} threads, {} hogs",
            run.threads, run.hogs
        );
        let compared = section.step(&mut budget, &place, || compare(&run));
        if let Some(compared) = compared {
            if !compared.faults.is_empty() {
                let faults = compared.faults.join("; ");
                section.failures.push(format!("{place}: {faults}"));
            }
            section.figures.push(compared);
        }
    }
    for (lock, settings) in left_out {
        let what = match settings.len() == SETTINGS {
            true => "all settings".to_owned(),
            false => settings.join("; "),
        };
        section.no_time_for(format!("{}, {what}", lock.name()));
    }
    section
}

/// All runs, the ones that matter most first.
fn runs(processors: usize) -> Vec<HoldRun> {
    let pairs = HeldLock::ALL.chunks(2);
    let mut runs = Vec::new();
    for locks in pairs {
        for threads in [processors, 4 * processors] {
            for hogs in [0, processors] {
                for holds in [&Holds::MICROSECONDS, &Holds::TENTHS, &Holds::MILLISECONDS] {
                    runs.extend(locks.iter().map(|&lock| HoldRun {
                        lock,
                        holds,
                        // A single one contends with nobody.
                        threads: threads.max(2),
                        hogs,
                        duration_ms: 0,
                    }));
                }
            }
        }
    }
    runs
}

/// The duration of a run, if this number is to end in time.
fn duration_ms(time: Duration, runs: usize) -> u64 {
    let each = (time / runs.max(1) as u32).saturating_sub(AROUND);
    (each.as_millis() as u64).clamp(800, 2_500)
}

fn compare(run: &HoldRun) -> Compared {
    let flags = CompileMode::Tiered.flags().iter();
    let compared = run.compare(&run.run(flags.chain(ReturnBarriers::On.flags())));
    Compared {
        holds: run.holds.name,
        lock: run.lock.name(),
        threads: run.threads,
        hogs: run.hogs,
        duration_ms: run.duration_ms,
        waits: compared.waits,
        missed: compared.overlay.missed(),
        wrong: compared.overlay.wrong(),
        faults: run.faults(&compared),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monitors_and_reentrant_locks_come_first() {
        let runs = runs(8);
        assert_eq!(runs.len(), HeldLock::ALL.len() * SETTINGS);
        let first = &runs[..24];
        let important = [HeldLock::Monitor, HeldLock::NonFair];
        assert!(first.iter().all(|run| important.contains(&run.lock)));
        let counts = runs.iter().map(|run| (run.threads, run.hogs));
        let counts: std::collections::BTreeSet<_> = counts.collect();
        assert_eq!(
            counts.into_iter().collect::<Vec<_>>(),
            [(8, 0), (8, 8), (32, 0), (32, 8)]
        );
    }

    #[test]
    fn runs_fit_into_the_time() {
        assert_eq!(duration_ms(Duration::from_secs(10), 24), 800);
        assert_eq!(duration_ms(Duration::from_secs(72), 24), 1_500);
        assert_eq!(duration_ms(Duration::from_secs(7_200), 24), 2_500);
    }
}
