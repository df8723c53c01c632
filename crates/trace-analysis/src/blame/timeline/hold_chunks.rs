//! Holds of one lock that several waits share, used to find the root owners of those waits.
//!
//! A linked list of chunks of [`CHUNK`] holds each: a wait keeps its first chunk and the number of
//! its chunks, however many holds these have. A chunk is created full, and only its link to the
//! next one is set later; the end of each hold in it is the greatest so far. A chunk is released
//! when no wait keeps it or an earlier one, and the timeline has forgotten its holds.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use crate::collections::shrink::shrink_queue;
use crate::model::packed_owner::PackedOwner;

/// Number of holds in a chunk. A wait keeps fewer than that itself before its chunks, and after
/// them.
pub(crate) const CHUNK: usize = 8;

/// A hold of the lock by a thread, or a time in which it was free, from the end of the previous
/// hold on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) end_ns: u64,
    pub(crate) owner: PackedOwner,
}

#[derive(Debug)]
struct Chunk {
    /// The greatest end of the holds before.
    since_ns: u64,
    holds: [Hold; CHUNK],
    next: OnceLock<Arc<Chunk>>,
}

impl Chunk {
    fn end_ns(&self) -> u64 {
        self.holds[CHUNK - 1].end_ns
    }
}

impl Drop for Chunk {
    /// Releases the following chunks one by one instead of recursively.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut chunk) = next.and_then(Arc::into_inner) {
            next = chunk.next.take();
        }
    }
}

/// The chunks that a wait covers.
#[derive(Clone, Debug)]
pub(crate) struct HoldRun {
    first: Arc<Chunk>,
    chunks: usize,
    /// Number of contentions of the wait before them.
    pub(crate) before: usize,
}

impl HoldRun {
    /// Returns the begin of the first hold.
    pub(crate) fn start_ns(&self) -> u64 {
        self.first.since_ns
    }

    /// Returns the holds from the chunk on that ends after `time_ns`.
    pub(crate) fn holds_after(&self, time_ns: u64) -> impl Iterator<Item = Hold> {
        let chunks = std::iter::successors(Some(&*self.first), |chunk| Some(chunk.next.get()?));
        let chunks = chunks.take(self.chunks);
        let after = chunks.skip_while(move |chunk| chunk.end_ns() <= time_ns);
        after.flat_map(|chunk| chunk.holds)
    }
}

/// The chunks of a timeline's holds.
#[derive(Debug, Default)]
pub(super) struct HoldChunks {
    /// Position of the first hold, a multiple of [`CHUNK`].
    start: u64,
    /// End of the holds before the first.
    since_ns: u64,
    chunks: VecDeque<Arc<Chunk>>,
}

impl HoldChunks {
    /// Returns the position after the last hold.
    pub(super) fn end(&self) -> u64 {
        self.start + (self.chunks.len() * CHUNK) as u64
    }

    /// Returns the greatest end of the holds; 0 if there are no holds.
    pub(super) fn latest_ns(&self) -> u64 {
        self.chunks.back().map_or(0, |last| last.end_ns())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Begins at `position`, a multiple of [`CHUNK`]; the holds before ended at `since_ns`.
    pub(super) fn begin(&mut self, position: u64, since_ns: u64) {
        (self.start, self.since_ns) = (position, since_ns);
    }

    /// Adds the next holds.
    pub(super) fn push(&mut self, mut holds: [Hold; CHUNK]) {
        let last = self.chunks.back();
        let since_ns = last.map_or(self.since_ns, |last| last.end_ns());
        let mut latest_ns = since_ns;
        for hold in &mut holds {
            latest_ns = latest_ns.max(hold.end_ns);
            hold.end_ns = latest_ns;
        }
        let chunk = Arc::new(Chunk {
            since_ns,
            holds,
            next: OnceLock::new(),
        });
        if let Some(last) = last {
            last.next.get_or_init(|| Arc::clone(&chunk));
        }
        self.chunks.push_back(chunk);
    }

    /// Returns the chunks from the first one on that has only holds from `position` on and begins
    /// at `time_ns` or later, with its position.
    pub(super) fn run_from(&self, position: u64, time_ns: u64) -> Option<(u64, HoldRun)> {
        let seen = position.saturating_sub(self.start).div_ceil(CHUNK as u64) as usize;
        let begun = self
            .chunks
            .partition_point(|chunk| chunk.since_ns < time_ns);
        let index = seen.max(begun);
        let run = HoldRun {
            first: Arc::clone(self.chunks.get(index)?),
            chunks: self.chunks.len() - index,
            before: 0,
        };
        Some((self.start + (index * CHUNK) as u64, run))
    }

    /// Forgets the holds before `position`.
    pub(super) fn forget_before(&mut self, position: u64) {
        while !self.chunks.is_empty() && self.start + CHUNK as u64 <= position {
            self.chunks.pop_front();
            self.start += CHUNK as u64;
        }
        shrink_queue(&mut self.chunks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each hold ends 1 ns after the one before, but each fifth one seems to end earlier.
    fn hold(position: u64) -> Hold {
        let end_ns = match position % 5 {
            4 => position.saturating_sub(7),
            _ => position,
        };
        let owner = PackedOwner::NOBODY;
        Hold { end_ns, owner }
    }

    fn chunks(count: u64) -> HoldChunks {
        let mut chunks = HoldChunks::default();
        for chunk in 0..count {
            let holds = std::array::from_fn(|index| hold(chunk * CHUNK as u64 + index as u64));
            chunks.push(holds);
        }
        chunks
    }

    #[test]
    fn a_wait_keeps_its_holds_when_the_timeline_forgets_them() {
        let mut chunks = chunks(100);
        let (position, run) = chunks.run_from(21, 0).expect("some");
        assert_eq!((position, run.start_ns()), (24, 23));
        assert_eq!(chunks.run_from(21, 30).expect("some").0, 32);
        chunks.forget_before(u64::MAX);
        assert_eq!(chunks.end(), 800);
        let ends: Vec<_> = run.holds_after(0).map(|hold| hold.end_ns).collect();
        let mut latest = 23;
        let expected = (24..800).map(|position| {
            latest = hold(position).end_ns.max(latest);
            latest
        });
        assert!(expected.eq(ends.iter().copied()));
        let first = run.holds_after(100).next().expect("some");
        assert!((100 - CHUNK as u64..=101).contains(&first.end_ns));
        assert!(chunks.run_from(0, 0).is_none());
    }

    #[test]
    fn a_long_list_is_released_without_much_stack() {
        let chunks = chunks(1 << 18);
        let (_, run) = chunks.run_from(0, 0).expect("some");
        drop(chunks);
        drop(run);
    }

    #[test]
    fn what_nobody_keeps_is_released() {
        let mut chunks = chunks(10);
        let first = Arc::downgrade(&chunks.chunks[0]);
        let (_, run) = chunks.run_from(1, 0).expect("some");
        chunks.forget_before(u64::MAX);
        assert!(first.upgrade().is_none());
        let second = Arc::downgrade(&run.first);
        drop(run);
        assert!(second.upgrade().is_none());
    }
}
