//! Sets of threads, of a limited size.

use trace_analysis::ThreadIndex;

use crate::hash::SeededSet;

/// The most threads of a set.
const MAX_THREADS: usize = 1 << 16;

/// Threads, each of which is mostly added many times in a row, or by turns with another one.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadSet {
    threads: SeededSet<ThreadIndex>,
    recent: [Option<ThreadIndex>; 2],
}

impl ThreadSet {
    #[inline]
    pub(crate) fn add(&mut self, thread: ThreadIndex) {
        if self.recent.contains(&Some(thread)) {
            return;
        }
        self.recent = [Some(thread), self.recent[0]];
        if self.threads.len() < MAX_THREADS {
            self.threads.insert(thread);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        other.iter().for_each(|thread| self.add(thread));
    }

    pub(crate) fn len(&self) -> usize {
        self.threads.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = ThreadIndex> {
        self.threads.iter().copied()
    }
}
