//! Which unpark ended which park.

use trace_format::{JavaThreadId, Permit};

use crate::model::entity::{ChainIndex, LockIndex, ThreadIndex};
use crate::model::optional_index::OptionalIndex;
use crate::order::park::permit_map::PermitMap;

/// Who unparked a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waker {
    pub(crate) thread: ThreadIndex,
    pub(crate) time_ns: u64,
    pub(crate) chain: ChainIndex,
    /// The semaphore that it released without ever having acquired it.
    pub(crate) signalled: OptionalIndex<LockIndex>,
}

/// Places for each permit that was given: those who give them to a thread, each in order, may be
/// several.
const GIVEN_SPREAD: usize = 8;

/// Places for each park end: a thread writes its own in order.
const WAITING_SPREAD: usize = 2;

/// The unparks whose permits are not consumed yet, and the park ends whose
/// unparks have not come yet. Works on events in any order.
///
/// A park end is held back until its unpark is known, and with it the events after
/// it in its domain. The unpark need not be of the same domain: its writer may have
/// seen nothing that the thread waited for, or, if the thread did not need the permit
/// then, something else.
///
/// An unpark that is lost never comes. It gave one permit, and so holds up one park
/// end, but no event says which: the writer of a lost event is known, its target is
/// not, and the numbers of one domain say nothing about those of another. So the park
/// end that was held back the longest is [given up](Self::give_up_oldest) at the limit.
/// All others find their unparks as if nothing were lost.
#[derive(Debug)]
pub(crate) struct Permits<E> {
    given: PermitMap<Waker>,
    /// With the time of arrival, counted in park ends.
    waiting: PermitMap<(u64, E)>,
    /// Park ends held back so far.
    held: u64,
    max_pending: usize,
}

impl<E> Permits<E> {
    /// Holds back up to `max_pending` park ends, and remembers as many unparks.
    pub(crate) fn new(max_pending: usize) -> Self {
        Self {
            given: PermitMap::new(GIVEN_SPREAD),
            waiting: PermitMap::new(WAITING_SPREAD),
            held: 0,
            max_pending,
        }
    }

    /// An unpark gives a permit. Returns the park end that waited for it.
    pub(crate) fn give(&mut self, target: JavaThreadId, permit: Permit, waker: Waker) -> Option<E> {
        if permit.is_none() {
            return None;
        }
        let key = (target, permit);
        if let Some((_, end)) = self.waiting.remove(key) {
            return Some(end);
        }
        if self.given.len() >= self.max_pending {
            // Of a damaged trace: a thread has one permit at most.
            self.given.clear();
        }
        self.given.insert(key, waker);
        None
    }

    /// Who gave the thread the permit that it consumes.
    pub(crate) fn take(&mut self, thread: JavaThreadId, permit: Permit) -> Option<Waker> {
        self.given.remove((thread, permit))
    }

    /// Holds back `end` until somebody gives the permit. Returns what is not held back any
    /// more.
    pub(crate) fn hold(&mut self, thread: JavaThreadId, permit: Permit, end: E) -> Option<E> {
        self.held += 1;
        let same = self.waiting.insert((thread, permit), (self.held, end));
        same.map(|(_, end)| end)
    }

    /// How many park ends are held back.
    pub(crate) fn pending(&self) -> usize {
        self.waiting.len()
    }

    /// As many park ends as may be are held back.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() >= self.max_pending
    }

    /// The half of the park ends that has been held back the longest, in that order:
    /// there is no room to hold them back any longer.
    pub(crate) fn give_up_oldest(&mut self) -> Vec<E> {
        let mut ages: Vec<_> = self.waiting.values().map(|&(held, _)| held).collect();
        let middle = ages.len() / 2;
        if ages.is_empty() {
            return Vec::new();
        }
        let (_, &mut last, _) = ages.select_nth_unstable(middle);
        self.give_up(|held| held <= last)
    }

    /// All park ends held back: no more events will come.
    pub(crate) fn give_up_all(&mut self) -> Vec<E> {
        self.give_up(|_| true)
    }

    fn give_up(&mut self, is_due: impl Fn(u64) -> bool) -> Vec<E> {
        let mut due = self.waiting.extract_if(|&(held, _)| is_due(held));
        due.sort_unstable_by_key(|&(held, _)| held);
        due.into_iter().map(|(_, end)| end).collect()
    }
}
