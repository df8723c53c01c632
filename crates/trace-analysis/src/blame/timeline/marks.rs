//! Marks at the end of each interval, by position, for prefix sums.

use std::collections::VecDeque;

use crate::blame::timeline::coverage::{Coverage, Since};
use crate::collections::shrink::shrink_queue;

/// The sums at the end of an interval.
pub(super) trait Mark {
    /// Returns when the interval ended, or an earlier one if that ended later; and whether the last
    /// part goes on if the next one has the same owner.
    fn end(&self) -> Since;
}

/// Marks of consecutive intervals, and the number of waits that cover these.
#[derive(Debug)]
pub(super) struct Marks<M> {
    /// Position of the first mark.
    start: u64,
    marks: VecDeque<M>,
    /// The greatest end of the intervals before the first mark.
    start_ns: u64,
    coverage: Coverage,
}

impl<M: Mark> Marks<M> {
    /// Creates an empty list that begins at `start`.
    pub(super) fn new(start: u64) -> Self {
        Self {
            start,
            marks: VecDeque::new(),
            start_ns: 0,
            coverage: Coverage::default(),
        }
    }

    /// Returns the position of the first interval.
    #[inline]
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// Returns the position after the last interval.
    #[inline]
    pub(super) fn end(&self) -> u64 {
        self.start + self.marks.len() as u64
    }

    /// Returns the marks, the first of which is at [`start`](Self::start).
    #[inline]
    pub(super) fn all(&self) -> &VecDeque<M> {
        &self.marks
    }

    /// Adds the mark of the next interval.
    #[inline]
    pub(super) fn push(&mut self, mark: M) {
        self.marks.push_back(mark);
    }

    /// Returns the mark of an interval in the list.
    #[inline]
    pub(super) fn at(&self, position: u64) -> &M {
        &self.marks[(position - self.start) as usize]
    }

    /// Returns the mark before an interval, which must be in the list or the next one.
    #[inline]
    pub(super) fn before(&self, position: u64) -> Option<&M> {
        let index = position.checked_sub(self.start + 1)?;
        Some(&self.marks[index as usize])
    }

    /// Returns the greatest end of the intervals before `position`.
    #[inline]
    pub(super) fn before_ns(&self, position: u64) -> u64 {
        let before = self.before(position);
        before.map_or(self.start_ns, |mark| mark.end().time_ns)
    }

    /// Adds a wait that covers the intervals from `start` to before `end`.
    pub(super) fn cover(&mut self, start: u64, end: u64) {
        let [start, end] = [start, end].map(|position| (position - self.start) as usize);
        self.coverage.add(start, end);
    }

    /// Calls `on_passed` with the intervals before `position` that waits cover: the position, the
    /// span that counts, the number of waits, and whether it may be merged with the one before. The
    /// caller [forgets](Self::forget_before) them afterwards.
    pub(super) fn pass_before(
        &mut self,
        position: u64,
        on_passed: impl FnMut(u64, (u64, u64), u64, bool),
    ) {
        let count = position.saturating_sub(self.start) as usize;
        let marks = self.marks.iter().take(count).map(Mark::end);
        self.coverage
            .pass((self.start, self.start_ns), marks, on_passed);
    }

    /// Forgets the intervals before `position`, and begins there if none is left.
    pub(super) fn forget_before(&mut self, position: u64) {
        let count = position.saturating_sub(self.start) as usize;
        let count = count.min(self.marks.len());
        if let Some(last) = count.checked_sub(1).and_then(|last| self.marks.get(last)) {
            self.start_ns = last.end().time_ns;
        }
        self.marks.drain(..count);
        shrink_queue(&mut self.marks);
        self.start = position.max(self.start);
    }
}
