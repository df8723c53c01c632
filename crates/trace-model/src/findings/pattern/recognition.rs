//! What each pattern knows.

use crate::findings::facts::Facts;

/// A pattern of contention.
pub(crate) trait Pattern: Sync {
    /// Returns its name in answers.
    fn name(&self) -> &'static str;
    /// Returns whether the facts are of this pattern.
    fn check(&self, facts: &Facts) -> bool;
    /// Describes the problem.
    fn sentence(&self, facts: &Facts) -> String;
    /// Returns the usual remedy.
    fn remedy(&self) -> &'static str;
}

/// From this duration on a hold is long.
pub(super) const LONG_PART_NS: u64 = 1_000_000;

/// Returns the owner's method, or what stands for it if no thread is known as the owner.
pub(super) fn owner_or<'f>(facts: &'f Facts, nobody: &'f str) -> &'f str {
    if facts.owner.is_empty() {
        nobody
    } else {
        &facts.owner
    }
}

/// Returns what a sentence begins with: the name of a class as it is.
pub(super) fn capitalized(lock: &str) -> String {
    match lock.strip_prefix("the ") {
        Some(lock) => format!("The {lock}"),
        None => lock.to_owned(),
    }
}
