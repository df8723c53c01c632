//! Iteration over consecutive parts of a wait.

/// Calls `on_part` with the parts from begin to end: the span of each, and its owner. They are
/// given by their ends; the first one begins at `at_ns`.
#[inline]
pub(super) fn walk<T>(
    mut at_ns: u64,
    parts: impl Iterator<Item = (u64, T)>,
    (start_ns, end_ns): (u64, u64),
    mut on_part: impl FnMut(u64, u64, T),
) {
    for (until_ns, of_part) in parts {
        if at_ns >= end_ns {
            break;
        }
        if until_ns > start_ns.max(at_ns) {
            on_part(at_ns.max(start_ns), until_ns.min(end_ns), of_part);
        }
        at_ns = at_ns.max(until_ns);
    }
}
