//! Which unpark ended which park.

use rustc_hash::FxHashMap;
use trace_format::{JavaThreadId, Permit};

use crate::entity::{ChainIndex, ThreadIndex};

/// Who unparked a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waker {
    pub(crate) thread: ThreadIndex,
    pub(crate) time_ns: u64,
    pub(crate) chain: ChainIndex,
}

/// A permit that a thread was given.
type Key = (JavaThreadId, Permit);

/// The unparks whose permits are not consumed yet, and the park ends whose
/// unparks have not come yet. Works on events in any order.
///
/// An unpark of the blocker's domain has been released before the park end is, or
/// is lost: the park end need not wait for it. One of the thread's own domain
/// (`unpark_elsewhere`) may still come: the park end is held back, and with it the
/// events behind it. But an event that is lost may be that unpark, so from the
/// first loss on nothing is held back.
#[derive(Debug)]
pub(crate) struct Permits<E> {
    given: FxHashMap<Key, Waker>,
    waiting: FxHashMap<Key, E>,
    lossy: bool,
    max_pending: usize,
}

impl<E> Permits<E> {
    /// Holds back up to `max_pending` park ends, and remembers as many unparks.
    pub(crate) fn new(max_pending: usize) -> Self {
        Self {
            given: FxHashMap::default(),
            waiting: FxHashMap::default(),
            lossy: false,
            max_pending,
        }
    }

    /// An unpark gives a permit. Returns the park end that waited for it.
    pub(crate) fn give(&mut self, target: JavaThreadId, permit: Permit, waker: Waker) -> Option<E> {
        if permit == 0 {
            return None;
        }
        if self.given.len() >= self.max_pending {
            // Of a damaged trace: a thread has one permit at most.
            self.given.clear();
        }
        self.given.insert((target, permit), waker);
        self.waiting.remove(&(target, permit))
    }

    /// The permit is that of an unpark in another domain: holds back `end`, unless
    /// the unpark is known. Returns what is not held back.
    pub(crate) fn hold(&mut self, thread: JavaThreadId, permit: Permit, end: E) -> Option<E> {
        let key = (thread, permit);
        let full = self.waiting.len() >= self.max_pending;
        if self.lossy || full || permit == 0 || self.given.contains_key(&key) {
            return Some(end);
        }
        self.waiting.insert(key, end)
    }

    /// Who gave the permit that the thread consumes.
    pub(crate) fn take(&mut self, thread: JavaThreadId, permit: Permit) -> Option<Waker> {
        self.given.remove(&(thread, permit))
    }

    /// The same unpark passes on what another thread did: that thread is the waker.
    pub(crate) fn replace(&mut self, target: JavaThreadId, permit: Permit, waker: Waker) {
        if let Some(given) = self.given.get_mut(&(target, permit)) {
            *given = waker;
        }
    }

    /// Events are lost, or no more will come: no park end waits any longer.
    pub(crate) fn lose(&mut self) -> Vec<E> {
        self.lossy = true;
        let waiting = std::mem::take(&mut self.waiting);
        let mut waiting: Vec<_> = waiting.into_iter().collect();
        waiting.sort_unstable_by_key(|&(key, _)| key);
        waiting.into_iter().map(|(_, end)| end).collect()
    }
}
