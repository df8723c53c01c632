//! Counts the waits that cover each interval of a timeline.

use std::collections::VecDeque;

use crate::collections::shrink::shrink_queue;

/// A difference array: stores +1 where a wait begins and -1 after its end, and adds them up as
/// intervals leave. A wait costs the same however many intervals it covers.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// By how much more waits go through an interval than through the one before; those behind
    /// the last are none.
    steps: VecDeque<i64>,
    /// How many went through the last interval forgotten.
    last: i64,
}

/// When an interval begins, and whether it may continue the one before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since {
    pub(crate) time_ns: u64,
    pub(crate) goes_on: bool,
}

impl Coverage {
    /// One more wait goes through the intervals from the one with this index to before `end`.
    pub(crate) fn add(&mut self, start: usize, end: usize) {
        if self.steps.len() <= end {
            self.steps.resize(end + 1, 0);
        }
        self.steps[start] += 1;
        self.steps[end] -= 1;
    }

    /// Calls `on_passed` with the first intervals that waits go through: with its position, from when
    /// to when it counts, how many waits, and whether it may be one with that before. They begin at a
    /// position and a time, each ends as one of `marks`, and they are forgotten then.
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
