//! Stretches of waits, pieces of which are selected.

use trace_analysis::{Contention, Wait};

/// A part of a wait without gaps, with those of its owners.
pub(crate) struct Stretch<'a> {
    /// Begin and end, in nanoseconds since the trace's start.
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) parts: &'a [Contention],
}

/// The end of a part, in nanoseconds since the trace's start.
pub(crate) fn end_ns(part: &Contention) -> u64 {
    part.start_ns.saturating_add(part.duration_ns)
}

/// Returns the stretches of a wait: one, unless owners are selected, which leaves gaps between its
/// parts.
pub(crate) fn stretches(wait: &Wait) -> impl Iterator<Item = Stretch<'_>> {
    let adjoin = |one: &Contention, next: &Contention| end_ns(one) == next.start_ns;
    wait.contentions.chunk_by(adjoin).filter_map(|parts| {
        Some(Stretch {
            start_ns: parts.first()?.start_ns,
            end_ns: end_ns(parts.last()?),
            parts,
        })
    })
}
