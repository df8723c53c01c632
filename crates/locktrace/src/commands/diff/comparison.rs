//! What the formats show.

use trace_analysis::{Aspect, TraceSummary};
use trace_comparison::Comparison;

use crate::commands::diff::quantity::Per;

/// A comparison, and what it is of.
pub(super) struct Diff<'a> {
    pub(super) comparison: Comparison,
    pub(super) aspects: &'a [Aspect],
    pub(super) per: Per,
    /// The traces of each side.
    pub(super) sides: [Vec<&'a TraceSummary>; 2],
    /// What has grown by more than is allowed, in words; nothing if nobody asked.
    pub(super) regressions: Vec<String>,
    pub(super) fail_above: Option<f64>,
}
