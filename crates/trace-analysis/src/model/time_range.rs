//! A part of the time of a trace.

/// A range of time: what happens in it counts, and of what begins before or ends after it
/// the part inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    /// Begin, in nanoseconds since the trace's start.
    pub from_ns: u64,
    /// End, in nanoseconds since the trace's start; it is not in the range itself.
    pub until_ns: u64,
}

impl Default for TimeRange {
    /// All time.
    fn default() -> Self {
        Self {
            from_ns: 0,
            until_ns: u64::MAX,
        }
    }
}

impl TimeRange {
    /// Returns whether a point in time is in the range.
    pub fn contains(&self, time_ns: u64) -> bool {
        (self.from_ns..self.until_ns).contains(&time_ns)
    }

    /// Returns begin and end of the part of an interval in this range, `None` if they do not
    /// overlap. An empty interval is inside if its time is.
    pub fn clip(&self, start_ns: u64, end_ns: u64) -> Option<(u64, u64)> {
        if *self == Self::default() {
            return Some((start_ns, end_ns));
        }
        if start_ns == end_ns {
            return self.contains(start_ns).then_some((start_ns, end_ns));
        }
        let (start_ns, end_ns) = (start_ns.max(self.from_ns), end_ns.min(self.until_ns));
        (start_ns < end_ns).then_some((start_ns, end_ns))
    }

    /// Returns how long the part inside of a trace is that lasts so long, in nanoseconds.
    pub fn duration_ns(&self, trace_ns: u64) -> u64 {
        let end_ns = self.until_ns.min(trace_ns);
        end_ns.saturating_sub(self.from_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inside_counts() {
        let range = TimeRange {
            from_ns: 10,
            until_ns: 20,
        };
        for (start_ns, end_ns, inside) in [
            (0, 10, None),
            (0, 11, Some((10, 11))),
            (12, 15, Some((12, 15))),
            (5, 50, Some((10, 20))),
            (19, 30, Some((19, 20))),
            (20, 30, None),
            (10, 10, Some((10, 10))),
            (20, 20, None),
        ] {
            assert_eq!(
                range.clip(start_ns, end_ns),
                inside,
                "{start_ns} to {end_ns}"
            );
        }
        assert_eq!(range.duration_ns(15), 5);
        assert_eq!(range.duration_ns(5), 0);
        let all = TimeRange::default();
        assert_eq!(all.clip(u64::MAX, u64::MAX), Some((u64::MAX, u64::MAX)));
    }
}
