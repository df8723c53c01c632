//! Where traces lie on one time axis.

/// Times and durations are less than this many nanoseconds, 104 days, so that a
/// double holds them exactly.
pub const MAX_NS: u64 = (1 << 53) - 1;

/// Where the traces lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// As they lay in time; but time in which none was recorded is left out.
    OneAfterTheOther,
    /// All begin at 0, to be compared.
    Together,
}

/// Where a trace begins that started at `start_unix_ns`, behind others that started
/// earlier: the one before it lies at `last`, as (offset, start since 1970), and all of
/// them end at `end_ns`.
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
