//! The times that the trace already covers.

/// Disjoint ranges of time, in order, with gaps between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Covered(Vec<(u64, u64)>);

impl Covered {
    /// The most gaps: beyond it the oldest counts as covered.
    const MAX_RANGES: usize = 256;

    /// Covers the time from `start` to `end`. Returns the parts that were not covered before.
    pub(super) fn add(&mut self, start: u64, end: u64) -> Vec<(u64, u64)> {
        if start >= end {
            return Vec::new();
        }
        let ranges = &mut self.0;
        // The ranges that touch the new one.
        let first = ranges.partition_point(|&(_, range_end)| range_end < start);
        let behind = ranges.partition_point(|&(range_start, _)| range_start <= end);
        let (mut gaps, mut from) = (Vec::new(), start);
        for &(range_start, range_end) in &ranges[first..behind] {
            if from < range_start {
                gaps.push((from, range_start.min(end)));
            }
            from = from.max(range_end);
        }
        if from < end {
            gaps.push((from, end));
        }
        let touched = &ranges[first..behind];
        let all_start = touched
            .first()
            .map_or(start, |&(first, _)| first.min(start));
        let all_end = touched.last().map_or(end, |&(_, last)| last.max(end));
        ranges.splice(first..behind, [(all_start, all_end)]);
        if ranges.len() > Self::MAX_RANGES {
            let (oldest, _) = ranges.remove(0);
            ranges[0].0 = oldest;
        }
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_moment_is_new_once() {
        // Pseudorandom ranges of a second, checked moment by moment.
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        for _ in 0..200 {
            let mut covered = Covered::default();
            let mut is_covered = [false; 400];
            for _ in 0..40 {
                let start = next(380);
                let end = start + next(20);
                let gaps = covered.add(start, end);
                let mut found = [false; 400];
                for (from, until) in gaps {
                    assert!(from < until);
                    found[from as usize..until as usize].fill(true);
                }
                for moment in 0..400 {
                    let is_inside = (start..end).contains(&(moment as u64));
                    assert_eq!(found[moment], is_inside && !is_covered[moment]);
                    is_covered[moment] |= is_inside;
                }
                assert!(covered.0.is_sorted_by(|one, other| one.1 < other.0));
            }
        }
    }

    #[test]
    fn the_oldest_gap_is_forgotten() {
        let mut covered = Covered::default();
        let ranges = Covered::MAX_RANGES as u64 + 1;
        for range in 0..ranges {
            assert_eq!(covered.add(10 * range, 10 * range + 1).len(), 1);
        }
        assert_eq!(covered.add(0, 11), []);
        assert_eq!(covered.add(11, 20), [(11, 20)]);
    }
}
