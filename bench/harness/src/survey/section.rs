//! The results of a part.

use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

use serde::Serialize;

use crate::survey::plan::Budget;

/// What a part found.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Section<T> {
    /// The time that it took.
    pub(crate) took_s: f64,
    pub(crate) figures: T,
    /// What there was no time for, or no means.
    pub(crate) not_run: Vec<String>,
    /// What was wrong.
    pub(crate) failures: Vec<String>,
}

impl<T: Default> Section<T> {
    /// Nothing found yet.
    pub(crate) fn new() -> Self {
        Self {
            took_s: 0.0,
            figures: T::default(),
            not_run: Vec::new(),
            failures: Vec::new(),
        }
    }
}

impl<T> Section<T> {
    /// Notes that there was no time for something.
    pub(crate) fn no_time_for(&mut self, what: impl Into<String>) {
        self.not_run.push(format!("{}: no time", what.into()));
    }

    /// Does a step that panics where something is wrong, if there is time for it; notes what was not run, or failed.
    pub(crate) fn step<R>(
        &mut self,
        budget: &mut Budget,
        name: &str,
        work: impl FnOnce() -> R,
    ) -> Option<R> {
        if !budget.has_time() {
            self.no_time_for(name);
            return None;
        }
        let result = budget.step(name, || attempt(work));
        result
            .map_err(|reason| self.failures.push(format!("{name}: {reason}")))
            .ok()
    }

    /// The same section once its part has ended.
    pub(crate) fn ended(mut self, took: Duration) -> Self {
        self.took_s = took.as_secs_f64();
        self
    }
}

/// Runs a check that panics where something is wrong; returns its message then.
pub(crate) fn attempt<T>(check: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(check)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        beginning(text.unwrap_or("a panic without a message"))
    })
}

/// Programs may have printed megabytes.
fn beginning(text: &str) -> String {
    const CHARACTERS: usize = 1_000;
    text.chars().take(CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_check_leaves_its_message() {
        let mut section = Section::<()>::new();
        let mut budget = Budget::of(Duration::from_secs(60));
        let wrong = || assert_eq!(1 + 1, 3, "sum of {}", "ones");
        assert_eq!(section.step(&mut budget, "adding", wrong), None);
        assert_eq!(section.step(&mut budget, "adding", || 2), Some(2));
        let [failure] = &section.failures[..] else {
            panic!("{:?}", section.failures);
        };
        assert!(failure.starts_with("adding: ") && failure.contains("sum of ones"));
        assert!(section.not_run.is_empty());
    }

    #[test]
    fn a_step_without_time_is_not_done() {
        let mut section = Section::<()>::new();
        let mut budget = Budget::of(Duration::ZERO);
        assert_eq!(section.step(&mut budget, "adding", || 2), None);
        assert_eq!(section.not_run, ["adding: no time"]);
    }

    #[test]
    fn long_messages_are_cut() {
        let message = attempt(|| panic!("{}", "µ".repeat(5_000))).expect_err("it panics");
        assert_eq!(message.chars().count(), 1_000);
    }
}
