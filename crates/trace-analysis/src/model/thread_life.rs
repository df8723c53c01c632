//! When threads lived.

use crate::collections::hash::SeededMap;
use crate::collections::shrink::shrink_map;
use crate::model::entity::ThreadIndex;

/// The life of a thread, as far as it is in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadLife {
    /// The thread.
    pub thread: ThreadIndex,
    /// When it started, or was first seen, in nanoseconds since the trace's start.
    pub start_ns: u64,
    /// When it ended; `None` if it was alive when the trace ended.
    pub end_ns: Option<u64>,
}

/// The lives of all threads that are not forgotten.
#[derive(Debug, Default)]
pub(crate) struct ThreadLives(SeededMap<ThreadIndex, (u64, Option<u64>)>);

impl ThreadLives {
    /// Begins a life, unless it is known.
    pub(crate) fn begin(&mut self, thread: ThreadIndex, start_ns: u64) {
        self.0.entry(thread).or_insert((start_ns, None));
    }

    /// Ends a life that is known.
    pub(crate) fn end(&mut self, thread: ThreadIndex, end_ns: u64) {
        if let Some((_, end)) = self.0.get_mut(&thread) {
            *end = Some(end_ns);
        }
    }

    /// Returns when a thread ended; `None` if it has not.
    pub(crate) fn ended_ns(&self, thread: ThreadIndex) -> Option<u64> {
        self.0.get(&thread).and_then(|&(_, end_ns)| end_ns)
    }

    /// Forgets all other threads.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(ThreadIndex) -> bool) {
        self.0.retain(|&thread, _| is_kept(thread));
        shrink_map(&mut self.0);
    }

    /// Returns all of them, by thread.
    pub(crate) fn all(&self) -> Vec<ThreadLife> {
        let lives = self.0.iter();
        let lives = lives.map(|(&thread, &(start_ns, end_ns))| ThreadLife {
            thread,
            start_ns,
            end_ns,
        });
        let mut lives: Vec<_> = lives.collect();
        lives.sort_unstable_by_key(|life| life.thread);
        lives
    }
}
