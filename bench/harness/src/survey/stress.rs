//! Programs that are hard on return barriers, each of which the JVM compares with a walk of the whole stack, with each
//! collector. The programs check themselves, and each trace has to be complete.

use jvm_tests::{
    COLLECTORS, CompileMode, Jvm, ReturnBarriers, Setting, analyze, check_sound, run_with_barriers,
};
use serde::Serialize;
use trace_format::Counter;

use crate::survey::Setup;
use crate::survey::plan::Budget;
use crate::survey::section::Section;

/// Programs with one thread that meets another one on ever other stacks.
const STACKS: [&[&str]; 7] = [
    &["scenarios.CallPlans", "frames", "100", "1", "alone"],
    &["scenarios.CallPlans", "handles", "100", "1", "collected"],
    &["scenarios.Overflows", "2"],
    &["scenarios.Deoptimizations", "3"],
    &["scenarios.CallPlans", "frames", "50", "1", "deoptimized"],
    &["scenarios.Loops", "4"],
    &["scenarios.Stops", "20", "1"],
];

/// The runs with a collector.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Stressed {
    /// The flag that chooses it.
    pub(crate) collector: &'static str,
    pub(crate) runs: u32,
    pub(crate) failed: u32,
    pub(crate) events: u64,
    /// Frames that return barriers made it unnecessary to visit.
    pub(crate) frames_saved: u64,
}

/// Runs all programs in turns, first one with each collector, until the time is over.
pub(crate) fn run(setup: &Setup, mut budget: Budget) -> Section<Vec<Stressed>> {
    let mut section = Section::<Vec<Stressed>>::new();
    section.figures = COLLECTORS.map(Stressed::none).to_vec();
    for turn in 0.. {
        for (at, collector) in COLLECTORS.into_iter().enumerate() {
            if !budget.has_time() {
                note_what_never_ran(&mut section, turn);
                return section;
            }
            // Another program with each collector.
            let program = Program::of(turn + 2 * at, setup.threads());
            let setting = setting(collector, turn);
            let place = format!("{} with {collector}, {:?}", program.name(), setting.mode);
            let counted = section.step(&mut budget, &place, || program.run(setting));
            section.figures[at].add(counted);
        }
    }
    section
}

/// Compiling before the first call takes longer than all the rest.
fn setting(collector: &'static str, turn: usize) -> Setting {
    let setting = Setting::with_collector(collector, turn);
    match setting.mode {
        CompileMode::Eager => Setting::with_collector(collector, turn + 1),
        _ => setting,
    }
}

fn note_what_never_ran(section: &mut Section<Vec<Stressed>>, turns: usize) {
    let missing = (STACKS.len() + 1).saturating_sub(turns);
    if missing > 0 {
        section.no_time_for(format!(
            "{missing} of {} programs with each collector",
            STACKS.len() + 1
        ));
    }
}

/// A program to run.
enum Program {
    Stacks(&'static [&'static str]),
    /// As many threads as this block each other.
    Crowd(u32),
}

impl Program {
    fn of(turn: usize, processors: u32) -> Self {
        match STACKS.get(turn % (STACKS.len() + 1)) {
            Some(program) => Self::Stacks(program),
            None => Self::Crowd(4 * processors),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Stacks(program) => program.join(" "),
            Self::Crowd(threads) => format!("scenarios.LockHammer, {threads} threads"),
        }
    }

    /// Runs it; returns the number of events and of frames saved. Panics if anything is wrong.
    fn run(&self, setting: Setting) -> (u64, u64) {
        let summary = match self {
            Self::Stacks(program) => {
                run_with_barriers(program, &[], ReturnBarriers::Verified, setting).1
            }
            Self::Crowd(threads) => {
                let run =
                    Jvm::traced(&["scenarios.LockHammer", &threads.to_string(), "2", "20000"])
                        .flags(ReturnBarriers::Verified.flags())
                        .flags(setting.flags())
                        .run();
                let summary = analyze(&run.trace(), |_, _| {}).expect("a trace");
                check_sound(&summary);
                summary
            }
        };
        let value = |counter| summary.tracer_value(counter).unwrap_or(0);
        (value(Counter::Events), value(Counter::FramesSaved))
    }
}

impl Stressed {
    fn none(collector: &'static str) -> Self {
        Self {
            collector,
            runs: 0,
            failed: 0,
            events: 0,
            frames_saved: 0,
        }
    }

    fn add(&mut self, counted: Option<(u64, u64)>) {
        self.runs += 1;
        self.failed += u32::from(counted.is_none());
        let (events, frames_saved) = counted.unwrap_or_default();
        self.events += events;
        self.frames_saved += frames_saved;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn as_many_turns_as_programs_run_them_all() {
        let turns = 3..3 + STACKS.len() + 1;
        let names: BTreeSet<_> = turns.map(|turn| Program::of(turn, 8).name()).collect();
        assert_eq!(names.len(), STACKS.len() + 1);
        assert!(names.contains("scenarios.LockHammer, 32 threads"));
    }

    #[test]
    fn what_never_ran_is_said() {
        let mut section = Section::new();
        note_what_never_ran(&mut section, 8);
        assert!(section.not_run.is_empty());
        note_what_never_ran(&mut section, 3);
        assert_eq!(section.not_run.len(), 1);
    }
}
