//! Measures the time in which any thread waited because of some code.

use trace_analysis::ThreadIndex;

use crate::hash::SeededSet;
use crate::model::Model;
use crate::scope::{Scope, Source};
use crate::selection::WaitSelection;

/// Returns the time in which any selected part of a wait went on, in nanoseconds; `None` unless the parts of
/// all waits are known. The model is [prepared](Model::prepare), with keys. The last waits of `stuck`
/// threads do not count.
pub(super) fn exact_ns(
    model: &Model,
    selection: &WaitSelection,
    stuck: &SeededSet<ThreadIndex>,
) -> Option<u64> {
    if !model.store.has_parts() {
        return None;
    }
    let scope = Scope::new(model, selection, false).without(stuck);
    let mut times_ns = Vec::new();
    scope.for_each(|piece| {
        let Source::Wait(wait) = piece.source else {
            return;
        };
        let mut from_ns = wait.start_ns;
        for part in model.store.parts(wait).unwrap_or_default() {
            let to_ns = from_ns + part.duration_ns;
            let is_selected = piece
                .shares
                .binary_search_by_key(&part.share, |share| share.position);
            if is_selected.is_ok() {
                times_ns.push((from_ns, to_ns));
            }
            from_ns = to_ns;
        }
    });
    times_ns.sort_unstable();
    let (mut union_ns, mut covered_ns) = (0, 0);
    for (from_ns, to_ns) in times_ns {
        union_ns += to_ns.saturating_sub(from_ns.max(covered_ns));
        covered_ns = covered_ns.max(to_ns);
    }
    Some(union_ns)
}
