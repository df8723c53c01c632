//! Counts the waits that cover each interval of a timeline.

use std::collections::VecDeque;

use crate::collections::shrink::shrink_queue;

/// A difference array: stores +1 where a wait begins and -1 after its end, and adds them up as
/// intervals leave. A wait costs the same however many intervals it covers.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// Difference between the number of waits that cover an interval and the one before; 0 after
    /// the last.
    steps: VecDeque<i64>,
    /// Number of waits that covered the last interval forgotten.
    last: i64,
}

/// Begin of an interval, and whether it may continue the one before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since {
    pub(crate) time_ns: u64,
    pub(crate) goes_on: bool,
}

impl Coverage {
    /// Adds a wait that covers the intervals from index `start` to before `end`.
    pub(crate) fn add(&mut self, start: usize, end: usize) {
        if self.steps.len() <= end {
            self.steps.resize(end + 1, 0);
        }
        self.steps[start] += 1;
        self.steps[end] -= 1;
    }

    /// Calls `on_passed` with the first intervals that waits cover: the position, the span that
    /// counts, the number of waits, and whether it may be merged with the one before. The intervals
    /// begin at a position and a time, each ends as one of `marks`, and they are forgotten
    /// afterwards.
    pub(crate) fn pass(
        &mut self,
        (first, start_ns): (u64, u64),
        marks: impl Iterator<Item = Since>,
        mut on_passed: impl FnMut(u64, (u64, u64), u64, bool),
    ) {
        let mut since = Since {
            time_ns: start_ns,
            goes_on: false,
        };
        for (position, next) in (first..).zip(marks) {
            let Some(step) = self.steps.pop_front() else {
                break;
            };
            self.last += step;
            if self.last > 0 && since.time_ns < next.time_ns {
                let time = (since.time_ns, next.time_ns);
                on_passed(position, time, self.last.unsigned_abs(), since.goes_on);
            }
            since = next;
        }
        shrink_queue(&mut self.steps);
    }
}
