//! The time axis that all traces share.

/// The largest time or duration in nanoseconds, 104 days: a double holds it exactly.
pub const MAX_NS: u64 = (1 << 53) - 1;

/// The arrangement of traces on the time axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// In their order, without the gaps in which none was recorded.
    OneAfterTheOther,
    /// All from 0, for comparison.
    Together,
}

/// Returns the offset of a trace that started at `start_unix_ns`, after others that started earlier:
/// the previous one lies at `last`, as (offset, start since 1970), and all of them end by `end_ns`.
pub(crate) fn offset_ns(
    arrangement: Arrangement,
    start_unix_ns: u64,
    last: Option<(u64, u64)>,
    end_ns: u64,
) -> u64 {
    let (Arrangement::OneAfterTheOther, Some((last_ns, last_unix_ns))) = (arrangement, last) else {
        return 0;
    };
    let since_last = start_unix_ns.saturating_sub(last_unix_ns);
    last_ns.saturating_add(since_last).min(end_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_left_out_and_overlaps_stay() {
        let offset = |start, last, end| offset_ns(Arrangement::OneAfterTheOther, start, last, end);
        assert_eq!(offset(500, None, 0), 0);
        assert_eq!(offset(560, Some((0, 500)), 100), 60);
        assert_eq!(offset(9_000, Some((0, 500)), 100), 100);
        let together = Arrangement::Together;
        assert_eq!(offset_ns(together, 9_000, Some((0, 500)), 100), 0);
    }
}
