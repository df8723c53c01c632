//! How many waits go through the intervals of a timeline.

use std::collections::VecDeque;

use crate::collections::shrink::shrink_queue;

/// How many waits go through each interval. A wait costs the same however many it goes through.
#[derive(Debug, Default)]
pub(crate) struct Through {
    /// By how much more waits go through an interval than through the one before; those behind
    /// the last are none.
    steps: VecDeque<i64>,
    /// How many went through the last interval forgotten.
    last: i64,
}

/// From where on an interval lasts until its end, and whether it may be one with that before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since {
    pub(crate) time_ns: u64,
    pub(crate) goes_on: bool,
}

impl Through {
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
