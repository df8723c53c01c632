//! The kinds of waits in a report.

use trace_analysis::WaitKind;

/// Some kinds of waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kinds(Vec<WaitKind>);

impl Kinds {
    /// Waits of this kind.
    pub fn only(kind: WaitKind) -> Self {
        Self(vec![kind])
    }

    /// Waits of these kinds.
    pub fn new(kinds: Vec<WaitKind>) -> Self {
        Self(kinds)
    }

    /// Returns whether waits of this kind are among them.
    pub fn contains(&self, kind: WaitKind) -> bool {
        self.0.contains(&kind)
    }

    /// Returns whether there are no waits but those of this kind.
    pub fn is_only(&self, kind: WaitKind) -> bool {
        self.0.iter().all(|&other| other == kind)
    }
}
