//! Splits a wait into parts, except the holds in the middle of a long wait, which it shares with
//! others. See [`HoldChunks`](crate::blame::timeline::hold_chunks).

use crate::blame::timeline::hold_chunks::{CHUNK, Hold, HoldRun};
use crate::blame::timeline::interval::{Interval, View};
use crate::blame::timeline::owner_timeline::{BY_CODE, FEW_SHARED, Timeline};
use crate::blame::timeline::splitter::Cutter;
use crate::model::packed_owner::PackedOwner;
use crate::model::wait::Contention;

impl<I: Interval> Timeline<I> {
    /// Splits a wait of a thread without intervals of its own, where none is corrected later.
    /// Returns the holds left out of its contentions.
    pub(super) fn split_shared(
        &mut self,
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        contentions: &mut Vec<Contention>,
    ) -> Option<HoldRun> {
        let start = wait.start.position.max(self.start);
        let is_short = self.end().saturating_sub(start) < FEW_SHARED;
        if !is_short && !self.may_be_two_waits(wait.start) {
            self.add_chunks();
            if let Some(run) = self.split_around_chunks(wait, contentions) {
                return Some(run);
            }
            contentions.clear();
        }
        self.split(wait, contentions);
        None
    }

    /// Adds chunks of the intervals pushed since.
    fn add_chunks(&mut self) {
        let chunk = CHUNK as u64;
        let mut chunks = std::mem::take(&mut self.hold_chunks);
        if chunks.is_empty() {
            let first = self.start.next_multiple_of(chunk);
            let ends = (self.start..first).map(|position| self.at(position).end_ns());
            chunks.begin(first, ends.max().unwrap_or(0));
        }
        while chunks.end() + chunk <= self.end() {
            let end = chunks.end();
            let holds = std::array::from_fn(|index| {
                let interval = self.at(end + index as u64);
                Hold {
                    end_ns: interval.end_ns(),
                    owner: interval.owner(BY_CODE),
                }
            });
            chunks.push(holds);
        }
        self.hold_chunks = chunks;
    }

    /// Splits a wait before and after the chunks that it covers. Returns `None` if its parts do not
    /// match theirs.
    fn split_around_chunks(
        &self,
        wait: &View<impl Fn(u64, &I) -> PackedOwner>,
        contentions: &mut Vec<Contention>,
    ) -> Option<HoldRun> {
        // The first interval may have another owner for this wait than for others.
        let start = wait.start.position.max(self.start);
        let chunks = &self.hold_chunks;
        let (first, mut run) = chunks.run_from(start + 1, wait.start.time_ns)?;
        let mut cutter = Cutter::new(wait.start.time_ns, wait.end_ns);
        // Intervals further before the first chunk ended before the wait began.
        for position in start.max(first.saturating_sub(CHUNK as u64))..first {
            let interval = self.at(position);
            let owner = || (wait.owner_of)(position, interval);
            cutter.cut(interval.end_ns(), owner, interval.goes_on(), contentions);
        }
        if cutter.at_ns != run.start_ns() {
            return None;
        }
        run.before = contentions.len();
        cutter.at_ns = chunks.latest_ns().min(wait.end_ns);
        (cutter.goes_on, cutter.last) = (false, Some(wait.rest));
        self.split_from(chunks.end(), wait, cutter, contentions);
        Some(run)
    }
}
