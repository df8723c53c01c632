//! The settings of the JVM that scenarios run with.

use crate::compile_mode::CompileMode;

/// The garbage collectors.
pub const COLLECTORS: [&str; 4] = [
    "-XX:+UseSerialGC",
    "-XX:+UseParallelGC",
    "-XX:+UseConcMarkSweepGC",
    "-XX:+UseG1GC",
];

/// The ways of locking an object that nobody else wants.
const LOCKINGS: [&[&str]; 2] = [
    &["-XX:-UseBiasedLocking"],
    // Biased from the start, not from the fifth second on.
    &["-XX:+UseBiasedLocking", "-XX:BiasedLockingStartupDelay=0"],
];

/// One way to execute, to collect garbage, and to lock.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The compilers that run.
    pub mode: CompileMode,
    /// The flag that chooses the garbage collector.
    pub collector: &'static str,
    locking: &'static [&'static str],
}

impl Setting {
    /// The JVM flags that choose the setting.
    pub fn flags(&self) -> Vec<&'static str> {
        [self.mode.flags(), &[self.collector], self.locking].concat()
    }

    /// The settings for a scenario: every compile mode once, each with another
    /// collector and way of locking, all collectors among them. Which ones go
    /// together depends on the scenario's name, so that all pairs occur over
    /// many scenarios. With `LOCKTRACE_NIGHTLY` set these are all settings.
    pub fn rotated(scenario: &str) -> Vec<Setting> {
        if is_nightly() {
            return Self::all();
        }
        let first: usize = scenario.bytes().map(usize::from).sum();
        CompileMode::ALL
            .into_iter()
            .enumerate()
            .map(|(step, mode)| Self::of(mode, first + step))
            .collect()
    }

    /// Every combination.
    pub fn all() -> Vec<Setting> {
        let variants = COLLECTORS.len() * LOCKINGS.len();
        CompileMode::ALL
            .into_iter()
            .flat_map(|mode| (0..variants).map(move |variant| Self::of(mode, variant)))
            .collect()
    }

    /// The `turn`th combination of a way to execute and a way of locking, with a garbage collector.
    pub fn with_collector(collector: &'static str, turn: usize) -> Setting {
        Setting {
            mode: CompileMode::ALL[turn % CompileMode::ALL.len()],
            collector,
            locking: LOCKINGS[turn % LOCKINGS.len()],
        }
    }

    /// Counts through the collectors; the way of locking changes with each step,
    /// and once more after a round, for the other half of the combinations.
    fn of(mode: CompileMode, variant: usize) -> Setting {
        let (collector, round) = (variant % COLLECTORS.len(), variant / COLLECTORS.len());
        Setting {
            mode,
            collector: COLLECTORS[collector],
            locking: LOCKINGS[(collector + round) % LOCKINGS.len()],
        }
    }
}

/// Somebody asked for the long tests, by `LOCKTRACE_NIGHTLY=1`.
pub fn is_nightly() -> bool {
    is_set("LOCKTRACE_NIGHTLY")
}

pub(crate) fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value != "0")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn all_settings_differ() {
        let flags: BTreeSet<_> = Setting::all().iter().map(Setting::flags).collect();
        assert_eq!(flags.len(), 5 * 4 * 2);
    }

    #[test]
    fn any_five_steps_meet_all_collectors_and_lockings() {
        for first in 0..8 {
            let steps = (first..first + 5).map(|step| Setting::of(CompileMode::C1, step));
            let steps: Vec<_> = steps.collect();
            let collectors: BTreeSet<_> = steps.iter().map(|setting| setting.collector).collect();
            let lockings: BTreeSet<_> = steps.iter().map(|setting| setting.locking).collect();
            assert_eq!((collectors.len(), lockings.len()), (4, 2), "from {first}");
        }
    }
}
